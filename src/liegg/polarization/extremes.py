"""The samples that are farthest from the others, and the range of every number."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

KEPT = 5
"""Samples that are kept."""


class Extremes(NamedTuple):
    """The farthest samples, and the range of every number.

    Attributes:
        centre: from which distances are measured; the same in all sums that are merged.
        squares: `[k]`, squared distances of the farthest samples, descending.
        places: `[k]`, their positions in the data.
        total: summed squared distances of all samples.
        least: smallest of every number.
        greatest: largest of every number.
    """

    centre: Float[Tensor, " m"]
    squares: Float[Tensor, " k"]
    places: Int[Tensor, " k"]
    total: Float[Tensor, ""]
    least: Float[Tensor, " m"]
    greatest: Float[Tensor, " m"]


def init(first: Float[Tensor, "b ..."]) -> Extremes:
    """No samples; distances are measured from the median of the first ones, which outliers do not move."""
    centre = first.flatten(1).median(0).values
    infinite = torch.full_like(centre, torch.inf)
    none = torch.zeros(KEPT, dtype=torch.int64)
    return Extremes(
        centre, none.to(centre) - 1, none - 1, centre.new_zeros(()), infinite, -infinite
    )


def update(state: Extremes, x: Float[Tensor, "b ..."], first: int) -> Extremes:
    """Add the samples of a batch, the first of which is at a position in the data."""
    flat = x.flatten(1)
    squares = (flat - state.centre).square().sum(1)
    far = squares.topk(min(KEPT, len(x)))
    return merge(
        state,
        Extremes(
            state.centre, far.values, first + far.indices, squares.sum(), flat.amin(0), flat.amax(0)
        ),
    )


def merge(one: Extremes, other: Extremes) -> Extremes:
    """Merge the extremes of two sets of samples, which have the same centre."""
    squares, order = torch.cat([one.squares, other.squares]).topk(KEPT)
    return Extremes(
        one.centre,
        squares,
        torch.cat([one.places, other.places])[order],
        one.total + other.total,
        torch.minimum(one.least, other.least),
        torch.maximum(one.greatest, other.greatest),
    )


def constants(state: Extremes) -> list[int]:
    """Numbers that are the same in every sample."""
    return (state.least == state.greatest).nonzero().flatten().tolist()


def carriers(state: Extremes, share: float) -> tuple[list[int], float]:
    """Positions of the fewest samples with this share of the summed squared distances, and their share; none if it takes more.

    Args:
        state: of all samples.
        share: from 0 to 1.
    """
    shares = state.squares.clamp_min(0).cumsum(0) / state.total.clamp_min(1e-300)
    enough = (shares >= share).nonzero().flatten()
    if not len(enough):
        return [], 0.0
    count = int(enough[0]) + 1
    return sorted(state.places[:count].tolist()), float(shares[count - 1])
