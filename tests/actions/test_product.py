# pyright: reportAttributeAccessIssue=false
"""Several actions at once: laws, blocks, cross terms, one spectrum whatever the units."""

from functools import partial

import jaxtyping
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import liegg
from cases import mlp, normal
from liegg._utils.errors import ArgumentError, ShapeError
from liegg.actions import Product, action_from_settings
from liegg.testing import assert_is_action, assert_same_span


def places(side):
    """Coordinates (x, y) `[side, side]` each, of a square image."""
    axis = (torch.arange(side, dtype=torch.float64) - (side - 1) / 2) / (side / 2)
    return axis.expand(side, side), -axis[:, None].expand(side, side)


def bumps(samples, side, *, width, reach=0.4, seed=0):
    """Images of five Gaussian bumps each, `width` pixels wide, that fade to the border."""
    x, y = (at.flatten() for at in places(side))
    angle, distance = torch.rand(
        2, samples, 5, 1, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )
    radius = reach * distance.sqrt()
    angle = 2 * torch.pi * angle
    square = (x - radius * angle.cos()).square() + (y - radius * angle.sin()).square()
    images = (
        normal(samples, 5, 1, seed=seed + 1) * torch.exp(-square / (2 * (width / (side / 2)) ** 2))
    ).sum(1)
    return images.reshape(samples, side, side)


# Laws. Colours commute with maps of the plane, so the only error is the interpolation of the image: 6e-4 for bumps of three pixels'
# width, as for images alone.
smooth_image = partial(liegg.Image, derivative="spectral")
LAWS = {
    "image and colour": (liegg.Product(smooth_image(), liegg.Color(channels=2)), 2),
    "affine and tone": (liegg.Product(smooth_image("affine"), liegg.Color("tone", channels=1)), 1),
    "similarity and gains": (
        liegg.Product(smooth_image("similarity"), liegg.Color("gains", channels=2)),
        2,
    ),
    "colour first": (
        liegg.Product(liegg.Color("linear", channels=2), smooth_image("euclidean")),
        2,
    ),
    "nested": (
        liegg.Product(
            smooth_image(liegg.so(2)),
            liegg.Product(liegg.Color("gains", channels=1), smooth_image(liegg.so(2))),
        ),
        1,
    ),
    "restricted": (
        liegg.Product(smooth_image(), liegg.Color("linear", channels=1)).restrict(
            torch.block_diag(liegg.so(2)[0], torch.ones(1, 1, dtype=torch.float64))[None]
        ),
        1,
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_laws(name):
    action, channels = LAWS[name]
    x = bumps(2 * channels, 36, width=3.0, reach=0.1).reshape(2, channels, 36, 36)
    action.check(tuple(x.shape[1:]))
    assert_is_action(action, x, tolerance=6e-4, seed=1)


def test_laws_of_actions_without_interpolation():
    plain = liegg.Linear(2, copies=4, layout="vector_first").restrict(liegg.algebra.diagonal(2))
    assert_is_action(
        liegg.Product(liegg.Color("gains", channels=2), plain), normal(3, 2, 4), tolerance=1e-12
    )


def test_actions_that_do_not_commute_make_no_group():
    both = liegg.Product(
        liegg.Color("linear", channels=2), liegg.Color("tone", channels=2)
    )  # gain after offset, offset after gain
    with pytest.raises(AssertionError, match="one-parameter group"):
        assert_is_action(both, normal(3, 2, 4), tolerance=1e-3)


# Blocks


def test_sizes_add_up():
    both = liegg.Product(liegg.Image("affine"), liegg.Color(), liegg.Color("linear"))
    assert (both.size, both.ambient) == (6 + 12 + 9, 3 + 4 + 3)


def test_generators_are_block_diagonal():
    both = liegg.Product(liegg.Image("affine"), liegg.Color("linear", channels=2))
    h = normal(5, both.size)
    matrices = both.matrices(h)
    assert matrices.shape == (5, 5, 5)
    torch.testing.assert_close(matrices[:, :3, :3], liegg.Image("affine").matrices(h[:, :6]))
    torch.testing.assert_close(matrices[:, 3:, 3:], h[:, 6:].reshape(5, 2, 2))
    assert not matrices[:, 3:, :3].any()
    assert not matrices[:, :3, 3:].any()
    assert torch.equal(both.coefficients(matrices), h)


def test_words_are_those_of_the_parts():
    both = liegg.Product(liegg.Image("euclidean"), liegg.Color("tone"))
    assert both.words == (
        "rotation in x–y",
        "translation along y",
        "translation along x",
        "scaling of R, G and B",
        "offset of R, G and B",
    )
    series = liegg.Product(liegg.Sequence("affine"), liegg.Color(channels=1))
    assert series.words[1:] == (
        "translation along x",
        "scaling of the values",
        "offset of the values",
    )
    mixed = torch.tensor([[0.0, 1.0, 0.0, 0.5], [1.0, -2.0, 0.0, 0.0]], dtype=torch.float64)
    assert series.describe(mixed) == (
        "translation along x with offset 0.5 of the values",
        "scaling of x about the point (2.0, 0.0)",
    )
    nested = liegg.Product(series, liegg.Affine(1))
    assert nested.words[-1] == "translation along x₁"
    shifts = series.matrices(torch.eye(4, dtype=torch.float64)[[1, 3]])
    named = liegg.identify(shifts, coordinates=series.axes, homogeneous=False)
    assert named.readable.words == ("translation along x", "offset of the values")


@given(seed=st.integers(0, 1000), rows=st.integers(0, 4))
@settings(deadline=None, max_examples=20)
def test_coefficients_of_matrices_come_back(seed, rows):
    both = liegg.Product(liegg.Image("similarity"), liegg.Color("gains"), liegg.Color("linear"))
    h = normal(rows, both.size, seed=seed)
    matrices = both.matrices(h)
    assert matrices.shape == (rows, both.ambient, both.ambient)
    torch.testing.assert_close(both.coefficients(matrices), h)


def test_a_finite_motion_is_one_after_the_other():
    both, x = liegg.Product(liegg.Image(), liegg.Color(channels=1)), bumps(3, 20, width=2.0)
    h = normal(6) / 5
    wanted = liegg.Color(channels=1).act(h[4:], liegg.Image().act(h[:4], x))
    torch.testing.assert_close(both.act(h, x), wanted)
    torch.testing.assert_close(both.act(both.matrices(h[None])[0], x), wanted)


def test_tangents_are_fields():
    both, x, h = (
        liegg.Product(liegg.Image(), liegg.Color("tone", channels=2)),
        normal(3, 2, 5, 6),
        normal(4, 6),
    )
    torch.testing.assert_close(both.tangents(h, x), torch.stack([both.field(row, x) for row in h]))
    parts = torch.cat([liegg.Image().fields(x), liegg.Color("tone", channels=2).fields(x)], dim=1)
    torch.testing.assert_close(both.fields(x), parts)


def reference_fields(x):
    """Velocities `[b, 4 + 6, c, h, w]` of two channels, in numpy: central differences times coordinates, then channels and ones."""
    side = x.shape[-1]
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], mode="edge")
    by_x = (padded[:, :, 1:-1, 2:] - padded[:, :, 1:-1, :-2]) / 2 * (side / 2)
    by_y = (padded[:, :, :-2, 1:-1] - padded[:, :, 2:, 1:-1]) / 2 * (side / 2)
    fields = [-slope * at.numpy() for slope in (by_x, by_y) for at in places(side)]
    for i in range(2):
        for values in (x[:, 0], x[:, 1], np.ones_like(x[:, 0])):
            fields.append(np.stack([values * (i == channel) for channel in range(2)], axis=1))
    return np.stack(fields, axis=1)


def test_dense_reference_with_cross_terms():
    both = liegg.Product(liegg.Image(derivative="central"), liegg.Color(channels=2))
    x, gradients = normal(3, 2, 6, 6) + 1, normal(3, 2, 2, 6, 6, seed=1)
    wanted = reference_fields(x.numpy())
    flat = wanted.reshape(3, 10, -1)
    np.testing.assert_allclose(both.fields(x), wanted, rtol=0, atol=1e-13)
    rows = np.einsum("bkp,bgp->bkg", gradients.flatten(2).numpy(), flat)
    np.testing.assert_allclose(both.contract(gradients, x), rows, rtol=0, atol=1e-12)
    dense = np.einsum("bgp,bhp->gh", flat, flat)
    assert np.abs(dense[:4, 4:]).max() > 1  # there is something to get wrong
    displacement = both.displacement(both.moment(x), 3)
    np.testing.assert_allclose(displacement.dense(), dense / 3, rtol=0, atol=1e-11)


def test_cross_terms_of_restricted_parts():
    both = liegg.Product(
        liegg.Image("euclidean"), liegg.Color("tone", channels=2), liegg.Color("gains", channels=2)
    )
    x = normal(3, 2, 6, 7) + 1
    flat = both.fields(x).flatten(2)
    torch.testing.assert_close(both.moment(x), torch.einsum("bgp,bhp->gh", flat, flat))


# One spectrum


class RadialDifferences(torch.nn.Module):
    """Network of sums over smooth rings whose weights sum to 0: unchanged by rotations, and by an offset of all values."""

    phi: Tensor

    def __init__(self, side: int, *, scale: float = 1.0) -> None:
        super().__init__()
        x, y = places(side)
        square = (x**2 + y**2).flatten()
        rings = torch.stack(
            [
                torch.exp(-((square - r**2) ** 2) / (0.18 * r**2))
                for r in (0.15, 0.25, 0.35, 0.45, 0.6)
            ]
        )
        shares = rings / rings.sum(1, keepdim=True)
        self.register_buffer("phi", torch.nn.functional.normalize(shares[1:] - shares[:-1]) / scale)
        self.head = mlp(4, 32, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(x.flatten(1) @ self.phi.mT)


@pytest.fixture(scope="module")
def both():
    return liegg.Product(smooth_image(), liegg.Color("affine", channels=1))


@pytest.fixture(scope="module")
def found(both):
    return liegg.discover(RadialDifferences(32), bumps(150, 32, width=3.0), both)


def test_rotation_and_brightness_are_found_and_nothing_else(found):
    turn = torch.nn.functional.pad(liegg.so(2), (0, 2, 0, 2))
    brightness = torch.zeros(1, 4, 4, dtype=torch.float64)
    brightness[0, 2, 3] = 1.0
    assert found.nullity == 2
    assert_same_span(found.generators, torch.cat([turn, brightness]), tolerance=5e-8)
    assert found.defect(turn)[0] < 6e-14  # what the grid leaves
    assert found.defect(brightness)[0] < 1e-30  # rounding
    assert found.defects[2] > 0.3


def test_units_do_not_matter(found, both):
    again = liegg.discover(
        RadialDifferences(32, scale=1000.0), 1000 * bumps(150, 32, width=3.0), both
    )
    assert again.nullity == found.nullity
    torch.testing.assert_close(again.defects[1:], found.defects[1:], rtol=1e-6, atol=0)
    assert again.defects[0] < 1e-30  # brightness: rounding, which has no digits to compare
    assert_same_span(again.generators, found.generators, tolerance=1e-6)


def test_alone_each_finds_its_own():
    model, images = RadialDifferences(32), bumps(150, 32, width=3.0)
    assert liegg.discover(model, images, liegg.Image()).nullity == 1
    assert liegg.discover(model, images, liegg.Color("affine", channels=1)).nullity == 1


def test_float32_finds_both(both):
    model = RadialDifferences(32).float()
    sym = liegg.discover(model, bumps(150, 32, width=3.0).float(), both)
    assert sym.nullity == 2
    assert sym.accumulated.displacement.block.dtype == torch.float64


# Settings, errors


def test_settings_make_it_again():
    both = liegg.Product(
        liegg.Image("affine", shape=(4, 5)),
        liegg.Color(channels=1),
        liegg.Product(liegg.Linear(20), liegg.Affine(20)),
    )
    assert action_from_settings(both.settings()) == both
    assert both.settings()["kind"] == "product"


def test_repr_names_the_parts():
    both = liegg.Product(liegg.Linear(2), liegg.Image("affine"))
    parts = "Linear(n=2, copies=1, layout='copies_first'), Image(group='affine', derivative='secant', border='replicate')"
    assert repr(both) == f"Product({parts})"


def block(*entries):
    matrix = torch.zeros(1, 4, 4)
    for i, j in entries:
        matrix[0, i, j] = 1.0
    return matrix


BOTH = liegg.Product(liegg.Image(), liegg.Color(channels=1))


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: Product(),
            ArgumentError,
            r"Product takes two or more actions, for example Product\(Image\(\), Color\(\)\)\.",
        ),
        (lambda: Product(liegg.Image()), ArgumentError, "Product takes two or more actions"),
        (
            lambda: Product(liegg.Image(), liegg.so(2)),  # pyright: ignore[reportArgumentType]
            ArgumentError,
            "Product takes two or more actions",
        ),
        (
            lambda: BOTH.coefficients(torch.zeros(1, 3, 3)),
            ArgumentError,
            r"generators have shape \(1, 3, 3\); expected block diagonal \[d, 4, 4\]",
        ),
        (
            lambda: BOTH.coefficients(torch.zeros(4, 4)),
            ArgumentError,
            r"shape \(4, 4\); expected block diagonal",
        ),
        (
            lambda: BOTH.coefficients(block((0, 2))),
            ArgumentError,
            "entries outside its diagonal blocks, one per action",
        ),
        (
            lambda: BOTH.coefficients(block((3, 1))),
            ArgumentError,
            "entries outside its diagonal blocks",
        ),
        (lambda: BOTH.coefficients(block((3, 2))), ArgumentError, "last row other than zero"),
        (lambda: BOTH.check((784,)), ShapeError, r"Image\(\) expects"),
        (
            lambda: liegg.Product(liegg.Image(), liegg.Color()).check((28, 28)),
            ShapeError,
            r"Color\(channels=3\) expects",
        ),
        (lambda: BOTH.restrict(liegg.so(2)), ArgumentError, r"expected block diagonal \[d, 4, 4\]"),
    ],
)
def test_errors(monkeypatch, make, error, text):
    monkeypatch.setattr(
        jaxtyping.config, "jaxtyping_disable", True
    )  # users run without the type checks
    with pytest.raises(error, match=text):
        make()
