"""Maps of the coordinates or of the channels of a grid, written as maps of bare vectors."""

import math
from abc import abstractmethod
from dataclasses import replace

from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ShapeError
from liegg.actions.base import MatrixAction
from liegg.actions.linear import Affine, Linear


class MapAction(MatrixAction):
    """Linear or affine maps of a small space; base of `Grid` and `Channels`."""

    shape: tuple[int, ...] | None

    @property
    @abstractmethod
    def maps(self) -> Linear | Affine:
        """The same maps, of bare vectors."""

    @property
    def size(self) -> int:
        """Number of entries of the maps."""
        return self.maps.size

    @property
    def ambient(self) -> int:
        """Dimension of the space, plus 1 for affine maps."""
        return self.maps.ambient

    @property
    def homogeneous(self) -> bool:
        """Whether the maps are affine."""
        return self.maps.homogeneous

    def matrices(self, coefficients: Float[Tensor, "d g"]) -> Float[Tensor, "d n n"]:
        """Matrices of the maps; homogeneous with a zero last row if they are affine."""
        return self.maps.matrices(coefficients)

    def coefficients(self, matrices: Float[Tensor, "d n n"]) -> Float[Tensor, "d g"]:
        """Flatten matrices; affine maps also take linear parts alone."""
        return self.maps.coefficients(matrices)

    def code(self) -> str:
        """The constructor call."""
        return f"liegg.{self!r}"

    def subgroup(self, group: str, basis: Float[Tensor, "r n n"]) -> MatrixAction:
        """The restriction of all affine maps to a smaller group, under the name of that group."""
        label = repr(self).replace("'affine'", repr(group), 1)
        return replace(self.restrict(basis), label=label)

    def _whole_shape(self, shape: tuple[int, ...], name: str) -> tuple[int, ...]:
        """Shape before samples were flattened; raise `ShapeError` if it was stated otherwise."""
        if self.shape is None:
            return tuple(shape)
        flat = (math.prod(self.shape),)
        if tuple(shape) not in (self.shape, flat):
            raise ShapeError(
                f"a sample has shape {tuple(shape)}; {name}(shape={self.shape}) expects that "
                f"shape, or {flat}."
            )
        return self.shape
