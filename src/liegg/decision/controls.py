"""Stage 6'', controls: what a model without the symmetry would show, to hold the found directions against."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg.decision.bootstrap import quantile

DRAWS = 400
"""Random directions; all are had from the defects, so they cost next to nothing."""

RARE = 0.05
"""Share of random directions that may lie below a defect that is to be set apart from them."""

REINITIALISED_DRAWS = 5
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
class ReinitialisedControl:
    """The same architecture with fresh weights, on the same data.

    Attributes:
        along: `[draws, m]`, its defects along the directions that were found in the model, and the nearest candidates after them.
        own: `[draws, m]`, its own defects of the same rank, along whatever directions.
        learned: for each of these directions, whether the model's defect lies clearly below those of fresh weights.
        notes: what could not be reset.
    """

    along: Float[Tensor, "f m"]
    own: Float[Tensor, "f m"]
    learned: tuple[bool, ...]
    notes: tuple[str, ...] = ()


def random_directions(
    values: Float[Tensor, " r"], *, seed: int, share: float = RARE, draws: int = DRAWS
) -> RandomControl:
    r"""Defects of random directions of equal displacement: $\sum_i u_i^2 \delta_i^2$ for random unit vectors $u$.

    Args:
        values: all defects.
        seed: of the directions.
        share: how few of them may stay below `low`.
        draws: number of directions.
    """
    if not len(values):
        return RandomControl(math.inf, math.inf, share, 0)
    squares = torch.randn(
        draws, len(values), generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    ).square_()
    found = (squares / squares.sum(1, keepdim=True)) @ values
    return RandomControl(float(found.quantile(share)), float(found.median()), share, draws)


def compare_with_reinitialised(
    high: Float[Tensor, " m"],
    along: Sequence[Float[Tensor, " m"]],
    own: Sequence[Float[Tensor, " m"]],
    notes: tuple[str, ...] = (),
    *,
    floor: float = 0.0,
    unlike: bool = False,
) -> ReinitialisedControl:
    """Hold defects against those that fresh weights have along the same directions.

    Learned is a direction whose defect, with all of its interval, lies below the one-sided 95 % prediction interval of the
    logarithm of a further fresh draw, and below every draw that was made: along the same direction, and of the same rank
    whatever the direction. The latter because the direction was chosen for its small defect, and fresh weights may choose too;
    it is not asked where fresh weights make a nearly linear function and the model is none: they are then invariant in many
    directions for a reason that the model does not have.

    Args:
        high: upper end of each defect's interval.
        along: for each draw its defects along the same directions; NaN where it says nothing.
        own: for each draw its own smallest defects, ascending; NaN where it has none.
        notes: what could not be reset.
        floor: defect below which all are alike: what fresh weights have exactly was not learned.
        unlike: fresh weights make nearly linear functions, and the model is none.
    """
    least = max(floor, torch.finfo(torch.float64).tiny)
    high = high.clamp_min(least).log()

    def below(draws: Float[Tensor, "f m"]) -> Bool[Tensor, " m"]:
        logs = draws.clamp_min(least).log()
        wide = quantile(0.9, len(draws) - 1) * math.sqrt(1 + 1 / len(draws))
        return (high < logs.mean(0) - wide * logs.std(0)) & (high < logs.amin(0))

    same, free = torch.stack(list(along)), torch.stack(list(own))
    learned = below(same) if unlike else below(same) & below(free)
    return ReinitialisedControl(same, free, tuple(learned.tolist()), notes)
