"""Derivatives and smoothing along one axis: signals whose derivative is known, and scipy's filters."""

from itertools import product
from typing import Any, get_args

import jaxtyping
import numpy as np
import pytest
import scipy.ndimage
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import liegg
from cases import normal
from liegg._utils.errors import ArgumentError
from liegg.actions.grid.stencils import (
    BORDERS,
    Filter,
    along,
    derivative_matrix,
    smooth,
    smoothing_matrix,
    stencil_array,
)

FAITHFUL = ("spectral", "central", "gaussian")
"""Schemes that treat left and right alike; the paper's forward difference does not."""

MODES = {"replicate": "nearest", "zeros": "constant", "periodic": "wrap"}
"""What scipy calls the borders."""


def bell(sigma):
    """A Gaussian over whole pixels, cut at four standard deviations, with sum 1; and its offsets."""
    offsets = np.arange(-int(np.ceil(4 * sigma)), int(np.ceil(4 * sigma)) + 1)
    weights = np.exp(-(offsets**2) / (2 * sigma**2))
    return offsets, weights / weights.sum()


# Derivatives of known signals


def test_a_constant_has_no_derivative():
    for side, scheme, border in product([2, 9, 12], get_args(Filter), BORDERS):
        slope = derivative_matrix(side, scheme, border) @ torch.ones(side, dtype=torch.float64)
        if scheme in ("spectral", "spline") and border == "zeros":
            # A jump at the border, which waves and splines can only ring about.
            assert slope[0] > 0.1
            torch.testing.assert_close(slope, -slope.flip(0))
            continue
        if (
            border == "zeros" and scheme != "paper"
        ):  # there the constant ends, and only there: where the stencil reaches
            reach = {"central": 1, "gaussian": 4}[scheme]
            assert slope[0] > 0.1
            torch.testing.assert_close(slope, -slope.flip(0))
            slope = slope[reach : side - reach]
        assert slope.abs().sum() < 1e-14 * side


def test_a_ramp_has_its_slope_inside():
    reaches: dict[Filter, int] = {"central": 1, "gaussian": 4, "paper": 1}
    for (scheme, reach), border in product(reaches.items(), BORDERS):
        ramp = 2.5 * torch.arange(13, dtype=torch.float64) - 4
        slope = derivative_matrix(13, scheme, border) @ ramp
        torch.testing.assert_close(
            slope[reach:-reach], torch.full((13 - 2 * reach,), 2.5, dtype=torch.float64)
        )


def test_spectral_is_exact_on_waves_of_the_period():
    for side in [2, 3, 8, 15, 28]:
        i = torch.arange(side, dtype=torch.float64)
        matrix = derivative_matrix(side, "spectral", "periodic")
        for k in range((side + 1) // 2):
            rate = 2 * torch.pi * k / side
            assert (
                matrix @ torch.sin(rate * i + 0.7) - rate * torch.cos(rate * i + 0.7)
            ).abs().max() < 1e-10
        if (
            side % 2 == 0
        ):  # the highest frequency is +1, -1, ...: nothing on the grid tells a slope at the pixels
            assert (matrix @ torch.cos(torch.pi * i)).abs().max() < 1e-10


def test_spectral_beyond_zeros_is_that_of_the_signal_and_as_many_zeros():
    for side in [2, 3, 8, 15, 28]:
        twice = derivative_matrix(2 * side, "spectral", "periodic")
        torch.testing.assert_close(
            derivative_matrix(side, "spectral", "zeros"), twice[:side, :side]
        )


def test_spectral_is_exact_on_cosines_that_are_flat_at_both_ends():
    for side in [2, 3, 8, 15, 28]:
        i = torch.arange(side, dtype=torch.float64) + 0.5
        matrix = derivative_matrix(side, "spectral", "replicate")
        for k in range(side):
            rate = torch.pi * k / side
            assert (matrix @ torch.cos(rate * i) + rate * torch.sin(rate * i)).abs().max() < 1e-10


@pytest.mark.parametrize("border", BORDERS)
def test_central_is_the_gradient_of_numpy_inside(border):
    signals = normal(17, 4)
    got = derivative_matrix(17, "central", border) @ signals
    np.testing.assert_allclose(
        got[1:-1], np.asarray(np.gradient(signals.numpy(), axis=0))[1:-1], rtol=0, atol=1e-14
    )


def test_gaussian_is_the_gaussian_derivative_of_scipy():
    for sigma, border in product([0.5, 1.0, 1.5, 2.0], BORDERS):
        signals = normal(31, 4).numpy()
        got = derivative_matrix(31, "gaussian", border, sigma).numpy() @ signals
        theirs = scipy.ndimage.gaussian_filter1d(
            signals, sigma, axis=0, order=1, mode=MODES[border]
        )
        offsets, weights = bell(sigma)
        ramp = (
            offsets**2 * weights
        ).sum() / sigma**2  # what scipy makes of a slope of 1, because its bell is cut and sampled
        np.testing.assert_allclose(got, theirs / ramp, rtol=0, atol=1e-13)
        if (
            sigma >= 1
        ):  # a Gaussian beyond four widths has 1.1e-3 of its second moment: so much do the two differ at most
            assert abs(ramp - 1) < 1.2e-3


@pytest.mark.parametrize("border", BORDERS)
def test_paper_is_the_forward_difference_and_stops_at_the_last_pixel(border):
    signals = normal(9, 3)
    got = derivative_matrix(9, "paper", border) @ signals
    torch.testing.assert_close(got[:-1], signals[1:] - signals[:-1])
    assert not got[-1].any()


# Laws


@given(
    side=st.integers(2, 20),
    scheme=st.sampled_from(FAITHFUL),
    border=st.sampled_from(BORDERS),
    sigma=st.floats(0.3, 3.0),
)
@settings(deadline=None, max_examples=60)
def test_the_mirror_image_has_the_mirrored_derivative(side, scheme, border, sigma):
    matrix = derivative_matrix(side, scheme, border, sigma)
    torch.testing.assert_close(matrix.flip(0, 1), -matrix, rtol=0, atol=1e-13)


@given(
    side=st.integers(2, 20),
    scheme=st.sampled_from(FAITHFUL),
    sigma=st.floats(0.3, 3.0),
    shift=st.integers(-25, 25),
)
@settings(deadline=None, max_examples=60)
def test_a_periodic_derivative_goes_along_with_shifts(side, scheme, sigma, shift):
    matrix = derivative_matrix(side, scheme, "periodic", sigma)
    torch.testing.assert_close(matrix.roll((shift, shift), (0, 1)), matrix, rtol=0, atol=1e-13)


@given(
    side=st.integers(1, 20),
    border=st.sampled_from(BORDERS),
    sigma=st.just(0.0) | st.floats(1e-3, 3.0),
)
@settings(deadline=None, max_examples=60)
def test_smoothing_takes_means(side, border, sigma):
    matrix = smoothing_matrix(side, border, sigma)
    assert bool((matrix >= 0).all())
    shares = matrix.sum(1)
    if border == "zeros":  # what lies beyond counts as 0
        assert bool((shares <= 1 + 1e-14).all())
    else:
        torch.testing.assert_close(shares, torch.ones(side, dtype=torch.float64))


def test_a_stencil_is_written_out_row_by_row():
    weights = np.array([1.0, 2.0, 4.0])
    assert stencil_array(weights, 3, "zeros").tolist() == [[2, 4, 0], [1, 2, 4], [0, 1, 2]]
    assert stencil_array(weights, 3, "replicate").tolist() == [[3, 4, 0], [1, 2, 4], [0, 1, 6]]
    assert stencil_array(weights, 3, "periodic").tolist() == [[2, 4, 1], [1, 2, 4], [4, 1, 2]]


def test_a_stencil_wider_than_the_signal_reaches_around():
    assert stencil_array(np.array([1.0, 2.0, 4.0, 8.0, 16.0]), 2, "periodic").tolist() == [
        [21, 10],
        [10, 21],
    ]
    assert stencil_array(np.array([1.0, 2.0, 4.0, 8.0, 16.0]), 2, "replicate").tolist() == [
        [7, 24],
        [3, 28],
    ]


@pytest.mark.parametrize("border", BORDERS)
def test_one_pixel_has_no_slope_and_smooths_to_itself(border):
    for scheme in get_args(Filter):
        assert derivative_matrix(1, scheme, border).tolist() == [[0.0]]
    share = bell(1.0)[1][4] if border == "zeros" else 1.0
    torch.testing.assert_close(
        smoothing_matrix(1, border, 1.0), torch.full((1, 1), float(share), dtype=torch.float64)
    )


def test_the_narrowest_smoothing_changes_nothing():
    assert torch.equal(smoothing_matrix(5, "replicate", 1e-200), torch.eye(5, dtype=torch.float64))


# Along an axis, smoothing


def test_along_every_axis():
    for axis, indices in [
        (-1, "si,abci->abcs"),
        (-2, "si,abic->absc"),
        (-3, "si,aibc->asbc"),
        (-4, "si,iabc->sabc"),
    ]:
        x = normal(2, 3, 4, 5)
        matrix = normal(x.shape[axis], x.shape[axis], seed=1)
        np.testing.assert_allclose(
            along(matrix, x, axis),
            np.einsum(indices, matrix.numpy(), x.numpy()),
            rtol=0,
            atol=1e-13,
        )
        assert along(matrix, x.float(), axis).dtype == torch.float32


def test_smooth_is_the_gaussian_filter_of_scipy():
    for (shape, dimension), sigma, border in product(
        [((2, 9, 12), 2), ((2, 3, 9, 12), 2), ((2, 3, 17), 1), ((2, 17), 1), ((2, 5, 6, 7), 3)],
        [0.5, 1.0, 1.5],
        BORDERS,
    ):
        x = normal(*shape)
        axes = tuple(range(-dimension, 0))
        theirs = scipy.ndimage.gaussian_filter(x.numpy(), sigma, mode=MODES[border], axes=axes)
        np.testing.assert_allclose(
            smooth(x, sigma, dimension=dimension, border=border), theirs, rtol=0, atol=1e-14
        )


def test_smooth_replicates_the_border_unless_told():
    torch.testing.assert_close(
        smooth(normal(2, 9, 12), 1.5), smooth(normal(2, 9, 12), 1.5, border="replicate")
    )


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_a_periodic_border_keeps_the_sum(dimension):
    x = normal(4, 2, 6, 7, 8)
    kept = smooth(x, 1.3, dimension=dimension, border="periodic") - x
    assert kept.sum(tuple(range(-dimension, 0))).abs().max() < 1e-12


@pytest.mark.parametrize("border", BORDERS)
def test_no_width_changes_nothing(border):
    assert torch.equal(smooth(normal(2, 9, 12), 0.0, border=border), normal(2, 9, 12))


def test_smooth_keeps_the_dtype_and_is_differentiable():
    x = normal(1, 4, 5)
    assert smooth(x.float(), 1.0).dtype == torch.float32
    assert torch.autograd.gradcheck(lambda x: smooth(x, 1.0), (x.requires_grad_(),))


def test_a_call_in_inference_mode_does_not_spoil_later_ones():
    x = normal(2, 6, 5)
    with torch.inference_mode():
        smooth(x, 0.77)
    smooth(x.requires_grad_(), 0.77).sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(
        x.grad.sum(), torch.tensor(60.0, dtype=torch.float64)
    )  # what smoothing takes here it gives there


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: smooth(normal(1, 4, 4), -1.0),
            r"sigma=-1.0: expected a width in pixels from 0 to 1000, for example sigma=1.5\.",
        ),
        (lambda: smooth(normal(1, 4, 4), float("nan")), "sigma=nan: expected a width"),
        (lambda: smooth(normal(1, 4, 4), float("inf")), "sigma=inf: expected a width"),
        (
            lambda: smooth(normal(4, 4), 1.0),
            "images have 2 axes; expected samples, perhaps channels, and 2 spatial axes",
        ),
        (
            lambda: smooth(normal(1, 4, 4), 1.0, dimension=3),
            "images have 3 axes; expected .* 3 spatial axes",
        ),
        (
            lambda: smooth(normal(1, 4, 4), 1.0, border="mirror"),  # pyright: ignore[reportArgumentType]
            "border='mirror': expected one of 'replicate', 'zeros', 'periodic'",
        ),
    ],
)
def test_errors(monkeypatch, make, text):
    monkeypatch.setattr(
        jaxtyping.config, "jaxtyping_disable", True
    )  # users run without the type checks
    with pytest.raises(ArgumentError, match=text):
        make()


# Why the spectral scheme is the default


def plane_waves(side, seed, *, periodic):
    """A sum of plane waves up to half of the highest frequency of the grid, and its derivatives by row and by column."""
    rng = np.random.default_rng(seed)
    row, column = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    image = np.zeros((3, side, side))
    for _ in range(12):
        k = (
            2 * np.pi * rng.integers(-(side // 4), side // 4 + 1, 2) / side
            if periodic
            else rng.uniform(-np.pi / 2, np.pi / 2, 2)
        )
        size, angle = rng.normal(), k[0] * row + k[1] * column + rng.uniform(0, 2 * np.pi)
        image += size * np.stack([np.cos(angle), -k[0] * np.sin(angle), -k[1] * np.sin(angle)])
    return image


def sampled(family, side, seed):
    """An image `[side, side]` of a family, and its two derivatives."""
    f, by_row, by_column = plane_waves(side, seed, periodic=family == "periodic")
    if family != "fading":
        return f, np.stack([by_row, by_column])
    i, width = np.arange(side) - (side - 1) / 2, side / 8
    one = np.exp(-(i**2) / (2 * width**2))
    window, slope = np.outer(one, one), np.outer(-i / width**2 * one, one)
    return f * window, np.stack([by_row * window + f * slope, by_column * window + f * slope.T])


# Largest error that the spectral scheme is allowed, as a share of the derivative: rounding where the interpolant is the image; what
# the window leaves at the border (e^-8 = 3e-4); the kink of the mirror image. The other schemes are off by 0.16 and more.
OLDER = ("spectral", "central", "gaussian", "paper")
FAMILIES = {"periodic": 1e-13, "fading": 3e-4, "cut": 0.15}


def test_spectral_is_the_most_accurate_scheme_on_every_family_of_images():
    for family, seed, side in product(FAMILIES, range(5), [28, 33]):
        image, wanted = sampled(family, side, seed)
        x, error = torch.tensor(image)[None], {}
        for scheme in OLDER:
            matrix = derivative_matrix(
                side, scheme, "periodic" if family == "periodic" else "replicate"
            )
            got = torch.cat([along(matrix, x, -2), along(matrix, x, -1)]).numpy()
            error[scheme] = np.linalg.norm(got - wanted) / np.linalg.norm(wanted)
        assert error["spectral"] < FAMILIES[family]
        assert min(error[scheme] for scheme in OLDER if scheme != "spectral") > max(
            2 * error["spectral"], 0.15
        )


loose: Any = smooth


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: loose(torch.ones(1, 4, 4, dtype=torch.uint8), 1.5),
            "images are torch.uint8; smoothing needs a floating point tensor",
        ),
        (
            lambda: loose(np.ones((1, 4, 4)), 1.5),
            "images are float64; smoothing needs a floating point tensor",
        ),
        (lambda: loose(torch.ones(1, 4, 4), "a"), "sigma='a': expected a width in pixels"),
        (
            lambda: loose(torch.ones(1, 4, 4), 1.0, dimension=0),
            "dimension=0: expected 1 for sequences",
        ),
    ],
)
def test_what_cannot_be_smoothed(monkeypatch, call, text):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    with pytest.raises(liegg.LieggError, match=text):
        call()
