"""Motions of images at a finite scale: secants of the action's own motions, and of whole pixels."""

import math
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import torch

import liegg
from cases import normal
from liegg.actions.grid.coordinates import coordinates
from liegg.actions.grid.stencils import BORDERS
from signals import MAKERS, bumps, off

SIZES = [(17,), (12, 15), (15, 12), (9, 8, 11)]


def secants(action, x, scale=1.0):
    """Half the difference between every sample moved forwards and backwards, over the step."""
    steps = scale * action.steps(tuple(x.shape[1:]))
    unit = torch.eye(action.size, dtype=x.dtype)
    return torch.stack(
        [
            (action.act(s * h, x) - action.act(-s * h, x)) / (2 * s)
            for s, h in zip(steps, unit, strict=True)
        ],
        1,
    )


def inner(fields, dimension, width=2):
    return fields[(..., *[slice(width, -width)] * dimension)]


def test_the_fields_of_shears_and_translations_are_secants_of_the_motion():
    """Also of white noise, where every other scheme is far off; scalings move by e^s - 1, not by s."""
    for step, sides in product([1.0, 0.6, 0.1], SIZES):
        d = len(sides)
        action, x = MAKERS[d]("affine", step=step), normal(3, *sides)
        wanted, got = inner(secants(action, x), d), inner(action.fields(x), d)
        scalings = {i * (d + 1) + i for i in range(d)}
        others = [a for a in range(action.size) if a not in scalings]
        torch.testing.assert_close(got[:, others], wanted[:, others], rtol=0, atol=1e-11)
        for a in scalings:
            assert off(got[:, a], wanted[:, a].numpy()) < 0.3 * step


def test_a_translation_is_that_by_a_whole_pixel_without_interpolation():
    """Compared with rolled and cropped pixels."""
    for border, sides in product(BORDERS, SIZES):
        d, x = len(sides), normal(2, *sides)
        action = MAKERS[d]("affine", border=border)
        unit = min(sides) / 2
        modes: Any = {"replicate": "edge", "periodic": "wrap", "zeros": "constant"}
        padded = np.pad(x.numpy(), [(0, 0), *[(1, 1)] * d], mode=modes[border])
        for i in range(d):
            axis = d - i  # x runs along the last axis
            crop = [slice(None), *[slice(1, -1)] * d]
            ahead, behind = crop.copy(), crop.copy()
            ahead[axis], behind[axis] = slice(2, None), slice(None, -2)
            sign = -1.0 if i == 1 else 1.0  # y runs up
            wanted = -sign * unit * (padded[tuple(ahead)] - padded[tuple(behind)]) / 2
            h = torch.zeros(action.size, dtype=torch.float64)
            h[i * (d + 1) + d] = 1.0
            np.testing.assert_allclose(action.field(h, x), wanted, rtol=0, atol=1e-12 * unit)


@pytest.mark.parametrize("sides", SIZES)
def test_the_motion_by_one_pixel_is_a_shift_of_the_pixels(sides):
    """What secants are compared with, and `verify` uses: exact where no pixel comes from outside."""
    d, x = len(sides), normal(2, *sides)
    action = MAKERS[d]("affine")
    steps = action.steps(sides)
    for i in range(d):
        a, axis = i * (d + 1) + d, d - i
        moved = action.act(steps[a] * torch.eye(action.size, dtype=torch.float64)[a], x)
        shifted = x.roll(-1 if i == 1 else 1, axis)
        torch.testing.assert_close(
            inner(moved, d, 1), inner(shifted, d, 1), rtol=0, atol=1e-12 * float(x.abs().max())
        )


@pytest.mark.parametrize("border", ["replicate", "periodic", "zeros"])
def test_small_secants_are_those_of_the_motion_also_at_the_border(border):
    action, x = liegg.Image("affine", border=border, step=0.01), normal(3, 6, 5)
    assert off(action.fields(x), secants(action, x).numpy()) < 0.02


def test_no_pixel_moves_further_than_the_step():
    for sides in SIZES:
        for step in (1.0, 0.25):
            action = MAKERS[len(sides)]("affine", step=step)
            places = torch.cat(
                [coordinates(sides), torch.ones(math.prod(sides), 1)], dim=1
            ).double()
            moved = min(sides) / 2 * action.steps(sides) * places.repeat(1, len(sides)).abs()
            torch.testing.assert_close(
                moved.amax(0), torch.full((action.size,), step, dtype=torch.float64)
            )


def band_limited(side, samples=3):
    """Periodic images of up to three waves along each axis, and their derivatives to the right and up."""
    k = torch.arange(-3, 4, dtype=torch.float64)
    at = 2 * math.pi * torch.arange(side, dtype=torch.float64) / side
    phase = k[:, None, None, None] * at + k[:, None, None] * at[:, None]
    height, angle = normal(samples, 7, 7, seed=3), normal(samples, 7, 7, seed=4)
    wave = phase + angle[:, :, :, None, None]
    f = (height[..., None, None] * wave.cos()).sum((1, 2))
    slope = -height[..., None, None] * wave.sin() * math.pi  # one unit is half the side
    return (
        f,
        (slope * k[:, None, None, None]).sum((1, 2)),
        -(slope * k[:, None, None]).sum((1, 2)),
    )


def test_secants_approach_the_exact_fields_with_the_square_of_the_scale():
    """Twice the pixels: half the motion, a quarter of the error; spectral fields have none."""
    errors = []
    for side in (16, 32, 64, 128):
        f, right, up = band_limited(side)
        places = torch.cat([coordinates((side, side)), torch.ones(side**2, 1)], 1).double()
        exact = -torch.stack([right, up], 1)[:, :, None] * places.T.reshape(3, side, side)
        exact = exact.flatten(1, 2)
        error = {
            scheme: off(
                liegg.Image("affine", derivative=scheme, border="periodic").fields(f), exact.numpy()
            )
            for scheme in ("secant", "spectral")
        }
        assert error["spectral"] < 1e-12
        errors.append(error["secant"])
    ratios = [one / other for one, other in pairwise(errors)]
    assert errors[-1] < 0.01
    np.testing.assert_allclose(ratios[1:], 4.0, rtol=0.03)


def test_smaller_steps_approach_the_spline_with_the_square_of_the_step():
    x = bumps((24, 24), width=2.0, samples=2)
    slope = liegg.Image("affine", step=0.01).fields(x)
    far, near = (off(liegg.Image("affine", step=s).fields(x), slope.numpy()) for s in (0.8, 0.4))
    assert 3.9 < far / near < 4.1


def test_fields_are_sums_of_the_candidates_own():
    action, x = liegg.Volume("affine"), normal(2, 2, 5, 6, 7)
    h = normal(4, 12, seed=1)
    torch.testing.assert_close(
        action.tangents(h, x), torch.einsum("tg,bg...->tb...", h, action.fields(x))
    )


def test_the_scale_is_stated():
    action = liegg.Image("affine", step=0.5)
    assert action.settings()["step"] == 0.5
    assert repr(action).endswith("border='replicate', step=0.5)")
    assert eval(repr(action), dict(vars(liegg))) == action
    assert liegg.actions.action_from_settings(action.settings()) == action
    turn = liegg.Image().steps((28, 28))[1]
    assert math.degrees(turn) == pytest.approx(4.244, abs=1e-3)
    assert math.degrees(liegg.Image().steps((224, 224))[1]) == pytest.approx(0.514, abs=1e-3)


def test_a_record_without_a_step_is_read():
    old = {
        key: v for key, v in liegg.Image(derivative="central").settings().items() if key != "step"
    }
    assert liegg.actions.action_from_settings(old) == liegg.Image(derivative="central")


def test_one_row_of_pixels_and_a_constant():
    action = liegg.Image("affine")
    assert not action.fields(normal(2, 1, 9))[:, 3:].any()  # nothing along y
    assert float(action.steps((1, 9))[1]) == 0  # no pixel has another y
    assert float(action.fields(torch.full((2, 9, 8), 5.0).double()).abs().max()) < 1e-12
