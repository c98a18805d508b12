"""Matrices that act on the vectors, or on the colour channels, of a sample."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.base import MatrixAction
from liegg.actions.finite.space import Kind, Space

if TYPE_CHECKING:
    from liegg.actions.linear import VectorAction


@dataclass(frozen=True, eq=False)
class VectorSpace(Space):
    """All invertible linear or affine maps, the same on each vector.

    Attributes:
        action: the candidates; their polarization rows are the derivative of a moved output.
        maps: the same maps of flat samples.
        kind: `"vectors"` or `"channels"`.
    """

    action: MatrixAction
    maps: "VectorAction"
    kind: Kind = "vectors"  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def side(self) -> int:
        """Side of the matrices; homogeneous ones have one row more."""
        return self.maps.ambient

    @property
    def homogeneous(self) -> bool:
        """Whether the maps are affine."""
        return self.maps.homogeneous

    @property
    def coordinates(self) -> tuple[str, ...] | None:
        """Names of the components or channels."""
        return self.action.axes

    def apply(
        self, element: Float[Tensor, "n n"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b ..."]:
        """Every vector times the matrix, plus the translation."""
        return self.maps.apply_matrix(element.to(x.device), x.flatten(1)).reshape(x.shape)

    def apply_all(
        self, elements: Float[Tensor, "s n n"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "s b ..."]:
        """The same samples moved by several elements."""
        n = self.maps.n
        vectors = self.vectors(x)
        moved = torch.einsum("sij,bkj->sbki", elements[:, :n, :n].to(vectors), vectors)
        if self.homogeneous:
            moved = moved + elements[:, None, None, :n, n].to(vectors)
        stacked = moved if self.maps.layout == "copies_first" else moved.mT
        return stacked.reshape(len(elements), *x.shape)

    def vectors(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b k n"]:
        """The vectors that the matrices multiply, without the constant coordinate."""
        return self.maps.staged(x.flatten(1))
