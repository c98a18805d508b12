"""A finite element that may be a symmetry."""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.finite.space import Space


@dataclass(frozen=True, eq=False)
class Candidate:
    """Matrices on one or several spaces of a sample, applied one after the other.

    Attributes:
        factors: space and matrix of every factor; they commute.
        source: where the element comes from, such as `"sign flip"` or `"random start"`.
        outputs: space and matrix of what goes with it on the output; empty for invariance.
        structured: whether it was stated before the model was looked at.
    """

    factors: tuple[tuple[Space, Float[Tensor, "_ _"]], ...]
    source: str
    outputs: tuple[tuple[Space, Float[Tensor, "_ _"]], ...] = field(default=())
    structured: bool = True

    def apply(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Moved samples."""
        for space, matrix in self.factors:
            x = space.apply(matrix, x)
        return x

    def apply_output(self, y: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """What the output should become."""
        for space, matrix in self.outputs:
            y = space.apply(matrix, y)
        return y

    @property
    def matrix(self) -> Float[Tensor, "n n"]:
        """The matrices of all factors, block by block."""
        return torch.block_diag(*(matrix for _, matrix in self.factors))
