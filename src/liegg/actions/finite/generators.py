"""Generators of an action as matrices on one space of a sample."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg.actions.base import Action, MatrixAction
from liegg.actions.finite.vectors import VectorSpace
from liegg.actions.product import Product

OUTSIDE = 1e-8
"""Singular value of coefficients outside a space that is rounding."""


def generators_on(
    space: VectorSpace, action: Action, coefficients: Float[Tensor, "d g"]
) -> Float[Tensor, "e n n"]:
    """Combinations of generators that move one space and no other, as its matrices.

    Args:
        space: the space.
        action: the candidates.
        coefficients: generators in these candidates.
    """
    factors = action.actions if isinstance(action, Product) else (action,)
    start = 0
    for factor in factors:
        inside = torch.zeros(coefficients.shape[1], dtype=torch.bool)
        inside[start : start + factor.size] = True
        start += factor.size
        if space.action in factor.parts and isinstance(factor, MatrixAction):
            own = _only_inside(coefficients, inside)
            if len(own):
                return factor.matrices(own).double()
    return torch.zeros(0, space.side, space.side, dtype=torch.float64)


def _only_inside(
    coefficients: Float[Tensor, "d g"], inside: Bool[Tensor, " g"]
) -> Float[Tensor, "e p"]:
    """A basis of the combinations without coefficients outside."""
    outside = coefficients[:, ~inside]
    if not outside.shape[1]:
        return coefficients[:, inside]
    left, values, _ = torch.linalg.svd(outside, full_matrices=True)
    rank = int((values > OUTSIDE).sum())
    combinations = left[:, rank:].mT @ coefficients
    return combinations[:, inside]
