"""A space on which finite group elements act: the vectors, the grid, the channels or the slots of a sample."""

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

from jaxtyping import Float
from torch import Tensor

Kind = Literal["vectors", "channels", "grid", "shifts", "slots"]


class Space(ABC):
    """Square matrices that act on samples without interpolation.

    An element is a matrix `[n, n]`: of a linear or homogeneous affine map, of a signed permutation of the axes of a grid, or of a
    permutation of slots. `apply` of a product is `apply` of one factor after the other.
    """

    kind: ClassVar[Kind]

    @property
    @abstractmethod
    def side(self) -> int:
        """Side n of the matrices."""

    @property
    def coordinates(self) -> tuple[str, ...] | None:
        """Names of what the matrices act on; None for x₁, x₂, ..."""
        return None

    @abstractmethod
    def apply(self, element: Float[Tensor, "n n"], x: Float[Tensor, "b ..."]) -> Tensor:
        """Samples moved by one element."""
