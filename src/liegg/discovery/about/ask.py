"""Questions about named motions, asked of a result."""

from dataclasses import replace
from typing import Any

import torch

from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg._utils.one_at_a_time import one_at_a_time
from liegg.actions import Motion
from liegg.discovery.about.answer import Asked, answer_all, first_order_answers
from liegg.discovery.about.effort import plan_moves
from liegg.discovery.about.questions import About, motions_asked, spread_of_values
from liegg.discovery.inner import Asked as AskedAt
from liegg.discovery.verification.evaluating import evaluating
from liegg.inputs.batches import Batches, as_batches
from liegg.inputs.part import Part, part_of
from liegg.inputs.probed import in_dtype_of, probed
from liegg.inputs.spot_check import check_samples
from liegg.results.answers import Answers
from liegg.results.symmetries import Symmetries


def ask(
    sym: Symmetries,
    about: About,
    *,
    model: Any = None,
    data: Any = None,
    output: Any = None,
    call: Any = None,
) -> Answers:
    """Answer for named motions from a result; see `Symmetries.about`."""
    if (model is None) != (data is None):
        missing = "data" if data is None else "model"
        raise ArgumentError(
            f"about() moves samples with a model: {missing}= is missing. Pass both, or neither to "
            "ask about derivatives alone."
        )
    if model is not None:
        return _with_model(sym, about, model=model, data=data, output=output, call=call)
    shape = tuple(sym.settings.get("sample") or ())
    motions = _asked(sym, about, shape)
    derived = first_order_answers(sym, motions)
    held = {one.name: one for one in sym.answers}
    return Answers(
        held[name]
        if name in held and torch.equal(held[name].coefficients, one.coefficients)
        else one
        for name, one in derived.items()
    )


def _asked(
    sym: Symmetries, about: About, shape: tuple[int, ...], spread: float = 1.0
) -> dict[str, Motion]:
    """The motions in question; by default all that the action knows."""
    if about is None:
        about = tuple(sym.action.motions(shape, spread=spread))
        if not about:
            raise ArgumentError(
                f"{sym.action!r} has no motions with names. Give generators, for example "
                "about={'rotation': generators}."
            )
    return motions_asked(about, sym.action, shape, spread=spread)


@one_at_a_time
def _with_model(
    sym: Symmetries, about: About, *, model: Any, data: Any, output: Any, call: Any
) -> Answers:
    """Move samples, and see what the model does."""
    seed = sym.settings["seed"]
    given = AskedAt(model, data, sym.action, call)
    with evaluating(given, sym.settings.get("at"), seed=seed) as (function, inputs):
        sym, data = replace(sym, action=inputs.action), inputs.data
        batches = Batches(as_batches(data).source).prepared(function.dtype, function.device)
        first = next(iter(batches))
        sym.action.check(tuple(first.shape[1:]))
        spread = spread_of_values(sym.action, first)
        motions = _asked(sym, about, tuple(first.shape[1:]), spread)
        moves = plan_moves(sym, motions, standard=False)
        x = batches.some(moves.samples, first)
        part = part_of(sym.settings, Part(output))
        dtype = function.dtype
        function = probed(function, first, part, finite=sym.settings["route"] == "finite")
        x, first = (in_dtype_of(one, function, dtype) for one in (x, first))
        check_samples(function, first)
        task = sym.settings.get("task", "auto")
        asked = Asked(motions, moves, task, data)
        found = answer_all(function, x, first, sym, asked=asked)
    if len(found.answers) < len(motions) or any(
        note.diagnosis is Diagnosis.MOTIONS_NOT_TRIED for note in found.notes
    ):
        raise ArgumentError(f"{found.notes[0]}.")
    return found.answers
