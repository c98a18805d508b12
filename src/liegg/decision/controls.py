"""Controls: what random directions and other models of the same architecture show, to compare the found directions with."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark, as_remark

RANDOM_DIRECTIONS = 400
"""Random directions; their defects follow from those of the solution, so that they cost almost nothing."""

RARE_SHARE = 0.05
"""Share of random directions that may lie below a defect that stands out from them."""

LEARNED_LEVEL = 0.05
"""Largest p value of symmetries that are called learned."""

CONTROL_DRAWS = 19
"""Control models: the fewest with which p can be as small as `LEARNED_LEVEL`."""

OWN_DEFECTS = 32
"""Smallest defects of a control model that are compared."""

EQUAL = 1e-9
"""Relative difference up to which two means of defects are equal."""

FEW_DRAWS = 5
"""Control models if more take too long; they show what is usual, but p cannot go below 1/6."""


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


@dataclass(frozen=True)
class RankTest:
    r"""Rank of a model among control models: are its symmetries better than what they have?

    One test on the span of the directions found, by its mean defect. A control model is compared twice: along the same span, and
    by its own smallest defects, since the span was chosen for its small defects; see `rank_test`. If the model is a further draw
    of the controls, p is at most $\alpha$ with a probability of at most $\alpha$.

    Attributes:
        p: share of the models, this one included, that are as symmetric as this one, in the comparison that favours it less.
        dimension: number of directions in the span.
        model: mean defect of the model over the span.
        along: mean defect of each control model along the same span; NaN if it is undecided.
        own: mean of each control model's smallest defects.
        same_span_only: whether `own` was left out.
    """

    p: float
    dimension: int
    model: float
    along: tuple[float, ...]
    own: tuple[float, ...]
    same_span_only: bool = False

    @property
    def learned(self) -> bool:
        """Whether p is at most 5 %."""
        return self.p <= LEARNED_LEVEL

    @property
    def smallest_p(self) -> float:
        """What p cannot go below with this number of control models."""
        return 1 / (1 + len(self.along))

    @property
    def remark(self) -> Remark:
        """The outcome in words."""
        numbers = {"dimension": self.dimension, "p": f"{self.p:.2g}"}
        if self.learned:
            return Diagnosis.LEARNED(**numbers)
        if self.p <= self.smallest_p:
            return Diagnosis.TOO_FEW_DRAWS(**numbers, draws=len(self.along), needed=CONTROL_DRAWS)
        return Diagnosis.NOT_LEARNED(**numbers)

    def __str__(self) -> str:
        return str(self.remark)


@dataclass(frozen=True, eq=False)
class ReinitialisedControl:
    """The same architecture with re-initialised weights, on the same data.

    Attributes:
        along: `[draws, m]`, its defects along the directions found in the model and the nearest candidates after them.
        own: `[draws, k]`, its own smallest defects, along any directions; `k` is 32 or m, if there are as many.
        learned: for each of these directions, whether it is in a span that is far below re-initialised models.
        notes: what could not be reset.
        test: the test of that span; None in results of earlier versions, which compared every direction.
        counts: number of symmetries of each draw.
    """

    along: Float[Tensor, "f m"]
    own: Float[Tensor, "f k"]
    learned: tuple[bool, ...]
    notes: tuple[Remark, ...] = ()
    test: RankTest | None = None
    counts: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Controls:
    """What the result was compared with.

    Attributes:
        random: random directions of equal displacement; None if not requested.
        reinitialised: re-initialised models; None if not requested.
    """

    random: RandomControl | None = None
    reinitialised: ReinitialisedControl | None = None


@functools.lru_cache(maxsize=2)
def _unit_squares(draws: int, size: int, seed: int) -> Float[Tensor, "n r"]:
    """Squared entries of random unit vectors. Shared: not to be written to."""
    generator = torch.Generator().manual_seed(seed)
    squares = torch.randn(draws, size, generator=generator, dtype=torch.float64).square_()
    return squares.div_(squares.sum(1, keepdim=True))


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
    defects = _unit_squares(draws, len(values), seed) @ values
    low, median = float(defects.quantile(share)), float(defects.median())
    return RandomControl(low, median, share, draws)


def rank_test(
    values: Float[Tensor, " k"],
    along: Float[Tensor, "f m"],
    own: Float[Tensor, "f k"],
    counts: Sequence[int],
    *,
    floor: float = 0.0,
    same_span_only: bool = False,
) -> RankTest:
    r"""Compare the directions found in a model with control models.

    The number of directions was chosen on the model, where they have small defects. So that the choice favours nobody, every
    control model chooses its own number too, and what is ranked is how far each is below the others: with the mean
    $m_i(d)$ of the $d$ smallest defects of model $i$, the statistic is $\log m_i(d_i) - \mathrm{median}_j \log m_j(d_i)$.

    Args:
        values: smallest defects of the model, those of the directions found first.
        along: for each control model its defects along the same directions; NaN where it is undecided.
        own: for each control model its own smallest defects, ascending; NaN where it has none.
        counts: number of directions found in the model, and in each control model; at least 1 is compared.
        floor: defects below this are equal: what control models have exactly was not learned.
        same_span_only: compare along the same span only.

    Examples:
        >>> others = 0.5 + torch.rand(19, 2, dtype=torch.float64)
        >>> found = torch.tensor([0.01, 0.02], dtype=torch.float64)
        >>> rank_test(found, others, others, [2] + 19 * [0]).p
        0.05
    """
    if not len(values):
        return RankTest(1.0, 0, math.nan, (math.nan,) * len(along), (math.nan,) * len(own))
    least, draws = max(floor, torch.finfo(torch.float64).tiny), len(own)
    models = torch.cat([values[None], own]).clamp_min(least)
    sizes = [min(max(count, 1), len(values)) for count in counts]
    means = [models[:, :size].mean(1) for size in sizes]
    below = torch.stack(
        [
            (mean[i] / torch.cat([mean[:i], mean[i + 1 :]]).nanmedian()).log()
            for i, mean in enumerate(means)
        ]
    )
    same = along[:, : sizes[0]].clamp_min(least).mean(1)
    # A control model that is undecided (NaN) counts as one that is as symmetric.
    shares = [int((~(same > means[0][0])).sum())]
    if not same_span_only:
        shares.append(int((~(below[1:] > below[0] + EQUAL)).sum()))
    return RankTest(
        (1 + max(shares)) / (1 + draws),
        sizes[0],
        float(means[0][0]),
        tuple(same.tolist()),
        tuple(means[0][1:].tolist()),
        same_span_only,
    )


def compare_with_reinitialised(
    values: Float[Tensor, " k"],
    along: Sequence[Float[Tensor, " m"]],
    own: Sequence[Float[Tensor, " k"]],
    counts: Sequence[int],
    *,
    notes: tuple[Remark, ...] = (),
    floor: float = 0.0,
    same_span_only: bool = False,
) -> ReinitialisedControl:
    """Compare the directions found with re-initialised models; all of them were learned, or none.

    Args:
        values: smallest defects of the model, those of the directions found first.
        along: for each draw its defects along the same directions.
        own: for each draw its own smallest defects.
        counts: number of directions found in the model, and in each draw.
        notes: what could not be reset.
        floor: defects below this are equal.
        same_span_only: leave out the comparison with `own`. Nearly linear draws have many symmetries for a reason that a model
            that is not nearly linear does not have.
    """
    same, free = torch.stack(list(along)), torch.stack(list(own))
    options = {"floor": floor, "same_span_only": same_span_only}
    test = rank_test(values, same, free, counts, **options)
    learned = _first(test, same.shape[1])
    remarks = tuple(map(as_remark, notes))
    return ReinitialisedControl(same, free, learned, remarks, test, tuple(counts[1:]))


def reordered(
    control: ReinitialisedControl,
    values: Float[Tensor, " r"],
    order: Int[Tensor, " r"],
    count: int,
    *,
    floor: float,
) -> ReinitialisedControl:
    """The control for other directions found, among those that it compared.

    Args:
        control: what was compared.
        values: defects of the model, in the new order.
        order: place of each direction before.
        count: number of directions found now.
        floor: defects below this are equal.
    """
    compared = len(control.learned)
    along = control.along[:, order[order < compared]]
    if control.test is None:
        learned = tuple(control.learned[i] for i in order.tolist() if i < compared)
        return replace(control, along=along, learned=learned)
    test = rank_test(
        values[: control.own.shape[1]],
        along,
        control.own,
        (count, *control.counts),
        floor=floor,
        same_span_only=control.test.same_span_only,
    )
    return replace(control, along=along, learned=_first(test, compared), test=test)


def _first(test: RankTest, count: int) -> tuple[bool, ...]:
    """Which of the first directions were learned: those of the span, or none."""
    return tuple(test.learned and i < test.dimension for i in range(count))
