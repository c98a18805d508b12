"""Matrices whose powers grow: stretches, shears and translations, in any coordinates."""

import math

import pytest
import torch

from cases import normal
from liegg.algebra.finite.unbounded import is_unbounded

TURN = torch.tensor(
    [[math.cos(1.0), -math.sin(1.0)], [math.sin(1.0), math.cos(1.0)]], dtype=torch.float64
)
QUARTER = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (torch.eye(2).double(), False),
        (TURN, False),
        (-QUARTER, False),
        (torch.tensor([[1.0, 0.1], [0.0, 1.0]]).double(), True),
        (torch.tensor([[-1.0, 1.0], [0.0, -1.0]]).double(), True),
        (0.9 * TURN, True),
        (torch.diag(torch.tensor([2.0, 0.5])).double(), True),
        (torch.block_diag(TURN, torch.tensor([[1.0, 1.0], [0.0, 1.0]]).double()), True),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_growth_does_not_depend_on_the_coordinates(matrix, expected, seed):
    change = torch.eye(len(matrix)).double() + 0.3 * normal(len(matrix), len(matrix), seed=seed)
    inside = change @ matrix @ torch.linalg.inv(change)
    assert is_unbounded(matrix) is is_unbounded(inside) is expected
    assert is_unbounded(torch.linalg.inv(inside)) is expected


def test_the_error_of_a_float32_model_is_no_growth():
    assert not is_unbounded(QUARTER + 1e-5 * normal(2, 2))
