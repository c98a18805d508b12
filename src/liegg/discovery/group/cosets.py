"""Elements modulo the continuous symmetries: one representative of each component."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.finite.membership import distance, nearest_to_identity
from liegg.algebra.subspace import orthonormal
from liegg.results.group_symmetries import GroupElement

STARTS = 6
"""Random starts of the descent to the identity."""

EXACT, INEXACT = 1e-5, 0.25
"""Distance to the identity component within which exact and other elements belong to it."""


def representatives(
    elements: Sequence[GroupElement],
    algebra: Float[Tensor, "d n n"],
    known: Sequence[Float[Tensor, "n n"]],
    *,
    exact: bool,
) -> list[GroupElement]:
    """Elements of components that are not known yet, one of each, exact ones first.

    Args:
        elements: elements that count.
        algebra: generators of the identity component; without any, all elements are returned.
        known: elements of components that are known; the identity component always is.
        exact: whether the algebra is exact.
    """
    if not len(algebra):
        return list(elements)
    span = orthonormal(algebra)
    one = torch.eye(algebra.shape[1], dtype=torch.float64)
    reps = [one, *known]
    kept: list[GroupElement] = []
    left = sorted(
        elements, key=lambda e: (e.grade != "exact", e.effect if e.grade != "exact" else 0.0)
    )
    place = 0
    while left and place < len(reps):
        matrices = torch.stack([e.matrices[0] for e in left])
        moved = torch.linalg.inv(reps[place]) @ matrices
        apart = distance(nearest_to_identity(moved, span, goal=EXACT / 10, starts=STARTS))
        size = torch.linalg.matrix_norm(moved).clamp_min(1.0)
        limits = [EXACT if exact and e.grade == "exact" else INEXACT for e in left]
        new = [
            e
            for e, gap, most in zip(left, (apart / size).tolist(), limits, strict=True)
            if gap > most
        ]
        left = new
        place += 1
        if left and place == len(reps):
            kept.append(left[0])
            reps.append(left[0].matrices[0])
            left = left[1:]
    return kept
