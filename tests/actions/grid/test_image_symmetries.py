# pyright: reportAttributeAccessIssue=false
"""Models on images, volumes and sequences whose symmetry is known by construction."""

import math
import warnings
from functools import partial
from itertools import product

import pytest
import torch
from torch import Tensor, nn

import liegg
from cases import mlp, normal, units
from liegg.actions.grid.stencils import Scheme
from liegg.testing import assert_invariant, assert_same_span

EXACT = liegg.Image(derivative="spectral")
TORUS = liegg.Image("affine", derivative="spectral", border="periodic")

# Rotations, found


def places(side, dimension=2):
    """Coordinates of the pixels: the centre is 0 and half the side is 1; their order does not matter for what is radial."""
    axis = (torch.arange(side, dtype=torch.float64) - (side - 1) / 2) / (side / 2)
    return torch.stack(torch.meshgrid(*[axis] * dimension, indexing="ij"), dim=-1)


def bumps(samples, side, *, width, reach=0.4, dimension=2, seed=0):
    """Images of five Gaussian bumps each, `width` pixels wide, that fade to the border."""
    shift = normal(samples, 5, dimension, seed=seed)
    distance = torch.rand(
        samples, 5, 1, generator=torch.Generator().manual_seed(seed + 1), dtype=torch.float64
    )
    centres = reach * distance ** (1 / dimension) * torch.nn.functional.normalize(shift, dim=2)
    at = places(side, dimension).flatten(0, -2)
    square = torch.cdist(centres, at.expand(samples, -1, -1)).square()
    images = (
        normal(samples, 5, 1, seed=seed + 2) * torch.exp(-square / (2 * (width / (side / 2)) ** 2))
    ).sum(1)
    return images.reshape(samples, *[side] * dimension)


class Radial(nn.Module):
    """Network of weighted sums over smooth rings: invariant under rotations about the centre whatever its weights."""

    phi: Tensor

    def __init__(
        self, side: int, *, dimension: int = 2, dtype: torch.dtype = torch.float64
    ) -> None:
        super().__init__()
        square = places(side, dimension).flatten(0, -2).square().sum(1)
        rings = [
            torch.exp(-square / 0.045),
            *[torch.exp(-((square - r**2) ** 2) / (0.18 * r**2)) for r in (0.15, 0.3, 0.45, 0.6)],
        ]
        self.register_buffer("phi", torch.nn.functional.normalize(torch.stack(rings)).to(dtype))
        self.head = mlp(len(rings), 32, 3, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(x.flatten(1) @ self.phi.mT)


# Bounds on what a finite grid leaves of the rotation's defect and of its bias, three times what was found: rounding of the fading
# border for the spectral scheme; a derivative along x and y that is not the same in all directions for the other two.
FLOOR = {
    "spectral": (2e-14, 4.5e-8),
    "secant": (1.1e-5, 5e-4),
    "central": (1.1e-5, 5e-4),
    "gaussian": (1e-11, 4e-7),
}


@pytest.fixture(scope="module")
def radial():
    return Radial(32), bumps(150, 32, width=3.0)


def test_the_model_is_invariant_and_the_images_fade(radial):
    model, images = radial
    assert images[:, [0, -1]].abs().max() < 1e-2 * images.abs().max()
    still = model(images)
    turned, sheared = (
        model(liegg.Image().act(0.7 * h, images)) - still
        for h in (liegg.so(2)[0], liegg.algebra.shear(2)[0])
    )
    assert turned.norm() < 3e-4 * sheared.norm()  # what interpolation leaves


@pytest.mark.parametrize("group", ["linear", "affine"])
@pytest.mark.parametrize("scheme", FLOOR)
def test_radial_features_have_the_rotation_and_nothing_else(radial, scheme, group):
    sym = liegg.discover(radial[0], radial[1], liegg.Image(group, derivative=scheme))
    defect, bias = FLOOR[scheme]
    assert sym.nullity == 1
    assert sym.bias(liegg.so(2))[0] < bias
    assert sym.defects[0] < defect
    assert sym.defects[1] > 0.15
    assert sym.angles(liegg.so(2)).max() < bias


def test_the_paper_scheme_finds_the_rotation_less_well(radial):
    sym = liegg.discover(radial[0], radial[1], liegg.Image(derivative="paper"))
    assert sym.nullity == 1
    assert (
        0.01 < sym.bias(liegg.so(2))[0] < 0.06
    )  # the origin is half a pixel off, and slopes are those half a pixel further


def test_float32_finds_it_at_its_own_floor(radial):
    _, images = radial
    sym = liegg.discover(Radial(32, dtype=torch.float32), images.float(), EXACT)
    assert sym.nullity == 1
    assert sym.angles(liegg.so(2)).max() < 1e-6
    assert sym.defects[0] < 1e-12


def test_smaller_groups_are_judged_against_all_maps(radial):
    exact = partial(liegg.Image, derivative="spectral")
    whole = liegg.discover(radial[0], radial[1], exact("affine"))
    for group in (exact("similarity"), exact("euclidean"), exact("affine").restrict(liegg.so(2))):
        sym = liegg.discover(radial[0], radial[1], group)
        assert sym.nullity == 1
        torch.testing.assert_close(
            sym.defect(liegg.so(2)), whole.defect(liegg.so(2)), rtol=1e-6, atol=0
        )
        assert sym.angles(liegg.so(2)).max() < FLOOR["spectral"][1]


def test_several_channels_and_flat_samples_are_found_alike(radial):
    model, images = radial
    two = torch.stack([images, images.flip(0)], dim=1)

    def both(x: Tensor) -> Tensor:
        x = x.reshape(len(x), 2, 32, 32)
        return torch.cat([model(x[:, 0]), model(x[:, 1])], dim=1)

    stacked = assert_invariant(
        both, two, liegg.so(2), action=EXACT, tolerance=FLOOR["spectral"][0] ** 0.5
    )
    flat = assert_invariant(
        both,
        two.flatten(1),
        liegg.so(2),
        action=liegg.Image(derivative="spectral", shape=(2, 32, 32)),
        tolerance=FLOOR["spectral"][0] ** 0.5,
    )
    assert stacked.nullity == flat.nullity == 1
    torch.testing.assert_close(stacked.defects, flat.defects, rtol=1e-9, atol=1e-12)


def test_radial_features_of_volumes_have_the_rotations_of_space():
    sym = liegg.discover(
        Radial(16, dimension=3),
        bumps(60, 16, width=2.0, reach=0.3, dimension=3),
        liegg.Volume(derivative="spectral"),
    )
    assert sym.nullity == 3
    assert (
        sym.defects[2] < 3e-9
    )  # bumps of two pixels' width: a little of them lies beyond the grid's highest frequency
    assert sym.angles(liegg.so(3)).max() < 3e-5


# Translations, found


def waves(samples, side, top, *, dimension=2, seed=0):
    """Periodic images of all waves up to `top` periods along every axis."""
    angle = (
        2
        * math.pi
        * torch.arange(top + 1)[:, None]
        * torch.arange(side, dtype=torch.float64)
        / side
    )
    basis = torch.cat([angle.cos(), angle[1:].sin()])
    images = normal(samples, *[len(basis)] * dimension, seed=seed) / len(basis)
    for _ in range(dimension):
        images = torch.einsum(
            "na...,ai->n...i", images, basis
        )  # the axis that was first comes back as the last
    return images


def powers(x: Tensor) -> Tensor:
    """Means of the second and third power of four circular filters.

    Powers of waves of 3 periods hold at most 9 < 16: no aliasing, so the mean over the pixels is that over the period and does not
    change under any shift.
    """
    kernel = normal(4, 1, 3, 3, seed=5)
    y = torch.nn.functional.conv2d(
        torch.nn.functional.pad(x[:, None], (1, 1, 1, 1), mode="circular"), kernel
    )
    return torch.cat([y.square().mean((2, 3)), y.pow(3).mean((2, 3))], dim=1)


def test_circular_filters_have_the_translations_and_nothing_else():
    head = mlp(8, 16, 3)
    sym = liegg.discover(lambda x: head(powers(x)), waves(100, 16, 3), TORUS)
    assert sym.nullity == 2
    assert sym.decision.exact == 2  # nothing but rounding
    assert sym.angles(liegg.translation(2)).max() < 1e-12
    assert_same_span(sym.generators, liegg.translation(2), tolerance=1e-12)
    assert sym.defects[2] > 0.05


def test_a_circular_filter_of_sequences_has_the_shift():
    def model(x: Tensor) -> Tensor:
        y = x - 0.5 * x.roll(1, 1) + 0.3 * x.roll(3, 1)
        return torch.stack([y.square().mean(1), y.pow(3).mean(1)], dim=1)

    line = liegg.Sequence(derivative="spectral", border="periodic")
    sym = liegg.discover(model, waves(60, 16, 3, dimension=1), line)
    assert sym.nullity == 1
    assert sym.angles(liegg.translation(1)).max() < 1e-12


# Real architectures


class Convolutional(nn.Module):
    """Two circular convolutions and the mean over all pixels."""

    def __init__(self) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.random.manual_seed(0)
            circular = {"padding_mode": "circular", "dtype": torch.float64}
            self.body = nn.Sequential(
                nn.Conv2d(1, 6, 5, padding=2, **circular),
                nn.SiLU(),
                nn.Conv2d(6, 6, 3, padding=1, **circular),
                nn.SiLU(),
            )
            self.head = nn.Linear(6, 3, dtype=torch.float64)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x[:, None]).mean((2, 3)))


class Transformer(nn.Module):
    """Patches, places, one encoder layer, mean."""

    def __init__(self, side: int, outputs: int = 3) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.random.manual_seed(0)
            self.embed = nn.Conv2d(1, 8, 4, stride=4, dtype=torch.float64)
            self.place = nn.Parameter(torch.randn((side // 4) ** 2, 8, dtype=torch.float64))
            self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dtype=torch.float64)
            self.head = nn.Linear(8, outputs, dtype=torch.float64)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layer(self.embed(x[:, None]).flatten(2).mT + self.place).mean(1))


def test_a_circular_network_has_the_translations():
    sym = liegg.discover(Convolutional(), waves(60, 24, 4), TORUS)
    assert sym.nullity == 2
    assert (
        sym.defects[1] < 1.4e-8
    )  # SiLU makes frequencies beyond the grid's: no shift by less than a pixel is exact
    assert sym.angles(liegg.translation(2)).max() < 1.2e-4


ARCHITECTURES = {
    "convolutional": Convolutional(),
    "perceptron": nn.Sequential(nn.Flatten(), mlp(144, 16, 3)),
    "transformer": Transformer(12).train(),
}


@pytest.mark.parametrize("outputs", ["each", "sum"])
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_routes_agree(name, outputs):
    model, data, action = ARCHITECTURES[name], waves(30, 12, 3), liegg.Image("affine")
    auto = liegg.discover(model, data, action, outputs=outputs)
    assert len(auto.defects) == 6
    for route in ("jvp", "vjp", "autograd"):
        sym = liegg.discover(model, data, action, outputs=outputs, run=liegg.Run(route=route))
        torch.testing.assert_close(sym.defects, auto.defects, rtol=1e-8, atol=0)
        torch.testing.assert_close(
            sym.accumulated.displacement.dense(),
            auto.accumulated.displacement.dense(),
            rtol=1e-12,
            atol=0,
        )


def test_many_outputs_of_a_transformer_are_read_by_forward_mode():
    sym = liegg.discover(
        Transformer(12, outputs=10), waves(30, 12, 3), liegg.Image()
    )  # 4 directions: forward is cheaper
    assert sym.settings["route"] == "jvp"
    assert not [note for note in sym.notes if "torch.func" in note]


def test_a_transformer_is_read_without_a_warning():
    """torch warns where it batches attention's derivative by a slow loop; one output at a time is taken instead."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        one, two = (
            liegg.discover(
                Transformer(12, outputs=3),
                waves(30, 12, 3),
                liegg.Image(),
                run=liegg.Run(route="vjp"),
            )
            for _ in range(2)
        )
    assert not seen
    torch.testing.assert_close(one.defects, two.defects, rtol=1e-9, atol=1e-12)


# What does not move

STILL: tuple[Scheme, ...] = ("spectral", "central", "gaussian", "paper")


def test_no_direction_moves_constant_images():
    for scheme, dtype in product(STILL, [torch.float64, torch.float32]):
        flat = (
            torch.rand(50, 1, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
            .expand(50, 12, 12)
            .to(dtype)
        )
        sym = liegg.discover(
            nn.Sequential(nn.Flatten(), mlp(144, 8, 2, dtype=dtype)),
            flat,
            liegg.Image("affine", derivative=scheme),
            controls="none",
        )
        assert sym.nullity == 0
        assert len(sym.accumulated.solution.trivial) == 6


def test_no_direction_along_the_stripes_moves_stripes():
    for scheme, dtype in product(STILL, [torch.float64, torch.float32]):
        # f(x, y) = g(x): the field of E_ij is -∂ᵢf p̃ⱼ, so the second row of the generator does not matter: 3 of 6.
        rows = (
            torch.rand(50, 1, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
            .expand(50, 12, 12)
            .to(dtype)
        )
        sym = liegg.discover(
            nn.Sequential(nn.Flatten(), mlp(144, 8, 2, dtype=dtype)),
            rows,
            liegg.Image("affine", derivative=scheme),
            controls="none",
        )
        assert len(sym.accumulated.solution.trivial) == 3
        assert_same_span(
            sym.action.matrices(sym.accumulated.solution.trivial),
            units(3, (1, 0), (1, 1), (1, 2)),
            tolerance=1e-6,
        )
        assert bool(sym.defect(units(2, (1, 0), (1, 1))).isnan().all())
        assert len(sym.defects) == 3
