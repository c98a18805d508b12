"""Where the pixels are: ours, and the paper's."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from liegg.actions.grid.coordinates import coordinates, paper_coordinates

GRIDS = st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple)


@given(sides=GRIDS)
@settings(deadline=None, max_examples=50)
def test_the_centre_of_the_grid_is_the_origin(sides):
    places = coordinates(sides)
    assert places.shape == (np.prod(sides), len(sides))
    assert places.mean(0).abs().max() < 1e-14
    torch.testing.assert_close(
        places.flip(0), -places
    )  # the last pixel is opposite to the first, and so on


@given(sides=GRIDS)
@settings(deadline=None, max_examples=50)
def test_a_pixel_is_as_long_along_every_axis_and_half_the_shorter_side_is_one(sides):
    grid = coordinates(sides).reshape(*sides, len(sides))
    pixel = 2 / min(sides)
    for axis, side in enumerate(sides):
        step = torch.zeros(len(sides), dtype=torch.float64)
        step[len(sides) - 1 - axis] = pixel * (
            -1 if axis == len(sides) - 2 else 1
        )  # y runs up, against its axis
        torch.testing.assert_close(grid.diff(dim=axis), step.expand_as(grid.diff(dim=axis)))
        span = grid.select(axis, side - 1) - grid.select(axis, 0)
        assert float(span.abs().max()) + pixel == pytest.approx(
            2 * side / min(sides)
        )  # from edge to edge


def test_every_pixel_by_hand():
    for sides in [(4,), (5, 7), (6, 4), (3, 4, 5)]:
        places = coordinates(sides).tolist()
        for number, index in enumerate(np.ndindex(*sides)):  # the order of a flattened image
            z, y, x = (
                [0.0] * 3
                + [
                    (i - (side - 1) / 2) * 2 / min(sides)
                    for i, side in zip(index, sides, strict=True)
                ]
            )[-3:]
            assert places[number] == pytest.approx([x, -y, z][: len(sides)])


def test_two_by_two():
    assert coordinates((2, 2)).tolist() == [[-0.5, 0.5], [0.5, 0.5], [-0.5, -0.5], [0.5, -0.5]]


def test_the_papers_coordinates_are_its_formula():
    for side in [28, 9, 4, 2]:
        places, kept = paper_coordinates((side, side))
        row, column = torch.meshgrid(
            torch.arange(0, side - 1), torch.arange(0, side - 1), indexing="ij"
        )
        theirs = (
            torch.stack([row, column], -1).double() / (side // 2) - 1
        )  # as in its appendix: rows first, counted downwards
        ours = places.reshape(side, side, 2)[:-1, :-1]
        torch.testing.assert_close(ours, torch.stack([theirs[..., 1], -theirs[..., 0]], -1))
        taken = torch.zeros(side, side, dtype=torch.float64)
        taken[:-1, :-1] = 1
        assert torch.equal(kept.reshape(side, side), taken)


def test_the_papers_coordinates_of_other_grids():
    places, kept = paper_coordinates((4, 6))  # per half of the shorter side, from half of each
    assert places.reshape(4, 6, 2)[0, :, 0].tolist() == [-1.5, -1.0, -0.5, 0.0, 0.5, 1.0]
    assert places.reshape(4, 6, 2)[:, 0, 1].tolist() == [1.0, 0.5, 0.0, -0.5]
    assert kept.sum() == 3 * 5
    assert paper_coordinates((5,))[0].flatten().tolist() == [-1.0, -0.5, 0.0, 0.5, 1.0]
    assert paper_coordinates((1, 4))[1].flatten().tolist() == [
        1,
        1,
        1,
        0,
    ]  # of a single row, that row


def test_float64_on_the_cpu():
    for places in (coordinates((4, 6)), *paper_coordinates((4, 6))):
        assert places.dtype == torch.float64
        assert places.device.type == "cpu"
