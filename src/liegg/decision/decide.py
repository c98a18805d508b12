"""The decision: how many directions are symmetries, how well, how sure that is, and why."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.linalg import canonical_basis, fix_signs, orthonormal_rows
from liegg.decision.grades import grade, threshold_sensitivity
from liegg.decision.intervals import Certainty
from liegg.decision.rank import Evidence, count, rule
from liegg.decision.thresholds import Thresholds
from liegg.spectrum.defects import Defects

COMPARABLE_SIZES = 30.0
"""Ratio of the features' sizes above which their motions are not comparable; defects then differ by its square."""

NARROW_SHARE = 0.75
"""Share of the data's squared size along one axis above which the data lies in a narrow cone."""

CANONICAL_PRODUCTS = 2**31
"""Largest number of products d²g for a canonical basis, which takes seconds; with more directions the solver's basis is kept."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """How many directions are symmetries, how well, and the numbers behind the decision.

    Attributes:
        nullity: number of symmetries: exact, strong or approximate; the first in ascending order of defect.
        exact: how many of them are at the numerical floor.
        undecided: directions at the floor only because too few samples constrain them, or because
            nothing moves the output; not counted.
        trivial: directions that do not move the data, or hardly; not counted.
        unsolved: directions that move the data but were not solved for.
        gap: first defect not counted over the last one counted (or the floor); infinite if none is left, 1 if not solved for.
        grades: of every direction that moves the data: exact, strong, approximate, weak, none.
        borderline: for every direction the thresholds that its grade depends on, and `interval` or
            `level`; empty where the grade is clear.
        floor: defect below which a direction is exact.
        control: defect that few random directions of equal displacement stay below; infinite without that control.
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
    gap: float
    grades: tuple[str, ...]
    borderline: tuple[tuple[str, ...], ...]
    floor: float
    control: float
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
    def nullity_interval(self) -> tuple[int, int] | None:
        """Interval of the number of symmetries; None where no interval was made."""
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
        nonlinearity: squared relative nonlinearity of the model between samples; None if not known.
        degenerate: nothing moves the output at all.
    """

    samples: int
    distinct: int | None = None
    eliminated: int = 0
    unsolved: int = 0
    feature_sizes: Float[Tensor, " n"] | None = None
    along_one_axis: float = 0.0
    nonlinearity: float | None = None
    degenerate: bool = False


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
    nullity = int(count(case, rule(floor, thresholds)))
    grades, borderline = grade(case, thresholds), threshold_sensitivity(case, thresholds)
    doubts, undecided = _about_samples(solution, facts, total, at_floor)
    if undecided:
        nullity, grades, borderline = 0, ("none",) * len(values), ((),) * len(values)
    gap = _gap_after(values, nullity, floor)
    if undecided or (facts.unsolved and nullity == len(values)):
        gap = 1.0
    open_end = facts.unsolved > 0 and float(values[-1]) <= max(thresholds.threshold, floor)
    if open_end and not undecided:
        doubts.append(
            Diagnosis.MORE_MAY_FOLLOW(
                solved=len(values), largest=float(values[-1]), suggested=2 * len(values)
            )
        )
    doubts += _about_the_data(solution, facts, thresholds, found=nullity > 0 or "weak" in grades)
    decision = Decision(
        nullity=nullity,
        exact=min(at_floor, nullity),
        undecided=undecided,
        trivial=len(solution.trivial),
        unsolved=facts.unsolved,
        gap=gap,
        grades=grades,
        borderline=borderline,
        floor=floor,
        control=case.control,
        uncertainty=mixing_angle(values, nullity, floor),
        certainty=None,
        thresholds=thresholds,
        sentence=Diagnosis.NOTHING_MOVES(),
        reasons=(),
        warnings=(*warnings, *doubts),
    )
    if not total:
        return decision
    return _in_words(decision, values, equivariance=facts.eliminated > 0, open_end=open_end)


def _about_samples(
    solution: Defects, facts: DataFacts, total: int, at_floor: int
) -> tuple[list[Remark], int]:
    """Warnings about the number of samples, and how many directions it leaves undecided."""
    if facts.degenerate:
        return [], len(solution.values)
    if not total:
        return [], 0
    if solution.sensitivity == 0:
        return [Diagnosis.INVARIANT_UNDER_ALL()], 0
    samples = facts.samples if facts.distinct is None else min(facts.distinct, facts.samples)
    numbers = {
        "samples": samples,
        "different": samples < facts.samples and samples < 2 * total,
        "total": total,
    }
    if at_floor and total - at_floor + facts.eliminated >= samples:
        needed = total + facts.eliminated
        return [
            Diagnosis.TOO_FEW_SAMPLES(
                undecided=at_floor, lower_bound=facts.unsolved > 0, needed=needed, **numbers
            )
        ], at_floor
    return [Diagnosis.FEW_SAMPLES(needed=2 * total, **numbers)] if samples < 2 * total else [], 0


def _about_the_data(
    solution: Defects, facts: DataFacts, thresholds: Thresholds, *, found: bool
) -> list[Remark]:
    """What the data does not cover, and what data would."""
    remarks = []
    if (ratio := _size_ratio(facts.feature_sizes)) > COMPARABLE_SIZES:
        remarks.append(Diagnosis.MIXED_UNITS(ratio=ratio))
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


def _in_words(
    decision: Decision, values: Float[Tensor, " r"], *, equivariance: bool, open_end: bool
) -> Decision:
    """The decision with its verdict and reasons."""
    reasons = [] if decision.undecided else _reasons(decision, values)
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
    sentence = _sentence(decision, values, equivariance=equivariance, open_end=open_end)
    return replace(decision, sentence=sentence, reasons=tuple(reasons))


def _reasons(decision: Decision, values: Float[Tensor, " r"]) -> list[Remark]:
    nullity, thresholds = decision.nullity, decision.thresholds
    if not nullity:
        numbers = {"smallest": float(values[0]), "threshold": thresholds.threshold}
        if not (below := int((values <= thresholds.threshold).sum())):
            return [Diagnosis.SMALLEST_ABOVE_THRESHOLD(**numbers)]
        return [Diagnosis.NO_GAP(below=below, minimum_gap=thresholds.minimum_gap, **numbers)]
    numbers = {"nullity": nullity, "total": len(values) + decision.unsolved}
    if decision.exact == nullity:
        first = Diagnosis.COUNTED_AT_FLOOR(floor=decision.floor, **numbers)
    else:
        first = Diagnosis.COUNTED_ABOVE_FLOOR(largest=float(values[nullity - 1]), **numbers)
    if nullity < len(values):
        return [first, Diagnosis.GAP_AFTER(gap=decision.gap)]
    return [first, Diagnosis.NEXT_UNSOLVED() if decision.unsolved else Diagnosis.NONE_LEFT()]


def _sentence(
    decision: Decision, values: Float[Tensor, " r"], *, equivariance: bool, open_end: bool
) -> Remark:
    """The verdict for someone who reads nothing else."""
    nullity, threshold = decision.nullity, decision.thresholds.threshold
    if decision.undecided:
        total = len(values) + decision.unsolved
        return Diagnosis.UNDECIDED(undecided=decision.undecided, total=total)
    if not nullity:
        percent = _percent(float(values[0]))
        if below := int((values <= threshold).sum()):
            return Diagnosis.NO_CLEAR_COUNT(below=below, percent=percent)
        if weak := decision.grades.count("weak"):
            return Diagnosis.WEAK_CANDIDATES(weak=weak, percent=percent)
        return Diagnosis.NO_SYMMETRY(percent=percent)
    numbers = {"nullity": nullity, "lower_bound": open_end}
    kinds = Counter(decision.grades[:nullity])
    if set(kinds) == {"exact"}:
        member = Diagnosis.EXACT_EQUIVARIANCE if equivariance else Diagnosis.EXACT
        return member(**numbers)
    numbers["percent"] = _percent(float(values[nullity - 1]))
    numbers["grades"] = " + ".join(
        f"{kinds[name]} {name}" for name in ("exact", "strong", "approximate") if kinds[name]
    )
    return (Diagnosis.EQUIVARIANCES if equivariance else Diagnosis.SYMMETRIES)(**numbers)


def _percent(defect: float) -> str:
    """Motion of the output in percent of the average, with two digits, near 100 % three."""
    return f"{100 * math.sqrt(defect):.{2 if defect < 0.98 else 3}g}"


def with_certainty(decision: Decision, certainty: Certainty | None) -> Decision:
    """The decision with its intervals; a found generator is off by at least the angle of the span."""
    if certainty is None or decision.undecided:
        return decision
    uncertainty = max(decision.uncertainty, certainty.angle) if decision.nullity else 0.0
    return replace(decision, certainty=certainty, uncertainty=uncertainty)


def mixing_angle(values: Float[Tensor, " r"], nullity: int, floor: float) -> float:
    r"""Relative error of a found unit generator in radians, as far as the defects tell: $\sqrt{\delta^2_d / \delta^2_{d+1}}$.

    To get its defect, an exact symmetry would have to be mixed with a direction beyond the gap at about this angle. The true error
    is usually several times smaller.
    """
    if not nullity:
        return 0.0
    last = max(float(values[nullity - 1]), floor)
    following = float(values[nullity]) if nullity < len(values) else 1.0
    return math.sqrt(min(last / max(following, last), 1.0))


def symmetry_directions(solution: Defects, decision: Decision) -> Float[Tensor, "d g"]:
    """Orthonormal coefficients of the symmetries, smallest defect first, with deterministic signs.

    Directions that tie at the numerical floor have no order of their own; they get the basis of `canonical_basis`, which depends
    only on their span.
    """
    chosen = solution.directions[: decision.nullity]
    exact = _tied_basis(chosen[: decision.exact])
    if decision.exact == decision.nullity:
        return exact
    q, r = torch.linalg.qr(torch.cat([exact, chosen[decision.exact :]]).mT)
    return fix_signs((q * torch.where(r.diagonal() < 0, -1.0, 1.0)).mT.contiguous())


def _tied_basis(rows: Float[Tensor, "e g"]) -> Float[Tensor, "e g"]:
    """Orthonormal basis of directions that tie; it depends only on their span where that is cheap enough."""
    if len(rows) == rows.shape[1]:
        return torch.eye(len(rows), dtype=rows.dtype)
    if len(rows) * rows.numel() > CANONICAL_PRODUCTS:
        return fix_signs(torch.linalg.qr(rows.mT).Q.mT.contiguous())
    return canonical_basis(orthonormal_rows(rows))


def runs(places: Sequence[int]) -> str:
    """Whole numbers, consecutive ones joined.

    >>> runs([1, 2, 3, 7])
    '1–3, 7'
    """
    # Consecutive numbers are equally far from their places in the list.
    groups = groupby(enumerate(places), key=lambda pair: pair[1] - pair[0])
    parts = [[number for _, number in group] for _, group in groups]
    return ", ".join(f"{p[0]}" if len(p) == 1 else f"{p[0]}–{p[-1]}" for p in parts)


def _size_ratio(squares: Float[Tensor, " n"] | None) -> float:
    """Largest over smallest size of the features that are not zero throughout."""
    sizes = squares[squares > 0].sqrt() if squares is not None else torch.zeros(0)
    return float(sizes.max() / sizes.min()) if len(sizes) else 1.0


def _gap_after(values: Float[Tensor, " r"], nullity: int, floor: float) -> float:
    """First defect not counted over the last one counted, or over the floor."""
    if nullity == len(values):
        return math.inf
    return max(float(values[nullity]), floor) / max(
        float(values[nullity - 1]) if nullity else 0.0, floor
    )
