"""Whether every single output keeps the symmetries that all of them together have."""

from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.device import call_within_memory
from liegg._utils.diagnoses import Diagnosis
from liegg.discovery.problem import Problem
from liegg.discovery.verdict import Verdict
from liegg.inputs.batches import evenly_spaced
from liegg.polarization.rows import ROW_ELEMENTS, polarize, rows_per_sample
from liegg.polarization.streaming import PassPlan
from liegg.spectrum.defects import squared_motion, whitening

SINGLE_OUTPUT_SAMPLES = 64
"""Samples at which the outputs are looked at one by one."""

BROKEN = 0.1
"""Defect of a single output, relative to its own mean sensitivity, from which on a counted direction is none of its symmetries.
Single logits of trained classifiers, whose targets have the symmetry, have up to 0.06."""

LIVE_OUTPUT_UNITS, LARGEST_SHARE = 1000.0, 1e-3
"""Rounding units of the largest output (at most this share of it) by which an average direction must change another one; outputs
that change less do not matter."""


def kept_by_every_output(
    verdict: Verdict, problem: Problem, rows: Callable[[], Tensor | None], *, unit: float
) -> Verdict:
    """The verdict without directions that a single output breaks.

    The defect is relative to all outputs together, so that a large output, or one that is there many times, can hide a small one;
    the defect of a single output depends on neither. Exact symmetries are those of every output.

    Args:
        verdict: the verdict.
        problem: the problem.
        rows: returns the rows; called only if a direction above the floor counts. None if there is only one output, or no room.
        unit: rounding unit of the model's arithmetic.
    """
    decision = verdict.decision
    if decision.nullity <= decision.exact or (found := rows()) is None:
        return verdict
    defects = single_defects(verdict, problem, found, unit=unit)[:, decision.exact :]
    broken = (defects.amax(0) > BROKEN).nonzero().flatten()
    if not len(broken):
        return verdict
    place = int(defects.amax(1).argmax())
    number = decision.exact + int(broken[0])
    return verdict.fewer(
        number,
        Diagnosis.OUTPUT_BREAKS(
            directions=decision.nullity - number,
            output=place,
            percent=100 * float(defects.max()) ** 0.5,
            outputs=len(defects),
        ),
    )


def rows_of_outputs(steps: PassPlan) -> Float[Tensor, "b c p"] | None:
    """Rows of a few samples of the first batch for each output; None if there is only one, or no room.

    Args:
        steps: how the pass was made.
    """
    outputs, number = steps.row_plan.outputs, rows_per_sample(steps.row_plan.outputs, steps.model)
    room = ROW_ELEMENTS // (steps.columns * number)
    if outputs != "each" or number < 2 or room < 2:
        return None
    x = steps.first[evenly_spaced(steps.first, min(SINGLE_OUTPUT_SAMPLES, room))]
    take = partial(polarize, steps.model, steps.action, output_action=steps.output_action)
    return call_within_memory(lambda some: take(some, steps.row_plan)[0], x).double().cpu()


def single_defects(
    verdict: Verdict, problem: Problem, rows: Float[Tensor, "b c p"], *, unit: float
) -> Float[Tensor, "c d"]:
    """Defect of every counted direction for every single output, relative to the output's own mean sensitivity.

    Args:
        verdict: the verdict.
        problem: the problem.
        rows: rows of some samples, one for each output, with the columns of the output action first.
        unit: rounding unit of the model's arithmetic.
    """
    action, wide = problem.action, problem.row_displacement
    # The average is over all directions of the action that the candidates were restricted from, as for κ.
    whiten, _ = whitening(wide, problem.covered)
    parts = rows[..., problem.n_output_generators :].unflatten(2, (wide.repeat, -1)) @ whiten
    average = parts.square().sum((2, 3)).mean(0) / (wide.repeat * whiten.shape[1])
    h = verdict.solution.directions[: verdict.decision.nullity]
    if action.row_action is not action:
        rows = action.project(rows.flatten(0, 1)).unflatten(0, rows.shape[:2])
    columns = h if problem.partner is None else torch.cat([h @ problem.partner.mT, h], dim=1)
    changes = (rows @ columns.mT).square().mean(0)
    alive = average > min(LIVE_OUTPUT_UNITS * unit, LARGEST_SHARE) ** 2 * average.max()
    defects = changes / (average[:, None] * squared_motion(h, problem.displacement))
    return torch.where(alive[:, None], defects, 0.0)
