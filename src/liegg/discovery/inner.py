"""`at=`: a question at an inner point of a model becomes a question about the part of it behind that point."""

from dataclasses import dataclass
from typing import Any

from liegg._utils.device import explain_out_of_memory
from liegg._utils.errors import ArgumentError
from liegg._utils.random import seeded
from liegg.actions import Action
from liegg.discovery.structured import Moves
from liegg.inputs.batches import Data
from liegg.inputs.inner.arrive import arrive
from liegg.inputs.inner.rest import ACTIVATION, Rest, run_rest
from liegg.inputs.structure.entry import Custom


@dataclass(frozen=True, eq=False)
class Asked:
    """What a verb is asked about.

    Attributes:
        model: the user's model, or the part of it behind the inner point.
        data: the user's data, or what arrives there with it.
        action: on samples, or on what arrives.
        call: how the model is called; None as its signature suggests.
        held_out: further data of the same form; None for none.
    """

    model: Any
    data: Data
    action: Moves
    call: Custom | None = None
    held_out: Data | None = None


def at_inner_point(asked: Asked, at: str | None, *, seed: int = 0) -> Asked:
    """The question at an inner point; the same question if there is none.

    Args:
        asked: the question about the complete model.
        at: the layer whose output the inner point is; None for the input of the model.
        seed: of whatever a loader draws.

    Raises:
        LieggError: there is no such layer, or nothing arrives there.
    """
    if at is None or isinstance(asked.model, Rest):
        return asked
    action = asked.action
    if not isinstance(action, Action):
        raise ArgumentError(
            f"at={at!r} was given with actions by path. What arrives there is one tensor: pass one action, for example "
            "liegg.Linear(16, copies=None) for vectors of 16 numbers."
        )
    with explain_out_of_memory(), seeded(seed):
        inner = arrive(asked.model, asked.data, at, call=asked.call)
        held_out = None
        if asked.held_out is not None:
            held_out = arrive(asked.model, asked.held_out, at, call=asked.call).data
    moves = action if action.structure is not None else {ACTIVATION: action}
    return Asked(inner.model, inner.data, moves, run_rest, held_out)
