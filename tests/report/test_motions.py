"""Which generator is drawn, in which plane."""

from typing import Any

import pytest
import torch

import liegg
from liegg._utils.errors import ArgumentError
from liegg.report.motions import generator_of, plane_in, plane_of

TURN = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)


def test_generators_by_number_and_of_your_own(exact):
    assert torch.equal(generator_of(exact, 1), exact.generators[1])
    assert torch.equal(generator_of(exact, liegg.algebra.gl(3)[4].float()), liegg.algebra.gl(3)[4])


@pytest.mark.parametrize("which", [3, -1])
def test_no_such_generator(exact, which):
    with pytest.raises(
        ArgumentError,
        match=rf"which={which}: there are 3 generators, from 0 to 2\. To see another direction",
    ):
        generator_of(exact, which)


def test_none_was_found_but_candidates_can_be_seen(nothing):
    with pytest.raises(
        ArgumentError,
        match=r"which=0: no symmetry was found\. .*sym\.accumulated\.solution\.directions",
    ):
        generator_of(nothing, 0)
    generator_of(nothing, nothing.action.matrices(nothing.accumulated.solution.directions[:1])[0])


def test_a_generator_of_another_size_is_refused(exact):
    with pytest.raises(ArgumentError):
        generator_of(exact, liegg.so(2)[0])


def test_the_plane_of_most_motion():
    found = plane_of(
        torch.tensor([[0.0, 0.0, -2.0], [0.0, 0.0, 0.0], [2.0, 1.0, 0.0]], dtype=torch.float64)
    )
    assert found.axes == (0, 2)
    assert found.names == ("x₁", "x₃")
    assert torch.equal(found.linear, 2 * TURN)
    assert found.share == pytest.approx(8 / 9)


def test_an_affine_motion_has_a_shift():
    matrix = torch.tensor([[0.0, -1.0, 3.0], [1.0, 0.0, 4.0], [0.0, 0.0, 0.0]], dtype=torch.float64)
    found = plane_of(matrix, homogeneous=True, names=("x", "y"))
    assert torch.equal(found.linear, TURN)
    assert found.shift.tolist() == [3, 4]
    assert found.names == ("x", "y")
    assert found.share == 1


def test_of_a_product_the_part_that_moves_more_is_seen():
    both: Any = liegg.Product(liegg.Image("affine"), liegg.Color("linear"))
    still, colours = torch.zeros(3, 3, dtype=torch.float64), torch.zeros(3, 3, dtype=torch.float64)
    colours[1, 2], colours[2, 1] = -1.0, 1.0
    seen = plane_in(both, torch.block_diag(still, colours))
    assert seen.names == ("G", "B")
    assert not seen.is_grid
    shift = still.clone()
    shift[0, 2] = 1.0
    seen = plane_in(both, torch.block_diag(shift, 0.1 * colours))
    assert seen.is_grid
    assert seen.shift.tolist() == [1, 0]


def test_no_motion_still_has_a_plane():
    assert plane_of(torch.zeros(4, 4)).axes == (0, 1)


@pytest.mark.parametrize(
    ("matrix", "homogeneous", "message"),
    [
        (torch.zeros(2, 3), False, "shape \\(2, 3\\); expected a square matrix of finite numbers"),
        (torch.full((2, 2), torch.nan), False, "expected a square matrix of finite numbers"),
        (torch.ones(1, 1), False, "acts on 1 coordinate; a plane needs two or more"),
        (torch.ones(2, 2), True, "acts on 1 coordinate; a plane needs two or more"),
    ],
)
def test_what_has_no_plane(matrix, homogeneous, message):
    with pytest.raises(ArgumentError, match=message):
        getattr(plane_of, "__wrapped__", plane_of)(matrix, homogeneous=homogeneous)
