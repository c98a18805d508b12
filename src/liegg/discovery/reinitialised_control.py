"""The control by re-initialised models: which directions were learned."""

from typing import Any

import torch

from liegg._utils.device import explain_out_of_memory
from liegg._utils.diagnoses import Diagnosis
from liegg.decision.controls import ReinitialisedControl, compare_with_reinitialised
from liegg.discovery.analyse import Request, analyse
from liegg.inputs.reinitialise import calibrate, reinitialise
from liegg.polarization.distributed import PassOptions
from liegg.results.account import NEAREST
from liegg.results.symmetries import Symmetries


def reinitialised_control(
    model: Any, request: Request, sym: Symmetries, options: PassOptions
) -> ReinitialisedControl:
    """Compare the directions found, and the nearest after them, with the same architecture re-initialised.

    Args:
        model: the model that was analysed.
        request: the question.
        sym: its answer.
        options: how the passes are shared and stored.
    """
    count = min(len(sym.defects), sym.nullity + NEAREST)
    directions = sym.accumulated.solution.directions[:count]
    linear = request.thresholds.linear
    along, own, near_linear, notes = [], [], [], ()
    for draw in range(request.run.control_draws):
        other = reinitialise(model, seed=request.seed + 1 + draw)
        with explain_out_of_memory():
            module = calibrate(other.module, request.data, batch_size=request.run.batch_size)
        path = options.path
        if path is not None:
            path = path.with_name(f"{path.name}.control-{draw}")
        found = analyse(
            module, request, options=options._replace(progress=None, path=path), buffers=False
        )
        along.append(found.defect(directions))
        padding = torch.full((count,), torch.nan, dtype=torch.float64)
        own.append(torch.cat([found.defects, padding])[:count])
        near_linear.append((found.settings["nonlinearity"] or 0.0) < linear)
        notes = tuple(note for note in other.notes if note.diagnosis is not Diagnosis.UNCALIBRATED)
    high = sym.intervals[:count, 1]
    return compare_with_reinitialised(
        torch.where(high.isnan(), sym.defects[:count], high),
        along,
        own,
        notes,
        floor=max(sym.decision.floor, request.thresholds.resolution),
        same_direction_only=(sym.settings["nonlinearity"] or 0.0) >= linear and all(near_linear),
    )
