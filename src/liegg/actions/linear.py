"""The linear action: all of gl(n) on one or several vectors."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import group_by_block
from liegg.actions.displacement import Displacement
from liegg.actions.vectors import VectorAction


@dataclass(frozen=True)
class Linear(VectorAction):
    r"""Every linear map of $\mathbb{R}^n$, the same on each of `copies` vectors: $x_k \mapsto e^{h} x_k$.

    The generators are the unit matrices $E_{ij}$, row by row, with fields $\xi_{ij}(x) = e_i x_j$.

    Attributes:
        n: dimension of a vector.
        copies: vectors per sample.
        layout: `"copies_first"` for samples `[copies, n]` or flat, copy after copy;
            `"vector_first"` for `[n, copies]` or flat, component after component.

    Examples:
        >>> turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]])
        >>> moved = Linear(2).act(torch.pi / 2 * turn, torch.tensor([[1.0, 0.0]]))
        >>> torch.allclose(moved, torch.tensor([[0.0, 1.0]]), atol=1e-6)
        True
    """

    @property
    def ambient(self) -> int:
        """n."""
        return self.n

    def contract(
        self,
        gradients: Float[Tensor, "b k ..."],
        x: Float[Tensor, "b ..."],
        precomputed: Any = None,
    ) -> Float[Tensor, "b k g"]:
        r"""Outer products $\sum_{\text{copies}} \partial f \otimes x$; no field is formed."""
        rows = torch.einsum("bkci,bcj->bkij", self._slopes(gradients), self.staged(x))
        return rows.flatten(2)

    def outer_factors(
        self, gradients: Float[Tensor, "b k ..."], x: Float[Tensor, "b ..."]
    ) -> tuple[Float[Tensor, "b k n"], Float[Tensor, "b k n"]] | None:
        r"""For one vector the row is $\partial f \otimes x$; for several it is a sum of these."""
        if self.copies > 1:
            return None
        slopes = gradients.flatten(2)
        return slopes, x.reshape(len(x), 1, self.n).expand_as(slopes)

    def moment(self, x: Float[Tensor, "b ..."], precomputed: Any = None) -> Float[Tensor, "n n"]:
        """Second moment of the vectors."""
        vectors = self.staged(x).flatten(0, 1)
        return vectors.mT @ vectors

    def moments(
        self,
        x: Float[Tensor, "b ..."],
        block: Int[Tensor, " b"],
        count: int,
        precomputed: Any = None,
    ) -> Float[Tensor, "p n n"]:
        """Second moments of all blocks at once."""
        vectors = group_by_block(self.staged(x), block, count).flatten(1, 2)
        return vectors.mT @ vectors

    def feature_sizes(self, moment: Float[Tensor, "n n"]) -> Float[Tensor, " n"]:
        """Summed squares of the components."""
        return moment.diagonal()

    def displacement(self, moment: Float[Tensor, "n n"], samples: int) -> Displacement:
        """Identity ⊗ mean second moment, because fields with different `i` are orthogonal."""
        return Displacement(moment / samples, repeat=self.n)

    def matrices(self, coefficients: Float[Tensor, "d g"]) -> Float[Tensor, "d n n"]:
        """Fold rows of coefficients into matrices."""
        return coefficients.unflatten(1, (self.n, self.n))

    def coefficients(self, matrices: Float[Tensor, "d n n"]) -> Float[Tensor, "d g"]:
        """Flatten matrices row by row."""
        if matrices.ndim != 3 or matrices.shape[1:] != (self.n, self.n):
            raise ArgumentError(
                f"generators have shape {tuple(matrices.shape)}; expected [d, {self.n}, {self.n}], "
                f"matrices of {self!r}."
            )
        return matrices.flatten(1)
