"""Maps of the space that signals on a grid live in: laws, a dense reference, the paper's own function, directions, layouts."""

import math
import re
from typing import Any

import jaxtyping
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import liegg
from cases import mlp, normal
from liegg._utils.errors import ArgumentError, ShapeError
from liegg.actions import Grid, Restricted, action_from_settings
from liegg.actions.grid.stencils import BORDERS, SCHEMES
from liegg.testing import assert_is_action

MAKERS = {1: liegg.Sequence, 2: liegg.Image, 3: liegg.Volume}


def places(sides):
    """Coordinates (x, y, z) of the pixels `[*sides, d]`, as the documentation states them."""
    unit = min(sides) / 2
    axes = [(np.arange(side) - (side - 1) / 2) / unit for side in sides]
    if len(sides) > 1:
        axes[-2] = -axes[-2]
    return np.stack(np.meshgrid(*axes, indexing="ij")[::-1], axis=-1)


def mixture(sides, *, width=3.0, samples=2, channels=(), spread=0.04, seed=0):
    """Parameters of smooth signals that fade to the border: amplitudes, centres and widths (in coordinates) of Gaussian bumps."""
    rng, unit = np.random.default_rng(seed), min(sides) / 2
    shape = (samples, *channels, 4)
    return (
        rng.uniform(0.5, 1.5, shape),
        2 * spread * rng.uniform(-1, 1, (*shape, len(sides))),
        width / unit,
    )


def evaluate(parameters, at):
    """Values `[b, (c), ...]` of such signals at places `[..., d]`."""
    amplitude, centre, width = parameters
    extra = (None,) * (at.ndim - 1)
    distance = ((at - centre[(..., *extra, slice(None))]) ** 2).sum(-1)
    return (amplitude[(..., *extra)] * np.exp(-distance / (2 * width**2))).sum(-at.ndim)


def bumps(sides, **knobs):
    return torch.tensor(evaluate(mixture(sides, **knobs), places(sides)))


def off(got, wanted):
    """Relative error."""
    return np.linalg.norm(got.numpy() - wanted) / np.linalg.norm(wanted)


# Laws

# Interpolation is the only error: "derivative equals field" compares the slope of a spline with that of the scheme. For bumps of w
# pixels (w = 3; 2.5 in three dimensions) the spline is off by about (1.3/w)⁴/180, "central" by 1/(6 w²) of the second derivative of
# the slope, and "gaussian" smooths by a pixel along every axis. Found: 5e-4 and 1.3e-3 for the spline, 0.03 to 0.05, 0.09 to 0.21.
# All other laws hold to 1e-12, which the dense reference below shows.
TOLERANCE = {
    ("spectral", 1): 6e-4,
    ("spectral", 2): 6e-4,
    ("spectral", 3): 1.6e-3,
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
    ((36, 36), (), "affine"),
    ((32, 40), (2,), "linear"),
    ((40, 32), (2,), "affine"),
    ((24, 24, 24), (), "linear"),
    ((22, 24, 20), (2,), "affine"),
]


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("scheme", ["spectral", "central", "gaussian"])
@pytest.mark.parametrize(("sides", "channels", "group"), SAMPLES, ids=str)
def test_laws(sides, channels, group, scheme, border):
    dimension = len(sides)
    action = MAKERS[dimension](group, derivative=scheme, border=border)
    action.check((*channels, *sides))
    x = bumps(sides, width=2.5 if dimension == 3 else 3.0, samples=1, channels=channels)
    assert_is_action(action, x, tolerance=TOLERANCE[scheme, dimension], seed=1)


# A dense reference: loops over pixels, in numpy


def value(signal, index, border):
    """Pixels `[b, c]` of a signal `[b, c, *sides]` at a place that may lie outside."""
    sides = signal.shape[2:]
    if border == "periodic":
        index = [i % side for i, side in zip(index, sides, strict=True)]
    elif border == "replicate":
        index = [min(max(i, 0), side - 1) for i, side in zip(index, sides, strict=True)]
    elif not all(0 <= i < side for i, side in zip(index, sides, strict=True)):
        return np.zeros(signal.shape[:2])
    return signal[(slice(None), slice(None), *index)]


def stepped(index, axis, step):
    return [i + step * (a == axis) for a, i in enumerate(index)]


def central_slope(signal, index, axis, border, _):
    return (
        value(signal, stepped(index, axis, 1), border)
        - value(signal, stepped(index, axis, -1), border)
    ) / 2


def paper_slope(signal, index, axis, *_):
    if index[axis] == signal.shape[2 + axis] - 1:
        return np.zeros(signal.shape[:2])
    return value(signal, stepped(index, axis, 1), "zeros") - value(signal, index, "zeros")


def gaussian_slope(signal, index, axis, border, sigma):
    """Differentiated along one axis and smoothed along the others; a ramp keeps its slope."""
    reach = range(-math.ceil(4 * sigma), math.ceil(4 * sigma) + 1)
    bell = {o: math.exp(-(o**2) / (2 * sigma**2)) for o in reach}
    smooth = {o: weight / sum(bell.values()) for o, weight in bell.items()}
    slope = {o: o * weight / sum(k * k * bell[k] for k in reach) for o, weight in bell.items()}
    total = np.zeros(signal.shape[:2])
    for offset in np.ndindex(*[len(reach)] * len(index)):
        steps = [reach[o] for o in offset]
        weight = math.prod(
            slope[step] if a == axis else smooth[step] for a, step in enumerate(steps)
        )
        total += weight * value(
            signal, [i + step for i, step in zip(index, steps, strict=True)], border
        )
    return total


def spectral_slope(signal, index, axis, border, _):
    """Slope of the sum of waves (of cosines that are flat at both ends) that passes through the pixels along an axis."""
    side = signal.shape[2 + axis]
    line = [
        value(signal, [i if a != axis else k for a, i in enumerate(index)], "zeros")
        for k in range(side)
    ]
    total, at = np.zeros(signal.shape[:2], complex), index[axis]
    if border == "periodic":
        for k in range(-((side - 1) // 2), (side - 1) // 2 + 1):
            rate = 2j * math.pi * k / side
            total += (
                rate
                * np.exp(rate * at)
                * sum(f * np.exp(-rate * i) for i, f in enumerate(line))
                / side
            )
        return np.real(total)
    if border == "zeros":  # the same waves over twice the side, the other half of it zeros
        for k in range(1 - side, side):
            rate = 1j * math.pi * k / side
            total += (
                rate
                * np.exp(rate * at)
                * sum(f * np.exp(-rate * i) for i, f in enumerate(line))
                / (2 * side)
            )
        return np.real(total)
    for k in range(1, side):
        rate = math.pi * k / side
        total -= (
            rate
            * math.sin(rate * (at + 0.5))
            * sum(f * math.cos(rate * (i + 0.5)) for i, f in enumerate(line))
            * 2
            / side
        )
    return np.real(total)


SLOPES = {
    "central": central_slope,
    "paper": paper_slope,
    "gaussian": gaussian_slope,
    "spectral": spectral_slope,
}


def reference_fields(signal, scheme, border, sigma, *, affine):
    """Velocities `[b, g, c, *sides]` of a signal `[b, c, *sides]`: minus a slope times a coordinate, pixel by pixel."""
    sides = signal.shape[2:]
    d, half = len(sides), min(sides) // 2
    columns = d + affine
    out = np.zeros((len(signal), d * columns, *signal.shape[1:]))
    for index in np.ndindex(*sides):
        if scheme == "paper":
            at = [(k - side // 2) / half for k, side in zip(index, sides, strict=True)]
            unit, counts = 1.0, all(k < side - 1 for k, side in zip(index, sides, strict=True))
        else:
            at = [
                (k - (side - 1) / 2) / (min(sides) / 2)
                for k, side in zip(index, sides, strict=True)
            ]
            unit, counts = min(sides) / 2, True
        along_axes = [
            unit * SLOPES[scheme](signal, list(index), axis, border, sigma) for axis in range(d)
        ]
        if d > 1:  # y runs up, against its axis
            at[-2], along_axes[-2] = -at[-2], -along_axes[-2]
        place, slopes = [*at[::-1], 1.0][:columns], along_axes[::-1]
        for i in range(d):
            for j in range(columns):
                out[(slice(None), i * columns + j, slice(None), *index)] = (
                    -slopes[i] * place[j] * counts
                )
    return out


DENSE = [((7,), (2,)), ((4, 5), (2,)), ((5, 4), ()), ((3, 4, 5), (2,))]


@pytest.mark.parametrize("affine", [False, True], ids=["linear", "affine"])
@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("sides", "channels"), DENSE, ids=str)
def test_dense_reference(sides, channels, scheme, border, affine):
    sigma = 0.4
    action = MAKERS[len(sides)](
        "affine" if affine else "linear", derivative=scheme, border=border, sigma=sigma
    )
    x, gradients = normal(2, *channels, *sides), normal(2, 3, *channels, *sides, seed=1)
    wanted = reference_fields(
        x.numpy().reshape(2, -1, *sides), scheme, border, sigma, affine=affine
    )
    flat, slopes = wanted.reshape(2, action.size, -1), gradients.numpy().reshape(2, 3, -1)
    np.testing.assert_allclose(
        action.fields(x), wanted.reshape(2, action.size, *channels, *sides), rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(
        action.contract(gradients, x), np.einsum("bkp,bgp->bkg", slopes, flat), rtol=0, atol=1e-11
    )
    displacement = action.displacement(action.moment(x), 2).dense()
    np.testing.assert_allclose(
        displacement, np.einsum("bgp,bhp->gh", flat, flat) / 2, rtol=0, atol=1e-10
    )


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
        got = MAKERS[d]("affine").field(
            torch.tensor(generator.flatten()), torch.tensor(evaluate(parameters, at))
        )
        assert off(got, wanted) < 1e-6


# The paper's own function


def paper_rows(model, images):
    """The appendix's rows `[b, 2, 2]` in (row, column): forward differences and summed outputs over all but the last pixels."""
    side = images.shape[1]
    difference = [
        images[:, 1:, :-1] - images[:, :-1, :-1],
        images[:, :-1, 1:] - images[:, :-1, :-1],
    ]
    leaf = images.clone().requires_grad_()
    (sensitivity,) = torch.autograd.grad(model(leaf).sum(), leaf)
    place = torch.arange(side - 1, dtype=images.dtype) / (side // 2) - 1
    coordinate = [place[:, None].expand(side - 1, side - 1), place[None].expand(side - 1, side - 1)]
    rows = [
        [(sensitivity[:, :-1, :-1] * slope * at).sum((1, 2)) for at in coordinate]
        for slope in difference
    ]
    return torch.stack([torch.stack(row, dim=1) for row in rows], dim=1).detach()


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)], ids=str
)
@pytest.mark.parametrize("side", [28, 13])
def test_the_papers_rows(side, dtype, tolerance):
    model = torch.nn.Sequential(torch.nn.Flatten(), mlp(side * side, 24, 5, dtype=dtype))
    images = liegg.smooth(normal(60, side, side), 1.5).to(dtype)
    theirs = paper_rows(model, images).double()
    sym = liegg.discover(model, images, liegg.Image(derivative="paper"), outputs="sum")

    # From (row down, column right) to (x right, y up): swap, turn the sign of the row, and minus for a picture that moves along.
    swap = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    ours = -(swap @ theirs @ swap.mT).flatten(1)
    scale = float((ours.mT @ ours).abs().max())
    torch.testing.assert_close(
        sym.factor.mT @ sym.factor, ours.mT @ ours, rtol=0, atol=tolerance * scale
    )

    _, values, right = torch.linalg.svd(theirs.flatten(1), full_matrices=False)
    torch.testing.assert_close(
        sym.spectrum.values.flip(0), values.square() / 60, rtol=tolerance, atol=0
    )
    turn = liegg.so(2)[0].flatten() / math.sqrt(2)
    bias = (right - (right @ turn)[:, None] * turn).norm(dim=1)
    torch.testing.assert_close(sym.bias(liegg.so(2)).flip(0), bias, rtol=0, atol=tolerance)


# Directions


def dot(sides, *pixels):
    """Bumps of two pixels' width at the given pixels."""
    grid = np.stack(np.meshgrid(*map(np.arange, sides), indexing="ij"), axis=-1)
    return torch.tensor(
        sum(np.exp(-((grid - np.array(pixel)) ** 2).sum(-1) / 8) for pixel in pixels)
    )[None]


def brightest(x):
    return tuple(int(i) for i in np.unravel_index(int(x[0].argmax()), x.shape[1:]))


TURN = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)


@pytest.mark.parametrize("sides", [(21, 21), (21, 31), (31, 21)], ids=str)
def test_a_positive_rotation_turns_counter_clockwise(sides):
    row, column = (side // 2 for side in sides)
    right, above, left = (row, column + 4), (row - 4, column), (row, column - 4)
    assert brightest(liegg.Image().act(math.pi / 2 * TURN, dot(sides, right))) == above
    assert brightest(liegg.Image().act(math.pi / 2 * TURN, dot(sides, above))) == left
    assert brightest(liegg.Image().act(-math.pi / 2 * TURN, dot(sides, left))) == above


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_field_of_a_rotation_brightens_what_lies_ahead(scheme):
    velocity = liegg.Image(derivative=scheme).field(TURN.flatten(), dot((21, 21), (10, 14)))[
        0
    ]  # right of the centre
    assert velocity[8, 14] > 0.05  # above it
    assert velocity[12, 14] < -0.05  # below


@pytest.mark.parametrize("sides", [(21, 21), (20, 31)], ids=str)
def test_translations_move_right_and_up(sides):
    pixel = 2 / min(sides)
    right, up = liegg.translation(2)
    x = dot(sides, (12, 9))
    assert brightest(liegg.Image("affine").act(5 * pixel * right, x)) == (12, 14)
    assert brightest(liegg.Image("affine").act(3 * pixel * up, x)) == (9, 9)
    assert brightest(liegg.Image("affine").act(5 * pixel * right - 3 * pixel * up, x)) == (15, 14)


def test_a_periodic_translation_by_whole_pixels_rolls():
    x = normal(2, 3, 6, 8)
    moved = liegg.Image("affine", border="periodic").act(
        2 / 3 * liegg.translation(2)[0] + 1 / 3 * liegg.translation(2)[1], x
    )
    torch.testing.assert_close(moved, x.roll((2, -1), (-1, -2)))


def test_a_positive_scaling_enlarges():
    x = dot((41, 41), (20, 20))
    larger = liegg.Image().act(math.log(2) * liegg.scaling(2)[0], x)
    assert float(larger.sum() / x.sum()) == pytest.approx(
        4, rel=1e-3
    )  # twice as wide, twice as high
    assert brightest(
        liegg.Image().act(math.log(2) * liegg.scaling(2)[0], dot((41, 41), (24, 17)))
    ) == (28, 14)


def test_directions_of_volumes_and_sequences():
    x, y, z = liegg.translation(3)
    start, pixel = dot((15, 17, 19), (7, 8, 9)), 2 / 15
    assert brightest(liegg.Volume("affine").act(3 * pixel * x, start)) == (7, 8, 12)
    assert brightest(liegg.Volume("affine").act(3 * pixel * y, start)) == (7, 5, 9)
    assert brightest(liegg.Volume("affine").act(3 * pixel * z, start)) == (10, 8, 9)
    about_z = torch.block_diag(TURN, torch.zeros(1, 1, dtype=torch.float64))
    assert brightest(liegg.Volume().act(math.pi / 2 * about_z, dot((15, 17, 19), (7, 8, 13)))) == (
        7,
        4,
        9,
    )
    assert brightest(
        liegg.Sequence().act(3 * 2 / 15 * liegg.translation(1)[0], dot((15,), (7,)))
    ) == (10,)
    assert brightest(
        liegg.Sequence().act(math.log(2) * liegg.scaling(1)[0], dot((21,), (13,)))
    ) == (16,)


# What an interpolating spline is off by, for bumps of three pixels' width (2.5 in three dimensions): it goes by the fourth power.
@pytest.mark.parametrize(
    ("sides", "tolerance"),
    [((48,), 5e-5), ((36, 36), 1.2e-4), ((32, 40), 1.2e-4), ((24, 24, 24), 4e-4)],
    ids=str,
)
def test_finite_motions_of_a_known_function(sides, tolerance):
    d = len(sides)
    parameters, at = mixture(sides, width=3.0 if d < 3 else 2.5), places(sides)
    for seed in range(3):
        h = torch.tensor(np.random.default_rng(seed).normal(size=(d, d + 1)) / (4 * d))
        inverse = torch.linalg.matrix_exp(-torch.nn.functional.pad(h, (0, 0, 0, 1))).numpy()
        wanted = evaluate(parameters, at @ inverse[:d, :d].T + inverse[:d, d])  # f(exp(-h) p)
        got = MAKERS[d]("affine").act(h.flatten(), torch.tensor(evaluate(parameters, at)))
        assert off(got, wanted) < tolerance


def test_a_finite_rotation_of_a_known_function():
    parameters, at = mixture((32, 40), spread=0.1), places((32, 40))
    for angle in (0.3, 1.0, math.pi, -2.0):
        cosine, sine = math.cos(angle), math.sin(angle)
        wanted = evaluate(
            parameters, at @ np.array([[cosine, sine], [-sine, cosine]]).T
        )  # the picture turned by the angle
        got = liegg.Image().act(angle * TURN, torch.tensor(evaluate(parameters, at)))
        assert off(got, wanted) < 1.2e-4


# One answer, whichever way it is asked for


@pytest.fixture(params=[(d, scheme) for d in (1, 2, 3) for scheme in SCHEMES], ids=str)
def case(request):
    dimension, scheme = request.param
    sides = (6, 7, 5)[:dimension]
    return (
        MAKERS[dimension]("affine", derivative=scheme),
        normal(3, 2, *sides),
        normal(3, 4, 2, *sides, seed=1),
    )


def test_what_is_derived_once_serves_both(case):
    action, x, gradients = case
    precomputed = action.precompute(x)
    assert torch.equal(
        action.contract(gradients, x, precomputed=precomputed), action.contract(gradients, x)
    )
    assert torch.equal(action.moment(x, precomputed=precomputed), action.moment(x))
    assert all(slope.shape == (3, 2, math.prod(x.shape[2:])) for slope in precomputed)


def test_tangents_are_fields(case):
    action, x, _ = case
    h = normal(5, action.size, seed=2)
    tangents = action.tangents(h, x)
    torch.testing.assert_close(tangents, torch.stack([action.field(row, x) for row in h]))
    torch.testing.assert_close(tangents, torch.einsum("tg,bg...->tb...", h, action.fields(x)))


def test_matrices_and_coefficients_are_the_same_motion(case):
    action, x, _ = case
    h = normal(action.size, seed=2) / 10
    torch.testing.assert_close(action.act(action.matrices(h[None])[0], x), action.act(h, x))


def test_moments_add_up_over_samples(case):
    action, x, _ = case
    torch.testing.assert_close(action.moment(x), sum(action.moment(sample[None]) for sample in x))


def test_float32_moments_are_those_of_float64(case):
    action, x, gradients = case
    exact = action.moment(x)
    coarse = action.moment(x.float())
    assert coarse.dtype == torch.float64  # summed over places in float64
    torch.testing.assert_close(coarse, exact, rtol=0, atol=1e-5 * float(exact.abs().max()))
    rows = action.contract(gradients, x)
    torch.testing.assert_close(
        action.contract(gradients.float(), x.float()).double(),
        rows,
        rtol=0,
        atol=1e-5 * float(rows.abs().max()),
    )


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
        sym.displacement.block, exact, rtol=0, atol=1e-2 * float(exact.max())
    )


# Layouts


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("channels", [1, 3])
def test_every_layout_gives_the_same(channels, scheme):
    x, gradients, h = (
        normal(4, channels, 5, 6),
        normal(4, 2, channels, 5, 6, seed=1),
        normal(6, seed=2) / 10,
    )
    knobs = {"derivative": scheme, "border": "zeros"}
    plain = liegg.Image("affine", **knobs)
    layouts = [((channels, 5, 6), (channels, 5, 6)), ((channels * 30,), (channels, 5, 6))]
    if channels == 1:
        layouts += [((5, 6), None), ((5, 6), (5, 6)), ((30,), (5, 6))]
    for sample, shape in layouts:
        action, y, slopes = (
            liegg.Image("affine", shape=shape, **knobs),
            x.reshape(4, *sample),
            gradients.reshape(4, 2, *sample),
        )
        action.check(sample)
        assert torch.equal(action.act(h, y), plain.act(h, x).reshape(4, *sample))
        assert torch.equal(action.fields(y), plain.fields(x).reshape(4, 6, *sample))
        assert torch.equal(action.contract(slopes, y), plain.contract(gradients, x))
        assert torch.equal(action.moment(y), plain.moment(x))


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


# Errors


@pytest.mark.parametrize(
    ("action", "shape", "text"),
    [
        (
            liegg.Image(),
            (28, 28, 3),
            r"shape \(28, 28, 3\), which looks like channels last; Image\(\) expects \[height, width\] or "
            r"\[channels, height, width\]\. Move them first: data\.permute\(0, 3, 1, 2\)\.",
        ),
        (
            liegg.Volume(),
            (8, 9, 10, 2),
            r"looks like channels last; Volume.*data\.permute\(0, 4, 1, 2, 3\)\.",
        ),
        (
            liegg.Image(),
            (16, 8, 4),
            r"If the last axis really is space, say so: Image\(shape=\(16, 8, 4\)\)\.",
        ),
        (
            liegg.Sequence(),
            (5000,),
            r"5000 places along an axis; Sequence\(\) takes at most 4096\. Cut it into shorter pieces",
        ),
        (
            liegg.Image(),
            (784,),
            r"a sample has shape \(784,\); Image\(\) expects \[height, width\] or \[channels, height, "
            r"width\]\. For flat samples state their shape: Image\(shape=\(28, 28\)\)\.",
        ),
        (liegg.Image(), (783,), r"state their shape: Image\(shape=\(\.\.\., \.\.\.\)\)\."),
        (
            liegg.Volume(),
            (27,),
            r"Volume\(\) expects \[depth, height, width\] or .* Volume\(shape=\(3, 3, 3\)\)\.",
        ),
        (
            liegg.Image(),
            (2, 3, 8, 8),
            r"shape \(2, 3, 8, 8\); Image\(\) expects \[height, width\] or \[channels, height, width\]",
        ),
        (liegg.Image(), (), r"shape \(\); Image\(\) expects"),
        (
            liegg.Sequence(),
            (2, 3, 9),
            r"shape \(2, 3, 9\); Sequence\(\) expects \[length\] or \[channels, length\]\.$",
        ),
        (
            liegg.Image(shape=(4, 5)),
            (21,),
            r"a sample has shape \(21,\); Image\(shape=\(4, 5\)\) expects that shape, or \(20,\)\.",
        ),
        (
            liegg.Image(shape=(4, 5)),
            (5, 4),
            r"shape \(5, 4\); Image\(shape=\(4, 5\)\) expects that shape",
        ),
        (
            liegg.Image(),
            (1, 1),
            r"shape \(1, 1\): a grid of one pixel has no inside; nothing can move\.",
        ),
        (liegg.Sequence(), (3, 1), "a grid of one pixel"),
        (liegg.Image("euclidean"), (784,), "For flat samples state their shape"),
    ],
)
def test_samples_that_do_not_fit(action, shape, text):
    with pytest.raises(ShapeError, match=text):
        action.check(shape)


@pytest.mark.parametrize(
    "shape", [(28, 28), (3, 28, 28), (1, 28), (5, 1), (4, 4, 4), (3, 3, 3), (28, 28, 28)]
)
def test_samples_that_fit(shape):
    liegg.Image().check(shape)


@pytest.mark.parametrize(
    ("knobs", "text"),
    [
        (
            {"derivative": "sobel"},
            "derivative='sobel': expected one of 'spectral', 'central', 'gaussian', 'paper'.",
        ),
        (
            {"border": "mirror"},
            "border='mirror': expected one of 'replicate', 'zeros', 'periodic'.",
        ),
        (
            {"sigma": 0.0},
            "sigma=0.0: expected a width of at least 0.1 pixels, for example sigma=1.0.",
        ),
        ({"sigma": -1}, "sigma=-1.0: expected a width of at least 0.1"),
        ({"sigma": math.nan}, "sigma=nan: expected a width of at least 0.1"),
        ({"sigma": math.inf}, "sigma=inf: expected a width of at least 0.1"),
        (
            {"shape": (784,)},
            r"Image\(shape=\(784,\)\): expected \(height, width\) or \(channels, height, width\).",
        ),
        ({"shape": (1, 3, 28, 28)}, r"Image\(shape=\(1, 3, 28, 28\)\): expected"),
        ({"shape": (0, 28)}, r"Image\(shape=\(0, 28\)\): expected"),
    ],
)
def test_arguments_that_make_no_sense(monkeypatch, knobs, text):
    monkeypatch.setattr(
        jaxtyping.config, "jaxtyping_disable", True
    )  # users run without the type checks
    with pytest.raises(ArgumentError, match=text):
        liegg.Image(**knobs)


def test_a_shape_may_be_a_list(monkeypatch):
    monkeypatch.setattr(
        jaxtyping.config, "jaxtyping_disable", True
    )  # users run without the type checks
    assert liegg.Image(shape=[4, 5]) == liegg.Image(shape=(4, 5))  # pyright: ignore[reportArgumentType]


def test_shapes_of_the_other_dimensions_in_messages():
    with pytest.raises(
        ArgumentError,
        match=r"Sequence\(shape=\(1, 2, 3\)\): expected \(length,\) or \(channels, length\)\.",
    ):
        liegg.Sequence(shape=(1, 2, 3))
    with pytest.raises(
        ArgumentError,
        match=r"Volume\(shape=\(2, 3\)\): expected \(depth, height, width\) or \(channels, depth, ",
    ):
        liegg.Volume(shape=(2, 3))


# Settings, files, repr

ACTIONS = {
    "linear": liegg.Image(),
    "affine": liegg.Image(
        "affine", derivative="gaussian", sigma=0.7, border="periodic", shape=(4, 5)
    ),
    "similarity": liegg.Image("similarity"),
    "custom": liegg.Image(liegg.so(2), derivative="central", shape=(2, 5, 6)),
    "volume": liegg.Volume("affine", border="zeros"),
    "sequence": liegg.Sequence(derivative="paper"),
    "color": liegg.Color(channels=2),
    "tone": liegg.Color("tone", channels=2, shape=(2, 5, 6)),
    "product": liegg.Product(
        liegg.Image(), liegg.Color("tone", channels=2), liegg.Color("linear", channels=2)
    ),
}


def assert_same_action(one, other):
    assert type(one) is type(other)
    assert one.settings() == other.settings()
    if isinstance(one, Restricted):
        assert one.parent == other.parent
        assert torch.equal(one.basis, other.basis)
    elif isinstance(one, Grid):
        assert one == other


@pytest.mark.parametrize("name", ACTIONS)
def test_settings_make_it_again(name):
    assert_same_action(action_from_settings(ACTIONS[name].settings()), ACTIONS[name])


@pytest.mark.parametrize(
    ("name", "sample"),
    [
        ("linear", (5, 6)),
        ("affine", (20,)),
        ("similarity", (2, 5, 6)),
        ("custom", (60,)),
        ("volume", (3, 4, 5)),
        ("sequence", (9,)),
        ("color", (2, 5, 6)),
        ("tone", (60,)),
        ("product", (2, 5, 6)),
    ],
)
def test_results_come_back_from_disk(name, sample, tmp_path):
    size = math.prod(sample)
    sym = liegg.discover(
        torch.nn.Sequential(torch.nn.Flatten(), mlp(size, 8, 2)), normal(50, *sample), ACTIONS[name]
    )
    again = liegg.load(sym.save(tmp_path / "run"))
    assert_same_action(again.action, ACTIONS[name])
    assert torch.equal(again.defects, sym.defects)
    assert torch.equal(again.displacement.dense(), sym.displacement.dense())
    assert torch.equal(again.generators, sym.generators)


@pytest.mark.parametrize(
    "action",
    [
        liegg.Image(),
        liegg.Image("affine", derivative="gaussian", sigma=0.7, border="periodic", shape=(4, 5)),
        liegg.Volume("affine", border="zeros"),
        liegg.Volume(derivative="paper"),
        liegg.Sequence(),
        liegg.Sequence("linear", derivative="central"),
        liegg.Product(liegg.Image(), liegg.Sequence()),
        liegg.Image(sigma=2.0),
        liegg.Color(),
        liegg.Color("linear", channels=1),
        liegg.Product(liegg.Image(), liegg.Color()),
    ],
    ids=repr,
)
def test_repr_makes_it_again(action):
    assert eval(repr(action), dict(vars(liegg))) == action


def test_actions_are_values():
    assert liegg.Image(shape=(4, 5)) == liegg.Image(shape=(4, 5))
    assert hash(liegg.Image(shape=(4, 5))) == hash(liegg.Image(shape=(4, 5)))
    assert (
        len(
            {
                liegg.Image(),
                liegg.Image("affine"),
                liegg.Image(border="zeros"),
                liegg.Image(derivative="paper"),
                liegg.Volume(),
            }
        )
        == 5
    )


def test_a_stated_shape_is_believed():
    liegg.Image(shape=(16, 8, 4)).check((16, 8, 4))
    liegg.Image(shape=(8, 8, 3)).check((192,))


loose: Any = liegg
"""The package as a user without a type checker has it."""


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: loose.Image(np.eye(2)[None]),
            "group is a ndarray; Image takes a name, such as 'affine', or a tensor",
        ),
        (
            lambda: loose.Image(torch.full((1, 2, 2), torch.nan)),
            "expected a real floating point tensor of finite numbers",
        ),
        (
            lambda: loose.Image(torch.eye(2, dtype=torch.complex64)[None]),
            "generators were given as torch.complex64",
        ),
        (lambda: loose.Image(sigma=None), "sigma=None: expected a width in pixels"),
        (
            lambda: loose.Image(shape="28x28"),
            "shape='28x28': expected the sides of a sample, for example shape=(28, 28)",
        ),
        (lambda: loose.Image(shape=(12.5, 12)), "shape=(12.5, 12): expected the sides"),
        (lambda: loose.Color(channels=2.5), "channels=2.5: expected a positive number"),
        (lambda: loose.Image().restrict(np.eye(2)[None]), "generators were given as ndarray"),
        (
            lambda: loose.Image().act(torch.zeros(5), torch.zeros(1, 4, 4)),
            "a motion was given as shape (5,); expected one generator",
        ),
        (
            lambda: loose.Image().act([0.0], torch.zeros(1, 4, 4)),
            "a motion was given as list; expected one generator",
        ),
        (
            lambda: loose.Image().act(torch.zeros(4), torch.zeros(2, 784)),
            "For flat samples state their shape: Image(shape=(28, 28))",
        ),
    ],
)
def test_wrong_kinds_of_arguments(monkeypatch, make, text):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    with pytest.raises(liegg.LieggError, match=re.escape(text)):
        make()


@pytest.mark.parametrize(
    "action",
    [liegg.Image("similarity"), liegg.Volume("euclidean"), liegg.Color("tone", channels=1)],
)
def test_smaller_groups_keep_their_name(action):
    assert eval(repr(action), dict(vars(liegg))).settings() == action.settings()
    assert repr(action_from_settings(action.settings())) == repr(action)


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
    assert len(sym.trivial) == 2
    assert sym.settings["noise"] == sym.displacement.noise > 0
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


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("sides", [(7,), (6, 8), (5, 6, 7)])
def test_a_frame_is_left_out_of_fields_rows_and_displacement(sides, scheme):
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


def test_a_frame_that_makes_no_sense():
    with pytest.raises(ArgumentError, match="frame=-1: expected a number of pixels, 0 or more"):
        liegg.Image(frame=-1)
    with pytest.raises(ShapeError, match="a frame of 4 pixels leaves nothing of it"):
        liegg.Image(frame=4).check((8, 9))
