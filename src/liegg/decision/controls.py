"""Controls: what random directions and re-initialised models show, to compare the found directions with."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg._utils.diagnoses import Remark, as_remark
from liegg.decision.bootstrap import student_quantile

RANDOM_DIRECTIONS = 400
"""Random directions; their defects follow from those of the solution, so that they cost almost nothing."""

RARE_SHARE = 0.05
"""Share of random directions that may lie below a defect that stands out from them."""

REINITIALISED_DRAWS = 5
"""Re-initialised models."""


@dataclass(frozen=True, eq=False)
class RandomControl:
    """Defects of random directions of equal displacement.

    Attributes:
        low: defect that only a share `share` of them stays below.
        median: their median.
        share: that share.
        draws: number of directions.
    """

    low: float
    median: float
    share: float
    draws: int


@dataclass(frozen=True, eq=False)
class ReinitialisedControl:
    """The same architecture with re-initialised weights, on the same data.

    Attributes:
        along: `[draws, m]`, its defects along the directions found in the model and the nearest candidates after them.
        own: `[draws, m]`, its own smallest defects, along any directions.
        learned: for each of these directions, whether the model's defect is far below those of re-initialised models.
        notes: what could not be reset.
    """

    along: Float[Tensor, "f m"]
    own: Float[Tensor, "f m"]
    learned: tuple[bool, ...]
    notes: tuple[Remark, ...] = ()


@dataclass(frozen=True, eq=False)
class Controls:
    """What the result was compared with.

    Attributes:
        random: random directions of equal displacement; None if not requested.
        reinitialised: re-initialised models; None if not requested.
    """

    random: RandomControl | None = None
    reinitialised: ReinitialisedControl | None = None


def random_directions(
    values: Float[Tensor, " r"],
    *,
    seed: int,
    share: float = RARE_SHARE,
    draws: int = RANDOM_DIRECTIONS,
) -> RandomControl:
    r"""Defects of random directions of equal displacement: $\sum_i u_i^2 \delta_i^2$ for random unit vectors $u$.

    Args:
        values: all defects.
        seed: of the directions.
        share: of the directions that may lie below a defect that stands out.
        draws: number of directions.
    """
    if not len(values):
        return RandomControl(math.inf, math.inf, share, 0)
    generator = torch.Generator().manual_seed(seed)
    shape = (draws, len(values))
    squares = torch.randn(shape, generator=generator, dtype=torch.float64).square_()
    defects = (squares / squares.sum(1, keepdim=True)) @ values
    low, median = float(defects.quantile(share)), float(defects.median())
    return RandomControl(low, median, share, draws)


def compare_with_reinitialised(
    high: Float[Tensor, " m"],
    along: Sequence[Float[Tensor, " m"]],
    own: Sequence[Float[Tensor, " m"]],
    notes: tuple[Remark, ...] = (),
    *,
    floor: float = 0.0,
    same_direction_only: bool = False,
) -> ReinitialisedControl:
    """Compare defects with those that re-initialised models have along the same directions.

    A direction is learned if the upper end of its interval is below every draw and below the one-sided 95 % prediction interval of
    the logarithm of a further draw. This must hold along the same direction, and among the draws' own defects of the same rank,
    because the direction was chosen for its small defect and re-initialised models may choose too. The second test is left out if
    the re-initialised models are nearly linear and the model is not: they are then invariant in many directions for a reason that
    the model does not have.

    Args:
        high: upper end of each defect's interval.
        along: for each draw its defects along the same directions; NaN where it is undecided.
        own: for each draw its own smallest defects, ascending; NaN where it has none.
        notes: what could not be reset.
        floor: defects below this are equal: what re-initialised models have exactly was not learned.
        same_direction_only: leave out the second test.
    """
    least = max(floor, torch.finfo(torch.float64).tiny)
    high = high.clamp_min(least).log()

    def below(draws: Float[Tensor, "f m"]) -> Bool[Tensor, " m"]:
        logs = draws.clamp_min(least).log()
        width = student_quantile(0.9, len(draws) - 1.0) * math.sqrt(1 + 1 / len(draws))
        return (high < logs.mean(0) - width * logs.std(0)) & (high < logs.amin(0))

    same, free = torch.stack(list(along)), torch.stack(list(own))
    learned = below(same) if same_direction_only else below(same) & below(free)
    return ReinitialisedControl(same, free, tuple(learned.tolist()), tuple(map(as_remark, notes)))
