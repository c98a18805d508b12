"""The rank rule: how many of the smallest defects are symmetries, level by level."""

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
        response: squared effect of a direction whose defect is 1: what it changes, relative to the variance of the output, when it
            moves the data as far as the data's own spread, to first order; 0 if not known.
    """

    values: Float[Tensor, "*d r"]
    low: Float[Tensor, "*d r"]
    high: Float[Tensor, "*d r"]
    floor: float
    control: float = math.inf
    following: float = math.inf
    response: float = 0.0


RULE = ("floor_factor", "threshold", "minimum_gap", "effect", "strong", "weak")
"""What the numbers of the rank rule and of the grades depend on, in the order of `rule`: the first gives the floor."""


def evidence(
    values: Float[Tensor, " r"],
    bounds: Float[Tensor, "r 2"] | None = None,
    *,
    floor: float,
    control: float = math.inf,
    following: float = math.inf,
    response: float = 0.0,
) -> Evidence:
    """Collect the evidence. Intervals of directions at the floor have length 0, since rounding has no sampling error."""
    if bounds is None:
        return Evidence(values, values, values, floor, control, following, response)
    known = (values > floor) & bounds.isfinite().all(1)
    low, high = (torch.where(known, end, values) for end in bounds.unbind(1))
    return Evidence(values, low, high, floor, control, following, response)


def rule(floor: float, thresholds: Thresholds) -> Float[Tensor, "6"]:
    """The numbers that the rank rule and the grades use, in the order of `RULE`."""
    return torch.tensor(
        [floor, *(getattr(thresholds, name) for name in RULE[1:])], dtype=torch.float64
    )


def scale(response: float, numbers: Float[Tensor, "*e 6"]) -> Float[Tensor, "*e 1"]:
    """Factor of all defects that makes the absolute effect count: at least 1.

    A symmetry needs both a small defect and a small effect. The squared effect is the defect times `response`, see `Evidence`; where it is
    the larger of the two in units of their largest values, `effect`² and `threshold`, it decides.
    """
    _, threshold, _, effect, *_ = numbers[..., None, :].unbind(-1)
    return (response * threshold / effect.square()).clamp_min(1.0)


def levels(case: Evidence, numbers: Float[Tensor, "*e 6"]) -> Int[Tensor, "*d 4"]:
    """Directions up to each level: exact, strong, approximate, weak; every level contains the one before.

    - Exact: at the floor.
    - Strong: the upper end of the interval is at most `strong`, whatever comes after.
    - Approximate: the largest number of directions whose last defect is at most `threshold` and the next at least `minimum_gap`
      times as large, while no interval of the first ones reaches one of the rest.
    - Weak: the same up to `weak`, if any direction is left.

    A smaller defect among the first never makes a level smaller. The effect counts like the defect, see `scale`.

    Args:
        case: the defects and what supports them.
        numbers: from `rule`; or one row of them for each spectrum.

    Examples:
        >>> values = torch.tensor([1e-30, 2e-4, 0.02, 1.0], dtype=torch.float64)
        >>> levels(evidence(values, floor=1e-20), rule(1e-20, Thresholds())).tolist()
        [1, 2, 3, 3]
    """
    values, low, high = torch.broadcast_tensors(*case[:3])
    shape = torch.broadcast_shapes(values.shape[:-1], numbers.shape[:-1])
    if not values.shape[-1]:
        return torch.zeros(*shape, 4, dtype=torch.int64)
    floor, threshold, minimum_gap, _, strong, weak = numbers[..., None, :].unbind(-1)
    factor = scale(case.response, numbers)
    exact = values <= torch.minimum(floor, threshold)
    surely = exact | (high.cummax(-1).values * factor <= strong)
    # Below a tenth of the threshold a floor above it cannot hide a gap.
    least = torch.minimum(floor, threshold / minimum_gap).clamp_min(torch.finfo(values.dtype).tiny)
    lifted = torch.maximum(values, least)
    beyond = torch.full_like(lifted[..., :1], case.following)
    following = torch.cat([lifted[..., 1:], torch.maximum(beyond, lifted[..., -1:])], dim=-1)
    below = torch.maximum(high, floor).cummax(-1).values
    above = torch.cat([low.flip(-1).cummin(-1).values.flip(-1)[..., 1:], beyond], dim=-1)
    apart = (following >= minimum_gap * lifted) & (below < above)

    def last(flags: Tensor) -> Tensor:
        places = torch.arange(1, values.shape[-1] + 1)
        return torch.where(flags, places, 0).amax(-1).broadcast_to(shape)

    scaled, some_left = values * factor, following.isfinite()
    found = [last(exact), last(surely)]
    found.append(last(apart & (scaled <= torch.maximum(threshold, floor * factor))))
    found.append(last(apart & (scaled <= torch.maximum(weak, floor * factor)) & some_left))
    return torch.stack(found, dim=-1).cummax(-1).values


def count(case: Evidence, numbers: Float[Tensor, "*e 6"]) -> Int[Tensor, "*d"]:
    """Number of symmetries: the directions of the approximate level, see `levels`.

    Examples:
        >>> values = torch.tensor([1e-9, 2e-3, 0.8, 1.1], dtype=torch.float64)
        >>> int(count(evidence(values, floor=1e-20), rule(1e-20, Thresholds())))
        2
    """
    return levels(case, numbers)[..., 2]
