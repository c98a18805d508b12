"""Intervals of positive means and ratios, and the grade of an element by them."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.decision.bootstrap import student_quantile
from liegg.decision.thresholds import Thresholds

JACKKNIFE_BLOCKS = 32
"""Blocks of held-out samples between which intervals are computed."""

FEWEST_BLOCKS = 8
"""Blocks below which there is no interval."""

LARGEST_HALF = math.log(1e6)
"""Half the width of an interval, on a logarithmic scale, beyond which nothing is known."""

FEWEST_FREEDOM = 8.0
"""Degrees of freedom at least, where single samples carry the variance: with fewer, intervals for many elements have no end."""


class Interval(NamedTuple):
    """A positive number with its interval."""

    value: float
    low: float
    high: float


def mean_interval(values: Float[Tensor, " n"], level: float) -> Interval:
    """Mean of positive numbers with its interval on a logarithmic scale, from a jackknife over blocks."""
    return ratio_interval(values, torch.ones_like(values), level)


def ratio_interval(
    above: Float[Tensor, " n"], below: Float[Tensor, " n"], level: float
) -> Interval:
    """Ratio of two means over the same samples, with its interval.

    Blocks of samples are left out one at a time, the logarithm of the ratio is compared, and Student's distribution has as many degrees
    of freedom as there are blocks that carry the variance.

    Examples:
        >>> ones = torch.ones(64, dtype=torch.float64)
        >>> ratio_interval(2 * ones, ones, 0.95)
        Interval(value=2.0, low=2.0, high=2.0)
    """
    value = float(above.mean()) / max(float(below.mean()), 1e-300)
    if not math.isfinite(value):
        return Interval(math.inf, math.inf, math.inf)
    count = min(JACKKNIFE_BLOCKS, len(above))
    if count < FEWEST_BLOCKS or value <= 0:
        return Interval(value, 0.0, math.inf) if value > 0 else Interval(0.0, 0.0, 0.0)
    block = torch.arange(len(above)) % count
    sums = torch.zeros(2, count, dtype=torch.float64)
    sums[0].index_add_(0, block, above.double())
    sums[1].index_add_(0, block, below.double())
    rest = (sums.sum(1, keepdim=True) - sums).clamp_min(1e-300)
    logs = rest[0].log() - rest[1].log()
    parts = (logs - logs.mean()).square()
    variance = float((count - 1) / count * parts.sum())
    if variance <= 0:
        return Interval(value, value, value)
    freedom = max(FEWEST_FREEDOM, min(count - 1.0, 1 / float(parts.max() / parts.sum())))
    half = student_quantile(level, freedom) * math.sqrt(variance)
    if half > LARGEST_HALF:
        return Interval(value, 0.0, math.inf)
    return Interval(value, value * math.exp(-half), value * math.exp(half))


def grade(effect: float, defect: Interval, floor: float, thresholds: Thresholds) -> str:
    """Grade of an element, by its defect with its complete interval and by its effect.

    Args:
        effect: root mean square change of the output over its spread.
        defect: squared effect over that of random maps of equal displacement.
        floor: effect that rounding alone may cause.
        thresholds: what counts as a symmetry.
    """
    if effect <= floor:
        return "exact"
    for name, most in (
        ("strong", thresholds.strong),
        ("approximate", thresholds.threshold),
        ("weak", thresholds.weak),
    ):
        if defect.high <= most and effect <= largest_effect(most, thresholds):
            return name
    return "none"


def largest_effect(defect: float, thresholds: Thresholds) -> float:
    """Largest effect of a grade, by its largest defect."""
    return thresholds.effect * math.sqrt(defect / thresholds.threshold)
