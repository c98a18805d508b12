"""Cubic splines through the pixels: scipy's, and the laws of reading a signal elsewhere."""

from functools import partial
from itertools import product

import numpy as np
import pytest
import scipy.ndimage
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import normal
from liegg._utils.forward_mode import jvp
from liegg.actions.grid.interpolate import resample
from liegg.actions.grid.stencils import BORDERS

GRIDS = [(9,), (2,), (1,), (5, 8), (1, 6), (4, 3, 5)]


def pixels(shape):
    """Places of all pixels, in their order."""
    return torch.cartesian_prod(
        *[torch.arange(side, dtype=torch.float64) for side in shape]
    ).reshape(-1, len(shape))


def scattered(count, shape, low, high, seed=1):
    """Random places from `low` to `high` of the way along every axis: 0 and 1 are the first and the last pixel."""
    share = torch.rand(
        count, len(shape), generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )
    return (low + (high - low) * share) * (torch.tensor(shape, dtype=torch.float64) - 1)


def test_at_the_pixels_it_is_the_pixels():
    for shape, border in product(GRIDS, BORDERS):
        x = normal(3, *shape)
        torch.testing.assert_close(
            resample(x, pixels(shape), border), x.flatten(1), rtol=0, atol=1e-12
        )


def test_periodic_is_the_spline_of_scipy():
    for shape in [(9,), (2,), (5, 8), (4, 3, 5)]:
        x, places = normal(3, *shape), scattered(200, shape, -2.0, 3.0)  # three periods, and beyond
        theirs = [
            scipy.ndimage.map_coordinates(one, places.numpy().T, order=3, mode="grid-wrap")
            for one in x.numpy()
        ]
        np.testing.assert_allclose(resample(x, places, "periodic"), theirs, rtol=0, atol=1e-10)


@pytest.mark.parametrize("shape", [(16,), (12, 17), (12, 13, 14)], ids=str)
def test_replicate_is_the_spline_of_scipy_inside(shape):
    x, places = normal(3, *shape), scattered(200, shape, 0.0, 1.0)
    # From 12 pixels on: on fewer, scipy's "reflect" does not even give back the pixels (1e-5 for 3, 3e-12 for 9).
    theirs = [
        scipy.ndimage.map_coordinates(one, places.numpy().T, order=3, mode="reflect")
        for one in x.numpy()
    ]
    np.testing.assert_allclose(resample(x, places, "replicate"), theirs, rtol=0, atol=1e-10)


def test_replicate_inside_is_the_periodic_spline_of_signal_and_mirror_image():
    for shape in [(9,), (2,), (5, 8), (4, 3, 5)]:
        x, places = normal(3, *shape), scattered(200, shape, 0.0, 1.0)
        double = [np.pad(one, [(0, side) for side in shape], mode="symmetric") for one in x.numpy()]
        theirs = [
            scipy.ndimage.map_coordinates(one, places.numpy().T, order=3, mode="grid-wrap")
            for one in double
        ]
        np.testing.assert_allclose(resample(x, places, "replicate"), theirs, rtol=0, atol=1e-10)


@pytest.mark.parametrize("shape", [(9,), (5, 8), (4, 3, 5)], ids=str)
def test_replicate_outside_is_the_value_at_the_nearest_place_inside(shape):
    x, places = normal(3, *shape), scattered(100, shape, -2.0, 3.0)
    inside = torch.minimum(places.clamp_min(0), torch.tensor(shape, dtype=torch.float64) - 1)
    assert int((places != inside).any(1).sum()) > 50
    torch.testing.assert_close(
        resample(x, places, "replicate"), resample(x, inside, "replicate"), rtol=0, atol=1e-13
    )


def test_replicate_beyond_a_corner_is_the_corner():
    x = normal(2, 4, 5)
    beyond = torch.tensor(
        [[-3.0, -0.1], [-9.0, 4.5], [3.2, -7.0], [8.0, 99.0]], dtype=torch.float64
    )
    corners = x[:, [0, 0, -1, -1], [0, -1, 0, -1]]
    torch.testing.assert_close(resample(x, beyond, "replicate"), corners, rtol=0, atol=1e-12)


def test_zeros_from_two_pixels_outside_is_zero():
    x = normal(2, 4, 5)
    beyond = torch.tensor(
        [[-2.0, 2.0], [5.0, 2.0], [1.5, -2.0], [1.5, 6.0], [-50.0, 99.0]], dtype=torch.float64
    )
    assert not resample(x, beyond, "zeros").any()
    assert bool(
        resample(x, beyond * torch.tensor([0.7, 0.7]), "zeros")[:, :4].all()
    )  # nearer, it has not yet faded


def test_zeros_is_a_spline_whose_coefficients_outside_are_zero():
    x = normal(3, 7)
    matrix = (np.diag(np.full(7, 4.0)) + np.diag(np.ones(6), 1) + np.diag(np.ones(6), -1)) / 6
    knots = np.linalg.solve(matrix, x.numpy().T)
    places = np.linspace(-3, 9, 61)

    def bump(t):
        t = abs(t)
        return (4 - 6 * t**2 + 3 * t**3) / 6 if t < 1 else max(2 - t, 0) ** 3 / 6

    wanted = [
        [sum(knots[k, b] * bump(place - k) for k in range(7)) for place in places] for b in range(3)
    ]
    np.testing.assert_allclose(
        resample(x, torch.tensor(places)[:, None], "zeros"), wanted, rtol=0, atol=1e-13
    )


@given(
    border=st.sampled_from(BORDERS),
    shape=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    seed=st.integers(0, 1000),
    one=st.floats(-10, 10),
    other=st.floats(-10, 10),
)
@settings(deadline=None, max_examples=40)
def test_linear_in_the_signals(border, shape, seed, one, other):
    x, y = normal(2, *shape, seed=seed), normal(2, *shape, seed=seed + 1)
    places = 6 * normal(11, len(shape), seed=seed + 2)
    whole = resample(one * x + other * y, places, border)
    torch.testing.assert_close(
        whole,
        one * resample(x, places, border) + other * resample(y, places, border),
        rtol=0,
        atol=1e-11,
    )


@given(
    shape=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    seed=st.integers(0, 1000),
    turns=st.integers(-4, 4),
)
@settings(deadline=None, max_examples=40)
def test_a_whole_period_further_it_is_the_same(shape, seed, turns):
    x, places = normal(2, *shape, seed=seed), 4 * normal(11, len(shape), seed=seed + 1)
    further = places + turns * torch.tensor(shape)
    torch.testing.assert_close(
        resample(x, further, "periodic"), resample(x, places, "periodic"), rtol=0, atol=1e-11
    )


@given(
    shape=st.lists(st.integers(2, 6), min_size=1, max_size=3),
    seed=st.integers(0, 1000),
    data=st.data(),
)
@settings(deadline=None, max_examples=40)
def test_rolled_signals_read_elsewhere_are_the_signals(shape, seed, data):
    shift = data.draw(st.tuples(*[st.integers(-5, 5)] * len(shape)))
    x, places = normal(2, *shape, seed=seed), 4 * normal(11, len(shape), seed=seed + 1)
    rolled = x.roll(shift, tuple(range(1, x.ndim)))
    torch.testing.assert_close(
        resample(rolled, places + torch.tensor(shift), "periodic"),
        resample(x, places, "periodic"),
        rtol=0,
        atol=1e-11,
    )


def test_slopes_are_those_of_the_values():
    for shape, border in product([(9,), (5, 8), (4, 3, 5)], BORDERS):
        x, places = normal(3, *shape), scattered(60, shape, -0.4, 1.4)
        direction, step = normal(60, len(shape), seed=2), 1e-6
        slope = jvp(partial(resample, x, border=border), places, direction)[1]
        ahead, behind = (resample(x, places + side * step * direction, border) for side in (1, -1))
        # A difference of step 1e-6 is right to about 1e-9; no random place is so near to where "replicate" has a kink.
        torch.testing.assert_close(slope, (ahead - behind) / (2 * step), rtol=0, atol=1e-8)


def test_slopes_at_the_pixels_are_right_to_the_fourth_order():
    errors = []
    for side in (16, 32):
        i = torch.arange(side, dtype=torch.float64)
        rate = 2 * torch.pi * 2 / side
        slope = jvp(
            lambda p, i=i, rate=rate: resample(torch.sin(rate * i)[None], p, "periodic"),
            i[:, None],
            torch.ones(side, 1).double(),
        )[1]
        errors.append(float((slope / rate - torch.cos(rate * i)).abs().max()))
    assert errors[0] < 3e-3  # (2π/8)⁴/180: the spline's slope of a wave of eight pixels
    assert 14 < errors[0] / errors[1] < 18  # 2⁴


@pytest.mark.parametrize("border", BORDERS)
def test_float32_is_float64_rounded(border):
    x, places = normal(3, 5, 8), scattered(50, (5, 8), -0.4, 1.4)
    got = resample(x.float(), places.float(), border)
    assert got.dtype == torch.float32
    # Places carry 8 pixels × 6e-8, times slopes of a few: 1e-5 leaves room for both.
    torch.testing.assert_close(got.double(), resample(x, places, border), rtol=0, atol=1e-5)


@pytest.mark.parametrize("border", BORDERS)
def test_gradients_flow_to_signals_and_places(border):
    x, places = normal(2, 3, 4).requires_grad_(), scattered(6, (3, 4), -0.3, 1.3).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, p: resample(x, p, border), (x, places))


def test_no_signals_and_no_places_give_none():
    assert resample(normal(0, 4, 5), pixels((4, 5)), "replicate").shape == (0, 20)
    assert resample(normal(3, 4, 5), torch.zeros(0, 2, dtype=torch.float64), "replicate").shape == (
        3,
        0,
    )


def test_why_not_the_cubic_kernel_of_grid_sample():
    """Its slope at a pixel is one and a half times the central difference; the spline's is right to the fourth order."""
    wave, step = torch.sin(2 * torch.pi * torch.arange(24, dtype=torch.float64) / 24), 1e-6

    def theirs(place):
        grid = torch.tensor([2 * place / 23 - 1, 0.0], dtype=torch.float64).reshape(1, 1, 1, 2)
        return float(
            torch.nn.functional.grid_sample(
                wave.reshape(1, 1, 1, 24), grid, mode="bicubic", align_corners=True
            )
        )

    def ours(place):
        return float(resample(wave[None], torch.tensor([[place]], dtype=torch.float64), "periodic"))

    central = float(wave[13] - wave[11]) / 2
    slopes = [(read(12 + step) - read(12 - step)) / (2 * step) for read in (theirs, ours)]
    assert slopes[0] / central == pytest.approx(1.5, rel=1e-4)
    assert slopes[1] == pytest.approx(-2 * torch.pi / 24, rel=1e-4)


def test_without_derivatives_it_is_the_same():
    for shape, dtype, border in product(
        [(9,), (5, 8), (4, 3, 5)], [torch.float32, torch.float64], BORDERS
    ):
        x, places = normal(3, *shape).to(dtype), scattered(50, shape, -0.5, 1.5).to(dtype)
        with torch.no_grad():
            alone = resample(x, places, border)
        torch.testing.assert_close(
            alone, resample(x, places, border), rtol=0, atol=4 * torch.finfo(dtype).eps
        )


def test_forward_derivatives_are_taken_without_gradients_too():
    x, places, step = normal(2, 5, 8), scattered(20, (5, 8), 0.1, 0.9), normal(20, 2, seed=4)
    with torch.no_grad():
        value, slope = jvp(lambda p: resample(x, p, "replicate"), places, step)
        ahead, behind = (resample(x, places + sign * 1e-6 * step, "replicate") for sign in (1, -1))
    torch.testing.assert_close(value, resample(x, places, "replicate"))
    torch.testing.assert_close(slope, (ahead - behind) / 2e-6, rtol=0, atol=1e-7)
