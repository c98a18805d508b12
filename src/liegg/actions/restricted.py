"""An action restricted to a subspace of its candidate generators."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import orthonormal_rows
from liegg.actions.base import Action, MatrixAction
from liegg.actions.derived import DerivedMatrices
from liegg.actions.displacement import Displacement
from liegg.actions.motion import Motion
from liegg.algebra.subspace import principal_angles

PROJECTION_LIMIT = 1024
"""Candidates of the parent up to which its rows are taken and projected.

Above, one field at a time is cheaper."""


@dataclass(frozen=True, eq=False, repr=False)
class Restricted(Action):
    """An action whose candidate generators span a subspace of its parent's.

    Attributes:
        parent: the action that is restricted.
        basis: orthonormal coefficients `[r, g]` of the subspace in the parent's generators.
        label: its name, where it has one of its own.
    """

    parent: Action
    basis: Float[Tensor, "r g"]
    label: str = ""

    def __new__(cls, parent: Any = None, *_: Any, **__: Any) -> "Restricted":
        """Give it matrices where the parent has them."""
        return object.__new__(MatrixRestricted if isinstance(parent, MatrixAction) else cls)

    @staticmethod
    def of(parent: Action, basis: Float[Tensor, "r ..."]) -> "Restricted":
        """Restrict `parent` to the span of matrices or of coefficients `[r, g]`."""
        rows = parent.as_coefficients(basis)
        span = orthonormal_rows(rows.detach().to("cpu", torch.float64))
        if not len(span):
            raise ArgumentError("restrict() got no generator other than zero; give at least one.")
        if isinstance(parent, Restricted):
            return Restricted(parent.parent, span @ parent.basis)
        return Restricted(parent, span)

    @property
    def size(self) -> int:
        """Dimension of the subspace."""
        return self.basis.shape[0]

    @property
    def components(self) -> tuple[Action, ...]:
        """The parent."""
        return (self.parent,)

    def with_components(self, components: Sequence[Action]) -> "Restricted":
        """The restriction of another parent."""
        return replace(self, parent=components[0])

    @property
    def family(self) -> tuple[int, ...]:
        """The family of the parent, and the subspace."""
        return (*self.parent.family, id(self.basis))

    @property
    def row_action(self) -> Action:
        """The parent, unless it has very many candidates: defects are relative to all of them."""
        return self.parent if self.parent.size <= PROJECTION_LIMIT else self

    def project(self, r: Float[Tensor, "m p"]) -> Float[Tensor, "m q"]:
        """Columns of `row_action` to those of the subspace; columns before them stay."""
        if self.row_action is self:
            return r
        outputs = r.shape[1] - self.parent.size
        return torch.cat([r[:, :outputs], r[:, outputs:] @ self.basis.to(r).mT], dim=1)

    def whole_coefficients(self, h: Float[Tensor, "... r"]) -> Float[Tensor, "... g"]:
        """Coefficients in the parent's candidates."""
        return h @ self.basis.to(h)

    def own_coefficients(self, h: Float[Tensor, "... g"]) -> Float[Tensor, "... r"]:
        """Coefficients of the orthogonal projection onto the subspace."""
        return h @ self.basis.to(h).mT

    def same_motions(self, other: Action) -> bool:
        """Whether the other action is restricted to the same span of the same motions."""
        return (
            isinstance(other, Restricted)
            and self.basis.shape == other.basis.shape
            and self.parent.same_motions(other.parent)
            and float(principal_angles(self.basis, other.basis).max()) < 1e-6  # radians
        )

    def act(self, h: Float[Tensor, "..."], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """The parent's motion."""
        return self.parent.act(self.whole_coefficients(self._vector(h)), x)

    def act_all(
        self, h: Float[Tensor, "m r"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "m b ..."]:
        """The parent's motions."""
        return self.parent.act_all(self.whole_coefficients(h), x)

    def tangents(
        self, h: Float[Tensor, "t r"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "t b ..."]:
        """The parent's."""
        return self.parent.tangents(self.whole_coefficients(h), x)

    def contract(
        self, gradients: Float[Tensor, "b k ..."], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b k r"]:
        """Project the parent's rows, or take one field at a time where it has many generators."""
        if self.row_action is self:
            return super().contract(gradients, x)
        return self.own_coefficients(self.parent.contract(gradients, x))

    def moment(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "s s"]:
        """The parent's statistic."""
        return self.parent.moment(x)

    def moments(
        self, x: Float[Tensor, "b ..."], block: Int[Tensor, " b"], count: int
    ) -> Float[Tensor, "p s s"]:
        """The moments of the parent."""
        return self.parent.moments(x, block, count)

    def displacement(self, moment: Float[Tensor, "s s"], samples: int) -> Displacement:
        """The parent's displacement between directions of the subspace."""
        outer = self.parent.displacement(moment, samples)
        side = outer.block.shape[0]
        rows = self.basis.to(moment).reshape(self.size, outer.repeat, side)
        return Displacement(torch.einsum("prs,st,qrt->pq", rows, outer.block, rows))

    def feature_sizes(self, moment: Float[Tensor, "s s"]) -> Float[Tensor, " n"]:
        """The parent's."""
        return self.parent.feature_sizes(moment)

    def steps(self, shape: tuple[int, ...]) -> Float[Tensor, " r"]:
        """The parent's, of the candidates that a direction is made of; 0 if one of them has none."""
        each = self.parent.steps(shape)
        inverse = torch.where(each > 0, 1 / each, torch.inf)
        shares = torch.where(self.basis != 0, self.basis * inverse, 0.0)
        return 1 / shares.norm(dim=1)

    def settings(self) -> dict[str, Any]:
        """The parent's settings and the basis."""
        return {
            "kind": "restricted",
            "parent": self.parent.settings(),
            "basis": self.basis.tolist(),
            "label": self.label,
        }

    @property
    def words(self) -> tuple[str, ...]:
        """The parent's words for the basis."""
        return self.parent.describe(self.basis)

    def describe(
        self, coefficients: Float[Tensor, "d r"], *, tolerance: float = 1e-6
    ) -> tuple[str, ...]:
        """The parent's words."""
        return self.parent.describe(self.whole_coefficients(coefficients), tolerance=tolerance)

    def motions(self, shape: tuple[int, ...], *, spread: float = 1.0) -> dict[str, Motion]:
        """The parent's; those outside the subspace are motions of the parent."""
        named = self.parent.motions(shape, spread=spread)
        return {name: self._own(motion) for name, motion in named.items()}

    def _own(self, motion: Motion) -> Motion:
        if motion.action is not None:
            return motion
        whole = self.parent.as_coefficients(motion.generators)
        own = self.own_coefficients(whole)
        inside = bool((self.whole_coefficients(own) - whole).norm() <= 1e-9 * whole.norm())
        generators, action = (own, None) if inside else (whole, self.parent)
        return replace(motion, generators=generators, action=action)

    @property
    def stage(self) -> str | None:
        """The parent's."""
        return self.parent.stage

    def staged(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """The parent's."""
        return self.parent.staged(x)

    def code(self) -> str | None:
        """The named group, or the parent restricted to the basis."""
        if self.label:
            return f"liegg.{self.label}"
        small = self.basis.numel() <= 64
        inside = f"torch.tensor({self.basis.tolist()}, dtype=torch.float64)" if small else "basis"
        parent = self.parent.code()
        return None if parent is None else f"{parent}.restrict({inside})"

    def __repr__(self) -> str:
        return self.label or f"Restricted({self.parent!r}, size={self.size})"


class MatrixRestricted(Restricted, DerivedMatrices):
    """A restricted action whose parent has matrices; `Restricted(...)` makes it where it can."""

    parent: MatrixAction

    @property
    def source(self) -> MatrixAction:
        """The parent."""
        return self.parent

    @property
    def vectors(self) -> "MatrixRestricted":
        """How velocities and forces move where this action moves positions."""
        vectors = getattr(self.parent, "vectors", None)
        if vectors is None:
            raise AttributeError(
                f"{self.parent!r} does not move positions; vectors are for Linear and Affine"
            )
        return replace(self, parent=vectors)
