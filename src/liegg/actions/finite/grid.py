"""Signed permutations of the axes of a grid, and circular shifts along them: exact, without interpolation."""

import itertools
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions.finite.space import Space


@dataclass(frozen=True)
class GridSpace(Space):
    """The symmetries of the square or cubic grid, as maps of the coordinates x (right), y (up), z.

    Sides of different length are not exchanged.

    Attributes:
        shape: shape of a sample, with or without channels first.
        dimension: number of spatial axes.
    """

    shape: tuple[int, ...]
    dimension: int
    kind = "grid"

    @property
    def side(self) -> int:
        """The number of spatial axes."""
        return self.dimension

    @property
    def coordinates(self) -> tuple[str, ...]:
        """x to the right, y up, z."""
        return ("x", "y", "z")[: self.dimension]

    @cached_property
    def elements(self) -> Float[Tensor, "m d d"]:
        """All signed permutations that keep the sides, identity first."""
        sides = self.shape[::-1][: self.dimension]  # in the order x, y, z
        found = []
        for order in itertools.permutations(range(self.dimension)):
            if any(sides[i] != sides[j] for i, j in enumerate(order)):
                continue
            for signs in itertools.product((1.0, -1.0), repeat=self.dimension):
                matrix = torch.zeros(self.dimension, self.dimension, dtype=torch.float64)
                matrix[range(self.dimension), list(order)] = torch.tensor(signs).double()
                found.append(matrix)
        return torch.stack(found)

    def apply(
        self, element: Float[Tensor, "d d"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b ..."]:
        r"""The signal $f(A^{-1} p)$, by transposing and flipping axes."""
        signal = x.reshape(len(x), *self.shape)
        first = signal.ndim - self.dimension
        matrix = element.round().long()
        axis = [signal.ndim - 1 - i for i in range(self.dimension)]  # of x, y, z
        order = list(range(signal.ndim))
        flips = []
        for i in range(self.dimension):
            j = int(matrix[i].abs().argmax())
            order[axis[i]] = axis[j]  # new coordinate i is ± the old coordinate j
            against = (i == 1) != (j == 1)  # only y runs against its axis
            if (int(matrix[i, j]) < 0) != against:
                flips.append(axis[i])
        if sorted(order) != list(range(signal.ndim)) or first < 1:
            raise ArgumentError(
                "an element of a grid is not a signed permutation of its axes; expected one 1 or −1 in every row and column."
            )
        return signal.permute(order).flip(flips).reshape(x.shape)


@dataclass(frozen=True)
class ShiftSpace(Space):
    """Circular shifts along one axis of a sample, as cyclic permutation matrices.

    Attributes:
        shape: shape of a sample.
        axis: counted from 0, without the batch axis.
    """

    shape: tuple[int, ...]
    axis: int
    kind = "shifts"

    @property
    def side(self) -> int:
        """Places along the axis."""
        return self.shape[self.axis]

    def shift(self, steps: int) -> Float[Tensor, "n n"]:
        """The matrix of a shift."""
        return torch.eye(self.side, dtype=torch.float64).roll(steps, 0)

    def apply(
        self, element: Float[Tensor, "n n"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b ..."]:
        """Samples rolled along the axis."""
        steps = int(element[:, 0].argmax())
        return x.reshape(len(x), *self.shape).roll(steps, self.axis + 1).reshape(x.shape)
