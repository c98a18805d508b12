"""Maps of the coordinates or of the channels of a grid, written as maps of bare vectors."""

import math
from dataclasses import replace

from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ShapeError
from liegg.actions.base import MatrixAction
from liegg.actions.derived import DerivedMatrices


class MapAction(DerivedMatrices):
    """Linear or affine maps of a small space; base of `Grid` and `Channels`."""

    shape: tuple[int, ...] | None

    @property
    def size(self) -> int:
        """Number of entries of the maps."""
        return self.source.size

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
