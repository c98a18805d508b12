"""How many directions leave the distribution of a data set unchanged, and how sure that is."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.text import root_percent
from liegg.decision.decide import COMPARABLE_SIZES, DataFacts, Decision, decide
from liegg.decision.distribution import COUNT_LEVEL, MeanProblem, MeanSolution, direction_error
from liegg.decision.distribution_test import DistributionTest
from liegg.decision.grades import COUNTED
from liegg.decision.intervals import Certainty
from liegg.decision.rank import Evidence, evidence
from liegg.decision.thresholds import Thresholds
from liegg.polarization.extremes import carriers, constants
from liegg.polarization.row_means import RowMeans

FEWEST_DECIDED = 100
"""Samples below which nothing is decided."""

POWER = 0.95
"""Probability with which a stated change would have been seen."""

CARRIED = 0.25
"""Share of the variance of the data that a handful of samples may carry without a warning: normal samples, if there are 100, stay below
it, and lognormal ones, if there are 1000."""

COPIED = 2.0
"""Variance between blocks over that of independent samples from which on it is said that copies count once."""

ANGLE_ERRORS = 2.0
"""Standard errors of a direction that its stated uncertainty has."""

SEPARATED = 0.999
"""Share of a gap that counts as the gap itself."""


def test_of(problem: MeanProblem, solved: MeanSolution, functions: str) -> DistributionTest:
    """The tests of every direction, and the defect that would have been seen.

    Args:
        problem: the means.
        solved: the directions.
        functions: the test functions, in words.
    """
    detectable, kappa = math.nan, solved.solution.sensitivity
    if solved.deciding is not None and kappa > 0:
        detectable = solved.deciding.seen(COUNT_LEVEL, POWER) / kappa
    return DistributionTest(
        functions=functions,
        combinations=len(problem.mean),
        ratios=tuple(test.ratio for test in solved.tests),
        p_values=tuple(test.p_value for test in solved.tests),
        found=solved.found,
        span_p=math.nan if solved.span is None else solved.span.p_value,
        next_p=math.nan if solved.following is None else solved.following.p_value,
        dispersion=problem.dispersion,
        detectable=detectable,
    )


def decide_distribution(
    solved: MeanSolution,
    sums: RowMeans,
    thresholds: Thresholds,
    *,
    problem: MeanProblem,
    detectable: float,
    feature_sizes: Float[Tensor, " n"] | None,
    columns: Sequence[str] = (),
    doubts: tuple[Remark, ...] = (),
) -> Decision:
    """Count and grades from the intervals, as for a model; undecided where chance explains more than they do.

    Args:
        solved: the directions with their tests.
        sums: means over the data.
        thresholds: what counts as a symmetry.
        problem: the means.
        detectable: defect that would have been seen.
        feature_sizes: summed squares of the features; None where they have no units of their own.
        columns: names of the numbers of a sample, if it is a vector.
        doubts: why the test functions may miss what breaks a symmetry: if any is found, nothing is decided; or why they cannot tell.
    """
    solution, total = solved.solution, len(solved.solution.values)
    response = solution.sensitivity * sums.spread
    case = evidence(solution.values, solved.bounds, floor=0.0, response=response)
    facts = DataFacts(samples=sums.samples, degenerate=problem.samples < FEWEST_DECIDED)
    carried = _about_carriers(sums)
    warnings = (
        *_about_units(feature_sizes),
        *_about_order(problem),
        *_about_copies(problem, sums.samples),
        *_about_constants(sums, columns),
        *carried,
    )
    decision = decide(solution, case, facts, thresholds, warnings=warnings)
    claimed, few = max(solved.found, decision.nullity), facts.degenerate
    doubts = tuple(one for one in doubts if claimed or one.diagnosis is Diagnosis.DATA_OFF_CENTRE)
    if doubts:
        facts, warnings = replace(facts, degenerate=True), (*warnings, *doubts)
        decision = decide(solution, case, facts, thresholds, warnings=warnings)
    if doubts and claimed and not few:
        sentence = Diagnosis.DATA_DOUBTED(samples=sums.samples, undecided=claimed, total=total)
        return replace(decision, undecided=claimed, sentence=sentence)
    if facts.degenerate:
        count = solved.found or total
        sentence = Diagnosis.DATA_UNDECIDED(samples=sums.samples, undecided=count, total=total)
        return replace(decision, undecided=count, sentence=sentence)
    if 0 < solved.found < total and decision.nullity < solved.found:
        decision = _separated(decision, solved, case, facts, warnings=warnings)
    unclear = solved.found - decision.nullity
    if unclear > 0:
        every = solved.found == total
        member = Diagnosis.CANNOT_TELL_FROM_CHANCE if every else Diagnosis.NOT_EXCLUDED
        values = {"samples": sums.samples} | ({} if every else {"count": unclear})
        more = () if carried else (member(**values),)  # more samples would not help then
        if not decision.nullity:
            facts = replace(facts, degenerate=True)
            warnings = (*warnings, *more)
            decision = decide(solution, case, facts, thresholds, warnings=warnings)
        else:
            decision = replace(decision, warnings=(*decision.warnings, *more))
    if decision.undecided:
        sentence = Diagnosis.DATA_UNDECIDED(
            samples=sums.samples, undecided=solved.found, total=total
        )
        return replace(decision, undecided=solved.found, sentence=sentence)
    if not total:
        return decision
    return _in_words_of_data(decision, solved, sums, problem=problem, detectable=detectable)


def _separated(
    decision: Decision,
    solved: MeanSolution,
    case: Evidence,
    facts: DataFacts,
    *,
    warnings: tuple[Remark, ...],
) -> Decision:
    """The decision with the directions that chance explains, if their intervals end below the threshold and the next one's start.

    The gap between the noise and the next defect is limited by the noise; the test, which rejects one more direction, replaces it.
    """
    values, found, thresholds = solved.solution.values, solved.found, decision.thresholds
    gap = SEPARATED * float(values[found] / values[found - 1])
    if not 1 < gap < thresholds.minimum_gap:
        return decision
    relaxed = replace(thresholds, minimum_gap=gap)
    again = decide(solved.solution, case, facts, relaxed, warnings=warnings)
    return replace(again, thresholds=thresholds) if again.nullity == found else decision


def _in_words_of_data(
    decision: Decision,
    solved: MeanSolution,
    sums: RowMeans,
    *,
    problem: MeanProblem,
    detectable: float,
) -> Decision:
    """The decision with how sure the count and the span are, and in words that are true of a distribution."""
    thresholds = decision.thresholds
    error = ANGLE_ERRORS * direction_error(problem, solved.axes, decision.nullity)
    certainty = Certainty(
        nullity=(min(decision.nullity, solved.found), max(decision.nullity, solved.found)),
        support=1 - COUNT_LEVEL,
        angle=error if decision.nullity else math.pi / 2,
        level=thresholds.level,
        blocks=int((sums.counts > 0).sum()),
        draws=0,
    )
    every = solved.found == len(solved.solution.values)
    return replace(
        decision,
        certainty=certainty,
        uncertainty=error,
        sentence=_sentence(decision, solved, detectable),
        reasons=(
            *map(_of_data, decision.reasons),
            *[Diagnosis.DATA_NO_REFERENCE(effect=thresholds.effect)] * every,
        ),
    )


def _about_units(sizes: Float[Tensor, " n"] | None) -> tuple[Remark, ...]:
    """Say that features have sizes which cannot be compared."""
    moving = torch.zeros(0) if sizes is None else sizes[sizes > 0].sqrt()
    ratio = float(moving.max() / moving.min()) if len(moving) else 1.0
    return (Diagnosis.DATA_MIXED_UNITS(ratio=ratio),) if ratio > COMPARABLE_SIZES else ()


def _about_constants(sums: RowMeans, columns: Sequence[str]) -> tuple[Remark, ...]:
    """Say that some columns are the same in every sample."""
    places = constants(sums.extremes) if columns else []
    if not places:
        return ()
    names = ", ".join(columns[place] for place in places)
    return (Diagnosis.DATA_CONSTANT_COLUMNS(count=len(places), names=names),)


def _about_carriers(sums: RowMeans) -> tuple[Remark, ...]:
    """Say that a handful of samples carry much of the variance."""
    places, share = carriers(sums.extremes, CARRIED)
    if not places:
        return ()
    named = ", ".join(f"data[{place}]" for place in places)
    return (
        Diagnosis.DATA_FEW_CARRY(count=len(places), places=named, percent=math.floor(100 * share)),
    )


def _about_order(problem: MeanProblem) -> tuple[Remark, ...]:
    """Say that samples depend on those before them, or that the file was sorted."""
    if problem.sorted:
        return (Diagnosis.DATA_SORTED(),)
    if problem.serial <= 1:
        return ()
    return (Diagnosis.DATA_DEPENDS_ON_ORDER(effective=max(1, round(problem.samples))),)


def _about_copies(problem: MeanProblem, samples: int) -> tuple[Remark, ...]:
    """Say that samples are the same as others, or belong together, so that few count."""
    if problem.serial > 1 or problem.dispersion < COPIED:
        return ()
    effective = max(1, round(problem.samples))
    return (Diagnosis.DATA_COPIES(samples=samples, effective=effective),)


def _of_data(reason: Remark) -> Remark:
    """A reason in words that are true of a distribution."""
    if reason.diagnosis is Diagnosis.EFFECT_TOO_LARGE:
        return Diagnosis.DATA_EFFECT_TOO_LARGE(**reason.values)
    return reason


def _sentence(decision: Decision, solved: MeanSolution, detectable: float) -> Remark:
    """The verdict in words that are true of a distribution."""
    values, nullity = solved.solution.values, decision.nullity
    if not nullity:
        sentence = decision.sentence
        if sentence.diagnosis is Diagnosis.WEAK_CLUSTER:
            return Diagnosis.DATA_WEAK_CLUSTER(**sentence.values)
        return Diagnosis.DATA_NO_SYMMETRY(percent=root_percent(float(values[0])))
    kinds = Counter(decision.grades[:nullity])
    grades = " + ".join(f"{kinds[name]} {name}" for name in COUNTED if kinds[name])
    if nullity > solved.found:
        percent = root_percent(float(values[nullity - 1]))
        return Diagnosis.DATA_NEAR_SYMMETRIES(grades=grades, nullity=nullity, percent=percent)
    percent = root_percent(detectable)
    return Diagnosis.DATA_SYMMETRIES(grades=grades, nullity=nullity, percent=percent)
