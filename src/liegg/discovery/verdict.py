"""The verdict on a solution: the decision with what it was based on."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.actions import Displacement
from liegg.decision.controls import RandomControl
from liegg.decision.decide import DataFacts, Decision, decide, reduced, with_certainty
from liegg.decision.derivative_error import widened
from liegg.decision.intervals import Bootstrap, bootstrap, certainty
from liegg.decision.noise_floor import Response
from liegg.decision.rank import Evidence, evidence, rule, scale
from liegg.decision.thresholds import Thresholds
from liegg.discovery.problem import Floor, Problem
from liegg.discovery.saturation import Halves, carrying_blocks, saturated
from liegg.inputs.hidden_derivatives import HiddenChange
from liegg.polarization.sample_blocks import FEWEST_BLOCKS
from liegg.polarization.streaming import PassSums
from liegg.results.accumulated import Accumulated
from liegg.spectrum.defects import TRIVIAL_TOLERANCE, Defects

ONE_ORBIT_UNITS = 100.0
"""Rounding units of its size within which the spread of an output is rounding: data on one orbit of an exact symmetry."""

FEW_BLOCKS = 3.0
"""Blocks of samples that must carry what a direction changes; with fewer, a handful of samples decides it."""

UNCERTAIN_ANGLE, UNSTABLE_ANGLE = 0.35, 0.5
"""Angle in radians by which symmetries may be off before a warning says so, and by which their span may turn from one bootstrap draw
to another before they are not counted."""

ROWS_PER_CONSTRAINT = 2
"""Rows of clusters, or of samples that carry the sensitivity, for each direction that is not a symmetry. With fewer, a small defect
may be a missing constraint."""

BLURRED = 0.01
"""Error of a defect, relative to the defect, from which on it may be the reason that a direction is not counted."""


@dataclass(frozen=True, kw_only=True)
class ModelInfo:
    """What the decision needs to know of the model and of how the pass ran.

    Attributes:
        dtype: precision of the model.
        device: kind of device that it ran on.
        model: its name.
        unit: rounding unit of its arithmetic.
        shape: shape of a sample.
        batch_size: samples per batch, as requested.
        slope: its mean squared gradient; None if not known.
        read: share of the spread of the samples in numbers that it depends on.
        nonlinearity: its nonlinearity on the data; None if not known.
        hidden: change of its output that its derivative does not show; None if not known.
        notes: how it was opened, if that was unusual.
        warnings: what was found wrong before the pass.
        finite: whether derivatives are finite differences.
    """

    dtype: torch.dtype
    device: str
    model: str
    unit: float
    shape: tuple[int, ...]
    batch_size: int | None = None
    slope: float | None = None
    read: float = 1.0
    nonlinearity: float | None = None
    hidden: HiddenChange | None = None
    notes: tuple[Remark, ...] = ()
    warnings: tuple[Remark, ...] = ()
    finite: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Verdict:
    """The decision with what it was based on, so that it can be made again for fewer symmetries.

    Attributes:
        decision: the decision.
        solution: the solution, cut to what was requested.
        bounds: interval of every defect; NaN where there is none.
        complete: the evidence of all directions that were solved for.
        draws: the bootstrap; None without intervals.
        facts: what is known of the data.
        errors: defect that errors of the derivatives alone can give each direction; None if there is only rounding.
    """

    decision: Decision
    solution: Defects
    bounds: torch.Tensor
    complete: Evidence
    draws: Bootstrap | None
    facts: DataFacts
    errors: torch.Tensor | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The errors as JSON values; nothing if there is only rounding."""
        return {} if self.errors is None else {"errors": self.errors.tolist()}

    def with_intervals(self, decision: Decision) -> Decision:
        """A decision with the intervals of its count and of the angle of its span."""
        if self.draws is None or decision.undecided:
            return decision
        sure = certainty(self.draws, self.complete, decision.nullity, decision.thresholds)
        return with_certainty(decision, sure)

    def fewer(self, number: int, warning: Remark) -> "Verdict":
        """The verdict with fewer symmetries."""
        decision = reduced(self.decision, self.solution.values, self.facts, number, warning=warning)
        return replace(self, decision=self.with_intervals(decision))


def give_verdict(
    problem: Problem,
    accumulated: Accumulated,
    floor: Floor,
    info: ModelInfo,
    *,
    random: RandomControl | None,
    smallest: int | None,
    halves: Halves | None = None,
) -> Verdict:
    """The decision, the solution cut to what was requested, and the intervals of its defects.

    A direction is not exact if errors of the derivatives could hide that it is not.
    """
    give = partial(
        _verdict, problem, accumulated, info=info, random=random, smallest=smallest, halves=halves
    )
    verdict = give(floor)
    exact = 0 if verdict.decision.undecided else verdict.decision.exact
    if floor.errors is None or not bool((floor.errors[:exact] > floor.value).any()):
        return verdict
    return give(replace(floor, value=0.0))


def _verdict(
    problem: Problem,
    accumulated: Accumulated,
    floor: Floor,
    *,
    info: ModelInfo,
    random: RandomControl | None,
    smallest: int | None,
    halves: Halves | None,
) -> Verdict:
    """The verdict for a floor."""
    sums, thresholds, solution = problem.sums, problem.thresholds, accumulated.solution
    shared = {
        "floor": floor.value,
        "control": float("inf") if random is None else random.low,
        "response": _response(sums, solution, info),
    }
    draws = bootstrap(accumulated.blocks, solution, floor=floor.value, seed=accumulated.seed)
    bounds = None if draws is None else draws.bounds(level=thresholds.level)
    if floor.errors is not None:
        bounds = widened(solution.values, bounds, floor.errors)
    complete = evidence(solution.values, bounds, **shared)
    if smallest is not None and accumulated.bottom is not None and sums.parts is not None:
        # The others were needed for the intervals; copies let go of them.
        first = slice(smallest)
        values, directions = (
            part[first].clone() for part in (solution.values, solution.directions)
        )
        solution = replace(solution, values=values, directions=directions)
        bounds = None if bounds is None else bounds[:smallest]
    bottom = accumulated.bottom
    unsolved = 0 if bottom is None else bottom.moving - len(solution.values)
    at_floor = int((solution.values <= min(floor.value, thresholds.threshold)).sum())
    following = float("inf")
    if unsolved and at_floor < len(solution.values):
        following = float(solution.values[-1])
    case = evidence(solution.values, bounds, following=following, **shared)
    facts = _facts(problem, solution, floor, info, unsolved=unsolved, halves=halves)
    warnings = (*_model_warnings(sums, floor.response, info), *info.warnings)
    decision = _decided(solution, case, facts, thresholds, warnings=warnings, errors=floor.errors)
    if bounds is None:
        bounds = torch.full((len(solution.values), 2), torch.nan, dtype=torch.float64)
    verdict = Verdict(
        decision=decision,
        solution=solution,
        bounds=bounds,
        complete=complete,
        draws=draws,
        facts=facts,
        errors=None if floor.errors is None else floor.errors[: len(solution.values)],
    )
    verdict = replace(verdict, decision=verdict.with_intervals(decision))
    return _seen_twice(_stable(_carried(verdict, problem), sums), sums)


def _seen_twice(verdict: Verdict, sums: PassSums) -> Verdict:
    """The verdict without an interval of the count, if only one half of the samples shows what breaks the exact symmetries.

    What a handful of samples violates, other samples may violate in more directions; the bootstrap cannot show that. Where there
    are few samples altogether, a half cannot show everything, and another warning says so.
    """
    decision, saturated = verdict.decision, verdict.facts.saturated
    parts = sums.parts is not None and len(sums.parts.samples) >= FEWEST_BLOCKS
    some = 0 < decision.exact < len(verdict.solution.values)
    few = Diagnosis.FEW_SAMPLES in [one.diagnosis for one in decision.warnings]
    if few or not some or not parts or saturated is None or saturated():
        return verdict
    decision = replace(decision, certainty=None)
    warning = Diagnosis.RARELY_VIOLATED(exact=decision.exact)
    return _warned(replace(verdict, decision=decision, draws=None), warning)


def _carried(verdict: Verdict, problem: Problem) -> Verdict:
    """The verdict without directions above the floor that a handful of samples decide, if these may exceed the threshold."""
    decision, values = verdict.decision, verdict.solution.values
    if decision.undecided or verdict.draws is None:
        return verdict
    threshold = decision.thresholds.threshold
    factor = scale(decision.response, rule(decision.floor, decision.thresholds))
    small = slice(decision.exact, max(decision.nullity, int((values * factor <= threshold).sum())))
    if small.start == small.stop:
        return verdict
    blocks = carrying_blocks(problem, verdict.solution.directions[small])
    few = (blocks < FEW_BLOCKS) & (verdict.complete.high[small] * factor > threshold)
    if not bool(few.any()):
        return verdict
    number = decision.exact + int(few.nonzero()[0, 0])
    warning = Diagnosis.FEW_CARRY(
        directions=small.stop - number,
        carriers=max(1, round(float(blocks[few].min()))),
        blocks=verdict.draws.weights.shape[1],
        high=float(verdict.complete.high[small][few].max()),
    )
    return verdict.fewer(min(number, decision.nullity), warning)


def _decided(
    solution: Defects,
    case: Evidence,
    facts: DataFacts,
    thresholds: Thresholds,
    *,
    warnings: tuple[Remark, ...],
    errors: torch.Tensor | None,
) -> Decision:
    """The decision; undecided if nothing is found, but errors of the derivatives hide whether there is something.

    A direction is hidden if it is not counted although its interval reaches down to what would be a strong symmetry, because
    of these errors.
    """
    decision = decide(solution, case, facts, thresholds, warnings=warnings)
    if errors is None or decision.undecided:
        return decision
    place = slice(decision.nullity, len(solution.values))
    factor = float(scale(case.response, rule(case.floor, thresholds)))
    low, high, values = (factor * part[place] for part in (case.low, case.high, solution.values))
    unsure = (low <= thresholds.strong) & (high > thresholds.strong)
    own = errors[: len(solution.values)][place]
    unsure &= factor * own > BLURRED * values
    hidden = int(unsure.sum())
    if not hidden:
        return decision
    largest = float(own[unsure].max())
    warning = Diagnosis.ERROR_HIDES(directions=hidden, percent=100 * math.sqrt(largest))
    if decision.nullity:
        return replace(decision, warnings=(*decision.warnings, warning))
    unknown = replace(facts, hidden=hidden)
    return decide(solution, case, unknown, thresholds, warnings=(*warnings, warning))


def _stable(verdict: Verdict, sums: PassSums) -> Verdict:
    """The verdict without symmetries above the floor whose span other samples of this kind would turn; a warning if by less."""
    decision = verdict.decision
    found, sure = decision.nullity - decision.exact, decision.certainty
    if found > 0 and sums.parts is not None and verdict.draws is None:
        evidence = sums.parts.evidence
        constraints = len(verdict.solution.values) - decision.nullity + verdict.facts.eliminated
        rows = (evidence.clusters or evidence.effective) * sums.rows.rows / sums.samples
        if rows < ROWS_PER_CONSTRAINT * constraints:
            return verdict.fewer(decision.exact, Diagnosis.NO_EVIDENCE(directions=found))
        return _warned(verdict, Diagnosis.NO_INTERVAL(directions=found))
    if found <= 0 or decision.uncertainty <= UNCERTAIN_ANGLE:
        return verdict
    carriers = sums.samples if sums.diagnostics is None else sums.diagnostics.carriers
    numbers = {
        "directions": found,
        "degrees": math.degrees(min(decision.uncertainty, math.pi / 2)),
        "carriers": max(1, round(carriers)),
        "samples": sums.samples,
    }
    if sure is not None and sure.angle > UNSTABLE_ANGLE:
        return verdict.fewer(decision.exact, Diagnosis.UNSTABLE_SPAN(**numbers))
    return _warned(verdict, Diagnosis.UNCERTAIN_SPAN(**numbers))


def _warned(verdict: Verdict, warning: Remark) -> Verdict:
    """The verdict with one more warning."""
    warnings = (*verdict.decision.warnings, warning)
    return replace(verdict, decision=replace(verdict.decision, warnings=warnings))


def _facts(
    problem: Problem,
    solution: Defects,
    floor: Floor,
    info: ModelInfo,
    *,
    unsolved: int,
    halves: Halves | None,
) -> DataFacts:
    """What is known of the data and the model."""
    sums, diagnostics = problem.sums, problem.sums.diagnostics
    squares = _principal_squares(problem.row_displacement)
    return DataFacts(
        samples=sums.samples,
        distinct=sums.distinct,
        eliminated=0 if problem.elimination is None else problem.elimination.rank,
        unsolved=unsolved,
        feature_sizes=problem.action.feature_sizes(sums.moment),
        along_one_axis=float(squares[-1] / squares.sum()) if len(squares) else 0.0,
        principal_ratio=math.sqrt(float(squares[-1] / squares[0])) if len(squares) else 1.0,
        active=None if diagnostics is None else diagnostics.active,
        saturated=None if unsolved else partial(saturated, problem, solution, floor.value, halves),
        nonlinearity=info.nonlinearity,
        degenerate=solution.sensitivity == 0
        and len(solution.values) > 0
        and not floor.response.reacts,
    )


def _response(sums: PassSums, solution: Defects, info: ModelInfo) -> float:
    """Squared effect of a direction whose defect is 1; 0 if the spread of the output is not known, or only rounding.

    The effect is that of a motion as large as the spread of those numbers of a sample that the output depends on.
    """
    if sums.diagnostics is None or sums.spread is None:
        return 0.0
    variance, average = sums.diagnostics.variance, solution.sensitivity * sums.spread * info.read
    if variance <= (ONE_ORBIT_UNITS * info.unit) ** 2 * max(sums.output_square, average):
        return 0.0
    return average / variance


def _principal_squares(displacement: Displacement) -> torch.Tensor:
    """Squared sizes of the data along its principal axes, ascending; empty unless the action moves vectors as a whole."""
    if displacement.repeat == 1 or displacement.block.shape[0] != displacement.repeat:
        return displacement.block.new_zeros(0)
    squares = torch.linalg.eigvalsh(displacement.block)
    return squares[squares > TRIVIAL_TOLERANCE * squares[-1]]


def _model_warnings(sums: PassSums, response: Response, info: ModelInfo) -> tuple[Remark, ...]:
    """What is wrong with the model."""
    diagnostics, hidden = sums.diagnostics, info.hidden
    ill = diagnostics is not None and diagnostics.kind != "ok"
    concealed: tuple[Remark, ...] = ()
    if hidden is not None and (hidden.found or hidden.nearly):
        concealed = (hidden.remark if hidden.found else hidden.doubt,)
    if response.measured and not response.reacts and not ill:
        only = Diagnosis.ONLY_NOISE if info.finite else Diagnosis.ONLY_ROUNDING
        return (*concealed, only())
    flat = diagnostics is not None and diagnostics.kind == "flat"
    if diagnostics is None or (flat and (response.reacts or info.finite)):
        return concealed
    return (*concealed, *diagnostics.remarks)
