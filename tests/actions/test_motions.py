"""Motions with names: which actions have them, and that they are what they are called."""

import math

import pytest
import torch

import liegg
from liegg._utils.errors import ArgumentError
from liegg.actions import Motion


def moved(action, motion, size, x):
    """Samples moved by the first generator, by a size in the motion's own unit."""
    time = math.log1p(size / 100) if not motion.per_unit else size / motion.per_unit
    own = motion.action or action
    return own.act(own.as_coefficients(motion.generators)[0] * time, x)


def test_a_shift_is_in_pixels():
    x = torch.zeros(1, 3, 9, 9, dtype=torch.float64)
    x[..., 4, 4] = 1.0
    shift = liegg.Image().motions((3, 9, 9))["shift"]
    assert shift.unit == "pixels"
    there = moved(liegg.Image(), shift, 2.0, x)
    assert torch.allclose(there[0, 0].argmax(), torch.tensor(4 * 9 + 6))


def test_a_rotation_is_in_degrees():
    x = torch.zeros(1, 9, 9, dtype=torch.float64)
    x[:, 4, 7] = 1.0
    rotation = liegg.Image().motions((9, 9))["rotation"]
    assert int(moved(liegg.Image(), rotation, 90.0, x).argmax()) == 9 * 1 + 4


def test_colours_are_what_they_are_called():
    x = torch.rand(2, 3, 4, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    action = liegg.Color()
    named = action.motions((3, 4, 4), spread=2.0)
    grey = x.mean(1, keepdim=True)
    assert torch.allclose(moved(action, named["brightness"], 25.0, x), x + 0.5)
    assert torch.allclose(moved(action, named["contrast"], 25.0, x), 1.25 * x)
    assert torch.allclose(moved(action, named["saturation"], 25.0, x), grey + 1.25 * (x - grey))
    turned = moved(action, named["hue"], 120.0, x)
    assert torch.allclose(turned, x.roll(1, dims=1))  # red becomes green


def test_each_action_has_the_motions_of_its_candidates():
    names = lambda action, shape: [  # noqa: E731
        name for name, one in action.motions(shape).items() if one.action is None
    ]
    assert names(liegg.Linear(3), (3,)) == ["rotation", "scaling"]
    assert names(liegg.Affine(3), (3,)) == ["rotation", "scaling", "translation"]
    assert names(liegg.Linear(1), (1,)) == ["scaling"]
    assert names(liegg.Image("euclidean"), (8, 8)) == ["rotation", "shift"]
    assert names(liegg.Sequence(), (8,)) == ["shift", "stretching"]
    assert names(liegg.Color("tone"), (3, 8, 8)) == ["brightness", "contrast"]
    both = liegg.Product(liegg.Image("affine"), liegg.Color("gains"))
    assert names(both, (3, 8, 8)) == ["rotation", "shift", "scaling", "shear", "contrast"]
    assert liegg.Linear(40).motions((40,)) == {}


def test_volumes_turn_about_three_axes():
    assert liegg.Volume().motions((4, 4, 4))["rotation"].generators.shape == (3, 9)


@pytest.mark.parametrize("given", [3, torch.zeros(3), torch.zeros(1, 1, 1, 1)])
def test_generators_must_be_matrices_or_coefficients(given):
    with pytest.raises(ArgumentError):
        Motion(given)


@pytest.mark.parametrize("longest", [0.0, -1.0, math.inf, math.nan])
def test_a_motion_goes_some_way(longest):
    with pytest.raises(ArgumentError):
        Motion(liegg.so(2), longest)
