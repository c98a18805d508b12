"""Shares of samples with their intervals, and paired differences."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.decision.bootstrap import student_quantile
from liegg.results.answer import Share

FEWEST_COMPARED = 8
"""Samples below which no difference is clear."""


def proportion(each: Float[Tensor, " n"], level: float) -> Share:
    """Mean of shares between 0 and 1, one per sample, with Wilson's interval.

    The variance of a share between 0 and 1 is at most that of a coin with the same mean, so the
    interval is exact for single motions and wide enough for means over several.

    Examples:
        >>> share = proportion(torch.zeros(100), 0.95)
        >>> share.value, round(share.high, 3)
        (0.0, 0.037)
    """
    n, mean = len(each), float(each.double().mean())
    z = math.sqrt(2) * float(torch.erfinv(torch.tensor(level, dtype=torch.float64)))
    middle = (mean + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(mean * (1 - mean) / n + z**2 / (4 * n**2))
    return Share(mean, max(0.0, min(mean, middle - half)), min(1.0, max(mean, middle + half)))


def mean_difference(
    one: Float[Tensor, " n"], other: Float[Tensor, " m"], *, paired: bool, level: float
) -> Share:
    """Difference of two means with its interval; NaN ends with fewer than 8 finite samples.

    Args:
        one: a value for every sample.
        other: the same in another model, or of another motion.
        paired: whether both are about the same samples, in the same order.
        level: nominal coverage.

    Examples:
        >>> a = torch.tensor([0.0, 1.0] * 8)
        >>> gap = mean_difference(a, a + 0.5, paired=True, level=0.95)
        >>> gap.value, gap.low, gap.high
        (-0.5, -0.5, -0.5)
    """
    one, other = one.double(), other.double()
    if paired:
        kept = one.isfinite() & other.isfinite()
        one, other = one[kept], other[kept]
    else:
        one, other = one[one.isfinite()], other[other.isfinite()]
    count = min(len(one), len(other))
    if count < FEWEST_COMPARED:
        return Share(math.nan, math.nan, math.nan)
    value = float(one.mean() - other.mean())
    variance = (
        float((one - other).var()) / count
        if paired
        else float(one.var()) / len(one) + float(other.var()) / len(other)
    )
    half = student_quantile(level, count - 1.0) * math.sqrt(variance)
    return Share(value, value - half, value + half)
