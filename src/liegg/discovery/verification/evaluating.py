"""A model and data that are evaluated, not differentiated."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.random import seeded
from liegg.discovery.inner import Asked, at_inner_point
from liegg.discovery.structured import Inputs, as_inputs
from liegg.inputs.batches import as_batches
from liegg.inputs.foreign.recognise import for_data, with_columns
from liegg.inputs.model import Model, eval_view, with_input_dtype


@contextmanager
def evaluating(asked: Asked, at: str | None, *, seed: int) -> Iterator[tuple[Model, Inputs]]:
    """Open a model in eval mode without derivatives; random numbers are drawn from a seed.

    Args:
        asked: model, data and action of the user.
        at: the layer whose output is moved; None for the input of the model.
        seed: of whatever a loader draws.

    Yields:
        The model, and the data and action as the analysis takes them.
    """
    asked = replace(asked, model=with_columns(asked.model, asked.data))
    here = at_inner_point(asked, at, seed=seed)
    inputs = as_inputs(here.model, here.data, here.action, call=here.call, seed=seed)
    with (
        seeded(seed),
        torch.inference_mode(False),
        torch.no_grad(),
        eval_view(for_data(inputs.model, inputs.data)) as function,
    ):
        yield with_input_dtype(function, as_batches(inputs.data)), inputs


def first_samples(batches: Iterable[Tensor], most: int) -> Float[Tensor, "n ..."]:
    """The first samples of some batches; no more batches are read than that takes."""
    parts, count = [], 0
    for batch in batches:
        parts.append(batch[: most - count])
        count += len(parts[-1])
        if count >= most:
            break
    return torch.cat(parts) if parts else torch.empty(0)
