"""Matrices of infinite order: their powers grow without bound."""

import torch
from jaxtyping import Float
from torch import Tensor

GROWTH_RATE = 0.05
"""Logarithm of the size of an eigenvalue from which on a matrix stretches."""

EARLY_POWERS, LATE_POWER = 8, 1024
"""First powers, with which a late one is compared."""

GROWN = 30.0
"""Ratio of their sizes from which on the powers grow: a shear or a translation makes it about 100, a rotation at most the condition
number of the coordinates in which it is one."""


def is_unbounded(matrix: Float[Tensor, "n n"]) -> bool:
    """Whether the powers of an invertible matrix, or those of its inverse, grow without bound: it stretches, shears or translates.

    Rotations by any angle do not, so that False says nothing about the order.

    Examples:
        >>> shear = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
        >>> is_unbounded(shear), is_unbounded(torch.diag(torch.tensor([1.0, -1.0])))
        (True, False)
    """
    matrix = matrix.double()
    sizes = torch.linalg.eigvals(matrix).abs().log().abs()
    if float(sizes.max()) > GROWTH_RATE:
        return True
    first = max(
        float(torch.linalg.matrix_power(matrix, k).norm()) for k in range(1, EARLY_POWERS + 1)
    )
    late = float(torch.linalg.matrix_power(matrix, LATE_POWER).norm())
    return not late <= GROWN * first
