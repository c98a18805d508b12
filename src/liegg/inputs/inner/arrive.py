"""What arrives at an inner point: the activations of all samples, with their original inputs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from liegg._utils.errors import (
    ArgumentError,
    DataError,
    LieggError,
    ModelError,
    ShapeError,
    one_line,
)
from liegg._utils.forward_mode import differentiable_attention
from liegg.inputs.checked_batch import check_reiterable, inputs_of, no_samples
from liegg.inputs.every_element import every_element, is_map_style
from liegg.inputs.inner.rest import (
    ACTIVATION,
    INPUT,
    Rest,
    activation_of,
    call_original,
    layer_name,
    watched,
)
from liegg.inputs.model import eval_view
from liegg.inputs.structure.calling import styles_of
from liegg.inputs.structure.entry import Convention, Custom
from liegg.inputs.structure.layout import Layout
from liegg.inputs.structure.tree import is_tree, rebuild, tensors
from liegg.inputs.table import is_table, table_values

SAMPLES_AT_A_TIME = 64
"""Samples of data in memory per call of the model."""

ACTIVATION_BYTES = 2**32
"""Memory that all activations may take."""


@dataclass(frozen=True, eq=False)
class Inner:
    """A question at an inner point.

    Attributes:
        model: the part of the model behind it.
        data: activations with their original inputs, by path.
        layer: name of the module whose output they are.
    """

    model: Rest
    data: dict[str, Tensor]
    layer: str


def arrive(model: Any, data: Any, at: str, *, call: Custom | None = None) -> Inner:
    """Run a model on all samples, in eval mode, and keep what one of its layers returns.

    Args:
        model: an `nn.Module`.
        data: samples as the model takes them, integers too: a tensor or array, a tree of tensors with samples along
            the first axis (a tuple is passed as several arguments), a Dataset of samples, or an iterable of batches.
        at: the layer, see `layer_name`.
        call: how the model is called, a function of the model and a batch.

    Raises:
        LieggError: there is no such layer, or it is not called once; data that the model does not take; activations
            of different shapes, or too many.
    """
    layer = layer_name(model, at)
    kept: list[dict[str, Tensor]] = []
    caller, used = None, 0
    with (
        torch.inference_mode(False),
        torch.no_grad(),
        differentiable_attention(),
        eval_view(model) as function,
    ):
        module: nn.Module = function.function  # pyright: ignore[reportAssignmentType]
        for number, tree in enumerate(_batches(data)):
            given = _by_path(tree, number, function.device)
            if caller is None:
                caller = _caller(module, tree, given, layer, call=call)
            kept.append({ACTIVATION: _activation(module, caller, given, layer), **given})
            used += kept[-1][ACTIVATION].nbytes
            if used > ACTIVATION_BYTES:
                raise ArgumentError(
                    f"at={at!r}: the activations there take more than {ACTIVATION_BYTES >> 30} GiB after "
                    f"{sum(len(one[ACTIVATION]) for one in kept)} samples. Pass fewer samples, for example data[:1000]."
                )
    if caller is None:
        raise no_samples(data)
    return Inner(Rest(model, layer, caller), _joined(kept, layer), layer)


def _activation(
    module: nn.Module, caller: Convention, given: Mapping[str, Tensor], layer: str
) -> Tensor:
    """What a layer returns for a batch, one entry per sample."""
    seen: list[Tensor] = []

    def see(output: Any) -> None:
        seen.append(
            activation_of(output, layer)[1].detach().clone()
        )  # it may be written into afterwards

    with watched(module, layer, see):
        call_original(caller, module, given)
    samples = len(next(iter(given.values())))
    if seen[0].ndim == 0 or len(seen[0]) != samples:
        raise ModelError(
            f"the layer {layer!r} returns shape {tuple(seen[0].shape)} for {samples} samples; expected one entry per "
            "sample along the first axis. Name a layer whose output has that form."
        )
    return seen[0]


def _caller(
    module: nn.Module, tree: Any, given: Mapping[str, Tensor], layer: str, *, call: Custom | None
) -> Convention:
    """How the model takes a batch: as its signature suggests, and as it works.

    Raises:
        ModelError: no way works.
    """
    styles = [("tree", ())] if call is not None else styles_of(module, tree)
    tried = []
    for style, names in styles:
        caller = Convention(Layout(()), tree, "stacked", style, names, call)
        try:
            _activation(module, caller, given, layer)
        except (torch.OutOfMemoryError, LieggError):
            raise
        except Exception as error:
            tried.append(f"{caller.words()}: {one_line(error)}")
        else:
            return caller
    problem = f"{type(module).__name__} does not take these samples. Tried {'; '.join(tried)}."
    if all(leaf.ndim == 1 for leaf in given.values()):
        sizes = ", ".join(f"{path!r} {tuple(leaf.shape)}" for path, leaf in given.items())
        raise ModelError(
            f"each element of the data is read as a batch, and the first has tensors with a single axis ({sizes}). If it is one "
            "sample, pad all samples to one length and pass them together, for example tokenizer(texts, padding=True, "
            f"return_tensors='pt'). {problem}"
        )
    raise ModelError(
        f"{problem} Say how it is called, for example call=lambda model, batch: model(batch['input_ids'])."
    )


def _by_path(tree: Any, number: int, device: torch.device | None) -> dict[str, Tensor]:
    """The tensors of a batch by path, on the device of the model."""
    found = {path or INPUT: leaf for path, leaf in tensors(tree).items()}
    if not found:
        raise DataError(
            f"batch {number} is a {type(tree).__name__} without tensors; expected what the model takes."
        )
    if ACTIVATION in found:
        raise DataError(f"a sample has a tensor called {ACTIVATION!r}, which at= needs. Rename it.")
    sizes = {path: len(leaf) if leaf.ndim else 0 for path, leaf in found.items()}
    if len(set(sizes.values())) > 1 or 0 in sizes.values():
        raise ShapeError(
            f"batch {number} has tensors with {sizes} entries along the first axis; expected one entry per sample in "
            "each, and at least one sample."
        )
    return {path: leaf if device is None else leaf.to(device) for path, leaf in found.items()}


def _batches(data: Any) -> Iterator[Any]:
    """Batches as the model takes them."""
    if is_table(data):
        data = table_values(data)
    check_reiterable(data)
    if isinstance(data, Tensor | np.ndarray) or is_tree(data) or isinstance(data, tuple):
        yield from _pieces(data)
    elif is_map_style(data):
        loader = DataLoader(data, batch_size=SAMPLES_AT_A_TIME)
        yield from map(_inputs, every_element(loader))
    elif isinstance(data, Iterable) and not isinstance(data, str | bytes):
        yield from map(_inputs, every_element(data))
    else:
        raise DataError(
            f"data is a {type(data).__name__}; expected what the model takes: tensors, a tree of them, or batches."
        )


def _inputs(batch: Any) -> Any:
    """A batch without its labels."""
    named = hasattr(batch, "_fields") or is_tree(batch)
    return batch if named else inputs_of(batch)


def _pieces(tree: Any) -> Iterator[Any]:
    """Slices of data in memory."""
    given = tensors(tree)
    sizes = {len(leaf) if leaf.ndim else 0 for leaf in given.values()}
    if len(sizes) != 1:
        yield tree  # `_by_path` says what is wrong
        return
    for start in range(0, max(sizes), SAMPLES_AT_A_TIME):
        some = {path: leaf[start : start + SAMPLES_AT_A_TIME] for path, leaf in given.items()}
        yield rebuild(tree, some, min(SAMPLES_AT_A_TIME, max(sizes) - start))


def _joined(kept: list[dict[str, Tensor]], layer: str) -> dict[str, Tensor]:
    """All batches as one."""
    for path in kept[0]:
        shapes = {tuple(one[path].shape[1:]) for one in kept if path in one}
        if len(shapes) > 1 or any(one.keys() != kept[0].keys() for one in kept):
            what = f"the output of {layer!r}" if path == ACTIVATION else repr(path)
            raise ShapeError(
                f"{what} has shapes {sorted(shapes)[:3]} in different batches. Pad all samples to one length, for "
                "example tokenizer(..., padding='max_length')."
            )
    if not any(one[ACTIVATION].numel() for one in kept):
        raise ShapeError(f"the output of {layer!r} has no numbers.")
    return {path: torch.cat([one[path].cpu() for one in kept]) for path in kept[0]}
