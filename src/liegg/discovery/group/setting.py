"""What a search for finite elements works on: the model, samples to search on and samples to judge on."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.finite.space import Space
from liegg.decision.thresholds import Thresholds
from liegg.discovery.verification.measure import Question

INPUT_UNITS = 2.0
"""Rounding units by which inputs are shaken to see what rounding does to the outputs."""

ANOTHER_SAMPLE = 2.0
"""Squared difference of the outputs of two independent samples, over the variance: no map is compared with a larger change.

Random maps leave the data's region, where polynomials explode and any element would look small beside them."""

LARGE_SAMPLE = 200
"""Numbers in a sample from which on fewer samples are judged and controls are fewer: models of images take long."""

RANDOM_STARTS = 96
"""Random starts per round of a search over matrices."""

FLOOR_FACTOR = 50.0
"""How many times that change, or units of the output's size, may be rounding: elements are products of matrices."""


@dataclass(frozen=True, eq=False)
class Setting:
    """A question about finite elements.

    Attributes:
        search: the model with the samples on which elements are fitted.
        held_out: the same with samples on which they are judged.
        output_spaces: what elements may do to the output; empty for invariance.
        thresholds: what counts as a symmetry.
        seed: of random starts and controls.
        starts: random starts of each round of a search over matrices; 0 for structured elements alone.
    """

    search: Question
    held_out: Question
    output_spaces: tuple[Space, ...]
    thresholds: Thresholds
    seed: int
    starts: int = RANDOM_STARTS

    @property
    def equivariance(self) -> bool:
        """Whether the output may move too."""
        return bool(self.output_spaces)

    def shaped(self, y: Float[Tensor, "b c"]) -> Float[Tensor, "b ..."]:
        """Outputs in their own shape."""
        return y.reshape(len(y), *self.search.model.output_shape)


def rounding_floor(question: Question) -> float:
    """Root mean square change of the output, over its spread, that rounding alone may cause.

    Inputs are shaken by a few rounding units; the change of the output is what its arithmetic does to a moved sample.
    """
    generator = torch.Generator().manual_seed(0)
    total = 0.0
    for part in question.parts:
        x = question.x[part].double()
        noise = torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x)
        size = x.flatten(1).square().mean(1).sqrt().reshape(-1, *[1] * (x.ndim - 1))
        shaken = x + INPUT_UNITS * question.eps * size * noise
        gap = question.taken(question.reply(shaken), part) - question.y[part]
        total += float(gap.square().sum())
    change = (total / len(question.x)) ** 0.5
    own = question.eps * question.output_square**0.5
    spread = max(question.variance, torch.finfo(torch.float64).tiny) ** 0.5
    return FLOOR_FACTOR * max(change, own) / spread
