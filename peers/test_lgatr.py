"""L-GATr with random weights: a transformer on four-vectors that is Lorentz-equivariant by construction."""
# ruff: noqa: S101

from collections.abc import Callable

import pytest
import torch
from lgatr import LGATr, embed_vector, extract_scalar, extract_vector
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

import liegg
from liegg.testing import assert_same_span

PARTICLES = 4


class Transformer(nn.Module):
    """Four-momenta `[b, particles, 4]` to multivectors `[b, particles, 16]`."""

    def __init__(self, *, sparse: bool = True) -> None:
        super().__init__()
        self.network = LGATr(
            num_blocks=2,
            in_mv_channels=1,
            out_mv_channels=1,
            hidden_mv_channels=8,
            in_s_channels=0,
            out_s_channels=0,
            hidden_s_channels=16,
            attention={"num_heads": 2},
            mlp={},
            primitives={"sparse_gp": sparse},
        )

    def forward(self, momenta: Tensor) -> Tensor:
        """One multivector to a particle."""
        return self.network(embed_vector(momenta)[:, :, None])[0][:, :, 0]


class Amplitude(Transformer):
    """A number to an event, `[b, 1]`."""

    def forward(self, momenta: Tensor) -> Tensor:
        """The mean of the scalar parts."""
        return extract_scalar(super().forward(momenta)).mean(1)


class Momenta(Transformer):
    """A four-vector to a particle, `[b, particles, 4]`."""

    def forward(self, momenta: Tensor) -> Tensor:
        """The vector parts."""
        return extract_vector(super().forward(momenta))


def events(count: int, *, unit: float = 0.1) -> Tensor:
    """Particles of random masses and momenta, energy first; the layer norms make all but small units look alike."""
    drawn = torch.randn(
        count, PARTICLES, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64
    )
    mass, momentum = 0.5 + drawn[..., :1].abs(), drawn[..., 1:]
    return unit * torch.cat(
        [(mass.square() + momentum.square().sum(-1, keepdim=True)).sqrt(), momentum], -1
    )


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_amplitude_has_so13(dtype: torch.dtype, discovered: Callable) -> None:
    """Rotations and boosts, exactly, and named."""
    sym = discovered(
        f"L-GATr, {str(dtype)[6:]}",
        Amplitude().to(dtype),
        events(200).to(dtype),
        liegg.Linear(4, copies=PARTICLES),
    )
    assert (sym.nullity, sym.name) == (6, "so(1,3)")
    assert set(sym.decision.grades[:6]) == {"exact"}
    assert_same_span(
        sym.generators, liegg.so(1, 3), tolerance=1e-3 if dtype == torch.float32 else 1e-10
    )


def test_layer_norms_add_a_scaling_that_is_told_from_the_exact_six(discovered: Callable) -> None:
    """In larger units the layer norms hide the scale: a seventh direction of small defect, which is weak by its effect and not counted."""
    sym = discovered(
        "L-GATr, ten times the momenta",
        Amplitude().double(),
        events(200, unit=1.0),
        liegg.Linear(4, copies=PARTICLES),
    )
    assert sym.decision.grades.count("exact") == 6
    assert_same_span(sym.generators[:6], liegg.so(1, 3), tolerance=1e-10)
    assert (sym.nullity, sym.name, sym.decision.grades[6]) == (6, "so(1,3)", "weak")
    assert float(sym.defect(liegg.scaling(4))) < 0.03


def test_vectors_transform_as_the_momenta_do(discovered: Callable) -> None:
    """The output generator of every Lorentz transformation is itself."""
    action = liegg.Linear(4, copies=PARTICLES)
    sym = discovered(
        "L-GATr, vectors", Momenta().double(), events(100), action, output_action=action
    )
    assert sym.decision.grades.count("exact") == 6
    assert_same_span(sym.generators[:6], liegg.so(1, 3), tolerance=1e-10)
    torch.testing.assert_close(sym.output_generators[:6], sym.generators[:6], rtol=0, atol=1e-9)


def test_forward_mode_needs_the_dense_product_and_plain_attention(discovered: Callable) -> None:
    """Two operations of L-GATr have no forward rule; with both replaced by what it offers too, the answer is the same."""
    model, data, action = (
        Amplitude(sparse=False).double(),
        events(80),
        liegg.Linear(4, copies=PARTICLES),
    )
    with sdpa_kernel(SDPBackend.MATH):
        sym = discovered("L-GATr, forward mode", model, data, action, run=liegg.Run(route="jvp"))
    assert (sym.settings["route"], sym.nullity, sym.name) == ("jvp", 6, "so(1,3)")
    reverse = liegg.discover(model, data, action, controls="none", run=liegg.Run(route="vjp"))
    torch.testing.assert_close(sym.defects[6:], reverse.defects[6:], rtol=1e-8, atol=0)


def test_the_scalars_of_every_layer_have_so13(layers_discovered: Callable) -> None:
    """In forward mode, one pass: scalars are invariant behind the first geometric product, multivectors are not."""
    found = layers_discovered(
        "L-GATr, layers",
        Amplitude(sparse=False).double(),
        events(50),
        liegg.Linear(4, copies=PARTICLES),
    )
    assert not any(
        "forward derivatives do not reach" in note for layer in found for note in layer.notes
    )
    scalars = ["network.blocks.0.mlp.layers.2.s2s", "network.blocks.1.mlp.layers.2.s2s", "output"]
    assert [found[name].invariance.name for name in scalars] == ["so(1,3)"] * 3
    assert [
        found[name].invariance.nullity for name in ("network.blocks.0", "network.blocks.1")
    ] == [0, 0]
