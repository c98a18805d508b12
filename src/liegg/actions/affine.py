"""The affine action: linear maps and translations of one or several vectors."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import arranged
from liegg.actions.base import Displacement, MatrixAction
from liegg.actions.vectors import Layout, as_vectors, check_sizes, check_vectors, from_vectors


@dataclass(frozen=True)
class Affine(MatrixAction):
    r"""Every affine map of $\mathbb{R}^n$, the same one on each of `copies` vectors.

    The generators are homogeneous matrices `[n+1, n+1]` with a zero last row; coefficients are their first $n$ rows, row by row,
    with fields $\xi_{ij}(x) = e_i \tilde x_j$ for $\tilde x = (x, 1)$.

    Attributes:
        n: dimension of a vector.
        copies: vectors to a sample.
        layout: as for `Linear`.

    Examples:
        >>> Affine(2).size
        6
    """

    n: int
    copies: int = 1
    layout: Layout = "copies_first"

    def __post_init__(self) -> None:
        check_sizes(self.n, self.copies, self.layout, "Affine")

    @property
    def size(self) -> int:
        """n(n + 1)."""
        return self.n * (self.n + 1)

    @property
    def ambient(self) -> int:
        """n + 1: the matrices are homogeneous."""
        return self.n + 1

    def check(self, shape: tuple[int, ...]) -> None:
        """Samples are `[copies, n]` (or the other layout) or flat."""
        check_vectors(shape, self.n, self.copies, self.layout, "Affine")

    def act(self, h: Float[Tensor, "..."], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Apply the exponential of the homogeneous matrix to every vector."""
        matrix = torch.linalg.matrix_exp(pad(self._rows(h, x), (0, 0, 0, 1)))
        return self._apply(matrix[: self.n], x)

    def field(self, h: Float[Tensor, " g"], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Linear part times the vector, plus the translation."""
        return self._apply(self._rows(h, x), x)

    def contract(
        self,
        gradients: Float[Tensor, "b k ..."],
        x: Float[Tensor, "b ..."],
        precomputed: Any = None,
    ) -> Float[Tensor, "b k g"]:
        r"""Outer products $\sum_{\text{copies}} \partial f \otimes (x, 1)$; no field is formed."""
        b, k = gradients.shape[:2]
        slopes = as_vectors(gradients.flatten(0, 1), self.n, self.copies, self.layout).unflatten(
            0, (b, k)
        )
        linear = torch.einsum(
            "bkci,bcj->bkij", slopes, as_vectors(x, self.n, self.copies, self.layout)
        )
        shift = gradients.reshape(b * k, -1) @ self._sum_over_copies(
            gradients
        )  # one product is faster than a strided sum
        return torch.cat([linear, shift.reshape(b, k, self.n, 1)], dim=3).flatten(2)

    def outer_factors(
        self, gradients: Float[Tensor, "b k ..."], x: Float[Tensor, "b ..."]
    ) -> tuple[Float[Tensor, "b k n"], Float[Tensor, "b k m"]] | None:
        r"""Of one vector the row is $\partial f \otimes (x, 1)$; of several it is a sum of such."""
        if self.copies > 1:
            return None
        slopes = gradients.flatten(2)
        return slopes, pad(x.reshape(len(x), 1, self.n).expand_as(slopes), (0, 1), value=1.0)

    def moment(self, x: Float[Tensor, "b ..."], precomputed: Any = None) -> Float[Tensor, "m m"]:
        """Second moment of the homogeneous vectors."""
        vectors = as_vectors(x, self.n, self.copies, self.layout)
        moment = pad((vectors.mT @ vectors).sum(0), (0, 1, 0, 1), value=float(len(x) * self.copies))
        moment[: self.n, self.n] = moment[self.n, : self.n] = x.flatten(1).sum(
            0
        ) @ self._sum_over_copies(x)
        return moment

    def moments(
        self,
        x: Float[Tensor, "b ..."],
        block: Int[Tensor, " b"],
        count: int,
        precomputed: Any = None,
    ) -> Float[Tensor, "p m m"]:
        """Second moments of all blocks at once."""
        vectors = pad(as_vectors(x, self.n, self.copies, self.layout), (0, 1), value=1.0)
        vectors = arranged(vectors, block, count).flatten(1, 2)
        return vectors.mT @ vectors

    def feature_sizes(self, moment: Float[Tensor, "m m"]) -> Float[Tensor, " n"]:
        """Summed squares of the components."""
        return moment.diagonal()[: self.n]

    def displacement(self, moment: Float[Tensor, "m m"], samples: int) -> Displacement:
        """Identity ⊗ mean second moment of the homogeneous vectors."""
        return Displacement(moment / samples, repeat=self.n)

    @property
    def homogeneous(self) -> bool:
        """They are."""
        return True

    def matrices(self, coefficients: Float[Tensor, "d g"]) -> Float[Tensor, "d m m"]:
        """Homogeneous matrices with a zero last row."""
        return pad(coefficients.unflatten(1, (self.n, self.n + 1)), (0, 0, 0, 1))

    def coefficients(self, matrices: Float[Tensor, "d m m"]) -> Float[Tensor, "d g"]:
        """Flatten homogeneous matrices; `[d, n, n]` matrices are taken as linear parts without translation."""
        side = self.n + 1
        if matrices.ndim == 3 and matrices.shape[1:] == (self.n, self.n):
            matrices = pad(matrices, (0, 1, 0, 1))
        if matrices.ndim != 3 or matrices.shape[1:] != (side, side):
            raise ArgumentError(
                f"generators have shape {tuple(matrices.shape)}; expected homogeneous [d, {side}, {side}] with a zero last row, "
                f"or linear parts [d, {self.n}, {self.n}]."
            )
        if bool(
            (matrices[:, self.n].abs() > 1e-12 * matrices.abs().amax(dim=(1, 2))[:, None]).any()
        ):
            raise ArgumentError(
                "a homogeneous generator has a last row other than zero; no affine motion has such a generator."
            )
        return matrices[:, : self.n].flatten(1)

    def settings(self) -> dict[str, Any]:
        """Kind, n, copies, layout."""
        return {"kind": "affine", "n": self.n, "copies": self.copies, "layout": self.layout}

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

    def _sum_over_copies(self, like: Tensor) -> Float[Tensor, "copies_n n"]:
        """Matrix that sums flat samples over their copies."""
        eye = torch.eye(self.n, dtype=like.dtype, device=like.device)
        many = eye.expand(self.copies, self.n, self.n)
        return (many if self.layout == "copies_first" else many.transpose(0, 1)).reshape(-1, self.n)

    def _rows(self, h: Float[Tensor, "..."], x: Tensor) -> Float[Tensor, "n m"]:
        return self._vector(h).to(device=x.device, dtype=x.dtype).unflatten(0, (self.n, self.n + 1))

    def _apply(
        self, rows: Float[Tensor, "n m"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b ..."]:
        vectors = as_vectors(x, self.n, self.copies, self.layout)
        wide = torch.promote_types(
            x.dtype, torch.float32
        )  # products in half precision are coarse, and some CPUs lack them
        moved = vectors.to(wide) @ rows[:, : self.n].to(wide).mT + rows[:, self.n].to(wide)
        return from_vectors(moved.to(x.dtype), x, self.layout)
