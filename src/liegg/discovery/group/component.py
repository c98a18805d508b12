"""Elements by the component of a Lie group that they are in."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.finite.membership import distance, nearest_to_identity, violation
from liegg.algebra.forms.commutant import invariant_subspaces
from liegg.algebra.forms.forms import Forms, preserved_forms
from liegg.algebra.subspace import orthonormal
from liegg.results.group_symmetries import GroupElement

COMPONENT_STARTS = 6
"""Random starts of the descent to the identity."""

EXACT_COMPONENT, INEXACT_COMPONENT = 1e-5, 0.25
"""Distance to the identity component within which exact and other elements belong to it."""

CLEARLY_OUTSIDE = 0.1
"""Violation of what an exact component preserves from which on no descent to it is tried."""


@dataclass(frozen=True, eq=False)
class IdentityComponent:
    """The identity component of a group.

    Attributes:
        span: its generators, orthonormal.
        exact: whether they are exact.
        forms: what they preserve; None if they are not exact.
        subspaces: bases of what they leave invariant.
        frame: coordinates of all of these, as columns.
    """

    span: Float[Tensor, "d n n"]
    exact: bool
    forms: Forms | None
    subspaces: Sequence[Float[Tensor, "n _"]]
    frame: Float[Tensor, "n n"]

    def outside(
        self, matrix: Float[Tensor, "n n"], elements: Sequence[GroupElement]
    ) -> list[GroupElement]:
        """The elements that are not in the component of a matrix."""
        if not elements:
            return []
        moved = torch.linalg.inv(matrix) @ torch.stack([one.matrix for one in elements])
        moved = torch.linalg.inv(self.frame) @ moved @ self.frame
        gaps = self.gaps(moved).tolist()
        return [
            one
            for one, gap in zip(elements, gaps, strict=True)
            if gap > (EXACT_COMPONENT if self.exact and one.grade == "exact" else INEXACT_COMPONENT)
        ]

    def gaps(self, matrices: Float[Tensor, "k n n"]) -> Float[Tensor, " k"]:
        """Distances to the component, relative to the size of the matrices; infinite where it preserves what they do not."""
        found = torch.full((len(matrices),), torch.inf, dtype=torch.float64)
        open_ = torch.ones(len(matrices), dtype=torch.bool)
        if self.forms is not None:
            open_ = violation(matrices, self.forms, self.subspaces) < CLEARLY_OUTSIDE
        near = nearest_to_identity(
            matrices[open_], self.span, goal=EXACT_COMPONENT / 10, starts=COMPONENT_STARTS
        )
        sizes = torch.linalg.matrix_norm(matrices[open_]).clamp_min(1.0)
        found[open_] = distance(near) / sizes
        return found


def identity_component(
    algebra: Float[Tensor, "d n n"], frame: Float[Tensor, "n n"], *, exact: bool
) -> IdentityComponent:
    """The identity component with some generators.

    Args:
        algebra: generators.
        frame: coordinates as columns in which distances are measured.
        exact: whether they are exact.
    """
    span = orthonormal(torch.linalg.inv(frame) @ algebra @ frame)
    if not exact:
        return IdentityComponent(span, False, None, (), frame)
    return IdentityComponent(span, True, preserved_forms(span), invariant_subspaces(span), frame)
