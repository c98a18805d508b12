"""The floating point type in which a model that holds several takes its samples: found by asking it."""

from contextlib import closing
from dataclasses import replace

import torch

from liegg.inputs.batches import Batches
from liegg.inputs.model import Model


def with_input_dtype(model: Model, batches: Batches) -> Model:
    """The model with the dtype in which it takes samples, found on one sample; one batch is read where its types differ.

    That of its first parameter is tried first: mostly it belongs to what meets the samples first. Normalisation in float32 in a
    network of bfloat16, or the other way round, is met inside. Where none is taken the first one stays, and the probe says why.

    Args:
        model: the opened model.
        batches: the data as it came.

    Returns:
        The model; where it has parameters of several types, with a note.
    """
    if len(model.dtypes) < 2:
        return model
    with closing(iter(batches.prepared(None, model.device))) as left:
        x = next(left)[:1]
    chosen = next((dtype for dtype in model.dtypes if _takes(model, x.to(dtype))), model.dtype)
    names, one = (
        ", ".join(str(dtype).removeprefix("torch.") for dtype in dtypes)
        for dtypes in (model.dtypes, (chosen,))
    )
    return replace(
        model,
        dtype=chosen,
        notes=(*model.notes, f"its weights are of several types ({names}); it was given {one}"),
    )


def _takes(model: Model, x: torch.Tensor) -> bool:
    """Whether a model runs on a sample."""
    try:
        with torch.no_grad():
            model.function(x.clone())
    except (RuntimeError, TypeError, ValueError):
        return False
    return True
