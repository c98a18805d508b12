"""What follows the pass over the data: solve, decide, name, and record how."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch

from liegg._utils.diagnoses import Diagnosis, Remark, as_remark
from liegg._utils.version import __version__
from liegg.actions import Action, Displacement
from liegg.decision.block_statistics import BlockStatistics, block_statistics
from liegg.decision.controls import Controls, RandomControl, random_directions
from liegg.decision.decide import DataFacts, Decision, decide, symmetry_directions, with_certainty
from liegg.decision.intervals import bootstrap, certainty, evidence_notes
from liegg.decision.noise_floor import Response
from liegg.decision.rank import evidence
from liegg.decision.thresholds import Thresholds
from liegg.discovery.problem import Floor, Problem, noise_floor, pose, solve
from liegg.polarization.gram import Gram
from liegg.polarization.rounding_noise import Scatter
from liegg.polarization.rows import Plan
from liegg.polarization.sample_blocks import FEWEST
from liegg.polarization.streaming import PassSums
from liegg.results.account import account_of
from liegg.results.accumulated import Accumulated
from liegg.results.naming import name_symmetries
from liegg.results.symmetries import Symmetries
from liegg.spectrum.defects import Defects, defects
from liegg.spectrum.spectrum import paper_spectrum

STORED_SPECTRUM = 512
"""Candidates up to which the paper's spectrum is solved for and stored with the result."""


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
        nonlinearity: its nonlinearity on the data; None if not known.
        notes: how it was opened, if that was unusual.
    """

    dtype: torch.dtype
    device: str
    model: str
    unit: float
    shape: tuple[int, ...]
    batch_size: int | None = None
    slope: float | None = None
    nonlinearity: float | None = None
    notes: tuple[Remark, ...] = ()


def solve_and_decide(
    sums: PassSums,
    action: Action,
    how: Plan,
    thresholds: Thresholds,
    info: ModelInfo,
    *,
    output_action: Action | None = None,
    smallest: int | None = None,
    measure: Callable[[], Scatter] | None = None,
) -> Symmetries:
    """Everything that follows the pass: solve, decide, name, and record how.

    A pure function of the accumulated sums and, where a grade depends on it, of how the model's rows scatter; it knows neither the
    model nor the data.

    Args:
        sums: what the pass accumulated: the rows of `action.row_action`, after the columns of the output action.
        action: the candidate generators.
        how: how the rows were taken.
        thresholds: what counts as a symmetry.
        info: the model, and how the pass ran.
        output_action: action on the outputs; None for invariance.
        smallest: solve only for this many of the smallest defects; None for all.
        measure: returns how the rows of this model scatter by rounding; see `noise_floor`.
    """
    problem = pose(sums, action, output_action, thresholds)
    solution, bottom = solve(problem, smallest, info.device)
    floor = noise_floor(
        problem,
        solution,
        unit=info.unit,
        slope=info.slope,
        numbers=math.prod(info.shape),
        measure=measure,
    )
    if floor.response.still:
        zeros = torch.zeros_like(solution.values)
        solution = replace(solution, values=zeros, sensitivity=0.0)
        if bottom is not None:
            bottom = replace(bottom, residuals=torch.zeros_like(bottom.residuals))
    blocks = _blocks(problem, solution)
    random = None if sums.parts is None else _random_control(problem, solution, seed=how.seed)
    accumulated = Accumulated(
        rows=problem.rows,
        displacement=problem.displacement,
        solution=solution,
        partner=problem.partner,
        samples=sums.samples,
        blocks=blocks,
        bottom=bottom,
        seed=how.seed,
    )
    decision, accumulated, intervals = _decide(
        problem, accumulated, floor, info, random, smallest=smallest
    )
    return _described(
        problem,
        accumulated,
        decision,
        intervals,
        how,
        info,
        output_action=output_action,
        random=random,
    )


def _decide(
    problem: Problem,
    accumulated: Accumulated,
    floor: Floor,
    info: ModelInfo,
    random: RandomControl | None,
    *,
    smallest: int | None,
) -> tuple[Decision, Accumulated, torch.Tensor]:
    """The decision, the solution cut to what was requested, and the intervals of its defects."""
    sums, thresholds, solution = problem.sums, problem.thresholds, accumulated.solution
    control = float("inf") if random is None else random.low
    draws = bootstrap(accumulated.blocks, solution, floor=floor.value, seed=accumulated.seed)
    bounds = None if draws is None else draws.bounds(level=thresholds.level)
    complete = evidence(solution.values, bounds, floor=floor.value, control=control)
    bottom = accumulated.bottom
    if smallest is not None and bottom is not None and sums.parts is not None:
        # The others were needed for the intervals; copies let go of them.
        first = slice(smallest)
        values, directions = (
            part[first].clone() for part in (solution.values, solution.directions)
        )
        solution = replace(solution, values=values, directions=directions)
        bottom = replace(bottom, requested=smallest, residuals=bottom.residuals[first].clone())
        bounds = None if bounds is None else bounds[:smallest]
    unsolved = 0 if bottom is None else bottom.moving - len(solution.values)
    at_floor = int((solution.values <= min(floor.value, thresholds.threshold)).sum())
    following = float("inf")
    if unsolved and at_floor < len(solution.values):
        following = float(solution.values[-1])
    case = evidence(
        solution.values, bounds, floor=floor.value, control=control, following=following
    )
    facts = DataFacts(
        samples=sums.samples,
        distinct=sums.distinct,
        eliminated=0 if problem.elimination is None else problem.elimination.rank,
        unsolved=unsolved,
        feature_sizes=problem.action.feature_sizes(sums.moment),
        along_one_axis=_along_one_axis(problem.row_displacement),
        nonlinearity=info.nonlinearity,
        degenerate=solution.sensitivity == 0
        and len(solution.values) > 0
        and not floor.response.reacts,
    )
    warnings = _model_warnings(sums, floor.response)
    decision = decide(solution, case, facts, thresholds, warnings=warnings)
    if draws is not None and not decision.undecided:
        sure = certainty(draws, complete, decision.nullity, thresholds)
        decision = with_certainty(decision, sure)
    if bounds is None:
        bounds = torch.full((len(solution.values), 2), torch.nan, dtype=torch.float64)
    return decision, replace(accumulated, solution=solution, bottom=bottom), bounds


def _described(
    problem: Problem,
    accumulated: Accumulated,
    decision: Decision,
    intervals: torch.Tensor,
    how: Plan,
    info: ModelInfo,
    *,
    output_action: Action | None,
    random: RandomControl | None,
) -> Symmetries:
    """The result with its name, words, spectrum and settings."""
    sums, action = problem.sums, problem.action
    coefficients = symmetry_directions(accumulated.solution, decision)
    bottom = accumulated.bottom
    spectrum = None
    if action.size <= STORED_SPECTRUM:
        count = None if bottom is None else bottom.requested
        spectrum = paper_spectrum(accumulated.factor, action.size, sums.samples, smallest=count)
    identification = name_symmetries(
        action,
        coefficients,
        uncertainty=decision.uncertainty,
        is_lower_bound=decision.is_lower_bound,
    )
    return Symmetries(
        model=info.model,
        action=action,
        output_action=output_action,
        samples=sums.samples,
        decision=decision,
        coefficients=coefficients,
        intervals=intervals,
        identification=identification,
        controls=Controls(random),
        verification=None,
        accumulated=accumulated,
        account=account_of(
            action,
            accumulated,
            decision,
            output_action=output_action,
            coefficients=coefficients,
            intervals=intervals,
            spectrum=spectrum,
            identification=identification,
        ),
        settings=_settings(problem, accumulated, how, info),
        notes=tuple(
            map(
                as_remark,
                (
                    *info.notes,
                    *how.notes,
                    *_pass_notes(sums, info.device, moves=accumulated.solution.sensitivity > 0),
                ),
            )
        ),
        _spectrum=spectrum,
    )


def _settings(
    problem: Problem, accumulated: Accumulated, how: Plan, info: ModelInfo
) -> dict[str, Any]:
    """How the analysis ran, as JSON values."""
    sums, bottom = problem.sums, accumulated.bottom
    return {
        "outputs": how.outputs,
        "route": how.route,
        "accumulator": sums.accumulator,
        "seed": how.seed,
        "batch_size": info.batch_size,
        "bottom": None if bottom is None else bottom.requested,
        **asdict(problem.thresholds),
        "noise": sums.noise,
        "unit": info.unit,
        "nonlinearity": info.nonlinearity,
        "blocks": 0 if sums.parts is None else len(sums.parts.samples),
        "controls": "none" if sums.parts is None else "random",
        "dtype": str(info.dtype).removeprefix("torch."),
        "device": info.device,
        "sample": list(info.shape),
        "versions": {"liegg": __version__, "torch": torch.__version__, "numpy": np.__version__},
    }


def _blocks(problem: Problem, solution: Defects) -> BlockStatistics | None:
    """Sums of the blocks of samples, from which intervals are made; None if there are too few, or nothing moves."""
    parts = problem.sums.parts
    if parts is None or len(parts.samples) < FEWEST or solution.sensitivity <= 0:
        return None
    if parts.evidence.clusters:
        return None
    return block_statistics(
        parts,
        problem.action,
        problem.partner,
        problem.row_displacement,
        trivial_tolerance=problem.covered,
    )


def _random_control(problem: Problem, solution: Defects, *, seed: int) -> RandomControl:
    """Random directions; few candidates are compared with all directions of the action that they are taken from."""
    values = solution.values
    restricted = problem.action.row_action is not problem.action
    if restricted and problem.elimination is None and solution.sensitivity > 0:
        sums = problem.sums
        values = defects(
            sums.rows if isinstance(sums.rows, Gram) else sums.rows.r,
            problem.row_displacement,
            sums.samples,
            sensitivity=solution.sensitivity,
            trivial_tolerance=problem.covered,
        ).values
    return random_directions(values, seed=seed)


def _model_warnings(sums: PassSums, response: Response) -> tuple[Remark, ...]:
    """What is wrong with the model."""
    diagnostics = sums.diagnostics
    ill = diagnostics is not None and diagnostics.kind != "ok"
    if response.measured and not response.reacts and not ill:
        return (Diagnosis.ONLY_ROUNDING(),)
    if diagnostics is None or (diagnostics.kind == "flat" and response.reacts):
        return ()
    return diagnostics.remarks


def _along_one_axis(displacement: Displacement) -> float:
    """Share of the data's squared size along one axis, if the action moves vectors as a whole."""
    if displacement.repeat == 1 or displacement.block.shape[0] != displacement.repeat:
        return 0.0
    squares = torch.linalg.eigvalsh(displacement.block)
    return float(squares[-1] / squares.sum()) if float(squares.sum()) > 0 else 0.0


def memory_notes(fits: int, device: str) -> list[Remark]:
    """That batches were halved because they did not fit into memory."""
    return [Diagnosis.HALVED_BATCHES(device=device, samples=fits)] if fits else []


def _pass_notes(sums: PassSums, device: str, *, moves: bool) -> list[Remark]:
    """Batches that had to be halved, and why there are no intervals although they were requested."""
    notes = memory_notes(sums.fits, device)
    if sums.parts is not None and len(sums.parts.samples) < FEWEST:
        notes.append(Diagnosis.FEW_BLOCKS(blocks=len(sums.parts.samples), needed=FEWEST))
    elif sums.parts is not None and moves:
        notes += evidence_notes(sums.parts.evidence, sums.samples)
    return notes
