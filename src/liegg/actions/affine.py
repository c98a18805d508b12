"""The affine action: linear maps and translations of one or several vectors."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import group_by_block
from liegg.actions.displacement import Displacement
from liegg.actions.vectors import VectorAction


@dataclass(frozen=True)
class Affine(VectorAction):
    r"""Every affine map of $\mathbb{R}^n$, the same on each of `copies` vectors.

    The generators are homogeneous matrices `[n+1, n+1]` with a zero last row; coefficients are their
    first $n$ rows, row by row, with fields $\xi_{ij}(x) = e_i \tilde x_j$ for $\tilde x = (x, 1)$.

    Attributes:
        n: dimension of a vector.
        copies: vectors per sample.
        layout: as for `Linear`.

    Examples:
        >>> Affine(2).size
        6
    """

    @property
    def ambient(self) -> int:
        """n + 1: the matrices are homogeneous."""
        return self.n + 1

    @property
    def homogeneous(self) -> bool:
        """They are."""
        return True

    def contract(
        self,
        gradients: Float[Tensor, "b k ..."],
        x: Float[Tensor, "b ..."],
        precomputed: Any = None,
    ) -> Float[Tensor, "b k g"]:
        r"""Outer products $\sum_{\text{copies}} \partial f \otimes (x, 1)$; no field is formed."""
        b, k = gradients.shape[:2]
        linear = torch.einsum("bkci,bcj->bkij", self._slopes(gradients), self.staged(x))
        # One matrix product is faster than a strided sum.
        shift = gradients.reshape(b * k, -1) @ self._sum_over_copies(gradients)
        return torch.cat([linear, shift.reshape(b, k, self.n, 1)], dim=3).flatten(2)

    def outer_factors(
        self, gradients: Float[Tensor, "b k ..."], x: Float[Tensor, "b ..."]
    ) -> tuple[Float[Tensor, "b k n"], Float[Tensor, "b k m"]] | None:
        r"""For one vector the row is $\partial f \otimes (x, 1)$; for several it is a sum of these."""
        if self.copies > 1:
            return None
        slopes = gradients.flatten(2)
        return slopes, pad(x.reshape(len(x), 1, self.n).expand_as(slopes), (0, 1), value=1.0)

    def moment(self, x: Float[Tensor, "b ..."], precomputed: Any = None) -> Float[Tensor, "m m"]:
        """Second moment of the homogeneous vectors."""
        vectors = self.staged(x)
        moment = pad((vectors.mT @ vectors).sum(0), (0, 1, 0, 1), value=float(len(x) * self.copies))
        sums = x.flatten(1).sum(0) @ self._sum_over_copies(x)
        moment[: self.n, self.n] = moment[self.n, : self.n] = sums
        return moment

    def moments(
        self,
        x: Float[Tensor, "b ..."],
        block: Int[Tensor, " b"],
        count: int,
        precomputed: Any = None,
    ) -> Float[Tensor, "p m m"]:
        """Second moments of all blocks at once."""
        vectors = group_by_block(pad(self.staged(x), (0, 1), value=1.0), block, count).flatten(1, 2)
        return vectors.mT @ vectors

    def feature_sizes(self, moment: Float[Tensor, "m m"]) -> Float[Tensor, " n"]:
        """Summed squares of the components."""
        return moment.diagonal()[: self.n]

    def displacement(self, moment: Float[Tensor, "m m"], samples: int) -> Displacement:
        """Identity ⊗ mean second moment of the homogeneous vectors."""
        return Displacement(moment / samples, repeat=self.n)

    def matrices(self, coefficients: Float[Tensor, "d g"]) -> Float[Tensor, "d m m"]:
        """Homogeneous matrices with a zero last row."""
        return pad(coefficients.unflatten(1, (self.n, self.n + 1)), (0, 0, 0, 1))

    def coefficients(self, matrices: Float[Tensor, "d m m"]) -> Float[Tensor, "d g"]:
        """Flatten homogeneous matrices; `[d, n, n]` are linear parts without translation."""
        side = self.n + 1
        if matrices.ndim == 3 and matrices.shape[1:] == (self.n, self.n):
            matrices = pad(matrices, (0, 1, 0, 1))
        if matrices.ndim != 3 or matrices.shape[1:] != (side, side):
            raise ArgumentError(
                f"generators have shape {tuple(matrices.shape)}; expected homogeneous "
                f"[d, {side}, {side}] with a zero last row, or linear parts [d, {self.n}, {self.n}]."
            )
        size = matrices.abs().amax(dim=(1, 2))[:, None]
        if bool((matrices[:, self.n].abs() > 1e-12 * size).any()):
            raise ArgumentError(
                "a homogeneous generator has a last row other than zero; affine motions have none."
            )
        return matrices[:, : self.n].flatten(1)

    def _sum_over_copies(self, like: Tensor) -> Float[Tensor, "copies_n n"]:
        """Matrix that sums flat samples over their copies."""
        eye = torch.eye(self.n, dtype=like.dtype, device=like.device)
        many = eye.expand(self.copies, self.n, self.n)
        return (many if self.layout == "copies_first" else many.transpose(0, 1)).reshape(-1, self.n)
