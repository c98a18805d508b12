"""Whether every single output keeps the symmetries that all of them together have."""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.device import call_within_memory
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.inputs.batches import evenly_spaced
from liegg.polarization.rows import ROW_ELEMENTS, polarize, rows_per_sample
from liegg.polarization.streaming import PassPlan
from liegg.results.symmetries import Symmetries
from liegg.spectrum.defects import squared_motion, whitening

SINGLE_OUTPUT_SAMPLES = 64
"""Samples at which the outputs are looked at one by one."""

BROKEN = 0.3
"""Defect of a single output, relative to its own mean sensitivity, from which on a counted direction is none of its symmetries."""

ALIVE = 1e-6
"""Share of the largest sensitivity of an output below which another one is taken to be rounding."""


def with_single_outputs(sym: Symmetries, steps: PassPlan) -> Symmetries:
    """The result, with a warning if a single output breaks a direction that is counted.

    The defect is relative to all outputs together, so that a large output, or one that is there many times, can hide a small one.
    Exact symmetries are those of every output.

    Args:
        sym: the result.
        steps: how the pass was made.
    """
    counted, outputs = sym.decision.nullity > sym.decision.exact, steps.row_plan.outputs
    number = rows_per_sample(outputs, steps.model)
    if not counted or outputs != "each" or number < 2:
        return sym
    room = ROW_ELEMENTS // (steps.columns * number)
    if room < 2:
        return sym
    x = steps.first[evenly_spaced(steps.first, min(SINGLE_OUTPUT_SAMPLES, room))]
    broken = call_within_memory(lambda some: _broken(sym, steps, some), x)
    if broken is None:
        return sym
    decision = replace(sym.decision, warnings=(*sym.decision.warnings, broken))
    return replace(sym, decision=decision)


def _broken(sym: Symmetries, steps: PassPlan, x: Float[Tensor, "b ..."]) -> Remark | None:
    """The output that breaks a counted direction most; None if none does."""
    rows, _ = polarize(
        steps.model, steps.action, x, steps.row_plan, output_action=steps.output_action
    )
    rows = rows.double().cpu()
    defects = single_defects(sym, rows)
    worst = float(defects.max())
    if worst <= BROKEN:
        return None
    place = int(defects.amax(1).argmax())
    return Diagnosis.OUTPUT_BREAKS(output=place, percent=100 * worst**0.5, outputs=len(defects))


def single_defects(sym: Symmetries, rows: Float[Tensor, "b c p"]) -> Float[Tensor, "c d"]:
    """Defect of every counted direction for every single output, relative to the output's own mean sensitivity.

    Args:
        sym: the result.
        rows: rows of some samples, one for each output, with the columns of the output action first.
    """
    action, h = sym.action, sym.accumulated.solution.directions[: sym.nullity]
    wide = action.row_action
    inputs = h if wide is action else action.whole_coefficients(h)
    columns = torch.cat([sym.accumulated.partners(h), inputs], dim=1)
    changes = (rows @ columns.mT).square().mean(0)
    displacement = sym.accumulated.displacement
    motion = squared_motion(h, displacement)
    own = rows[..., rows.shape[2] - wide.size :]
    if wide is not action:
        own = action.project(own.flatten(0, 1)).unflatten(0, own.shape[:2])
    whiten, _ = whitening(displacement, sym.decision.thresholds.coverage)
    parts = own.unflatten(2, (displacement.repeat, -1)) @ whiten
    average = parts.square().sum((2, 3)).mean(0) / (displacement.repeat * whiten.shape[1])
    alive = average > ALIVE * average.max()
    defects = changes / (average[:, None] * motion)
    return torch.where(alive[:, None], defects, 0.0)
