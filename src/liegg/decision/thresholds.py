"""Every number that decides what counts as a symmetry, in one record."""

import math
from dataclasses import dataclass, fields

from liegg._utils.arguments import checked_fields
from liegg._utils.errors import ArgumentError
from liegg.spectrum.defects import TRIVIAL_TOLERANCE


@checked_fields
@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Numbers that decide what counts as a symmetry; an argument of `liegg.discover`, recorded in the result.

    Attributes:
        threshold: largest defect δ² of a symmetry. At 0.03 the output moves by less than 17 % of
            what an average direction of equal displacement does.
        minimum_gap: smallest ratio between the first defect that is not counted and the last one that is.
        strong: largest defect of a strong symmetry. At 0.001 the output moves by at most 3 % of the average.
        weak: largest defect of a weak symmetry, which is not counted. At 0.6 the output moves by at
            most 77 % of the average.
        effect: largest effect of a symmetry: change of the output relative to its spread, for a motion as large as the spread
            of the data that the output depends on. The other grades have the share of it that the root of their largest
            defect is of that of `threshold`.
        resolution: defects below this are equal when models are compared.
        floor_factor: rounding units of the model's arithmetic within which a direction counts as
            exact. Exact symmetries stay within 3.
        trivial_tolerance: share of the displacement of uncorrelated features below which a direction
            does not move the data.
        coverage: share of that displacement below which the data covers a direction too little to decide.
        linear: squared relative nonlinearity below which the model is nearly linear on the data.
        level: nominal coverage of the intervals.

    Raises:
        ArgumentError: a value is not a number or lies outside its range, or there is no such threshold.

    Examples:
        >>> Thresholds(threshold=0.05).threshold
        0.05
    """

    threshold: float = 0.03
    minimum_gap: float = 10.0
    strong: float = 1e-3
    weak: float = 0.6
    effect: float = 0.3
    resolution: float = 1e-4
    floor_factor: float = 20.0
    trivial_tolerance: float = TRIVIAL_TOLERANCE
    coverage: float = 1e-10
    linear: float = 0.1
    level: float = 0.95

    def __post_init__(self) -> None:
        for field in fields(self):
            value, (low, high, closed, expected) = getattr(self, field.name), _RANGES[field.name]
            if not (low <= value if closed else low < value) or not value < high:
                raise ArgumentError(
                    f"{field.name}={value!r}: expected {expected}, for example {field.name}={field.default:g}."
                )


_RANGES: dict[str, tuple[float, float, bool, str]] = {
    "threshold": (0, math.inf, False, "a positive defect"),
    "minimum_gap": (1, math.inf, True, "a ratio of 1 or more"),
    "strong": (0, math.inf, True, "0 or a positive defect"),
    "weak": (0, math.inf, True, "0 or a positive defect"),
    "effect": (0, math.inf, False, "a positive share of the output's spread"),
    "resolution": (0, math.inf, True, "0 or a small defect"),
    "floor_factor": (0, math.inf, False, "a positive number of rounding units"),
    "trivial_tolerance": (0, 1, False, "a share between 0 and 1"),
    "coverage": (0, 1, True, "a share from 0 to 1"),
    "linear": (0, math.inf, True, "0 or a positive number"),
    "level": (0.5, 1, True, "the share of intervals that cover, from 0.5 to 1"),
}
"""Lower end, upper end (excluded), whether the lower end is included, and the words for it."""
