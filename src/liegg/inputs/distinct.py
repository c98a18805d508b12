"""How many of the samples differ: copies of a few samples are not more evidence."""

from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.device import to_device

TOLERANCE = 1e-9
"""Relative difference up to which two projections belong to equal samples."""


@dataclass(frozen=True, eq=False)
class DistinctSamples:
    """Counts distinct samples by their projections on one random direction.

    Attributes:
        enough: number of distinct samples from which on no more are looked at.
        projections: sorted projections of the distinct samples so far.
    """

    enough: int
    projections: Float[Tensor, " k"] = field(
        default_factory=lambda: torch.zeros(0, dtype=torch.float64)
    )

    @property
    def count(self) -> int:
        """Number of distinct samples; at least `enough` if there are that many."""
        return len(self.projections)


def add_samples(state: DistinctSamples, x: Float[Tensor, "b ..."]) -> DistinctSamples:
    """Add the samples of a batch; waits for a GPU until there are enough."""
    if state.count >= state.enough:
        return state
    flat = x.detach().reshape(len(x), -1)
    direction = torch.randn(
        flat.shape[1], generator=torch.Generator().manual_seed(0), dtype=torch.float64
    )
    projections = (flat.double() * to_device(direction, x.device)).sum(1).cpu()
    return replace(state, projections=_unique(torch.cat([state.projections, projections])))


def merge_distinct(one: DistinctSamples, other: DistinctSamples) -> DistinctSamples:
    """Distinct samples of both."""
    return replace(one, projections=_unique(torch.cat([one.projections, other.projections])))


def _unique(projections: Float[Tensor, " k"]) -> Float[Tensor, " j"]:
    """Sorted projections, one for each group of equal ones."""
    if not len(projections):
        return projections
    values = projections.sort().values
    step = values.diff() > TOLERANCE * values.abs().max()
    return values[torch.cat([torch.ones(1, dtype=torch.bool), step])]
