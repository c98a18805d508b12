"""The linear action: all of gl(n) on one or several vectors."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import arranged
from liegg.actions.base import Displacement, MatrixAction
from liegg.actions.vectors import Layout, as_vectors, check_sizes, check_vectors, from_vectors


@dataclass(frozen=True)
class Linear(MatrixAction):
    r"""Every linear map of $\mathbb{R}^n$, the same one on each of `copies` vectors: $x_k \mapsto e^{h} x_k$.

    The generators are the unit matrices $E_{ij}$, row by row, with fields $\xi_{ij}(x) = e_i x_j$.

    Attributes:
        n: dimension of a vector.
        copies: vectors to a sample.
        layout: `"copies_first"` for samples `[copies, n]` or flat, copy after copy; `"vector_first"` for `[n, copies]` or
            flat, component after component.

    Examples:
        >>> turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]])
        >>> moved = Linear(2).act(torch.pi / 2 * turn, torch.tensor([[1.0, 0.0]]))
        >>> torch.allclose(moved, torch.tensor([[0.0, 1.0]]), atol=1e-6)
        True
    """

    n: int
    copies: int = 1
    layout: Layout = "copies_first"

    def __post_init__(self) -> None:
        check_sizes(self.n, self.copies, self.layout, "Linear")

    @property
    def size(self) -> int:
        """n²."""
        return self.n**2

    @property
    def ambient(self) -> int:
        """n."""
        return self.n

    def check(self, shape: tuple[int, ...]) -> None:
        """Samples are `[copies, n]` (or the other layout) or flat."""
        check_vectors(shape, self.n, self.copies, self.layout, "Linear")

    def act(self, h: Float[Tensor, "..."], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Apply the matrix exponential of the generator to every vector."""
        return self._apply(torch.linalg.matrix_exp(self._matrix(h, x)), x)

    def field(self, h: Float[Tensor, " g"], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Apply the generator itself to every vector."""
        return self._apply(self._matrix(h, x), x)

    def contract(
        self,
        gradients: Float[Tensor, "b k ..."],
        x: Float[Tensor, "b ..."],
        precomputed: Any = None,
    ) -> Float[Tensor, "b k g"]:
        r"""Outer products $\sum_{\text{copies}} \partial f \otimes x$; no field is formed."""
        b, k = gradients.shape[:2]
        vectors = as_vectors(x, self.n, self.copies, self.layout)
        slopes = as_vectors(gradients.flatten(0, 1), self.n, self.copies, self.layout).unflatten(
            0, (b, k)
        )
        return torch.einsum("bkci,bcj->bkij", slopes, vectors).flatten(2)

    def outer_factors(
        self, gradients: Float[Tensor, "b k ..."], x: Float[Tensor, "b ..."]
    ) -> tuple[Float[Tensor, "b k n"], Float[Tensor, "b k n"]] | None:
        r"""Of one vector the row is $\partial f \otimes x$; of several it is a sum of such."""
        if self.copies > 1:
            return None
        slopes = gradients.flatten(2)
        return slopes, x.reshape(len(x), 1, self.n).expand_as(slopes)

    def moment(self, x: Float[Tensor, "b ..."], precomputed: Any = None) -> Float[Tensor, "n n"]:
        """Second moment of the vectors."""
        vectors = as_vectors(x, self.n, self.copies, self.layout).flatten(0, 1)
        return vectors.mT @ vectors

    def moments(
        self,
        x: Float[Tensor, "b ..."],
        block: Int[Tensor, " b"],
        count: int,
        precomputed: Any = None,
    ) -> Float[Tensor, "p n n"]:
        """Second moments of all blocks at once."""
        vectors = arranged(as_vectors(x, self.n, self.copies, self.layout), block, count).flatten(
            1, 2
        )
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
                f"generators have shape {tuple(matrices.shape)}; expected [d, {self.n}, {self.n}], matrices of {self!r}."
            )
        return matrices.flatten(1)

    def settings(self) -> dict[str, Any]:
        """Kind, n, copies, layout."""
        return {"kind": "linear", "n": self.n, "copies": self.copies, "layout": self.layout}

    @property
    def stage(self) -> str:
        """Points."""
        return "points"

    def staged(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b copies n"]:
        """The vectors of every sample."""
        return as_vectors(x, self.n, self.copies, self.layout)

    def code(self) -> str:
        """The constructor call."""
        return f"liegg.{self!r}"

    def _matrix(self, h: Float[Tensor, "..."], x: Tensor) -> Float[Tensor, "n n"]:
        return self._vector(h).to(device=x.device, dtype=x.dtype).unflatten(0, (self.n, self.n))

    def _apply(
        self, matrix: Float[Tensor, "n n"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b ..."]:
        wide = torch.promote_types(
            x.dtype, torch.float32
        )  # products in half precision are coarse, and some CPUs lack them
        moved = as_vectors(x, self.n, self.copies, self.layout).to(wide) @ matrix.to(wide).mT
        return from_vectors(moved.to(x.dtype), x, self.layout)
