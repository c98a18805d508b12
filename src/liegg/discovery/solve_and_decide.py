"""What follows the pass over the data: solve, judge, and write down how."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, TypeVar, cast

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import FULL_SVD_LIMIT, without_zero_rows
from liegg._utils.version import __version__
from liegg.actions import Action, Displacement
from liegg.decision.controls import random_directions
from liegg.decision.decide import (
    decide,
    found_directions,
    numerical_floor,
    rounding_bound,
    trusted_floor,
)
from liegg.decision.grades import Thresholds
from liegg.decision.intervals import Resampled, resampled
from liegg.decision.noise_floor import Stillness, stillness
from liegg.polarization.gram import Gram
from liegg.polarization.r_factor import RFactor
from liegg.polarization.rounding_noise import Scatter, hides, measured_floor
from liegg.polarization.rows import Plan
from liegg.polarization.sample_blocks import FEWEST
from liegg.polarization.streaming import Streamed
from liegg.results.symmetries import Symmetries
from liegg.spectrum.defects import Defects, defect_of, defects, mean_sensitivity
from liegg.spectrum.equivariance import Elimination, eliminate
from liegg.spectrum.smallest_defects import Bottom, bottom, first_of

Kept = TypeVar("Kept", Defects, Bottom)


@dataclass(frozen=True)
class ModelInfo:
    """How a pass over the data ran: what the verdict has to know of the model and the machine.

    Attributes:
        dtype: precision of the model.
        device: kind of device that it ran on.
        model: its name.
        batch_size: samples to a batch, as asked for.
        unit: rounding unit of its arithmetic.
        slope: its mean squared gradient; None if not known.
        numbers: numbers in a sample, which stand in for the conditioning where the gradient is not known.
        bend: how far it is from linear on the data; None if not known.
        notes: how it was eval_view, where that was out of the ordinary.
        shape: shape of a sample; None if not known.
    """

    dtype: torch.dtype
    device: str
    model: str
    batch_size: int | None = None
    unit: float | None = None
    slope: float | None = None
    numbers: int = 1
    bend: float | None = None
    notes: tuple[str, ...] = ()
    shape: tuple[int, ...] | None = None


def solve_and_decide(
    seen: Streamed,
    action: Action,
    how: Plan,
    thresholds: Thresholds,
    ran: ModelInfo,
    *,
    output_action: Action | None = None,
    smallest: int | None = None,
    measure: Callable[[], Scatter] | None = None,
) -> Symmetries:
    """All that follows the pass over the data: solve, judge, and write down how.

    A pure function of what was streamed and, where a grade hangs on it, of how far the model's rows scatter; it knows neither
    the model nor the data.

    Args:
        seen: what the pass kept: the rows of `row_action(action)`, after the columns of the output action.
        action: the candidate generators.
        how: how the rows were taken.
        thresholds: what counts as a symmetry.
        ran: how the pass ran.
        output_action: action on the outputs; None for invariance.
        smallest: solve for so many of the smallest defects only; None for all. Where blocks are kept, candidates are so few that
            all are solved for all the same, since intervals and random directions need them; what is kept is as many as asked for.
        measure: tells how the rows of this model scatter by rounding; called only where a direction lies between what rounding
            surely does and what it can do at most. None takes all of these for rounding, up to `strong`.

    Returns:
        The symmetries with spectrum, defects, decision and settings.

    Raises:
        ArgumentError: a limit that makes no sense.
    """
    thresholds.check()
    wide = row_action(action)
    thresholds = replace(
        thresholds, trivial_tolerance=max(thresholds.trivial_tolerance, seen.trivial_floor)
    )
    inside = wide is not action
    covered = max(thresholds.trivial_tolerance, thresholds.coverage)
    n_output_generators = 0 if output_action is None else output_action.size
    unit = torch.finfo(ran.dtype).eps if ran.unit is None else ran.unit
    displacement = replace(action.displacement(seen.moment, seen.samples), noise=seen.noise)
    whole = (
        displacement
        if wide is action
        else replace(wide.displacement(seen.moment, seen.samples), noise=seen.noise)
    )
    kappa = None  # that of the problem itself, unless it is only a part of the question
    if output_action is not None or wide is not action:
        kappa = mean_sensitivity(
            seen.rows.r[:, n_output_generators:], whole, seen.samples, trivial_tolerance=covered
        )
    kept = project(seen.rows, action)
    problem = None if output_action is None else eliminate(kept.r, n_output_generators)
    unknown = kept if isinstance(kept, Gram) else (problem or kept).r
    whole_problem, low = _solved(
        unknown, displacement, seen, kappa, thresholds, smallest, ran.device
    )
    if ran.slope is not None:  # which is of a few samples only
        ran = replace(ran, slope=max(ran.slope, whole_problem.sensitivity))
    conditioning = _conditioning(ran, whole_problem.sensitivity)
    floor = numerical_floor(unit, thresholds, conditioning=conditioning)

    def noise() -> tuple[float, bool]:
        found = cast(Callable[[], Scatter], measure)()
        alone = mean_sensitivity(
            found.r[:, n_output_generators:],
            whole,
            max(found.samples, 1),
            trivial_tolerance=covered,
        )
        return alone, found.constant

    typical = max(displacement.typical, torch.finfo(torch.float64).tiny)
    motion = stillness(
        whole_problem.sensitivity,
        ran.slope,
        seen.output_square / typical,
        unit=unit,
        thresholds=thresholds,
        noise=None if measure is None else noise,
    )
    if motion.still:
        whole_problem = replace(
            whole_problem, values=torch.zeros_like(whole_problem.values), sensitivity=0.0
        )
        low = None if low is None else replace(low, residuals=torch.zeros_like(low.residuals))
    elif measure is not None:
        floor = _measured(
            measure,
            floor,
            whole_problem,
            displacement,
            action,
            problem,
            thresholds,
            unit,
            conditioning,
        )
    draws = None
    if seen.parts is not None:
        draws = resampled(
            seen.parts,
            whole_problem,
            action,
            None if problem is None else problem.partner,
            (wide, whole),
            floor=floor,
            trivial_tolerance=covered,
            seed=how.seed,
        )
    bounds = None if draws is None else draws.bounds(level=thresholds.level)
    against = None
    if (
        seen.parts is not None
    ):  # a few candidates are held against all directions of the action they are taken from
        all_of_them = whole_problem.values
        if inside and output_action is None and whole_problem.sensitivity > 0:
            all_of_them = defects(
                seen.rows if isinstance(seen.rows, Gram) else seen.rows.r,
                whole,
                seen.samples,
                sensitivity=whole_problem.sensitivity,
                trivial_tolerance=covered,
            ).values
        against = random_directions(all_of_them, seed=how.seed)
    solved = whole_problem
    if smallest is not None and low is not None and seen.parts is not None:
        solved, low = first_of(whole_problem, low, smallest)
        bounds = None if bounds is None else bounds[:smallest]
    decision = decide(
        solved,
        samples=seen.samples,
        floor=floor,
        thresholds=thresholds,
        bounds=bounds,
        control=float("inf") if against is None else against.low,
        eliminated=0 if problem is None else problem.rank,
        feature_sizes=action.feature_sizes(seen.moment),
        along_one=_along_one(whole),
        bend=ran.bend,
        degenerate=solved.sensitivity == 0 and len(solved.values) > 0 and not motion.reacts,
        distinct=seen.distinct,
        told=_told(seen, motion),
        unsolved=0 if low is None else low.moving - len(solved.values),
    )
    coefficients = found_directions(solved, decision)
    settings = {
        "outputs": how.outputs,
        "route": how.route,
        "accumulator": seen.accumulator,
        "seed": how.seed,
        "batch_size": ran.batch_size,
        "bottom": smallest,
        **asdict(thresholds),
        "noise": seen.noise,
        "unit": unit,
        "bend": ran.bend,
        "blocks": 0 if seen.parts is None else len(seen.parts.samples),
        "controls": seen.parts is not None,
        "dtype": str(ran.dtype).removeprefix("torch."),
        "device": ran.device,
        "sample": None if ran.shape is None else list(ran.shape),
        "versions": {"liegg": __version__, "torch": torch.__version__, "numpy": np.__version__},
    }
    return Symmetries(
        action,
        output_action,
        solved,
        decision,
        coefficients,
        None if problem is None else coefficients @ problem.partner.mT,
        kept,
        displacement,
        seen.samples,
        ran.model,
        settings,
        (*ran.notes, *how.notes, *about_memory(seen.fits, ran.device), *_about_blocks(seen, draws)),
        bounds=bounds,
        resampled=draws,
        control=against,
        bottom=low,
    )


def _solved(
    unknown: Float[Tensor, "m g"] | Gram,
    displacement: Displacement,
    seen: Streamed,
    kappa: float | None,
    thresholds: Thresholds,
    smallest: int | None,
    device: str,
) -> tuple[Defects, Bottom | None]:
    """All defects; or the smallest alone where that is asked for, and nothing else needs the rest. On the CPU in the end."""
    if (
        device == "cuda" and displacement.repeat * displacement.block.shape[0] > FULL_SVD_LIMIT
    ):  # there a GPU is a hundred times faster
        there = (
            Gram(unknown.matrix.cuda(), unknown.rows)
            if isinstance(unknown, Gram)
            else unknown.cuda()
        )
        solved, low = _solved(
            there,
            replace(displacement, block=displacement.block.cuda()),
            seen,
            kappa,
            thresholds,
            smallest,
            "cpu",
        )
        return on_cpu(solved), None if low is None else on_cpu(low)
    options: dict[str, Any] = {
        "sensitivity": kappa,
        "trivial_tolerance": thresholds.trivial_tolerance,
        "coverage": thresholds.coverage,
    }
    if smallest is None:
        return defects(unknown, displacement, seen.samples, **options), None
    every = displacement.repeat * displacement.block.shape[0]
    return bottom(
        unknown, displacement, seen.samples, smallest if seen.parts is None else every, **options
    )


def on_cpu(record: Kept) -> Kept:
    """A record of tensors and of such records, with all of them on the CPU."""
    here = {field.name: getattr(record, field.name) for field in fields(record)}
    moved = {
        name: value.cpu()
        if isinstance(value, Tensor)
        else on_cpu(value)
        if isinstance(value, Defects)
        else value
        for name, value in here.items()
    }
    return replace(record, **moved)


def _conditioning(ran: ModelInfo, sensitivity: float) -> float:
    """Squared gradient over mean sensitivity; as many as a sample has numbers where the gradient is not known."""
    return float(ran.numbers) if ran.slope is None or sensitivity <= 0 else ran.slope / sensitivity


def _measured(
    measure: Callable[[], Scatter],
    floor: float,
    solved: Defects,
    displacement: Displacement,
    action: Action,
    problem: Elimination | None,
    thresholds: Thresholds,
    unit: float,
    conditioning: float,
) -> float:
    """The floor, measured where a direction lies between what rounding surely does and can do, or a gap behind the floor."""
    trusted = trusted_floor(unit, thresholds, conditioning=conditioning)
    most = min(rounding_bound(unit, thresholds, conditioning=conditioning), thresholds.threshold)
    asked = bool(((solved.values > trusted) & (solved.values <= most)).any())
    if not asked and not hides(floor, solved.values, thresholds.minimum_gap):
        return floor
    found = measure()
    rows = project(RFactor(found.r, found.samples), action)
    pairs = (
        solved.directions
        if problem is None
        else torch.cat([solved.directions @ problem.partner.mT, solved.directions], dim=1)
    )
    alone = defect_of(
        solved.directions,
        pairs @ without_zero_rows(rows.r).mT,
        displacement,
        max(found.samples, 1),
        solved.sensitivity,
    )
    own = rounding_bound(0.0, thresholds)
    return measured_floor(
        floor, solved.values, alone, trusted=trusted, most=most, own=own, gap=thresholds.minimum_gap
    )


def _told(seen: Streamed, motion: Stillness) -> tuple[str, ...]:
    """What is wrong with the model."""
    ill = seen.health is not None and seen.health.kind != "ok"
    if motion.measured and not motion.reacts and not ill:
        return (
            "nothing but rounding moves the output: its derivatives come out differently whenever the samples are rounded anew, so "
            "nothing can be said about its symmetries.",
        )
    return (
        ()
        if seen.health is None or (seen.health.kind == "flat" and motion.reacts)
        else seen.health.sentences
    )


def _along_one(displacement: Any) -> float:
    """Share of the data's squared size along one axis, where the action moves vectors as a whole."""
    if displacement.repeat == 1 or displacement.block.shape[0] != displacement.repeat:
        return 0.0
    squares = torch.linalg.eigvalsh(displacement.block)
    return float(squares[-1] / squares.sum()) if float(squares.sum()) > 0 else 0.0


def about_memory(fits: int, device: str) -> tuple[str, ...]:
    """That batches were halved to so many samples, where they did not fit."""
    return (
        (
            f"the batches did not fit into the memory of the {device}: they were halved, down to {fits} samples",
        )
        if fits
        else ()
    )


def _about_blocks(seen: Streamed, draws: Resampled | None) -> tuple[str, ...]:
    """Why there are no intervals, where they were asked for."""
    if seen.parts is None or draws is not None or len(seen.parts.samples) >= FEWEST:
        return ()
    return (
        f"no intervals: {len(seen.parts.samples)} samples or groups are too few to draw from, {FEWEST} are needed",
    )


def row_action(action: Action) -> Action:
    """Action whose rows are taken: restricted candidates are judged against all of their parent's, whose rows are projected."""
    return action.row_action


def project(rows: RFactor | Gram, action: Action) -> RFactor | Gram:
    """Factor of the columns of an action from the rows of its row action."""
    if action.row_action is action:
        return rows
    return RFactor(action.project(rows.r), rows.rows)
