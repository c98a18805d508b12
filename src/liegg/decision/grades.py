"""Stage 7, grades: how well each direction is a symmetry, from its defect, its interval, the gap after it and the control.

| grade | meaning |
|---|---|
| exact | at the numerical floor: this arithmetic cannot tell it from a symmetry |
| strong | set apart by a gap and by its interval, and δ² at most `strong` with all of its interval |
| approximate | set apart by a gap and by its interval, and δ² at most `threshold` |
| weak | not counted: δ² at most `weak` and below what random directions of equal displacement reach, with all of its interval |
| none | everything else that moves the data |
| trivial | does not move the data, so nothing can be said of it |
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, TypedDict

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.spectrum.defects import TRIVIAL_TOLERANCE

GRADES = ("exact", "strong", "approximate", "weak", "none")
"""From best to worst."""

FLOOR_FACTOR = 20.0
"""Rounding units of the model's arithmetic within which the output's relative change counts as zero; exact symmetries keep to 3."""

STRONG = 1e-3
"""Largest defect of a strong symmetry: the output moves by at most 3 % of what it does along an average direction."""

THRESHOLD = 0.03
"""Largest defect of a symmetry: the output moves by less than 17 % of what an average direction of equal displacement does."""

WEAK = 0.6
"""Largest defect of a weak one: the output moves by at most 77 % of what it does along an average direction."""

GAP = 10.0
"""Smallest ratio between the first defect that is not counted and the last one that is."""

CLEAR = 0.3
"""Defect from which on a direction is clearly no symmetry: the gap in front of a smaller one must be wider by as much."""

RESOLUTION = 1e-4
"""Defects below this are alike when gaps are compared: an output that moves by 1 % of the average is as good as still."""

COVERAGE = 1e-10
"""The same share below which the data covers a direction too little to say anything: it moves by 0.001 % of what it could."""

LINEAR = 0.1
"""Bend of the model between two samples, squared and relative, below which it is nearly linear on the data."""

LEVEL = 0.95
"""Nominal coverage of the intervals."""

CLOSE, STEPS = 1.15, 3
"""Factor by which a limit may be moved, up or as far down, without changing a grade silently; and the steps tried on the way.

Between a limit and one moved further a grade can change and change back: the widest gap falls out, and then the next one."""


@dataclass(frozen=True)
class Thresholds:
    """Everything that decides what counts as a symmetry; the arguments of `liegg.discover` of the same names.

    Attributes:
        threshold: largest defect δ² of a symmetry.
        minimum_gap: smallest ratio from the last symmetry's defect to the next.
        resolution: defects below this are alike when gaps are compared.
        floor_factor: rounding units within which a direction counts as exact.
        trivial_tolerance: share of the displacement below which a direction does not move the data.
        strong: largest defect of a strong symmetry.
        weak: largest defect of a weak one.
        clear: defect from which on a direction is clearly no symmetry.
        coverage: share of the displacement below which the data covers a direction too little.
        linear: squared relative bend below which the model is nearly linear on the data.
        level: nominal coverage of the intervals.
    """

    threshold: float = THRESHOLD
    minimum_gap: float = GAP
    resolution: float = RESOLUTION
    floor_factor: float = FLOOR_FACTOR
    trivial_tolerance: float = TRIVIAL_TOLERANCE
    strong: float = STRONG
    weak: float = WEAK
    clear: float = CLEAR
    coverage: float = COVERAGE
    linear: float = LINEAR
    level: float = LEVEL

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "Thresholds":
        """Thresholds from keywords.

        Raises:
            ArgumentError: there is no such limit, or it makes no sense.
        """
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise ArgumentError(
                    f"there is no argument {name!r}. The thresholds are {', '.join(known)}."
                )
        thresholds = cls(**options)
        thresholds.check()
        return thresholds

    def check(self) -> None:
        """Raise `ArgumentError` for a limit that makes no sense."""
        for field in fields(self):
            if not isinstance(getattr(self, field.name), int | float):
                raise ArgumentError(
                    f"{field.name}={getattr(self, field.name)!r}: expected a number, such as {field.default}."
                )
        if not 0 < self.threshold < math.inf:
            raise ArgumentError(
                f"threshold={self.threshold}: expected a positive defect, for example threshold={THRESHOLD}."
            )
        if not 1 <= self.minimum_gap < math.inf:
            raise ArgumentError(
                f"minimum_gap={self.minimum_gap}: expected a ratio of 1 or more, for example minimum_gap={GAP:g}."
            )
        if not 0 <= self.resolution < math.inf:
            raise ArgumentError(
                f"resolution={self.resolution}: expected 0 or a small defect, for example resolution={RESOLUTION}."
            )
        if not self.floor_factor > 0:
            raise ArgumentError(
                f"floor_factor={self.floor_factor}: expected a positive number of rounding units, for example {FLOOR_FACTOR:g}."
            )
        if not 0 < self.trivial_tolerance < 1:
            raise ArgumentError(
                f"trivial_tolerance={self.trivial_tolerance}: expected a share between 0 and 1, for example {TRIVIAL_TOLERANCE:g}."
            )
        for name, default in (
            ("strong", STRONG),
            ("weak", WEAK),
            ("clear", CLEAR),
            ("linear", LINEAR),
        ):
            if not 0 <= getattr(self, name) < math.inf:
                raise ArgumentError(
                    f"{name}={getattr(self, name)}: expected 0 or a positive number, for example {name}={default}."
                )
        if not 0 <= self.coverage < 1:
            raise ArgumentError(
                f"coverage={self.coverage}: expected a share from 0 to 1, for example coverage={COVERAGE:g}."
            )
        if not 0.5 <= self.level < 1:
            raise ArgumentError(
                f"level={self.level}: expected the share of intervals that cover, for example level={LEVEL}."
            )


class LimitOptions(TypedDict, total=False):
    """The fields of `Thresholds` as keywords."""

    threshold: float
    minimum_gap: float
    resolution: float
    floor_factor: float
    trivial_tolerance: float
    strong: float
    weak: float
    clear: float
    coverage: float
    linear: float
    level: float


@dataclass(frozen=True, eq=False)
class Evidence:
    """What speaks for and against each direction.

    Attributes:
        values: defects, ascending.
        low: lower end of each one's interval; the defect itself where there is none.
        high: upper end.
        floor: defect that rounding alone can produce.
        control: defect that few random directions of equal displacement stay below; infinite where there is no such control.
        following: the least that the next defect may be, where only the smallest were solved for; infinite where there is no next.
    """

    values: Float[Tensor, " r"]
    low: Float[Tensor, " r"]
    high: Float[Tensor, " r"]
    floor: float
    control: float = math.inf
    following: float = math.inf


def evidence(
    values: Float[Tensor, " r"],
    bounds: Float[Tensor, "r 2"] | None = None,
    *,
    floor: float,
    control: float = math.inf,
    following: float = math.inf,
) -> Evidence:
    """Evidence with the intervals of directions at the floor shrunk to nothing: rounding has no sampling error."""
    if bounds is None:
        return Evidence(values, values, values, floor, control, following)
    known = (values > floor) & bounds.isfinite().all(1)
    low, high = (torch.where(known, end, values) for end in bounds.unbind(1))
    return Evidence(values, low, high, floor, control, following)


def count(case: Evidence, thresholds: Thresholds) -> int:
    """Number of symmetries: of the counts that level, gap and intervals allow, the one with the widest gap after it.

    The first `k` are possible if the last of them is at most `threshold`, the next at least `minimum_gap` times as large (more
    where it lies below `clear` itself), and no interval of the first reaches one of the rest. Where the gaps of possible counts
    are compared, defects below `resolution` are alike, so that learned symmetries beside exact ones are counted with them.
    """
    return int(
        counts(
            case.values[None],
            case.low[None],
            case.high[None],
            case.floor,
            thresholds,
            following=case.following,
        )[0]
    )


def counts(
    values: Float[Tensor, "d r"],
    low: Float[Tensor, "d r"],
    high: Float[Tensor, "d r"],
    floor: float,
    thresholds: Thresholds,
    *,
    following: float = math.inf,
) -> Int[Tensor, " d"]:
    """`count` for many spectra at once."""
    own = (torch.tensor([[number]], dtype=torch.float64) for number in _numbers(floor, thresholds))
    return _counts(_Many(values, low, high, *own, following=following))


class _Many(NamedTuple):
    """Many spectra, each with thresholds of its own: spectra in rows, thresholds in columns of one number each (or one for all)."""

    values: Float[Tensor, "d r"]
    low: Float[Tensor, "d r"]
    high: Float[Tensor, "d r"]
    floor: Float[Tensor, "e 1"]
    threshold: Float[Tensor, "e 1"]
    minimum_gap: Float[Tensor, "e 1"]
    clear: Float[Tensor, "e 1"]
    resolution: Float[Tensor, "e 1"]
    strong: Float[Tensor, "e 1"]
    weak: Float[Tensor, "e 1"]
    following: float = math.inf


MOVED = ("floor", "threshold", "minimum_gap", "clear", "resolution", "strong", "weak")
"""Numbers that a grade may hang on."""


WIDER = 1.5
"""How much wider or narrower intervals are at levels 15 % away: at 0.81 by a third narrower, near 1 by a half wider and more."""


def _numbers(floor: float, thresholds: Thresholds) -> list[float]:
    """The numbers of `MOVED`."""
    return [floor, *(getattr(thresholds, name) for name in MOVED[1:])]


def _counts(many: _Many) -> Int[Tensor, " d"]:
    values = many.values
    if not values.shape[1]:
        return torch.zeros(len(values), dtype=torch.int64)
    beyond = values.new_full((len(values), 1), many.following)

    def gap_above(least: Float[Tensor, "e 1"]) -> Float[Tensor, "d r"]:
        """Ratio of each value to the one before it, where those below `least` are alike."""
        lifted = torch.maximum(values, least.clamp_min(torch.finfo(values.dtype).tiny))
        return torch.cat([lifted[:, 1:], torch.maximum(beyond, lifted[:, -1:])], dim=1) / lifted

    gaps = gap_above(torch.minimum(many.floor, many.threshold / many.minimum_gap))
    following = torch.cat([values[:, 1:], beyond], dim=1)
    needed = many.minimum_gap * torch.where(
        values <= many.floor, 1.0, (many.clear / following).clamp_min(1.0)
    )
    below = torch.maximum(many.high, many.floor).cummax(1).values
    above = torch.cat([many.low.flip(1).cummin(1).values.flip(1)[:, 1:], beyond], dim=1)
    allowed = (
        (values <= torch.maximum(many.threshold, many.floor)) & (gaps >= needed) & (below < above)
    )
    alike = gap_above(
        torch.minimum(torch.maximum(many.floor, many.resolution), many.threshold / many.minimum_gap)
    )
    score = torch.where(allowed, alike, 0.0)
    best = score.amax(1, keepdim=True)
    widest = torch.where(
        score == best, torch.where(allowed, gaps, 0.0), 0.0
    )  # of those equally wide the one really wider
    last = values.shape[1] - (widest == widest.amax(1, keepdim=True)).flip(1).to(torch.int8).argmax(
        1
    )
    return torch.where(best[:, 0] > 0, last, 0)


def grade(case: Evidence, thresholds: Thresholds) -> tuple[str, ...]:
    """Grade of every direction that moves the data."""
    one = [
        torch.tensor([[number]], dtype=torch.float64) for number in _numbers(case.floor, thresholds)
    ]
    ranks = _ranks(
        _Many(case.values[None], case.low[None], case.high[None], *one, following=case.following),
        case.control,
    )
    return tuple(GRADES[number] for number in ranks[0].tolist())


def _ranks(many: _Many, control: float) -> Int[Tensor, "d r"]:
    """Grades as their places in `GRADES`."""
    largest = (
        many.high.cummax(1).values if many.high.shape[1] else many.high
    )  # of counted ones none is better than one before
    counted = torch.arange(many.values.shape[1]) < _counts(many)[:, None]
    found = torch.where(many.values <= many.floor, 0, torch.where(largest <= many.strong, 1, 2))
    near = (many.high <= many.weak) & (many.high < control)
    return torch.where(counted, found, torch.where(near, 3, 4))


def threshold_sensitivity(
    case: Evidence, thresholds: Thresholds, *, factor: float = CLOSE
) -> tuple[str, ...]:
    """For every direction what its grade hangs on: the thresholds that need only be moved by a factor, and its interval.

    Empty for a direction whose grade is clear.

    Args:
        case: what speaks for each direction.
        thresholds: the thresholds that are moved.
        factor: 1.15 moves each by up to 15 % either way.
    """
    moves = [
        1 + sign * (factor - 1) * step / STEPS for sign in (1, -1) for step in range(1, STEPS + 1)
    ]
    own = torch.tensor(_numbers(case.floor, thresholds), dtype=torch.float64)
    rows, names = [own], [""]
    for place, name in enumerate(MOVED):
        for times in moves:
            row = own.clone()
            row[place] *= times**2 if name == "floor" else times
            row[place] = max(float(row[place]), 1.0) if name == "minimum_gap" else row[place]
            rows.append(row)
            names.append("floor_factor" if name == "floor" else name)
    numbers = torch.stack([*rows, own, own, own, own])
    spectra = [part.expand(len(numbers), -1).clone() for part in (case.values, case.low, case.high)]
    middle, half = (
        (case.low * case.high).sqrt(),
        (case.high / case.low.clamp_min(torch.finfo(torch.float64).tiny)).sqrt(),
    )
    for row, times in (
        (-4, WIDER),
        (-3, 1 / WIDER),
    ):  # at other levels intervals are as much wider or narrower
        wide = half**times
        spectra[1][row] = torch.where(case.high > case.low, middle / wide, case.low)
        spectra[2][row] = torch.where(case.high > case.low, middle * wide, case.high)
    for row, end in ((-2, case.low), (-1, case.high)):
        moved = torch.where(case.values > case.floor, end, case.values)
        for part in spectra:
            part[row] = moved
    ranks = _ranks(
        _Many(
            *spectra, *(column[:, None] for column in numbers.unbind(1)), following=case.following
        ),
        case.control,
    )
    changed = (ranks != ranks[:1]).tolist()
    names += ["level", "level", "interval", "interval"]
    told = list(zip(names, changed, strict=True))
    return tuple(
        ", ".join(dict.fromkeys(name for name, flags in told if flags[i]))
        for i in range(len(case.values))
    )
