"""The continuous symmetries as matrices on one space of a sample."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action, MatrixAction, Product
from liegg.actions.finite.vectors import VectorSpace
from liegg.results.symmetries import Symmetries

INEXACT = 0.05
"""Relative error of generators that are not exact."""


def uncertainty_of(continuous: Symmetries | None) -> float:
    """Relative error of the generators: none if all are exact."""
    if continuous is None or not continuous.nullity:
        return 0.0
    return (
        0.0
        if all(g == "exact" for g in continuous.decision.grades[: continuous.nullity])
        else INEXACT
    )


def algebra_on(
    space: VectorSpace, action: Action, continuous: Symmetries | None
) -> Float[Tensor, "d n n"]:
    """Generators of the symmetries that move this space and no other.

    Args:
        space: the space.
        action: the candidates.
        continuous: the answer for them; None for no symmetry.
    """
    nothing = torch.zeros(0, space.side, space.side, dtype=torch.float64)
    if continuous is None or not continuous.nullity:
        return nothing
    coefficients = continuous.coefficients.double().cpu()
    factors = action.actions if isinstance(action, Product) else (action,)
    start = 0
    for factor in factors:
        inside = torch.zeros(coefficients.shape[1], dtype=torch.bool)
        inside[start : start + factor.size] = True
        start += factor.size
        if space.action in factor.parts and isinstance(factor, MatrixAction):
            own = _only_inside(coefficients, inside)
            return factor.matrices(own).double() if len(own) else nothing
    return nothing


def _only_inside(coefficients: Float[Tensor, "d g"], inside: Tensor) -> Float[Tensor, "e p"]:
    """A basis of the combinations without coefficients outside."""
    outside = coefficients[:, ~inside]
    if not outside.shape[1]:
        return coefficients[:, inside]
    left, values, _ = torch.linalg.svd(outside, full_matrices=True)
    rank = int((values > 1e-8).sum())
    combinations = left[:, rank:].mT @ coefficients
    return combinations[:, inside]
