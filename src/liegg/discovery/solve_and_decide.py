"""What follows the pass over the data: solve, decide, name, and record how."""

import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import torch

from liegg._utils.diagnoses import Diagnosis, Kind, Remark, as_remark
from liegg._utils.version import __version__
from liegg.actions import Action
from liegg.decision.block_statistics import BlockStatistics, block_statistics
from liegg.decision.controls import RandomControl, random_directions
from liegg.decision.intervals import evidence_notes, residual_freedom
from liegg.decision.thresholds import Thresholds
from liegg.discovery.closed_levels import named
from liegg.discovery.described import described
from liegg.discovery.each_output import kept_by_every_output
from liegg.discovery.measurements import Measurements
from liegg.discovery.problem import Floor, Problem, difference_floor, noise_floor, pose, solve
from liegg.discovery.verdict import ModelInfo, Verdict, give_verdict
from liegg.polarization.gram import Gram
from liegg.polarization.plan import Plan
from liegg.polarization.sample_blocks import FEWEST_BLOCKS
from liegg.polarization.streaming import PassSums
from liegg.results.accumulated import Accumulated
from liegg.results.standard_families import standard_families
from liegg.results.symmetries import Symmetries
from liegg.spectrum.defects import Bottom, Defects, defects


def solve_and_decide(
    sums: PassSums,
    action: Action,
    how: Plan,
    thresholds: Thresholds,
    *,
    info: ModelInfo,
    output_action: Action | None = None,
    smallest: int | None = None,
    measurements: Measurements | None = None,
) -> Symmetries:
    """Everything that follows the pass: solve, decide, name, and record how.

    A pure function of the accumulated sums and, where a grade depends on them, of further measurements on the model.

    Args:
        sums: what the pass accumulated: the rows of `action.row_action`, after the columns of the output action.
        action: the candidate generators.
        how: how the rows were taken.
        thresholds: what counts as a symmetry.
        info: the model, and how the pass ran.
        output_action: action on the outputs; None for invariance.
        smallest: solve only for this many of the smallest defects; None for all.
        measurements: what can be measured on the model again; None if the sums are all that there is.
    """
    problem = pose(sums, action, output_action, thresholds)
    solution, bottom = solve(problem, smallest, info.device)
    floor = _floor(problem, solution, how, info, measurements=measurements)
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
        error=0.0 if floor.errors is None else float(floor.errors.max()),
    )
    verdict = give_verdict(
        problem,
        accumulated,
        floor,
        info,
        random=random,
        smallest=smallest,
        halves=None if measurements is None else lambda: measurements.halves,
    )
    if measurements is not None:
        verdict = kept_by_every_output(
            verdict, problem, lambda: measurements.single_outputs, unit=info.unit
        )
    accumulated = replace(
        accumulated, solution=verdict.solution, bottom=_cut(bottom, smallest, problem)
    )
    return _described(
        problem, accumulated, verdict, how, info=info, output_action=output_action, random=random
    )


def _floor(
    problem: Problem,
    solution: Defects,
    how: Plan,
    info: ModelInfo,
    *,
    measurements: Measurements | None,
) -> Floor:
    """The noise floor: of finite differences always measured, of derivatives where a grade depends on it."""
    steps = how.steps
    if measurements is not None and measurements.steps.model.piecewise:
        measurements = None
    if steps is not None and measurements is not None:
        noise = {"slope": info.slope, "slope_noise": steps.slope_noise}
        return difference_floor(problem, solution, measurements.scatter, **noise)
    return noise_floor(
        problem,
        solution,
        unit=info.unit,
        slope=info.slope,
        numbers=math.prod(info.shape),
        measure=None if measurements is None else lambda: measurements.scatter,
    )


def with_blocks(sym: Symmetries, sums: PassSums) -> Symmetries:
    """A result that was decided without intervals, with the sums of the blocks: given directions then have intervals.

    Args:
        sym: the result.
        sums: what the pass accumulated, with its blocks.
    """
    problem = pose(sums, sym.action, sym.output_action, sym.decision.thresholds)
    blocks = _blocks(problem, sym.accumulated.solution)
    return replace(sym, accumulated=replace(sym.accumulated, blocks=blocks))


def _cut(bottom: Bottom | None, smallest: int | None, problem: Problem) -> Bottom | None:
    """How the smallest defects were solved for, without the others that only intervals needed."""
    if bottom is None or smallest is None or problem.sums.parts is None:
        return bottom
    return replace(bottom, requested=smallest, residuals=bottom.residuals[:smallest].clone())


def _described(
    problem: Problem,
    accumulated: Accumulated,
    verdict: Verdict,
    how: Plan,
    *,
    info: ModelInfo,
    output_action: Action | None,
    random: RandomControl | None,
) -> Symmetries:
    """The result with its name, words, spectrum and settings."""
    sums, action = problem.sums, problem.action
    found = named(action, output_action, accumulated, verdict)
    verdict, accumulated = found.verdict, found.accumulated
    decision, intervals = verdict.decision, verdict.bounds
    more = standard_families(action, accumulated, decision)
    decision = replace(decision, reasons=(*decision.reasons, *more))
    remarks = [*info.notes, *how.notes, *_pass_notes(sums, info.device, accumulated)]
    remarks = list(map(as_remark, remarks))
    doubts = [remark for remark in remarks if remark.diagnosis.kind is Kind.WARNING]
    decision = replace(decision, warnings=(*decision.warnings, *doubts))
    return described(
        action,
        accumulated,
        decision,
        model=info.model,
        coefficients=found.coefficients,
        intervals=intervals,
        identification=found.identification,
        settings=_settings(problem, accumulated, how, info) | verdict.settings,
        output_action=output_action,
        random=random,
        notes=tuple(remark for remark in remarks if remark.diagnosis.kind is not Kind.WARNING),
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
        "hidden": None if info.hidden is None else info.hidden.share,
        "blocks": 0 if sums.parts is None else len(sums.parts.samples),
        "controls": "none" if sums.parts is None else "random",
        "dtype": str(info.dtype).removeprefix("torch."),
        "device": info.device,
        "sample": list(info.shape),
        "versions": {"liegg": __version__, "torch": torch.__version__, "numpy": np.__version__},
    }


def _blocks(problem: Problem, solution: Defects) -> BlockStatistics | None:
    """Sums of the blocks of samples, from which intervals are made; None if there are too few, or nothing moves."""
    sums = problem.sums
    parts = sums.parts
    if parts is None or len(parts.samples) < FEWEST_BLOCKS or solution.sensitivity <= 0:
        return None
    if parts.evidence.clusters:
        return None
    eliminated = 0 if problem.elimination is None else problem.elimination.rank
    return block_statistics(
        parts,
        problem.action,
        problem.partner,
        problem.row_displacement,
        trivial_tolerance=problem.covered,
        limit=residual_freedom(
            parts.evidence,
            rows_per_sample=sums.rows.rows / sums.samples,
            fitted=len(solution.values) + eliminated,
        ),
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


def memory_notes(fits: int, device: str) -> list[Remark]:
    """Say that batches were halved because they did not fit into memory."""
    return [Diagnosis.HALVED_BATCHES(device=device, samples=fits)] if fits else []


def _pass_notes(sums: PassSums, device: str, accumulated: Accumulated) -> list[Remark]:
    """Batches that had to be halved, and why there are no intervals although they were requested."""
    notes = memory_notes(sums.fits, device)
    if sums.parts is not None and len(sums.parts.samples) < FEWEST_BLOCKS:
        notes.append(Diagnosis.FEW_BLOCKS(blocks=len(sums.parts.samples), needed=FEWEST_BLOCKS))
    elif sums.parts is not None and accumulated.solution.sensitivity > 0:
        blocks = accumulated.blocks
        limit = math.inf if blocks is None else blocks.limit
        notes += evidence_notes(sums.parts.evidence, sums.samples, limit=limit)
    return notes
