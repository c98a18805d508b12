"""Matrices that act on the vectors, or on the colour channels, of a sample."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.base import MatrixAction
from liegg.actions.finite.space import Kind, Space


@runtime_checkable
class Maps(Protocol):
    """How matrices act on flat samples: `Linear` and `Affine` do, and both of them at leaves of structured samples."""

    @property
    def n(self) -> int:
        """Dimension of the vectors."""
        ...

    @property
    def ambient(self) -> int:
        """Side of the matrices."""
        ...

    @property
    def homogeneous(self) -> bool:
        """Whether the maps are affine."""
        ...

    def factors(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b k m"]:
        """The vectors that the matrices multiply, homogeneous ones for affine maps."""
        ...

    def apply_matrix(
        self, matrix: Float[Tensor, "m m"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b ..."]:
        """Samples whose vectors are multiplied by a matrix."""
        ...


@dataclass(frozen=True, eq=False)
class VectorSpace(Space):
    """All invertible linear or affine maps, the same on each vector.

    Attributes:
        action: the candidates; their polarization rows are the derivative of a moved output.
        maps: the same maps of flat samples.
        kind: `"vectors"` or `"channels"`.
    """

    action: MatrixAction
    maps: Maps
    kind: Kind = "vectors"  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def n(self) -> int:
        """Dimension of the vectors, without the constant coordinate."""
        return self.maps.n

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
        flat = x.flatten(1)
        moved = torch.vmap(lambda element: self.maps.apply_matrix(element, flat))(
            elements.to(x.device)
        )
        return moved.reshape(len(elements), *x.shape)

    def factors(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b k m"]:
        """The vectors that the matrices multiply.

        Of affine maps the last coordinate is 1 for points, 0 for vectors, which translations do not move. Vectors that a sample does not
        have are zero.
        """
        return self.maps.factors(x.flatten(1))

    def vectors(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b k n"]:
        """The vectors that the matrices multiply, without the constant coordinate."""
        return self.factors(x)[..., : self.n]
