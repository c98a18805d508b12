"""Samples to search on and to judge on, and what may be asked about them."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError, DataError, ShapeError
from liegg.actions import Action
from liegg.actions.finite.vectors import VectorSpace
from liegg.actions.placed import places_of
from liegg.discovery.group.setting import LARGE_MOVED_SAMPLE, Setting
from liegg.discovery.structured import Inputs, Moves, pack_samples
from liegg.discovery.verification.measure import Question
from liegg.inputs.batches import Batches, Data, as_batches
from liegg.inputs.model import Model
from liegg.inputs.part import Part
from liegg.inputs.probed import in_dtype_of, probed
from liegg.inputs.spot_check import check_samples
from liegg.inputs.structure.packed import Packed
from liegg.inputs.structure.tree import as_path
from liegg.polarization.output_fit import fitted_output_action

SEARCHED, JUDGED, JUDGED_LARGE = 384, 384, 160
"""Most samples that are searched on and judged on; fewer large samples are judged on."""

FEWEST_GROUP_SAMPLES = 8
"""Samples below which nothing is decided."""


def has_generators(action: Moves) -> bool:
    """Whether anything moves continuously."""
    moves = action.values() if isinstance(action, Mapping) else [action]
    return any(one.size for one in moves)


def is_question(known: Action, action: Moves) -> bool:
    """Whether a result for the first action is one for the second, which may not have been placed at leaves yet."""
    places = places_of(known)
    if not places or (isinstance(action, Action) and action.structure is not None):
        return isinstance(action, Action) and known.same_motions(action)
    moves = action if isinstance(action, Mapping) else dict.fromkeys(places, action)
    given = {as_path(path): one for path, one in moves.items()}
    shapes = known.structure.by_path if known.structure is not None else {}
    return given.keys() == places.keys() and all(
        one.same_motions(given[path].fitted(shapes[path].shape)) for path, one in places.items()
    )


def check_spaces(setting: Setting) -> None:
    """Raise `ArgumentError` where there is nothing to search."""
    action, output_action = setting.action, setting.search.output_action
    if not setting.spaces:
        what = "vectors" if action.structure is not None else "vectors, a grid, channels or slots"
        raise ArgumentError(
            f"{action!r} has no finite elements; expected {what}, for example liegg.Linear(3) or liegg.actions.Slots()."
        )
    kinds = [space.kind for space in setting.spaces if isinstance(space, VectorSpace)]
    if len(set(kinds)) < len(kinds):
        raise ArgumentError(
            f"{action!r} moves several kinds of vectors independently, but finite elements are searched for on one kind. Pass one "
            "action object for all leaves, so that they move together, or move one leaf and leave the others as they are."
        )
    if output_action is not None and not setting.output_spaces:
        raise ArgumentError(
            f"output_action={output_action!r} has no finite elements; expected vectors, tensors, a grid, channels or slots, for example "
            "liegg.Linear(3)."
        )


def read(
    function: Model,
    inputs: Inputs,
    held_out: Data | None,
    *,
    part: Part,
    output_action: Action | None,
    classes: bool | None = None,
) -> tuple[Question, Question]:
    """The probed model with samples to search on, and with samples to judge on.

    Without held-out data every second sample is held out. Of more samples than are needed, evenly spaced ones are taken where data
    can be indexed, else the first.

    Args:
        function: the model in eval mode.
        inputs: samples, and the action on them.
        held_out: samples to judge on; None splits the data.
        part: the part of the output that is asked about.
        output_action: on the outputs; None for invariance.
        classes: whether the largest of several outputs is a prediction; None finds out.
    """
    data, action = inputs.data, inputs.action
    if held_out is None:
        x = _samples(function, data, SEARCHED + JUDGED, "data")
        own, other = x[::2], x[1::2]
    else:
        own = _samples(function, data, SEARCHED, "data")
        other = _samples(function, _as_rows(held_out, inputs), JUDGED, "held_out")
    action.check(tuple(own.shape[1:]))
    if own[0].numel() >= LARGE_MOVED_SAMPLE:
        own, other = own[:JUDGED_LARGE], other[:JUDGED_LARGE]
    if min(len(own), len(other)) < FEWEST_GROUP_SAMPLES:
        raise ArgumentError(
            f"{len(own)} samples to search on and {len(other)} to judge on: at least {FEWEST_GROUP_SAMPLES} of each are needed, and "
            "about 100 for intervals. Pass more samples."
        )
    if own.shape[1:] != other.shape[1:]:
        raise DataError(
            f"held_out has samples of shape {tuple(other.shape[1:])}, the data of {tuple(own.shape[1:])}. Pass samples of one shape."
        )
    model = probed(function, own, part)
    own, other = (in_dtype_of(x, model, function.dtype) for x in (own, other))
    check_samples(model, own, first=None)
    output_action = fitted_output_action(output_action, action, model)
    search = Question(model, action, output_action, own, classes=classes)
    judged = replace(search, x=other)
    if not all(bool(torch.isfinite(question.y).all()) for question in (search, judged)):
        raise ArgumentError(
            f"{model.name} returned NaN or infinity for a sample. Correct the model there, or remove the sample."
        )
    return search, judged


def _as_rows(held_out: Data, inputs: Inputs) -> Data:
    """Held-out samples as rows of the layout of the data; plain tensors as they are."""
    if not isinstance(inputs.data, Packed):
        return held_out
    try:
        packed, *_ = pack_samples(held_out, inputs.action)
    except DataError as error:
        raise type(error)(f"held_out: {error}") from error
    for leaf in inputs.data.layout.leaves:
        own = packed.layout.by_path[leaf.path].shape
        if own[:1] > leaf.shape[:1]:
            raise ShapeError(
                f"held_out has samples with {own[0]} points in {leaf.path!r}, the data at most {leaf.shape[0]}. Pass data with samples as "
                "large, or exchange the two."
            )
    return replace(packed, layout=inputs.data.layout)


def _samples(function: Model, data: Data, most: int, name: str) -> Float[Tensor, "n ..."]:
    """Evenly spaced samples of an array, or the first of anything else."""
    indexed = isinstance(data, Packed) and data.indexed
    if (indexed or (isinstance(data, Tensor | np.ndarray) and data.ndim)) and len(data) > most:
        places = np.linspace(0, len(data) - 1, most).astype(np.int64).tolist()
        data = data.select(places) if isinstance(data, Packed) else data[places]
    samples, count = [], 0
    try:
        source = Batches(as_batches(data).source, most, function.dtype, function.device)
        with closing(iter(source)) as batches:
            for batch in batches:
                samples.append(batch[: most - count])
                count += len(samples[-1])
                if count >= most:
                    break
    except DataError as error:
        raise type(error)(f"{name}: {error}") from error
    if not count:
        raise DataError(f"{name} contains no samples. Pass at least one.")
    return torch.cat(samples)
