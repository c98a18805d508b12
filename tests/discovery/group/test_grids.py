"""Convolutional networks with the symmetries of the grid: found exactly, without interpolation."""

import pytest
import torch
from torch.nn.functional import conv2d

import liegg
from group_cases import normal
from group_images import IMAGE_SIDE, blobs, steerable
from liegg._utils.diagnoses import Diagnosis


def turns(*, mirrors: bool):
    """Elements of the square, as functions of images."""
    found = [lambda x, k=k: torch.rot90(x, k, (2, 3)) for k in range(4)]
    if mirrors:
        found += [lambda x, k=k: torch.rot90(x.flip(3), k, (2, 3)) for k in range(4)]
    return found


def convolutional(elements):
    """A small convolutional network, averaged over elements of the square."""
    first, second, last = normal(4, 1, 3, 3), normal(4, 4, 3, 3, seed=1), normal(4, 2, seed=2)

    def base(x):
        hidden = conv2d(x, first, padding=1).tanh()
        return conv2d(hidden, second / 4, padding=1).tanh().mean((2, 3)) @ last

    return lambda x: torch.stack([base(element(x)) for element in elements]).mean(0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("elements", "name"),
    [(turns(mirrors=False), "C₄"), (turns(mirrors=True), "D₄"), ([lambda x: x], "trivial")],
)
def test_convolutional_networks_have_the_group_of_the_grid(elements, name):
    found = liegg.discover_group(convolutional(elements), normal(120, 1, 7, 7), liegg.Image())
    assert found.name == name
    assert all(one.grade == "exact" for one in found.elements)
    assert found.continuous is not None
    assert found.continuous.nullity == 0  # a rotation by any angle is no symmetry of a grid
    assert found.shifts == (0, 0)


def test_circular_shifts_of_a_sequence():
    x = normal(100, 1, 6)
    found = liegg.discover_group(
        lambda x: (x.sin() * x.roll(1, 2).square()).sum((1, 2)), x, liegg.Sequence()
    )
    assert found.shifts == (1,)
    assert found.name == "C₆"


@pytest.mark.slow
def test_filters_at_eight_angles_keep_quarter_turns_exactly_and_others_nearly():
    model = steerable(8)
    smooth = liegg.discover_group(model, blobs(120), liegg.Image())
    assert smooth.name == "C₄"
    assert all(one.grade == "exact" for one in smooth.elements)
    assert smooth.kept_rotations is not None
    assert smooth.kept_rotations[0] == 8
    assert 1e-3 < smooth.kept_rotations[1] < 0.05
    assert (
        f"keeps C₈ (multiples of 45°) to {100 * smooth.kept_rotations[1]:.2g} %" in smooth.sentence
    )
    noise = liegg.discover_group(model, normal(120, 1, IMAGE_SIDE, IMAGE_SIDE), liegg.Image())
    assert noise.name == "C₄"
    assert noise.kept_rotations is not None
    assert noise.kept_rotations[0] == 4
    assert [note.diagnosis for note in noise.notes] == [Diagnosis.GROUP_INTERPOLATION]
