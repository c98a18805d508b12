"""Maps of each of several values of a sample: vectors, tensors, spherical harmonics."""

import math
from abc import abstractmethod
from collections.abc import Sequence

from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.linalg import group_by_block
from liegg.actions.base import MatrixAction
from liegg.actions.motion import Motion
from liegg.algebra.catalog import so

LARGEST_NAMED = 32
"""Largest dimension of which motions have a name: it has 496 rotations."""

DEGREES_PER_RADIAN = 180 / math.pi
"""Degrees per radian."""


class ValueAction(MatrixAction):
    """The same map of each of several values of a sample; base of `Linear`, `Affine`, `Tensor` and `Irrep`.

    Attributes:
        n: dimension of space.
        copies: values per sample; None for any number of them.
        names: of the n coordinates of space; None for none.
    """

    n: int
    copies: int | None
    names: Sequence[str] | None

    @abstractmethod
    def factors(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b copies m"]:
        """The values that the matrices multiply, each a vector."""

    @property
    def axes(self) -> tuple[str, ...] | None:
        """The names of the coordinates."""
        return None if self.names is None else tuple(self.names)

    def moment(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "m m"]:
        """Second moment of the values."""
        values = self.factors(x).flatten(0, 1)
        return values.mT @ values

    def moments(
        self, x: Float[Tensor, "b ..."], block: Int[Tensor, " b"], count: int
    ) -> Float[Tensor, "p m m"]:
        """Second moments of all blocks at once."""
        values = group_by_block(self.factors(x), block, count).flatten(1, 2)
        return values.mT @ values

    def motions(self, shape: tuple[int, ...], *, spread: float = 1.0) -> dict[str, Motion]:
        """Rotation."""
        if not 1 < self.n <= LARGEST_NAMED:
            return {}
        return {
            "rotation": Motion(self.coefficients(so(self.n)), unit="°", per_unit=DEGREES_PER_RADIAN)
        }

    def code(self) -> str:
        """The constructor call."""
        return f"liegg.{self!r}"
