"""The bracket and the closure of a span."""

import pytest
import torch

from cases import normal, regular
from liegg.algebra import bracket, closure_residual, sl, so


def test_rotations_multiply_like_the_cross_product():
    z, y, x = (
        so(3) * torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)[:, None, None]
    )  # turns about the third, second, first axis
    assert torch.equal(bracket(x, y), z)
    assert torch.equal(bracket(y, z), x)
    assert torch.equal(bracket(z, x), y)


def test_antisymmetric_and_jacobi():
    a, b, c = normal(3, 4, 4)
    torch.testing.assert_close(bracket(a, b), -bracket(b, a))
    jacobi = bracket(a, bracket(b, c)) + bracket(b, bracket(c, a)) + bracket(c, bracket(a, b))
    torch.testing.assert_close(jacobi, torch.zeros_like(jacobi), atol=1e-12, rtol=0)


def test_stacks_are_bracketed_one_by_one():
    a, b = normal(5, 3, 3), normal(5, 3, 3, seed=1)
    torch.testing.assert_close(bracket(a, b)[2], a[2] @ b[2] - b[2] @ a[2])


@pytest.mark.parametrize("condition", [1.0, 10.0])
def test_an_algebra_is_closed_in_any_basis_and_after_conjugation(condition):
    p = regular(3, condition=condition)
    mixed = torch.einsum("ab,bij->aij", regular(3, seed=4), p @ so(3) @ torch.linalg.inv(p))
    assert closure_residual(mixed) < 1e-13


def test_a_part_of_an_algebra_is_not_closed():
    assert closure_residual(sl(2)[:2]) == pytest.approx(2**0.5)  # [E12, E21] = diag(1, -1), all of it outside


def test_nothing_is_closed():
    assert closure_residual(torch.zeros(0, 3, 3)) == 0.0


def test_size_of_the_generators_does_not_matter():
    assert closure_residual(1e-3 * sl(2)[:2]) == pytest.approx(2**0.5)
