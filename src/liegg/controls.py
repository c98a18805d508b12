"""Stage 6'', controls: what a model without the symmetry would show, to hold the found directions against."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.resample import quantile

DRAWS = 400
"""Random directions; all are had from the defects, so they cost next to nothing."""

RARE = 0.05
"""Share of random directions that may lie below a defect that is to be set apart from them."""

FRESH_DRAWS = 5
"""Models with fresh weights."""


@dataclass(frozen=True, eq=False)
class RandomControl:
    """Defects of random directions that move the data as far as any.

    Attributes:
        low: what only few of them stay below.
        median: the median.
        share: how few.
        draws: number of directions.
    """

    low: float
    median: float
    share: float
    draws: int


@dataclass(frozen=True, eq=False)
class FreshControl:
    """The same architecture with fresh weights, on the same data.

    Attributes:
        along: `[draws, m]`, its defects along the directions that were found in the model, and the nearest candidates after them.
        smallest: `[draws]`, its own smallest defect, whatever the direction.
        learned: for each of these directions, whether the model's defect lies clearly below those of fresh weights.
        notes: what could not be reset.
    """

    along: Float[Tensor, "f m"]
    smallest: Float[Tensor, " f"]
    learned: tuple[bool, ...]
    notes: tuple[str, ...] = ()


def random_directions(values: Float[Tensor, " r"], *, seed: int, share: float = RARE, draws: int = DRAWS) -> RandomControl:
    r"""Defects of random directions of equal displacement: $\sum_i u_i^2 \delta_i^2$ for random unit vectors $u$.

    Args:
        values: all defects.
        seed: of the directions.
        share: how few of them may stay below `low`.
        draws: number of directions.
    """
    if not len(values):
        return RandomControl(math.inf, math.inf, share, 0)
    squares = torch.randn(draws, len(values), generator=torch.Generator().manual_seed(seed), dtype=torch.float64).square_()
    found = (squares / squares.sum(1, keepdim=True)) @ values
    return RandomControl(float(found.quantile(share)), float(found.median()), share, draws)


def against_fresh(
    high: Float[Tensor, " m"],
    along: Sequence[Float[Tensor, " m"]],
    smallest: Sequence[float],
    notes: tuple[str, ...] = (),
    *,
    floor: float = 0.0,
) -> FreshControl:
    """Hold defects against those that fresh weights have along the same directions.

    Learned is a direction whose defect, with all of its interval, lies below the one-sided 95 % prediction interval of the
    logarithm of a further fresh draw, and below every draw that was made.

    Args:
        high: upper end of each defect's interval.
        along: for each draw its defects along the same directions; NaN where it says nothing.
        smallest: each draw's own smallest defect.
        notes: what could not be reset.
        floor: defect below which all are alike: what fresh weights have exactly was not learned.
    """
    found, least = torch.stack(list(along)), max(floor, torch.finfo(torch.float64).tiny)
    logs = found.clamp_min(least).log()
    draws = len(found)
    wide = quantile(0.9, draws - 1) * math.sqrt(1 + 1 / draws)
    expected = logs.mean(0) - wide * logs.std(0)
    below = (high.clamp_min(least).log() < expected) & (high.clamp_min(least) < found.clamp_min(least).amin(0))
    return FreshControl(found, torch.tensor(list(smallest), dtype=torch.float64), tuple(below.tolist()), notes)
