"""SchNet of torch-geometric with random weights: its energy does not change under rigid motions, its forces turn with the atoms."""
# ruff: noqa: S101

import warnings
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import liegg
from liegg.testing import assert_same_span

with warnings.catch_warnings():
    warnings.filterwarnings(
        "ignore", "`torch.jit", DeprecationWarning
    )  # torch-geometric scripts a class when it is imported
    from torch_geometric.nn import SchNet

NUMBERS = (6, 6, 8, 1, 1, 1, 1, 1, 1)
ETHANOL = (
    (-0.748, -0.015, 0.024),
    (0.558, 0.420, -0.278),
    (1.293, -0.202, -0.901),
    (-1.263, 0.754, 0.600),
    (-1.345, -0.266, -0.880),
    (-0.695, -0.922, 0.635),
    (0.716, 1.404, 0.137),
    (0.531, 0.492, -1.366),
    (2.170, 0.171, -0.942),
)
"""Roughly ethanol, in ångström: what matters is that every atom has a place of its own."""


def pairs(positions: Tensor, batch: Tensor) -> tuple[Tensor, Tensor]:
    """All ordered pairs of atoms of one molecule, and their distances; torch-geometric's own needs a compiled package."""
    atoms = len(NUMBERS)
    i, j = (~torch.eye(atoms, dtype=torch.bool)).nonzero().T
    first = atoms * torch.arange(len(batch) // atoms)[:, None]
    edges = torch.stack([(first + j).flatten(), (first + i).flatten()])
    return edges, (positions[edges[0]] - positions[edges[1]]).norm(dim=1)


class Energy(nn.Module):
    """Energy of one molecule per sample, `[b, atoms, 3]` to `[b, 1]`."""

    numbers: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.network = SchNet(interaction_graph=pairs)
        self.register_buffer("numbers", torch.tensor(NUMBERS))

    def forward(self, x: Tensor) -> Tensor:
        """One graph of all molecules of the batch, which share no edge."""
        batch = torch.arange(len(x)).repeat_interleave(len(NUMBERS))
        return self.network(self.numbers.repeat(len(x)), x.reshape(-1, 3), batch)


class Forces(nn.Module):
    """Minus the gradient of the energy, `[b, atoms, 3]`, by `torch.func`."""

    def __init__(self, energy: Energy) -> None:
        super().__init__()
        self.energy = energy

    def forward(self, x: Tensor) -> Tensor:
        """Molecules of a batch do not see each other, so the gradient of the sum is that of each."""
        return -torch.func.grad(lambda y: self.energy(y).sum())(x)


class AutogradForces(Forces):
    """The same in the way of most training scripts, which `torch.func` cannot look into."""

    def forward(self, x: Tensor) -> Tensor:
        """Keeps the graph of the gradient."""
        with torch.enable_grad():
            x = x if x.requires_grad else x.detach().requires_grad_()
            return -torch.autograd.grad(self.energy(x).sum(), x, create_graph=True)[0]


def molecules(count: int) -> Tensor:
    """Ethanol with every atom moved a little; none is rotated or shifted, so the data shows no symmetry."""
    noise = torch.randn(
        count, len(NUMBERS), 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64
    )
    return torch.tensor(ETHANOL, dtype=torch.float64) + 0.3 * noise


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_energy_has_se3(dtype: torch.dtype, discovered: Callable) -> None:
    """Rotations and translations, exactly, and named."""
    model = Energy().to(dtype)
    sym = discovered(
        f"SchNet, {str(dtype)[6:]}",
        model,
        molecules(300).to(dtype),
        liegg.Affine(3, copies=len(NUMBERS)),
    )
    assert (sym.nullity, sym.name) == (6, "se(3)")
    assert set(sym.decision.grades[:6]) == {"exact"}
    assert_same_span(
        sym.generators, liegg.se(3), tolerance=1e-4 if dtype == torch.float32 else 1e-10
    )


@pytest.mark.parametrize(
    ("title", "kind"), [("forces", Forces), ("forces by autograd.grad", AutogradForces)]
)
def test_forces_turn_with_the_molecule_and_do_not_shift(
    title: str, kind: type[Forces], discovered: Callable
) -> None:
    """The output generator of every rigid motion is its rotation."""
    atoms = len(NUMBERS)
    sym = discovered(
        f"SchNet, {title}",
        kind(Energy().double()),
        molecules(60),
        liegg.Affine(3, copies=atoms),
        output_action=liegg.Linear(3, copies=atoms),
    )
    assert (sym.nullity, sym.name) == (6, "se(3)")
    assert_same_span(sym.generators, liegg.se(3), tolerance=1e-10)
    torch.testing.assert_close(sym.output_generators, sym.generators[:, :3, :3], rtol=0, atol=1e-10)


def test_every_layer_behind_the_distances_has_se3(layers_discovered: Callable) -> None:
    """Embeddings of the atoms do not see the positions at all; all that comes later sees distances only."""
    found = layers_discovered(
        "SchNet, layers", Energy().double(), molecules(60), liegg.Affine(3, copies=len(NUMBERS))
    )
    blind = {"network.embedding", "network.interactions.0.conv.lin1"}
    assert {layer.name for layer in found if layer.invariance.nullity == 0} == blind
    assert {layer.invariance.name for layer in found if layer.name not in blind} == {"se(3)"}
