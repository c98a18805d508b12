"""Grades: how well each direction is a symmetry, and which thresholds its grade depends on.

| grade | meaning |
|---|---|
| exact | at the numerical floor: this arithmetic cannot tell it from a symmetry |
| strong | δ² with its whole interval is at most `strong`, whatever the others are |
| approximate | δ² is at most `threshold`, and a gap and its interval separate it from the rest |
| weak | not counted: separated in the same way with δ² up to `weak`, or with its whole interval below `weak` and random directions |
| none | everything else that moves the data |
| trivial | does not move the data, so that it is undecided |
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg.decision.rank import RULE, Evidence, levels, rule, scale
from liegg.decision.thresholds import Thresholds

GRADES = ("exact", "strong", "approximate", "weak", "none")
"""From best to worst."""

COUNTED = GRADES[:3]
"""Grades of symmetries."""

BORDERLINE_FACTOR = 1.15
"""A grade that changes when a threshold moves by up to this factor, either way, is borderline."""

BORDERLINE_STEPS = 3
"""Steps in which a threshold is moved: between two values a grade can change and change back."""

OTHER_LEVELS = (1.5, 1 / 1.5)
"""Width of intervals at levels 15 % away, relative to theirs: at 0.81 narrower by a third, near 1 wider by half and more."""


def grade(case: Evidence, thresholds: Thresholds) -> tuple[str, ...]:
    """Grade of every direction that moves the data."""
    return tuple(GRADES[place] for place in _places(case, rule(case.floor, thresholds)).tolist())


def threshold_sensitivity(case: Evidence, thresholds: Thresholds) -> tuple[tuple[str, ...], ...]:
    """For every direction the thresholds that its grade depends on.

    Each is moved by up to 15 % either way; `"interval"` is named if the grade changes with the defect's interval, `"level"` if it
    changes with the interval's nominal coverage. Empty for a direction whose grade is clear.
    """
    own = rule(case.floor, thresholds).tolist()
    factors = [
        1 + sign * (BORDERLINE_FACTOR - 1) * step / BORDERLINE_STEPS
        for sign in (1, -1)
        for step in range(1, BORDERLINE_STEPS + 1)
    ]
    moved = [(name, factor) for name in RULE for factor in factors]
    rows = [own, *(_scaled(own, name, factor) for name, factor in moved)]
    names = ["", *(name for name, _ in moved)]
    others = _other_intervals(case)
    names += ["level"] * len(OTHER_LEVELS) + ["interval"] * (len(others) - len(OTHER_LEVELS))
    numbers = torch.tensor(rows + [own] * len(others), dtype=torch.float64)
    numbers[:, RULE.index("minimum_gap")].clamp_(min=1.0)
    values, low, high = (
        torch.cat([part.expand(len(rows), -1), torch.stack([other[k] for other in others])])
        for k, part in enumerate(case[:3])
    )
    places = _places(case._replace(values=values, low=low, high=high), numbers)
    changed = (places != places[:1]).tolist()
    return tuple(
        tuple(dict.fromkeys(n for n, flags in zip(names, changed, strict=True) if flags[i]))
        for i in range(len(case.values))
    )


def _scaled(numbers: list[float], name: str, factor: float) -> list[float]:
    """The numbers of the rule with one threshold moved; the floor goes with the square of its own."""
    power = 2 if name == "floor_factor" else 1
    return [
        number * factor**power if one == name else number
        for one, number in zip(RULE, numbers, strict=True)
    ]


def _other_intervals(case: Evidence) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Defects with wider and narrower intervals, and the ends of the intervals as defects."""
    has_interval = case.high > case.low
    middle = (case.low * case.high).sqrt()
    ratio = (case.high / case.low.clamp_min(torch.finfo(torch.float64).tiny)).sqrt()
    others = [
        (
            case.values,
            torch.where(has_interval, middle / ratio**width, case.low),
            torch.where(has_interval, middle * ratio**width, case.high),
        )
        for width in OTHER_LEVELS
    ]
    for end in (case.low, case.high):
        moved = torch.where(case.values > case.floor, end, case.values)
        others.append((moved, moved, moved))
    return others


def _places(case: Evidence, numbers: Float[Tensor, "*e 6"]) -> Int[Tensor, "*d r"]:
    """Grades as their places in `GRADES`."""
    weak = numbers[..., None, RULE.index("weak")]
    places = torch.arange(case.values.shape[-1])
    ends = levels(case, numbers)
    grades = (places >= ends[..., None]).sum(-2)
    near = (case.high * scale(case.response, numbers) <= weak) & (case.high < case.control)
    return torch.where((grades == len(GRADES) - 1) & near, GRADES.index("weak"), grades)
