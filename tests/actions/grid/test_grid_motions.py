"""Which way signals on a grid move, by how much, and the paper's own rows."""

import math

import numpy as np
import pytest
import torch

import liegg
from cases import mlp, normal
from liegg.actions.grid.stencils import SCHEMES
from signals import MAKERS, evaluate, mixture, off, places

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
        )  # the image rotated by the angle
        got = liegg.Image().act(angle * TURN, torch.tensor(evaluate(parameters, at)))
        assert off(got, wanted) < 1.2e-4


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
    images = liegg.actions.smooth(normal(60, side, side), 1.5).to(dtype)
    theirs = paper_rows(model, images).double()
    sym = liegg.discover(model, images, liegg.Image(derivative="paper"), outputs="sum")

    # From (row down, column right) to (x right, y up): swap, turn the sign of the row, and minus for a picture that moves along.
    swap = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    ours = -(swap @ theirs @ swap.mT).flatten(1)
    scale = float((ours.mT @ ours).abs().max())
    torch.testing.assert_close(
        sym.accumulated.factor.mT @ sym.accumulated.factor,
        ours.mT @ ours,
        rtol=0,
        atol=tolerance * scale,
    )

    _, values, right = torch.linalg.svd(theirs.flatten(1), full_matrices=False)
    torch.testing.assert_close(
        sym.spectrum.values.flip(0), values.square() / 60, rtol=tolerance, atol=0
    )
    turn = liegg.so(2)[0].flatten() / math.sqrt(2)
    bias = (right - (right @ turn)[:, None] * turn).norm(dim=1)
    torch.testing.assert_close(sym.bias(liegg.so(2)).flip(0), bias, rtol=0, atol=tolerance)
