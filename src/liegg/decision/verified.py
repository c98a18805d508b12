"""What finite transformations of held-out samples change in a decision."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.decision.decide import Decision
from liegg.decision.grades import COUNTED, GRADES
from liegg.decision.thresholds import Thresholds

ALLOWANCE = 2.0
"""Factor by which a finite change may exceed the square that a grade allows: the measured mean is one of a few hundred samples,
and finite transformations have higher orders."""

OF_THE_COUNT = (
    Diagnosis.COUNTED_AT_FLOOR,
    Diagnosis.COUNTED_ABOVE_FLOOR,
    Diagnosis.GAP_AFTER,
    Diagnosis.NONE_LEFT,
    Diagnosis.NEXT_UNSOLVED,
    Diagnosis.NONE_VIOLATES,
    Diagnosis.EFFECT_TOO_LARGE,
    Diagnosis.BORDERLINE,
)
"""Reasons that speak of the count by derivatives."""

ORDER = (*COUNTED, "undecided", *GRADES[len(COUNTED) :])
"""Grades in the order of directions; those that are undecided follow the symmetries."""

LARGEST_PERCENT = 999.0
"""Changes above are not told apart; an output that is not finite has an infinite one."""


class FiniteChange(NamedTuple):
    r"""What finite transformations along one direction did to the output.

    Attributes:
        change: largest mean squared change of the output over its variance, for motions up to `motion`.
        reference: the same for an average direction, $\kappa s^2 / \mathrm{var} f$ for a motion $s$, at most 1.
        floor: change that rounding may make.
        motion: how far the samples were moved, in multiples of the data's spread.
        farther: the change as far as the motion was followed; an exact direction has none there either. 0 if not known.
    """

    change: float
    reference: float = 1.0
    floor: float = 0.0
    motion: float = 0.5
    farther: float = 0.0

    @property
    def is_exact(self) -> bool:
        """Whether only rounding changes the output."""
        return max(self.change, self.farther) <= self.floor

    @property
    def share(self) -> float:
        """The change relative to that of an average direction; 0 if rounding explains it."""
        if self.change <= self.floor:
            return 0.0
        return self.change / self.reference if self.reference > 0 else math.inf


class Verified(NamedTuple):
    """A decision after verification.

    Attributes:
        decision: the decision, with its directions in the new order.
        order: place of each direction before: by grade, then as they were.
        shares: change of each direction that was lowered relative to that of an average one, in the new order; 0 for the others.
    """

    decision: Decision
    order: tuple[int, ...]
    shares: tuple[float, ...]


Closed = Callable[[Sequence[int]], Sequence[int]]
"""Those of some directions, by their places, that form an algebra."""


def verified(
    decision: Decision,
    changes: Sequence[FiniteChange],
    *,
    equivariance: bool = False,
    closed: Closed = tuple,
) -> Verified:
    """Lower the grade of every counted direction that does not hold under finite transformations as its grade claims.

    The change is taken relative to an average direction, or to the output's own variance if that is less. A direction counts
    while this is at most twice `threshold` (24 % of the output's spread by default). An exact direction may change the output
    by rounding only, as far as it was followed; if it does more, it gets the grade that allows the change. A strong one becomes
    approximate above `threshold`: derivatives tell these two apart better than a few hundred finite motions, which may leave the
    region of the data. Directions that are closed under the bracket only with lowered ones are lowered with them, to the worst grade
    that counts; exact ones are undecided if no other counts. Directions are then ordered by grade, so that the symmetries still
    come first.

    Args:
        decision: what derivatives decided.
        changes: one per counted direction, in their order.
        equivariance: whether the output has an action of its own.
        closed: says which of some directions, by their places, form an algebra; by default all.

    Returns:
        The same decision if every direction keeps its grade.
    """
    before = decision.grades[: decision.nullity]
    if len(changes) != len(before):
        raise ValueError(
            f"{len(changes)} changes for {len(before)} counted directions: one for each."
        )
    after = tuple(
        finite_grade(grade, one, decision.thresholds)
        for grade, one in zip(before, changes, strict=True)
    )
    if after == before:
        none = (0.0,) * len(decision.grades)
        return Verified(decision, tuple(range(len(decision.grades))), none)
    shares = [
        one.share if grade != old else 0.0
        for one, grade, old in zip(changes, after, before, strict=True)
    ] + [0.0] * (len(decision.grades) - len(before))
    after = _closed_grades(after, closed)
    grades = after + decision.shown_grades[decision.nullity :]
    order = tuple(sorted(range(len(grades)), key=lambda i: (ORDER.index(grades[i]), i)))
    ordered = replace(
        decision,
        borderline=tuple(
            () if i < len(after) and after[i] != before[i] else decision.borderline[i]
            for i in order
        ),
    )
    new = _regraded(ordered, before, after, tuple(grades[i] for i in order))
    sentence, reason, warning = _remarks(before, after, changes, equivariance=equivariance)
    if not new.nullity and new.undecided:
        total = len(grades) + decision.unsolved
        sentence = Diagnosis.UNDECIDED(undecided=new.undecided, total=total)
    new = replace(
        new,
        sentence=sentence,
        reasons=(*_by_derivatives(decision.reasons), reason),
        warnings=(warning, *decision.warnings),
    )
    return Verified(new, order, tuple(shares[i] for i in order))


def _closed_grades(after: tuple[str, ...], closed: Closed) -> tuple[str, ...]:
    """The grades, in which directions are exact or strong only if all up to their grade form an algebra."""
    for level in COUNTED[:-1]:
        best = [i for i, grade in enumerate(after) if grade in COUNTED[: COUNTED.index(level) + 1]]
        lost = {i for i in {*best} - {*closed(best)} if after[i] == level}
        worse = [grade for i, grade in enumerate(after) if grade in COUNTED and i not in best]
        instead = max(worse, key=GRADES.index, default="undecided")
        if worse or level == "exact":
            after = tuple(instead if i in lost else grade for i, grade in enumerate(after))
    return after


def _regraded(
    decision: Decision, before: Sequence[str], after: Sequence[str], ordered: tuple[str, ...]
) -> Decision:
    """The decision with the grades after verification, of all directions in their order."""
    kept, undecided = sum(grade in COUNTED for grade in after), ordered.count("undecided")
    certainty = None if undecided else decision.certainty
    if certainty is not None:
        fewer = len(before) - kept
        low, high = (max(end - fewer, 0) for end in certainty.nullity)
        certainty = replace(certainty, nullity=(low, high))
    return replace(
        decision,
        nullity=kept,
        exact=after.count("exact"),
        undecided=undecided,
        levels=(*(sum(g in GRADES[: n + 1] for g in after) for n in range(3)), kept),
        grades=tuple("none" if grade == "undecided" else grade for grade in ordered),
        certainty=certainty,
        uncertainty=decision.uncertainty if kept else 0.0,
    )


def finite_grade(grade: str, one: FiniteChange, thresholds: Thresholds) -> str:
    """Best grade, not above its own, that a direction keeps under finite transformations.

    >>> finite_grade("exact", FiniteChange(0.01), Thresholds())
    'approximate'
    >>> finite_grade("strong", FiniteChange(0.01), Thresholds())
    'strong'
    """
    if grade == "exact" and one.is_exact:
        return grade
    limits = {
        "strong": ALLOWANCE * thresholds.strong if grade == "exact" else thresholds.threshold,
        "approximate": ALLOWANCE * thresholds.threshold,
        "weak": thresholds.weak,
    }
    fitting = (name for name, limit in limits.items() if one.share <= limit)
    return max(grade, next(fitting, "none"), key=GRADES.index)


def _by_derivatives(reasons: Sequence[Remark]) -> tuple[Remark, ...]:
    """The reasons that hold for any count and in any order of the directions."""
    return tuple(one for one in reasons if one.diagnosis not in OF_THE_COUNT)


def _remarks(
    before: Sequence[str],
    after: Sequence[str],
    changes: Sequence[FiniteChange],
    *,
    equivariance: bool,
) -> tuple[Remark, Remark, Remark]:
    """Sentence, reason and warning of a decision that verification changed."""
    kinds = Counter(grade for grade in after if grade in COUNTED)
    nullity, motion = sum(kinds.values()), max(one.motion for one in changes)
    cases = list(zip(changes, before, after, strict=True))
    lowered = [one for one, old, new in cases if old != new]
    counts = {"holding": sum(old == new for _, old, new in cases), "count": len(cases)}
    if nullity:
        member = Diagnosis.VERIFIED_EQUIVARIANCES if equivariance else Diagnosis.VERIFIED_SYMMETRIES
        sentence = member(
            nullity=nullity,
            grades=" + ".join(f"{kinds[name]} {name}" for name in COUNTED if kinds[name]),
            percent=_percent([one.change for one, _, new in cases if new in COUNTED]),
            motion=motion,
        )
    else:
        percent = _percent([one.change for one in lowered])
        sentence = Diagnosis.NONE_VERIFIED(count=len(cases), percent=percent, motion=motion)
    return (
        sentence,
        Diagnosis.HOLD_AT_FINITE_SIZE(**counts, nullity=nullity, motion=motion),
        Diagnosis.FAILS_AT_FINITE_SIZE(
            failing=len(lowered),
            count=len(cases),
            percent=_percent([max(one.change, one.farther) for one in lowered]),
        ),
    )


def _percent(changes: Sequence[float]) -> str:
    """The largest change of the output in percent of its spread."""
    percent = 100 * max(changes) ** 0.5
    return f"{percent:.2g}" if percent < LARGEST_PERCENT else f">{LARGEST_PERCENT:g}"
