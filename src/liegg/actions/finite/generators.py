"""Generators of an action as matrices on one space of a sample."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.base import Action, MatrixAction
from liegg.actions.finite.vectors import VectorSpace
from liegg.actions.product import Product

OUTSIDE_SPACE = 1e-8
"""Singular value of coefficients outside a space that is rounding."""


def coefficients_on(
    space: VectorSpace, action: Action, coefficients: Float[Tensor, "d g"]
) -> Float[Tensor, "e g"]:
    """Combinations of generators that move one space and no other, as coefficients of the candidates.

    Args:
        space: the space.
        action: the candidates.
        coefficients: generators in these candidates.
    """
    if (own := _factor_of(space, action)) is None:
        return coefficients[:0]
    start, factor = own
    outside = torch.cat([coefficients[:, :start], coefficients[:, start + factor.size :]], 1)
    if not outside.shape[1]:
        return coefficients
    # A basis of the combinations without coefficients outside.
    left, values, _ = torch.linalg.svd(outside, full_matrices=True)
    return left[:, int((values > OUTSIDE_SPACE).sum()) :].mT @ coefficients


def generators_on(
    space: VectorSpace, action: Action, coefficients: Float[Tensor, "d g"]
) -> Float[Tensor, "e n n"]:
    """The same combinations as matrices of the space."""
    own, combinations = _factor_of(space, action), coefficients_on(space, action, coefficients)
    if own is None or not len(combinations):
        return torch.zeros(0, space.side, space.side, dtype=torch.float64)
    start, factor = own
    return factor.matrices(combinations[:, start : start + factor.size]).double()


def _factor_of(space: VectorSpace, action: Action) -> tuple[int, MatrixAction] | None:
    """The factor of an action that moves a space by matrices, and its first column; None if there is none."""
    start = 0
    for factor in action.actions if isinstance(action, Product) else (action,):
        if isinstance(factor, MatrixAction) and _holds(factor, space.action):
            return start, factor
        start += factor.size
    return None


def _holds(action: Action, part: Action) -> bool:
    """Whether an action is a part, or is made of it."""
    return action is part or any(_holds(one, part) for one in action.components)
