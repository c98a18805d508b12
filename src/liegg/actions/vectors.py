"""Samples that are one or several vectors, in the layouts that linear and affine actions accept."""

from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError, ShapeError
from liegg.actions.base import MatrixAction

Layout = Literal["copies_first", "vector_first"]


@dataclass(frozen=True)
class VectorAction(MatrixAction):
    """The same linear or affine map of each of several vectors; base of `Linear` and `Affine`."""

    n: int
    copies: int = 1
    layout: Layout = "copies_first"

    def __post_init__(self) -> None:
        check_sizes(self.n, self.copies, self.layout, type(self).__name__)

    @property
    def size(self) -> int:
        """Number of entries of the matrices, without a zero last row."""
        return self.n * self.ambient

    def check(self, shape: tuple[int, ...]) -> None:
        """Samples are `[copies, n]` (or the other layout) or flat."""
        check_vectors(shape, self.n, self.copies, self.layout, type(self).__name__)

    def act(self, h: Float[Tensor, "..."], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Apply the exponential of the generator's matrix to every vector."""
        (matrix,) = self.matrices(self._vector(h).to(device=x.device, dtype=x.dtype)[None])
        return self._apply(torch.linalg.matrix_exp(matrix), x)

    def field(self, h: Float[Tensor, " g"], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Apply the generator itself to every vector."""
        return self._apply(self.matrices(h.to(device=x.device, dtype=x.dtype)[None])[0], x)

    def settings(self) -> dict[str, Any]:
        """Kind, n, copies, layout."""
        kind = type(self).__name__.lower()
        return {"kind": kind, "n": self.n, "copies": self.copies, "layout": self.layout}

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

    def _slopes(self, gradients: Float[Tensor, "b k ..."]) -> Float[Tensor, "b k copies n"]:
        """The vectors of every gradient."""
        return self.staged(gradients.flatten(0, 1)).unflatten(0, gradients.shape[:2])

    def _apply(
        self, matrix: Float[Tensor, "m m"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b ..."]:
        """Products in float32 at least: in half precision they are coarse, and some CPUs lack them."""
        wide = torch.promote_types(x.dtype, torch.float32)
        linear, shift = matrix[: self.n].to(wide).tensor_split([self.n], dim=1)
        moved = self.staged(x).to(wide) @ linear.mT
        if shift.shape[1]:
            moved = moved + shift[:, 0]
        return from_vectors(moved.to(x.dtype), x, self.layout)


def as_vectors(
    x: Float[Tensor, "b ..."], n: int, copies: int, layout: str
) -> Float[Tensor, "b copies n"]:
    """View samples of any accepted shape as `copies` vectors of dimension `n`."""
    if layout == "copies_first":
        return x.reshape(x.shape[0], copies, n)
    return x.reshape(x.shape[0], n, copies).mT


def from_vectors(
    vectors: Float[Tensor, "b copies n"], like: Float[Tensor, "b ..."], layout: str
) -> Float[Tensor, "b ..."]:
    """Inverse of `as_vectors`: back to the shape of `like`."""
    return (vectors if layout == "copies_first" else vectors.mT).reshape(like.shape)


def check_vectors(shape: tuple[int, ...], n: int, copies: int, layout: str, name: str) -> None:
    """Raise `ShapeError` unless a sample is `copies` vectors of dimension `n` in this layout."""
    shape = tuple(shape)
    stacked = (copies, n) if layout == "copies_first" else (n, copies)
    accepted = {stacked, (n * copies,)}
    if shape in accepted or (shape == () and n * copies == 1):
        return
    hint = " For a list of single samples pass torch.stack(samples)." if shape == () else ""
    if shape == stacked[::-1]:
        other = "vector_first" if layout == "copies_first" else "copies_first"
        hint = f" The axes are swapped: pass {name}({n}, copies={copies}, layout='{other}')."
    elif len(shape) == 2:
        vectors = f"{shape[0]} vectors of dimension {shape[1]}"
        hint = f" For {vectors} pass {name}({shape[1]}, copies={shape[0]})."
    elif len(shape) == 1 and shape[0] % n == 0:
        count = shape[0] // n
        hint = f" For {count} vectors of dimension {n} pass {name}({n}, copies={count})."
    elif len(shape) == 1:
        hint = f" For one vector of dimension {shape[0]} pass {name}({shape[0]})."
    elif len(shape) == 3:
        hint = " For images pass liegg.Image()."
    wanted = " or ".join(map(str, sorted(accepted, key=len)))
    raise ShapeError(
        f"a sample has shape {shape}; {name}({n}, copies={copies}) expects {wanted}." + hint
    )


def check_sizes(n: int, copies: int, layout: str, name: str) -> None:
    """Raise `ArgumentError` for a size below 1 or an unknown layout."""
    if n < 1 or copies < 1:
        raise ArgumentError(
            f"{name}({n}, copies={copies}): both must be positive, for example {name}(5, copies=2)."
        )
    if layout not in ("copies_first", "vector_first"):
        raise ArgumentError(
            f"layout={layout!r}: expected 'copies_first' (samples [copies, n]) or 'vector_first' "
            "(samples [n, copies])."
        )
