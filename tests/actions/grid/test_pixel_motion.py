"""Motions in pixels move maps as the action moves samples, at any pitch."""

import math
from itertools import product

import pytest
import torch

import liegg
from cases import normal
from liegg._utils.errors import ArgumentError
from liegg.actions.grid.pixel_motion import PixelMotion, pixel_motion
from liegg.actions.grid.stencils import BORDERS


def motion_of(name, size, shape, action=None):
    action = action or liegg.Image("affine")
    motion = action.motions(shape)[name]
    own = motion.action or action
    row = own.as_coefficients(motion.generators)[0]
    return pixel_motion(own, motion.time(size) * row, shape), own, motion.time(size) * row


def test_a_motion_in_pixels_is_that_of_the_action():
    for (kind, sides), border in product(
        [(liegg.Sequence, (9,)), (liegg.Image, (7, 9)), (liegg.Volume, (5, 6, 7))], BORDERS
    ):
        action = kind("affine", border=border)
        x = normal(2, math.prod(sides) * 2).reshape(2, 2, *sides)
        h = 0.2 * normal(1, action.size, seed=1)[0]
        found = pixel_motion(action, h, (2, *sides)).move(x, (1.0,) * len(sides))
        torch.testing.assert_close(found, action.act(h, x))


def test_a_restricted_action_moves_as_its_parent():
    action = liegg.Image("euclidean")
    x, h = normal(2, 50).reshape(2, 1, 5, 10), torch.tensor([0.3, 0.2, -0.1]).double()
    found = pixel_motion(action, h, (1, 5, 10)).move(x, (1.0, 1.0))
    torch.testing.assert_close(found, action.act(h, x))


def test_pixels_that_go_to_pixels_are_copied():
    x = normal(2, 72).reshape(2, 2, 6, 6).float()
    turn, _, _ = motion_of("rotation", 90.0, (2, 6, 6))
    assert turn.is_exact((6, 6), (1.0, 1.0))
    assert turn.is_exact((3, 3), (2.0, 2.0))
    assert torch.equal(turn.move(x, (1.0, 1.0)), x.rot90(1, (2, 3)))
    shift, _, _ = motion_of("shift", 2.0, (2, 6, 6))
    assert torch.equal(shift.move(x, (1.0, 1.0))[..., 2:], x[..., :-2])
    assert torch.equal(shift.move(x[..., ::2], (1.0, 2.0))[..., 1:], x[..., ::2][..., :-1])
    assert not shift.is_exact((6, 6), (4.0, 4.0))
    assert shift.inside((6, 6), (1.0, 1.0)).reshape(6, 6).sum(1).tolist() == [4] * 6
    back = shift.inverse().move(shift.move(x, (1.0, 1.0)), (1.0, 1.0))
    assert torch.equal(back[..., :-2], x[..., :-2])


def test_a_map_without_square_pixels_rotates_in_pixels_of_the_input():
    """A dot right of the centre of the input, whose columns were thinned out, goes above the centre."""
    turn = PixelMotion(
        torch.tensor([[0.0, -1.0], [1.0, 0.0]]).double(), torch.zeros(2).double(), "zeros"
    )
    x = torch.zeros(1, 1, 9, 5, dtype=torch.float64)
    x[..., 4, 3] = 1.0  # two pixels of the input to the right
    assert int(turn.move(x, (1.0, 2.0)).argmax()) == 2 * 5 + 2


def test_colours_and_products_move_no_places():
    for action in (liegg.Color(), liegg.Linear(3), liegg.Product(liegg.Image(), liegg.Color())):
        with pytest.raises(ArgumentError, match="does not move places of a grid"):
            pixel_motion(action, torch.zeros(action.size), (3, 5, 5))


def test_sizes_become_times():
    named = liegg.Image("affine").motions((3, 8, 8))
    assert named["rotation"].time(90.0) == pytest.approx(math.pi / 2)
    assert named["shift"].time(2.0) == pytest.approx(0.5)
    assert named["scaling"].time(25.0) == pytest.approx(math.log(1.25))
    for motion in (named["shear"], named["scaling"], named["shift"], named["rotation"]):
        assert motion.size(motion.time(7.0)) == pytest.approx(7.0)
    for size in (0.0, math.inf, math.nan, -100.0):
        with pytest.raises(ArgumentError, match="expected a finite number"):
            named["scaling"].time(size)
