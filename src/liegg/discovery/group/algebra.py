"""The continuous symmetries as matrices on one space of a sample."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action
from liegg.actions.finite.generators import generators_on
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
    if continuous is None or not continuous.nullity:
        return torch.zeros(0, space.side, space.side, dtype=torch.float64)
    return generators_on(space, action, continuous.coefficients.double().cpu())
