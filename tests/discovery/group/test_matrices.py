"""The search over matrices: groups whose elements have no simple form, and what is said where some may be missing."""

import pytest
import torch

import liegg
from liegg._utils.diagnoses import Diagnosis

UNIT_I, UNIT_J = (
    torch.tensor(rows, dtype=torch.float64)
    for rows in (
        [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 0, -1], [0, 0, 1, 0]],
        [[0, 0, -1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, -1, 0, 0]],
    )
)
"""Two units of the quaternions as matrices."""


@pytest.fixture(scope="module")
def quaternions():
    """What is found of a function that is symmetrised over the eight units of the quaternions."""
    generator = torch.Generator().manual_seed(5)
    first, bias, last = (
        torch.randn(shape, generator=generator, dtype=torch.float64)
        for shape in ((4, 32), (32,), (32, 1))
    )
    units = [
        sign * h
        for h in (torch.eye(4, dtype=torch.float64), UNIT_I, UNIT_J, UNIT_I @ UNIT_J)
        for sign in (1, -1)
    ]

    def model(x):
        return sum(torch.tanh(x @ h.mT @ first + bias) @ last for h in units)

    x = torch.randn(500, 4, generator=generator, dtype=torch.float64)
    return liegg.discover_group(model, x, liegg.Linear(4))


def test_a_group_that_fixes_no_vector_is_found_from_random_starts(quaternions):
    assert (quaternions.order, quaternions.name) == (8, "Q₈")


def test_a_search_in_many_dimensions_says_that_elements_may_be_missing(quaternions):
    assert Diagnosis.GROUP_SEARCHED in [note.diagnosis for note in quaternions.notes]
    x = torch.randn(200, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    plane = liegg.discover_group(lambda x: x.abs().sum(1), x, liegg.Linear(2))
    assert Diagnosis.GROUP_SEARCHED not in [note.diagnosis for note in plane.notes]
