"""How many of the samples are really different: copies of a few look like many and are no more evidence."""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.device import sent

ALIKE = 1e-9
"""Relative difference up to which two projections are those of one sample."""


@dataclass(eq=False)
class Distinct:
    """Counts different samples up to a limit, by their projections on one random direction.

    Attributes:
        most: number from which on there are enough, and nothing more is looked at.
        seen: sorted projections of the different samples so far.
    """

    most: int
    seen: Float[Tensor, " k"] = field(default_factory=lambda: torch.zeros(0, dtype=torch.float64))

    def add(self, x: Float[Tensor, "b ..."]) -> None:
        """Look at the samples of a batch."""
        if len(self.seen) >= self.most:
            return
        flat = x.detach().reshape(len(x), -1)
        onto = torch.randn(
            flat.shape[1], generator=torch.Generator().manual_seed(0), dtype=torch.float64
        )
        projections = (flat.double() * sent(onto, x.device)).sum(1)
        self.seen = _different(
            torch.cat([self.seen, projections.cpu()])
        )  # waits for a GPU, until there are enough

    @property
    def count(self) -> int:
        """Number of different samples; at least `most` where there are so many."""
        return len(self.seen)


def distinct_merge(one: Distinct, other: Distinct) -> Distinct:
    """Different samples of both."""
    return Distinct(one.most, _different(torch.cat([one.seen, other.seen])))


def _different(projections: Float[Tensor, " k"]) -> Float[Tensor, " j"]:
    """Sorted, and one for each that are alike."""
    if not len(projections):
        return projections
    found = projections.sort().values
    step = found.diff() > ALIKE * found.abs().max()
    return found[torch.cat([torch.ones(1, dtype=torch.bool), step])]
