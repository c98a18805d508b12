"""Samples to search on and samples to judge on, from the user's data."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError, DataError
from liegg.actions import Action
from liegg.discovery.group.setting import LARGE_SAMPLE
from liegg.discovery.verification.measure import Question
from liegg.inputs.batches import Batches, Data, as_batches
from liegg.inputs.model import Model, with_input_dtype
from liegg.inputs.part import Part, with_part
from liegg.inputs.probe import probe
from liegg.polarization.output_fit import check_output_action

SEARCHED, JUDGED, JUDGED_LARGE = 384, 384, 160
"""Most samples that are searched on and judged on; fewer large samples are judged on."""

FEWEST = 8
"""Samples below which nothing is decided."""


def read(
    function: Model,
    data: Data,
    held_out: Data | None,
    *,
    part: Part,
    action: Action,
    output_action: Action | None,
) -> tuple[Question, Question]:
    """The probed model with samples to search on, and with samples to judge on.

    Without held-out data every second sample is held out. Of more samples than are needed, evenly spaced ones are taken where data
    can be indexed, else the first.

    Args:
        function: the model in eval mode.
        data: samples.
        held_out: samples to judge on; None splits the data.
        part: the part of the output that is asked about.
        action: on the samples.
        output_action: on the outputs; None for invariance.
    """
    function = with_input_dtype(function, as_batches(data))
    wanted = SEARCHED + (JUDGED if held_out is None else 0)
    x = _samples(function, data, wanted, "data")
    action.check(tuple(x.shape[1:]))
    other = x[1::2] if held_out is None else _samples(function, held_out, JUDGED, "held_out")
    own = x[::2] if held_out is None else x
    if own[0].numel() >= LARGE_SAMPLE:
        own, other = own[:JUDGED_LARGE], other[:JUDGED_LARGE]
    if min(len(own), len(other)) < FEWEST:
        raise ArgumentError(
            f"{len(own)} samples to search on and {len(other)} to judge on: at least {FEWEST} of each are needed, and about 100 "
            "for intervals. Pass more samples."
        )
    if own.shape[1:] != other.shape[1:]:
        raise DataError(
            f"held_out has samples of shape {tuple(other.shape[1:])}, the data of {tuple(own.shape[1:])}. Pass samples of one shape."
        )
    model = probe(with_part(function, own, part), own)
    if output_action is not None:
        check_output_action(output_action, model)
    search = Question(model, action, output_action, own)
    judged = replace(search, x=other)
    for question in (search, judged):
        if not bool(torch.isfinite(question.y).all()):
            raise ArgumentError(
                f"{model.name} returned NaN or infinity for a sample. Correct the model there, or remove the sample."
            )
    return search, judged


def _samples(function: Model, data: Data, most: int, name: str) -> Float[Tensor, "n ..."]:
    """Evenly spaced samples of an array, or the first of anything else."""
    if isinstance(data, Tensor | np.ndarray) and data.ndim and len(data) > most:
        places = np.linspace(0, len(data) - 1, most).astype(np.int64)
        data = (
            data[torch.from_numpy(places).to(data.device)]
            if isinstance(data, Tensor)
            else data[places]
        )
    parts, count = [], 0
    try:
        source = Batches(as_batches(data).source, most, function.dtype, function.device)
        with closing(iter(source)) as batches:
            for batch in batches:
                parts.append(batch[: most - count])
                count += len(parts[-1])
                if count >= most:
                    break
    except DataError as error:
        raise type(error)(f"{name}: {error}") from error
    if not count:
        raise DataError(f"{name} holds no sample. Pass some.")
    return torch.cat(parts)
