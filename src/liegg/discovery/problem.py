"""The problem that a pass over the data poses, its solution, and the noise floor of that solution."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import FULL_SVD_LIMIT, without_zero_rows
from liegg.actions import Action, Displacement
from liegg.decision.noise_floor import (
    INCONCLUSIVE_UNIT,
    Response,
    numerical_floor,
    response,
    rounding_bound,
    trusted_floor,
)
from liegg.decision.thresholds import Thresholds
from liegg.polarization.gram import Gram
from liegg.polarization.r_factor import RFactor
from liegg.polarization.rounding_noise import EXCUSED, Scatter, hides, measured_floor
from liegg.polarization.streaming import PassSums
from liegg.spectrum.defects import (
    Bottom,
    Defects,
    defect_of,
    defects,
    mean_sensitivity,
    smallest_defects,
    squared_motion,
)
from liegg.spectrum.equivariance import Elimination, eliminate

FINER_UNIT = torch.finfo(torch.float32).eps
"""Rounding unit within which a defect is rounding without measurement even if parts of the model are coarser."""

ROW_SUM_UNITS = 8.0
"""Rounding units of float64 by which sums of rows may be off, chosen on the large offsets of series 4 of the traps."""

Record = TypeVar("Record", Defects, Bottom)


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    r"""The pair $(A, M)$ of an analysis.

    Attributes:
        sums: what the pass accumulated: the rows of `action.row_action`, after the columns of the output action.
        action: the candidate generators.
        rows: R factor or Gram matrix of the action's own columns, after those of the output action.
        elimination: the problem without the output generators; None for invariance.
        displacement: how far the candidates move the data.
        row_displacement: the same for the action whose rows were taken.
        sensitivity: mean sensitivity κ, if the problem is part of a larger question; None for its own.
        thresholds: what counts as a symmetry; the trivial tolerance covers the rounding of the sums.
    """

    sums: PassSums
    action: Action
    rows: RFactor | Gram
    elimination: Elimination | None
    displacement: Displacement
    row_displacement: Displacement
    sensitivity: float | None
    thresholds: Thresholds

    @property
    def partner(self) -> Float[Tensor, "m g"] | None:
        """Output coefficients that suit each input coefficient best; None for invariance."""
        return None if self.elimination is None else self.elimination.partner

    @property
    def n_output_generators(self) -> int:
        """Number of output generators."""
        return 0 if self.partner is None else len(self.partner)

    @property
    def covered(self) -> float:
        """Share of the displacement below which nothing is decided."""
        return max(self.thresholds.trivial_tolerance, self.thresholds.coverage)


def pose(
    sums: PassSums, action: Action, output_action: Action | None, thresholds: Thresholds
) -> Problem:
    """State the problem.

    A restricted action has the mean sensitivity of all candidates of its row action, equivariance that of the input alone.
    """
    tolerance = max(thresholds.trivial_tolerance, sums.trivial_floor)
    wide, outputs = action.row_action, 0 if output_action is None else output_action.size
    row_displacement = replace(wide.displacement(sums.moment, sums.samples), noise=sums.noise)
    displacement, rows = row_displacement, sums.rows
    if wide is not action:
        displacement = replace(action.displacement(sums.moment, sums.samples), noise=sums.noise)
        rows = RFactor(action.project(sums.rows.r), sums.rows.rows)
    sensitivity = None
    if outputs or wide is not action:
        sensitivity = mean_sensitivity(
            sums.rows.r[:, outputs:],
            row_displacement,
            sums.samples,
            trivial_tolerance=max(tolerance, thresholds.coverage),
        )
    return Problem(
        sums=sums,
        action=action,
        rows=rows,
        elimination=None if output_action is None else eliminate(rows.r, outputs),
        displacement=displacement,
        row_displacement=row_displacement,
        sensitivity=sensitivity,
        thresholds=replace(thresholds, trivial_tolerance=tolerance),
    )


def solve(problem: Problem, smallest: int | None, device: str) -> tuple[Defects, Bottom | None]:
    """All defects, or the smallest alone if these are requested and nothing else needs the rest.

    Args:
        problem: the problem.
        smallest: number of smallest defects; None for all.
        device: where the model ran; large problems are solved there, since a GPU is a hundred times faster.
    """
    matrix, displacement = problem.rows, problem.displacement
    if not isinstance(matrix, Gram):
        matrix = matrix.r if problem.elimination is None else problem.elimination.r
    candidates = displacement.repeat * displacement.block.shape[0]
    if device == "cuda" and candidates > FULL_SVD_LIMIT:
        displacement = replace(displacement, block=displacement.block.cuda())
        cuda = isinstance(matrix, Gram)
        matrix = Gram(matrix.matrix.cuda(), matrix.rows) if cuda else matrix.cuda()
    options: dict[str, Any] = {
        "sensitivity": problem.sensitivity,
        "trivial_tolerance": problem.thresholds.trivial_tolerance,
        "coverage": problem.thresholds.coverage,
    }
    samples = problem.sums.samples
    if smallest is None:
        return on_cpu(defects(matrix, displacement, samples, **options)), None
    # Intervals and random directions need all defects; blocks are kept for few candidates only.
    count = smallest if problem.sums.parts is None else candidates
    solution, low = smallest_defects(matrix, displacement, samples, count, **options)
    return on_cpu(solution), on_cpu(low)


def on_cpu(record: Record) -> Record:
    """A record of tensors with all of them on the CPU."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return replace(
        record, **{name: v.cpu() if isinstance(v, Tensor) else v for name, v in values.items()}
    )


@dataclass(frozen=True)
class Floor:
    """What rounding does to a solution.

    Attributes:
        value: defect below which a direction is exact.
        response: whether anything but rounding moves the output.
        errors: defect that errors of the derivatives alone can give each direction; None if there is only rounding.
    """

    value: float
    response: Response
    errors: Float[Tensor, " r"] | None = None


def noise_floor(
    problem: Problem,
    solution: Defects,
    *,
    unit: float,
    slope: float | None,
    numbers: int,
    measure: Callable[[], Scatter] | None,
) -> Floor:
    """Find the floor; measure rounding where a grade depends on it.

    Args:
        problem: the problem.
        solution: its solution.
        unit: rounding unit of the model's arithmetic.
        slope: mean squared gradient of the model on a few samples; None if not known.
        numbers: numbers in a sample, which replace the conditioning if the gradient is not known.
        measure: returns how the rows of this model scatter by rounding; called only if a direction lies between what rounding
            surely does and what it can do at most. None takes all of these for rounding, up to `strong`.
    """
    thresholds, sums = problem.thresholds, problem.sums
    sensitivity = solution.sensitivity
    slope = None if slope is None else max(slope, sensitivity)
    conditioning = float(numbers) if slope is None or sensitivity <= 0 else slope / sensitivity
    floor = numerical_floor(unit, thresholds, conditioning=conditioning)

    def rounding() -> tuple[float, bool]:
        scatter = measure()  # pyright: ignore[reportOptionalCall]
        noise = mean_sensitivity(
            scatter.r[:, problem.n_output_generators :],
            problem.row_displacement,
            max(scatter.samples, 1),
            trivial_tolerance=problem.covered,
        )
        return noise, scatter.constant

    typical = max(problem.displacement.typical, torch.finfo(torch.float64).tiny)
    responds = response(
        sensitivity,
        slope,
        sums.output_square / typical,
        unit=unit,
        thresholds=thresholds,
        rounding=None if measure is None else rounding,
    )
    if responds.still or measure is None:
        return Floor(floor, responds)
    trusted = trusted_floor(unit, thresholds, conditioning=conditioning)
    if unit >= INCONCLUSIVE_UNIT:  # a break that matters can be smaller than what may be rounding
        finer = trusted_floor(FINER_UNIT, thresholds, conditioning=conditioning)
        floor = trusted = min(finer, trusted)
    terms = conditioning * _cancellation(problem, solution)
    small = solution.values <= thresholds.threshold
    largest = float(terms[small].max()) if bool(small.any()) else conditioning
    most = min(rounding_bound(unit, thresholds, conditioning=largest), thresholds.threshold)
    in_doubt = bool(((solution.values > trusted) & (solution.values <= most)).any())
    if in_doubt or hides(floor, solution.values, thresholds.minimum_gap):
        floor = measured_floor(
            floor,
            solution.values,
            _rounding_defects(problem, solution, measure()),
            trusted=trusted,
            most=most,
            own=(_sum_error(problem) * terms).clamp(rounding_bound(0.0, thresholds), most),
            gap=thresholds.minimum_gap,
        )
    return Floor(floor, responds)


def _cancellation(problem: Problem, solution: Defects) -> Float[Tensor, " r"]:
    """How much larger the squared motions are that cancel in each direction than their sum; at least 1.

    Data far from the origin moves far under rotations about it, and a translation undoes most of that.
    """
    h = solution.directions
    diagonal = problem.displacement.block.diagonal()
    terms = h.square() @ diagonal.repeat(problem.displacement.repeat)
    moved = squared_motion(h, problem.displacement).clamp_min(torch.finfo(torch.float64).tiny)
    return (terms / moved).clamp_min(1.0)


def _sum_error(problem: Problem) -> float:
    """Relative error of the sum of squares over the rows, where all of it cancels: a factor is accurate where a square is not."""
    error = ROW_SUM_UNITS * torch.finfo(torch.float64).eps
    return error if isinstance(problem.sums.rows, Gram) else error**2


def difference_floor(
    problem: Problem,
    solution: Defects,
    scatter: Scatter,
    *,
    slope: float | None,
    slope_noise: float,
) -> Floor:
    """The floor of derivatives with an error of their own, such as finite differences.

    No direction is exact because its defect is within this error: only the error of the solution is rounding.

    Args:
        problem: the problem.
        solution: its solution.
        scatter: the error of the rows.
        slope: mean squared gradient of the model.
        slope_noise: what noise alone adds to it.
    """
    noise = EXCUSED * mean_sensitivity(
        scatter.r[:, problem.n_output_generators :],
        problem.row_displacement,
        max(scatter.samples, 1),
        trivial_tolerance=problem.covered,
    )
    floor = rounding_bound(0.0, problem.thresholds)
    if solution.sensitivity <= noise:
        spread = problem.sums.spread or 0.0
        small = noise * spread <= problem.thresholds.strong * scatter.spread
        reacts = small and slope is not None and slope > EXCUSED * slope_noise
        return Floor(floor, Response(True, reacts, measured=True))
    errors = EXCUSED * _rounding_defects(problem, solution, scatter)
    return Floor(floor, Response(False, True), errors)


def _rounding_defects(problem: Problem, solution: Defects, scatter: Scatter) -> Float[Tensor, " r"]:
    """Defects that rounding alone gives the directions of a solution."""
    r = (
        scatter.r
        if problem.action.row_action is problem.action
        else problem.action.project(scatter.r)
    )
    columns = solution.directions
    if problem.partner is not None:
        columns = torch.cat([columns @ problem.partner.mT, columns], dim=1)
    changes = columns @ without_zero_rows(r).mT
    return defect_of(
        solution.directions,
        changes,
        problem.displacement,
        max(scatter.samples, 1),
        sensitivity=solution.sensitivity,
    )
