"""The control of re-initialised models: was a symmetry learned, or does the architecture have it?"""

import time
from dataclasses import replace
from typing import Any

from liegg._utils.device import explain_out_of_memory
from liegg._utils.diagnoses import Diagnosis
from liegg.actions import Motion
from liegg.decision.controls import (
    CONTROL_DRAWS,
    FEW_DRAWS,
    OWN_DEFECTS,
    ReinitialisedControl,
    compare_with_reinitialised,
)
from liegg.discovery.about.answer import first_order_answers, with_untrained
from liegg.discovery.analyse import analyse
from liegg.discovery.request import Request
from liegg.inputs.reinitialise import calibrate, draw_seed, reinitialise
from liegg.polarization.distributed import PassOptions
from liegg.results.account import LISTED_CANDIDATES
from liegg.results.answer import Answer
from liegg.results.control_models import first_defects, is_nearly_linear
from liegg.results.symmetries import Symmetries

CONTROL_SECONDS, CONTROL_SHARE = 30.0, 5.0
"""Seconds, or multiples of the discovery's time, that all re-initialised models may take; if 19 take longer, there are 5."""

FINITE_DRAWS = 3
"""Re-initialised models on which named motions are tried at finite size."""


def with_reinitialised(
    model: Any, request: Request, sym: Symmetries, options: PassOptions, *, seconds: float
) -> Symmetries:
    """The result compared with the same architecture re-initialised: its directions, and its answers about named motions.

    Args:
        model: the model that was analysed.
        request: the question.
        sym: its answer.
        options: how the passes are shared and stored.
        seconds: what the analysis took.
    """
    request = replace(request, task=sym.settings["task"])
    control, untrained = _compared(model, request, sym, options, seconds=seconds)
    return replace(
        sym,
        answers=with_untrained(sym.answers, untrained),
        controls=replace(sym.controls, reinitialised=control),
        settings=sym.settings | {"controls": "reinitialised"},
    )


def _compared(
    model: Any, request: Request, sym: Symmetries, options: PassOptions, *, seconds: float
) -> tuple[ReinitialisedControl, list[dict[str, Answer]]]:
    """Compare the directions found, and the nearest after them, with the same architecture re-initialised.

    If no symmetry was found, the nearest direction is tested. The answers of the re-initialised models about named motions come with it.
    """
    count = min(len(sym.defects), sym.nullity + LISTED_CANDIDATES)
    directions = sym.accumulated.solution.directions[:count]
    linear = request.thresholds.linear
    trusted = replace(request, run=replace(request.run, hidden="ignore"))  # it was looked at
    compared = max(count, min(len(sym.defects), OWN_DEFECTS))
    along, own, counts, near_linear, notes = [], [], [sym.nullity], [], ()
    answers: list[dict[str, Answer]] = []
    draw, draws = 0, request.run.control_draws
    while draws is None or draw < draws:
        start = time.perf_counter()
        other = reinitialise(model, seed=draw_seed(request.run.seed, draw))
        asked_here = request.about if draw < FINITE_DRAWS else ()
        found = _analysed_draw(other.module, replace(trusted, about=asked_here), options, draw)
        answers.append(_answers_of_draw(found, sym))
        along.append(found.defect(directions))
        own.append(first_defects(found, compared))
        counts.append(found.nullity)
        near_linear.append(is_nearly_linear(found, linear))
        notes = tuple(note for note in other.notes if note.diagnosis is not Diagnosis.UNCALIBRATED)
        draw += 1
        if draws is None:
            each = time.perf_counter() - start
            draws = _number_of_draws(seconds, each, fixed=not options.plain)
    control = compare_with_reinitialised(
        sym.defects[:compared],
        along,
        own,
        counts,
        notes=notes,
        floor=max(sym.decision.floor, request.thresholds.resolution),
        same_span_only=all(near_linear) and not is_nearly_linear(sym, linear),
    )
    return control, answers


def _answers_of_draw(found: Symmetries, sym: Symmetries) -> dict[str, Answer]:
    """What a re-initialised model says of the motions among the candidates; others only where it was asked."""
    motions = {one.name: Motion(one.coefficients) for one in sym.answers if one.inside}
    derived = first_order_answers(found, motions)
    return derived | {answer.name: answer for answer in found.answers}


def _analysed_draw(module: Any, request: Request, options: PassOptions, draw: int) -> Symmetries:
    """Analyse a re-initialised model, without intervals."""
    with explain_out_of_memory():
        module = calibrate(module, request.data, batch_size=request.run.batch_size)
    path = options.path
    if path is not None:
        path = path.with_name(f"{path.name}.control-{draw}")
    return analyse(
        module, request, options=options._replace(progress=None, path=path), buffers=False
    )


def _number_of_draws(discovery: float, each: float, *, fixed: bool) -> int:
    """Re-initialised models to analyse: enough for a verdict where they are cheap.

    Args:
        discovery: seconds that the analysis took.
        each: seconds that the first re-initialised model took.
        fixed: whether the number must not depend on time, since processes or a resumed run have to agree.
    """
    affordable = max(CONTROL_SECONDS, CONTROL_SHARE * discovery)
    return FEW_DRAWS if fixed or CONTROL_DRAWS * each > affordable else CONTROL_DRAWS
