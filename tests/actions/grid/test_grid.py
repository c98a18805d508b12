# pyright: reportArgumentType=false
"""Maps of the space of signals on a grid: laws, a dense reference, layouts."""

import math
from itertools import cycle, product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import liegg
from cases import normal
from dense_grid import reference_fields
from liegg.actions import action_from_settings
from liegg.actions.grid.stencils import BORDERS, SCHEMES
from liegg.testing import assert_is_action
from signals import MAKERS, bumps, evaluate, mixture, off, places

# Laws

# Interpolation is the only error: "derivative equals field" compares the slope of a spline with that of the scheme. For bumps of w
# pixels (w = 3; 2.5 in three dimensions) the spline is off by about (1.3/w)⁴/180, "central" by 1/(6 w²) of the second derivative of
# the slope, and "gaussian" smooths by a pixel along every axis. Found: 5e-4 and 1.3e-3 for the spline, 0.03 to 0.05, 0.09 to 0.21.
# All other laws hold to 1e-12, which the dense reference below shows.
TOLERANCE = {
    ("spectral", 1): 6e-4,
    ("spectral", 2): 6e-4,
    ("spectral", 3): 1.6e-3,
    ("secant", 1): 0.035,
    ("secant", 2): 0.04,
    ("secant", 3): 0.06,
    ("central", 1): 0.035,
    ("central", 2): 0.04,
    ("central", 3): 0.06,
    ("gaussian", 1): 0.1,
    ("gaussian", 2): 0.14,
    ("gaussian", 3): 0.25,
}
SAMPLES = [
    ((48,), (), "linear"),
    ((48,), (2,), "affine"),
    ((36, 36), (), "linear"),
    ((32, 40), (2,), "affine"),
    ((40, 32), (), "affine"),
    ((24, 22, 20), (), "affine"),
]


@pytest.mark.parametrize("scheme", ["secant", "spectral", "central", "gaussian"])
def test_laws(scheme):
    for (sides, channels, group), border in zip(SAMPLES, cycle(BORDERS), strict=False):
        dimension = len(sides)
        action = MAKERS[dimension](group, derivative=scheme, border=border)
        action.check((*channels, *sides))
        x = bumps(sides, width=2.5 if dimension == 3 else 3.0, samples=1, channels=channels)
        assert_is_action(action, x, tolerance=TOLERANCE[scheme, dimension], seed=1)


# A dense reference

DENSE = [((7,), (2,)), ((4, 5), (2,)), ((5, 4), ()), ((3, 4, 5), (2,))]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_dense_reference(scheme):
    """Fields, rows and displacement of affine maps; linear ones are a part of them."""
    sigma = 0.4
    for (sides, channels), border in product(DENSE, BORDERS):
        d, knobs = len(sides), {"derivative": scheme, "border": border, "sigma": sigma}
        x, gradients = normal(2, *channels, *sides), normal(2, 3, *channels, *sides, seed=1)
        wanted = reference_fields(x.numpy().reshape(2, -1, *sides), scheme, border, sigma)
        for action in (MAKERS[d]("affine", **knobs), MAKERS[d]("linear", **knobs)):
            own = wanted.reshape(2, d, d + 1, -1)[:, :, : action.ambient].reshape(
                2, action.size, -1
            )
            slopes = gradients.numpy().reshape(2, 3, -1)
            np.testing.assert_allclose(action.fields(x).flatten(2), own, rtol=0, atol=1e-12)
            rows = np.einsum("bkp,bgp->bkg", slopes, own)
            np.testing.assert_allclose(action.contract(gradients, x), rows, rtol=0, atol=1e-11)
            moment = np.einsum("bgp,bhp->gh", own, own) / 2
            displacement = action.displacement(action.moment(x), 2).dense()
            np.testing.assert_allclose(displacement, moment, rtol=0, atol=1e-10)


def test_fields_of_smooth_signals_are_their_derivatives():
    """Minus the gradient along the velocity of every place, known in closed form: no interpolation, so exact where it has faded."""
    for sides in [(48,), (32, 40), (24, 26, 22)]:
        d = len(sides)
        parameters, at = mixture(sides, width=2.0), places(sides)
        generator = np.random.default_rng(1).normal(size=(d, d + 1))
        velocity = at @ generator[:, :d].T + generator[:, d]
        step = 1e-4  # differences of the fourth order: right to 1e-11 of a smooth function
        ahead = [evaluate(parameters, at + k * step * velocity) for k in (1, -1, 2, -2)]
        wanted = -(8 * (ahead[0] - ahead[1]) - (ahead[2] - ahead[3])) / (12 * step)
        got = MAKERS[d]("affine", derivative="spectral").field(
            torch.tensor(generator.flatten()), torch.tensor(evaluate(parameters, at))
        )
        assert off(got, wanted) < 1e-6


# One answer, whichever way it is asked for


CASES: list[tuple[Any, torch.Tensor, torch.Tensor]] = [
    (
        MAKERS[d]("affine", derivative=scheme),
        normal(3, 2, *(6, 7, 5)[:d]),
        normal(3, 4, 2, *(6, 7, 5)[:d], seed=1),
    )
    for d in (1, 2, 3)
    for scheme in SCHEMES
]


def test_all_methods_agree():
    for action, x, gradients in CASES:
        h = normal(5, action.size, seed=2) / 10
        tangents = action.tangents(h, x)
        torch.testing.assert_close(tangents, torch.stack([action.field(row, x) for row in h]))
        torch.testing.assert_close(tangents, torch.einsum("tg,bg...->tb...", h, action.fields(x)))
        matrix = action.matrices(h[:1])[0]
        torch.testing.assert_close(action.act(matrix, x), action.act(h[0], x))
        alone = sum(action.moment(sample[None]) for sample in x)
        torch.testing.assert_close(action.moment(x), alone)
        shared = action.precompute(x)
        assert all(slope.shape == (3, 2, math.prod(x.shape[2:])) for slope in shared)
        rows = action.contract(gradients, x)
        torch.testing.assert_close(action.contract(gradients, x, precomputed=shared), rows)
        torch.testing.assert_close(action.moment(x, precomputed=action.precompute(x)), alone)


def test_float32_rows_and_moments_are_those_of_float64():
    for action, x, gradients in CASES:
        exact, coarse = action.moment(x), action.moment(x.float())
        assert coarse.dtype == torch.float64  # summed over places in float64
        torch.testing.assert_close(coarse, exact, rtol=0, atol=1e-5 * float(exact.abs().max()))
        rows, half = action.contract(gradients, x), action.contract(gradients.float(), x.float())
        close = 1e-5 * float(rows.abs().max())
        torch.testing.assert_close(half.double(), rows, rtol=0, atol=close)


def test_rows_and_moments_are_differentiable():
    x, gradients = normal(1, 3, 4).requires_grad_(), normal(1, 2, 3, 4, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(liegg.Image().contract, (gradients, x))
    assert torch.autograd.gradcheck(liegg.Image().moment, (x,))


def test_float16_data_has_a_finite_displacement():
    images = (normal(700, 28, 28) > 0).half()
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 3, dtype=torch.float16))
    sym = liegg.discover(model, images, liegg.Image())
    exact = liegg.Image().moment(images.double()) / 700
    torch.testing.assert_close(
        sym.accumulated.displacement.block, exact, rtol=0, atol=1e-2 * float(exact.max())
    )


# Layouts


def test_every_layout_gives_the_same():
    for channels, scheme in product((1, 3), SCHEMES):
        x, gradients = normal(4, channels, 5, 6), normal(4, 2, channels, 5, 6, seed=1)
        h, knobs = normal(6, seed=2) / 10, {"derivative": scheme, "border": "zeros"}
        plain = liegg.Image("affine", **knobs)
        layouts = [((channels, 5, 6), (channels, 5, 6)), ((channels * 30,), (channels, 5, 6))]
        if channels == 1:
            layouts += [((5, 6), None), ((5, 6), (5, 6)), ((30,), (5, 6))]
        for sample, shape in layouts:
            action, y = liegg.Image("affine", shape=shape, **knobs), x.reshape(4, *sample)
            slopes = gradients.reshape(4, 2, *sample)
            action.check(sample)
            for one, other in [
                (action.act(h, y), plain.act(h, x).reshape(4, *sample)),
                (action.fields(y), plain.fields(x).reshape(4, 6, *sample)),
                (action.contract(slopes, y), plain.contract(gradients, x)),
                (action.moment(y), plain.moment(x)),
            ]:
                torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_a_batch_of_one_and_a_batch_of_none():
    action, x = liegg.Image("affine"), normal(3, 2, 5, 6)
    torch.testing.assert_close(action.fields(x[:1]), action.fields(x)[:1])
    torch.testing.assert_close(action.act(normal(6) / 10, x[:1]), action.act(normal(6) / 10, x)[:1])
    assert action.contract(x[:0, None], x[:0]).shape == (0, 1, 6)
    assert not action.moment(x[:0]).any()


def test_channels_move_alike_and_add_up():
    action, x, gradients = liegg.Image(), normal(3, 2, 5, 6), normal(3, 1, 2, 5, 6, seed=1)
    for channel in range(2):
        torch.testing.assert_close(action.fields(x)[:, :, channel], action.fields(x[:, channel]))
    alone = [action.contract(gradients[:, :, channel], x[:, channel]) for channel in range(2)]
    torch.testing.assert_close(action.contract(gradients, x), alone[0] + alone[1])


@given(
    sides=st.tuples(st.integers(1, 7), st.integers(2, 7)),
    scheme=st.sampled_from(SCHEMES),
    border=st.sampled_from(BORDERS),
)
@settings(deadline=None, max_examples=30)
def test_small_and_narrow_grids_have_finite_answers(sides, scheme, border):
    action, x = liegg.Image("affine", derivative=scheme, border=border), normal(2, *sides)
    action.check(sides)
    for answer in (action.fields(x), action.moment(x), action.act(normal(6) / 5, x)):
        assert bool(torch.isfinite(answer).all())
    if sides[0] == 1:  # one row has no slope along y
        assert not action.fields(x)[:, 3:].any()


def test_a_frame_is_left_out_of_fields_rows_and_displacement():
    for sides, scheme in product([(7,), (6, 8), (5, 6, 7)], SCHEMES):
        whole, framed = (
            MAKERS[len(sides)]("affine", derivative=scheme, frame=frame) for frame in (0, 2)
        )
        x, slopes = normal(3, 2, *sides), normal(3, 4, 2, *sides, seed=1)
        inside = torch.zeros(sides, dtype=torch.float64)
        inside[tuple(slice(2, -2) for _ in sides)] = 1.0
        fields = whole.fields(x) * inside
        torch.testing.assert_close(framed.fields(x), fields)
        torch.testing.assert_close(
            framed.contract(slopes, x),
            torch.einsum("bkx,bgx->bkg", slopes.flatten(2), fields.flatten(2)),
        )
        torch.testing.assert_close(
            framed.moment(x), torch.einsum("bgx,bhx->gh", fields.flatten(2), fields.flatten(2))
        )
        assert action_from_settings(framed.settings()) == framed
        assert eval(repr(framed), dict(vars(liegg))) == framed


def test_zeros_beyond_the_border_are_what_the_default_derivative_sees():
    """A bright picture on a black ground: translations move its edge, under the field as under the motion."""
    bright = torch.ones(1, 12, 12, dtype=torch.float64)
    shift = liegg.Image("affine").coefficients(liegg.translation(2)[:1])[0]
    assert float(liegg.Image("affine", border="zeros").field(shift, bright).norm()) > 1.0
    assert float(liegg.Image("affine").field(shift, bright).norm()) < 1e-10


def test_what_moves_by_rounding_alone_is_told_from_disk_as_before(tmp_path):
    stripes = (
        torch.rand(60, 1, 12, generator=torch.Generator().manual_seed(0))
        .expand(60, 12, 12)
        .contiguous()
    )
    sym = liegg.discover(lambda x: x[:, 3, ::4].square(), stripes, liegg.Image())
    assert len(sym.accumulated.solution.trivial) == 2
    assert sym.settings["noise"] == sym.accumulated.displacement.noise > 0
    back = liegg.load(sym.save(tmp_path / "run"))
    shear = liegg.Image().matrices(torch.eye(4, dtype=torch.float64))[
        2:3
    ]  # along y, which nothing depends on
    assert bool(sym.defect(shear).isnan().all())
    assert bool(back.defect(shear).isnan().all())


def test_pictures_too_large_for_their_precision_are_refused():
    with pytest.raises(liegg.LieggError, match="squared motion of the data overflows"):
        liegg.discover(
            lambda x: (x / 1e20).mean((1, 2)), 1e20 * normal(30, 8, 8).float(), liegg.Image()
        )
