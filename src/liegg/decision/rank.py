"""The rank rule: how many of the smallest defects are symmetries."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg.decision.thresholds import Thresholds


class Evidence(NamedTuple):
    """What supports each direction, of one spectrum or of many (one per row).

    Attributes:
        values: defects, ascending.
        low: lower end of each interval; the defect itself where there is no interval.
        high: upper end of each interval.
        floor: defect that rounding alone can produce.
        control: defect that only few random directions of equal displacement stay below; infinite without that control.
        following: smallest value that the next defect can have if only the smallest were solved for; infinite if there is no next.
    """

    values: Float[Tensor, "*d r"]
    low: Float[Tensor, "*d r"]
    high: Float[Tensor, "*d r"]
    floor: float
    control: float = math.inf
    following: float = math.inf


RULE = ("floor_factor", "threshold", "minimum_gap", "clear", "resolution", "strong", "weak")
"""What the numbers of the rank rule and of the grades depend on, in the order of `rule`: the first gives the floor."""


def evidence(
    values: Float[Tensor, " r"],
    bounds: Float[Tensor, "r 2"] | None = None,
    *,
    floor: float,
    control: float = math.inf,
    following: float = math.inf,
) -> Evidence:
    """Collect the evidence. Intervals of directions at the floor have length 0, since rounding has no sampling error."""
    if bounds is None:
        return Evidence(values, values, values, floor, control, following)
    known = (values > floor) & bounds.isfinite().all(1)
    low, high = (torch.where(known, end, values) for end in bounds.unbind(1))
    return Evidence(values, low, high, floor, control, following)


def rule(floor: float, thresholds: Thresholds) -> Float[Tensor, "7"]:
    """The numbers that the rank rule and the grades use, in the order of `RULE`."""
    return torch.tensor(
        [floor, *(getattr(thresholds, name) for name in RULE[1:])], dtype=torch.float64
    )


def count(case: Evidence, numbers: Float[Tensor, "*e 7"]) -> Int[Tensor, "*d"]:
    """Number of symmetries: of the counts that threshold, gap and intervals allow, the one with the widest gap after it.

    The first `k` directions are possible if the last of them is at most `threshold`, the next is at least `minimum_gap` times as
    large (more if it lies below `clear`), and no interval of the first `k` reaches one of the rest. When the gaps of possible
    counts are compared, defects below `resolution` are equal, so that learned symmetries are counted beside exact ones.

    Args:
        case: the defects and what supports them.
        numbers: from `rule`; or one row of them for each spectrum.

    Examples:
        >>> values = torch.tensor([1e-9, 2e-3, 0.8, 1.1], dtype=torch.float64)
        >>> int(count(evidence(values, floor=1e-20), rule(1e-20, Thresholds())))
        2
    """
    values, low, high = torch.broadcast_tensors(*case[:3])
    if not values.shape[-1]:
        return torch.zeros(values.shape[:-1], dtype=torch.int64)
    floor, threshold, minimum_gap, clear, resolution, *_ = numbers[..., None, :].unbind(-1)
    beyond = torch.full_like(values[..., :1], case.following)
    following = torch.cat([values[..., 1:], beyond], dim=-1)
    largest_alike = threshold / minimum_gap
    gaps = _gap_after(values, torch.minimum(floor, largest_alike), beyond)
    widths = _gap_after(
        values, torch.minimum(torch.maximum(floor, resolution), largest_alike), beyond
    )
    needed = minimum_gap * torch.where(values <= floor, 1.0, (clear / following).clamp_min(1.0))
    below = torch.maximum(high, floor).cummax(-1).values
    above = torch.cat([low.flip(-1).cummin(-1).values.flip(-1)[..., 1:], beyond], dim=-1)
    allowed = (values <= torch.maximum(threshold, floor)) & (gaps >= needed) & (below < above)
    score = torch.where(allowed, widths, 0.0)
    best = score.amax(-1, keepdim=True)
    # Of gaps that are equally wide with equal defects below the resolution, the one that is really wider.
    ties = torch.where(score == best, torch.where(allowed, gaps, 0.0), 0.0)
    widest = (ties == ties.amax(-1, keepdim=True)).flip(-1).to(torch.int8)
    return torch.where(best[..., 0] > 0, values.shape[-1] - widest.argmax(-1), 0)


def _gap_after(
    values: Float[Tensor, "*d r"], least: Float[Tensor, "*e 1"], beyond: Float[Tensor, "*d 1"]
) -> Float[Tensor, "*d r"]:
    """Ratio of the next value to each, where values below `least` are equal."""
    lifted = torch.maximum(values, least.clamp_min(torch.finfo(values.dtype).tiny))
    following = torch.cat([lifted[..., 1:], torch.maximum(beyond, lifted[..., -1:])], dim=-1)
    return following / lifted
