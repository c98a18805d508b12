"""How far each candidate generator moves the data, as a matrix."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Displacement:
    r"""Mean squared motion of the data, $M = \mathrm{mean}\ \xi^\top \xi = I_{\text{repeat}} \otimes \text{block}$.

    The Kronecker form is what the linear and affine actions have; any other $M$ is its own block
    with `repeat = 1`. It is summed in float64: a direction is called trivial at a relative 1e-12,
    four decades above the rounding error of that sum.

    Attributes:
        block: symmetric positive semidefinite `[s, s]`.
        repeat: number of copies of the block on the diagonal.
        noise: squared motion up to which a generator is taken to move the data by rounding alone.
    """

    block: Float[Tensor, "s s"]
    repeat: int = 1
    noise: float = 0.0

    @property
    def typical(self) -> float:
        """Mean squared motion per candidate generator."""
        return float(self.block.diagonal().mean())

    def dense(self) -> Float[Tensor, "g g"]:
        """The complete matrix `[g, g]`."""
        return torch.block_diag(*[self.block] * self.repeat)
