"""The decision: how many directions are symmetries, how well, how sure that is, and why."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.text import root_percent, runs
from liegg.decision.gap import gap_after, mixing_angle, size_ratio
from liegg.decision.grades import COUNTED, grade, threshold_sensitivity
from liegg.decision.intervals import Certainty
from liegg.decision.rank import Evidence, levels, rule
from liegg.decision.thresholds import Thresholds
from liegg.spectrum.defects import Defects

COMPARABLE_SIZES = 30.0
"""Ratio of the features' sizes above which their motions are not comparable; defects then differ by its square."""

METRIC_SIZES = 5.0
"""Ratio of the data's sizes along its principal axes above which the units of the features decide about a defect of 0.03."""

VIOLATING_SAMPLES = 3.0
"""Rule of three: if no sample violates a direction, at most this many over their number do so in the population, at 95 %."""

NARROW_SHARE = 0.75
"""Share of the data's squared size along one axis above which the data lies in a narrow cone."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """How many directions are symmetries, how well, and the numbers behind the decision.

    Attributes:
        nullity: number of symmetries: exact, strong or approximate; the first in ascending order of defect.
        exact: how many of them are at the numerical floor.
        undecided: directions at the floor that are not counted: too few samples constrain them, nothing moves the output, or their
            brackets leave their span. They follow the symmetries.
        trivial: directions that do not move the data, or hardly; not counted.
        unsolved: directions that move the data but were not solved for.
        levels: directions that are exact, up to strong, up to approximate, up to weak; each level contains the one before.
        gap: first defect after the symmetries over the last one (or the floor); infinite if none is left, 1 if not solved for.
            Without symmetries, after the weak ones that a gap separates, or else the widest gap between two neighbours.
        grades: of every direction that moves the data: exact, strong, approximate, weak, none.
        borderline: for every direction the thresholds that its grade depends on, and `interval` or
            `level`; empty where the grade is clear.
        floor: defect below which a direction is exact.
        control: defect that few random directions of equal displacement stay below; infinite without that control.
        response: squared effect of a direction whose defect is 1, see `liegg.decision.rank.Evidence`; 0 if not known.
        uncertainty: angle in radians by which a found unit generator may be off.
        certainty: intervals of the count and of the angle of the span; None without intervals.
        thresholds: the numbers that decided.
        sentence: the verdict.
        reasons: why.
        warnings: what may make it wrong.
    """

    nullity: int
    exact: int
    undecided: int
    trivial: int
    unsolved: int
    levels: tuple[int, ...]
    gap: float
    grades: tuple[str, ...]
    borderline: tuple[tuple[str, ...], ...]
    floor: float
    control: float
    response: float
    uncertainty: float
    certainty: Certainty | None
    thresholds: Thresholds
    sentence: Remark
    reasons: tuple[Remark, ...]
    warnings: tuple[Remark, ...]

    @property
    def is_lower_bound(self) -> bool:
        """Whether there may be more symmetries: all defects that were solved for count, and others were not solved for."""
        return self.unsolved > 0 and self.nullity == len(self.grades)

    @property
    def shown_grades(self) -> tuple[str, ...]:
        """The grades, with `"undecided"` for directions that are."""
        first, last = self.nullity, self.nullity + self.undecided
        return (*self.grades[:first], *["undecided"] * self.undecided, *self.grades[last:])

    @property
    def nullity_interval(self) -> tuple[int, int] | None:
        """Interval of the number of symmetries; None if no interval was made."""
        return None if self.certainty is None else self.certainty.nullity


@dataclass(frozen=True, eq=False)
class DataFacts:
    """What the decision needs to know of the data and the model.

    Attributes:
        samples: number of samples.
        distinct: number of samples that differ, since copies are not evidence; None if not known.
        eliminated: constraints used up by the output generators; 0 for invariance.
        unsolved: directions that move the data but were not solved for; their defects are no smaller than the others.
        feature_sizes: summed squares of the features; None where features have no units of their own.
        along_one_axis: share of the data's squared size along one axis.
        principal_ratio: largest over smallest size of the data along its principal axes, if the action moves vectors as a whole.
        active: samples whose output has a derivative; None if not known.
        saturated: says whether half of the samples already constrain all that all of them do; None if that cannot be told.
        nonlinearity: squared relative nonlinearity of the model between samples; None if not known.
        degenerate: nothing moves the output at all.
        hidden: directions that may be symmetries, but errors of the derivatives are too large to tell.
    """

    samples: int
    distinct: int | None = None
    eliminated: int = 0
    unsolved: int = 0
    feature_sizes: Float[Tensor, " n"] | None = None
    along_one_axis: float = 0.0
    principal_ratio: float = 1.0
    active: int | None = None
    saturated: Callable[[], bool] | None = None
    nonlinearity: float | None = None
    degenerate: bool = False
    hidden: int = 0

    @property
    def independent(self) -> int:
        """Samples that can each be evidence: that differ, and that have a derivative."""
        known = (self.samples, self.distinct, self.active)
        return min(number for number in known if number is not None)


def decide(
    solution: Defects,
    case: Evidence,
    facts: DataFacts,
    thresholds: Thresholds,
    *,
    warnings: Sequence[Remark] = (),
) -> Decision:
    """Grade every direction, count the symmetries, and say why and what may be wrong.

    Directions at the floor are symmetries only if there are more samples than independent constraints: while constraints are
    missing, each new sample adds one, so fewer constraints than samples means that none is missing. Otherwise they are undecided.

    Args:
        solution: the solved pair.
        case: its defects with intervals, floor and control.
        facts: what the data covers.
        thresholds: what counts as a symmetry.
        warnings: further warnings, which come first.
    """
    values, floor = solution.values, case.floor
    total = len(values) + facts.unsolved
    at_floor = int((values <= min(floor, thresholds.threshold)).sum())
    ends = tuple(levels(case, rule(floor, thresholds)).tolist())
    grades, borderline = grade(case, thresholds), threshold_sensitivity(case, thresholds)
    doubts, undecided = _about_samples(solution, facts, total, at_floor)
    if undecided:
        ends, grades = (0,) * len(ends), ("none",) * len(values)
        borderline = ((),) * len(values)
    nullity = ends[2]
    gap = gap_after(values, nullity or ends[3], floor)
    if undecided or (facts.unsolved and nullity == len(values)):
        gap = 1.0
    open_end = facts.unsolved > 0 and float(values[-1]) <= max(thresholds.threshold, floor)
    if open_end and not undecided:
        sizes = {"solved": len(values), "suggested": 2 * len(values)}
        doubts.append(Diagnosis.MORE_MAY_FOLLOW(largest=float(values[-1]), **sizes))
    if not undecided and nullity and (goes_on := _cluster_goes_on(values, ends, floor)):
        doubts.append(goes_on)
    found, inexact = nullity > 0 or "weak" in grades, nullity > at_floor
    doubts += _about_the_data(solution, facts, thresholds, found=found, inexact=inexact)
    decision = Decision(
        nullity=nullity,
        exact=min(at_floor, nullity),
        undecided=undecided,
        trivial=len(solution.trivial),
        unsolved=facts.unsolved,
        levels=ends,
        gap=gap,
        grades=grades,
        borderline=borderline,
        floor=floor,
        control=case.control,
        response=case.response,
        uncertainty=mixing_angle(values, nullity, floor),
        certainty=None,
        thresholds=thresholds,
        sentence=Diagnosis.NOTHING_MOVES(),
        reasons=(),
        warnings=(*warnings, *doubts),
    )
    if not total:
        return decision
    return with_words(decision, values, facts, open_end=open_end)


def _cluster_goes_on(
    values: Float[Tensor, " r"], ends: Sequence[int], floor: float
) -> Remark | None:
    """Say that the gap after a weak level is wider than that after the symmetries, so that these are only a part; None if not."""
    nullity, weak = ends[2], ends[3]
    own, gap = gap_after(values, nullity, floor), gap_after(values, weak, floor)
    if weak <= nullity or gap <= own:
        return None
    percent = root_percent(float(values[weak - 1]))
    return Diagnosis.CLUSTER_GOES_ON(directions=weak - nullity, percent=percent, gap=gap, own=own)


def _about_samples(
    solution: Defects, facts: DataFacts, total: int, at_floor: int
) -> tuple[list[Remark], int]:
    """Warnings about the number of samples, and how many directions it leaves undecided."""
    if facts.degenerate:
        return [], len(solution.values)
    if facts.hidden:
        return [], facts.hidden
    if not total:
        return [], 0
    if solution.sensitivity == 0:
        return [Diagnosis.INVARIANT_UNDER_ALL()], 0
    samples = facts.independent
    numbers = {
        "samples": samples,
        "different": samples < facts.samples and samples < 2 * total,
        "total": total,
    }
    # Of samples that differ one may be 0, which constrains nothing.
    enough = samples - (samples < facts.samples)
    short = at_floor and total - at_floor + facts.eliminated >= enough
    if short and facts.saturated is not None and facts.saturated():
        return [], 0
    if short:
        needed = total + facts.eliminated
        return [
            Diagnosis.TOO_FEW_SAMPLES(
                undecided=at_floor, lower_bound=facts.unsolved > 0, needed=needed, **numbers
            )
        ], at_floor
    return [Diagnosis.FEW_SAMPLES(needed=2 * total, **numbers)] if samples < 2 * total else [], 0


def _about_the_data(
    solution: Defects, facts: DataFacts, thresholds: Thresholds, *, found: bool, inexact: bool
) -> list[Remark]:
    """What the data does not cover, and what data would. Exact symmetries do not depend on the units of the features."""
    remarks = []
    ratio = size_ratio(facts.feature_sizes)
    if ratio > COMPARABLE_SIZES or (inexact and ratio > METRIC_SIZES):
        remarks.append(Diagnosis.MIXED_UNITS(ratio=ratio))
    elif inexact and facts.principal_ratio > METRIC_SIZES:
        remarks.append(Diagnosis.MIXED_SIZES(ratio=facts.principal_ratio))
    elif found and facts.along_one_axis > NARROW_SHARE:
        remarks.append(Diagnosis.NARROW_CONE(percent=100 * facts.along_one_axis))
    if not_moved := len(solution.trivial) - solution.barely:
        remarks.append(Diagnosis.NOT_MOVED(count=not_moved))
    if solution.barely:
        percent = 100 * math.sqrt(thresholds.coverage)
        remarks.append(Diagnosis.BARELY_MOVED(count=solution.barely, percent=percent))
    if found and facts.nonlinearity is not None and facts.nonlinearity < thresholds.linear:
        remarks.append(Diagnosis.NEARLY_LINEAR(percent=100 * math.sqrt(facts.nonlinearity)))
    return remarks


def with_words(
    decision: Decision, values: Float[Tensor, " r"], facts: DataFacts, *, open_end: bool = False
) -> Decision:
    """The decision with its verdict and reasons.

    Args:
        decision: the decision.
        values: all defects.
        facts: what it knew of the data.
        open_end: whether the largest defect that was solved for is below the threshold.
    """
    reasons = [] if decision.undecided and not decision.nullity else _reasons(decision, values)
    if decision.exact:
        share = VIOLATING_SAMPLES / max(facts.independent, 1)
        reasons.append(Diagnosis.NONE_VIOLATES(samples=facts.independent, share=min(share, 1.0)))
    doubtful = [
        i + 1
        for i, names in enumerate(decision.borderline)
        if names and (i < decision.nullity or decision.grades[i] == "weak" or "threshold" in names)
    ]
    if doubtful:
        names = sorted({name for i in doubtful for name in decision.borderline[i - 1]})
        reasons.append(
            Diagnosis.BORDERLINE(count=len(doubtful), places=runs(doubtful), names=", ".join(names))
        )
    equivariance = facts.eliminated > 0
    if effect := _effect_too_large(decision, values):
        reasons.append(effect)
    sentence = _sentence(decision, values, equivariance=equivariance, open_end=open_end)
    return replace(decision, sentence=sentence, reasons=tuple(reasons))


def _effect_too_large(decision: Decision, values: Float[Tensor, " r"]) -> Remark | None:
    """Say that the first direction after the symmetries has a small defect but a large effect; None if not."""
    place, thresholds = decision.nullity, decision.thresholds
    if decision.undecided or place >= len(values):
        return None
    defect = float(values[place])
    effect = math.sqrt(decision.response * defect)
    if defect > thresholds.threshold or effect <= thresholds.effect:
        return None
    return Diagnosis.EFFECT_TOO_LARGE(place=place + 1, defect=defect, effect=effect)


def reduced(
    decision: Decision,
    values: Float[Tensor, " r"],
    facts: DataFacts,
    number: int,
    *,
    warning: Remark,
) -> Decision:
    """The decision with fewer symmetries; the others become weak.

    Args:
        decision: the decision.
        values: all defects.
        facts: what it knew of the data.
        number: how many of the first directions are symmetries.
        warning: why the others are not counted.
    """
    grades = decision.grades
    fewer = replace(
        decision,
        nullity=number,
        exact=min(decision.exact, number),
        levels=(*(min(end, number) for end in decision.levels[:3]), decision.levels[3]),
        grades=(*grades[:number], *("weak" if g in COUNTED else g for g in grades[number:])),
        gap=gap_after(values, number or decision.levels[3], decision.floor),
        uncertainty=mixing_angle(values, number, decision.floor),
        certainty=None,
        warnings=(*decision.warnings, warning),
    )
    return with_words(fewer, values, facts)


def _reasons(decision: Decision, values: Float[Tensor, " r"]) -> list[Remark]:
    nullity, thresholds = decision.nullity, decision.thresholds
    if not nullity:
        numbers = {"smallest": float(values[0]), "threshold": thresholds.threshold}
        if not (below := int((values <= thresholds.threshold).sum())):
            return [Diagnosis.SMALLEST_ABOVE_THRESHOLD(**numbers)]
        if _effect_too_large(decision, values):
            return []  # said below: it is the effect, not the gap
        return [Diagnosis.NO_GAP(below=below, minimum_gap=thresholds.minimum_gap, **numbers)]
    numbers = {"nullity": nullity, "total": len(values) + decision.unsolved}
    if decision.exact == nullity:
        first = Diagnosis.COUNTED_AT_FLOOR(floor=decision.floor, **numbers)
    else:
        first = Diagnosis.COUNTED_ABOVE_FLOOR(largest=float(values[nullity - 1]), **numbers)
    if decision.undecided:
        return [first]
    if nullity < len(values):
        return [first, Diagnosis.GAP_AFTER(gap=decision.gap)]
    return [first, Diagnosis.NEXT_UNSOLVED() if decision.unsolved else Diagnosis.NONE_LEFT()]


def _sentence(
    decision: Decision, values: Float[Tensor, " r"], *, equivariance: bool, open_end: bool
) -> Remark:
    """The verdict for someone who reads nothing else."""
    nullity, threshold = decision.nullity, decision.thresholds.threshold
    if decision.undecided and not nullity:
        total = len(values) + decision.unsolved
        return Diagnosis.UNDECIDED(undecided=decision.undecided, total=total)
    if not nullity:
        percent = root_percent(float(values[0]))
        if (below := int((values <= threshold).sum())) and not decision.levels[3]:
            return Diagnosis.NO_CLEAR_COUNT(below=below, percent=percent)
        if cluster := decision.levels[3]:
            percent = root_percent(float(values[cluster - 1]))
            return Diagnosis.WEAK_CLUSTER(weak=cluster, percent=percent, gap=decision.gap)
        if weak := decision.grades.count("weak"):
            return Diagnosis.WEAK_CANDIDATES(weak=weak, percent=percent)
        return Diagnosis.NO_SYMMETRY(percent=percent)
    numbers = {"nullity": nullity, "lower_bound": open_end}
    kinds = Counter(decision.grades[:nullity])
    if set(kinds) == {"exact"}:
        member = Diagnosis.EXACT_EQUIVARIANCE if equivariance else Diagnosis.EXACT
        return member(**numbers)
    numbers["percent"] = root_percent(float(values[nullity - 1]))
    numbers["grades"] = " + ".join(f"{kinds[name]} {name}" for name in COUNTED if kinds[name])
    return (Diagnosis.EQUIVARIANCES if equivariance else Diagnosis.SYMMETRIES)(**numbers)


def with_certainty(decision: Decision, certainty: Certainty | None) -> Decision:
    """The decision with its intervals; a found generator is off by at least the angle of the span."""
    if certainty is None or decision.undecided:
        return decision
    uncertainty = max(decision.uncertainty, certainty.angle) if decision.nullity else 0.0
    return replace(decision, certainty=certainty, uncertainty=uncertainty)
