"""Generators of an action as matrices on one space of a sample."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.base import Action, MatrixAction
from liegg.actions.finite.vectors import VectorSpace
from liegg.actions.product import Product

OUTSIDE_SPACE = 1e-8
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
    start = 0
    for factor in action.actions if isinstance(action, Product) else (action,):
        inside = slice(start, start + factor.size)
        start += factor.size
        if space.action in factor.parts and isinstance(factor, MatrixAction):
            outside = torch.cat([coefficients[:, : inside.start], coefficients[:, start:]], 1)
            # A basis of the combinations without coefficients outside.
            left, values, _ = torch.linalg.svd(outside, full_matrices=True)
            combinations = left[:, int((values > OUTSIDE_SPACE).sum()) :].mT @ coefficients
            own = combinations[:, inside] if outside.shape[1] else coefficients
            if len(own):
                return factor.matrices(own).double()
    return torch.zeros(0, space.side, space.side, dtype=torch.float64)
