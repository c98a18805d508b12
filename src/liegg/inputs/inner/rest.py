"""The part of a model behind an inner point: the model with the output of one of its layers replaced."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from liegg._utils.errors import ModelError
from liegg.inputs.inner.layer import layers_by_name
from liegg.inputs.output_field import describe
from liegg.inputs.structure.entry import Convention
from liegg.inputs.structure.tree import leaves, rebuild
from liegg.inputs.structure.unpack import Call

ACTIVATION, INPUT = "activation", "input"
"""Leaves of a sample at an inner point: what the layer returned for it, and the input if that is one tensor."""


class Rest(nn.Module):
    """A model in which the output of a layer is replaced; everything else is computed from the original input.

    Attributes:
        model: the user's module.
        layer: name of the module whose output is replaced.
        caller: how the model is called with its original input.
    """

    def __init__(self, model: nn.Module, layer: str, caller: Convention) -> None:
        super().__init__()
        self.model, self.layer, self.caller = model, layer, caller
        self.__name__ = type(model).__name__
        self.train(model.training)

    def forward(self, batch: Mapping[str, Tensor]) -> Any:
        """What the model returns for a batch of activations with their original inputs."""
        given = {path: leaf for path, leaf in batch.items() if path != ACTIVATION}
        activation = batch[ACTIVATION]
        with watched(self.model, self.layer, lambda output: _replaced(output, activation)):
            return call_original(self.caller, self.model, given)


def run_rest(model: Rest, batch: Mapping[str, Tensor]) -> Any:
    """How a `Rest` is called with a batch."""
    return model(batch)


def call_original(caller: Convention, model: nn.Module, given: Mapping[str, Tensor]) -> Any:
    """What a model returns for its original input, given by path."""
    values = {"" if path == INPUT and "" in dict(leaves(caller.tree)) else path: leaf
              for path, leaf in given.items()}  # fmt: skip
    samples = len(next(iter(values.values())))
    return caller.call(model, Call(values, None, samples))


@contextmanager
def watched(model: nn.Module, layer: str, see: Callable[[Any], Any]) -> Iterator[None]:
    """See the output of a layer inside the block, and put what `see` returns in its place, unless that is None.

    Raises:
        ModelError: the layer is not called once.
    """
    calls = 0

    def hook(_module: nn.Module, _inputs: Any, output: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise ModelError(
                f"the layer {layer!r} is called several times for one batch, so that there is not one place behind "
                "it. Name a layer that is called once."
            )
        return see(output)

    handle = layers_by_name(model)[layer].register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()
    if not calls:
        raise ModelError(
            f"the layer {layer!r} is not called when {type(model).__name__} runs (its weights may be used without "
            "calling it). Name a layer whose output the model uses."
        )


def activation_of(output: Any, layer: str) -> tuple[str, Tensor]:
    """The only floating point tensor that a layer returns, and its path.

    Raises:
        ModelError: there is none, or several.
    """
    found = [
        (path, leaf)
        for path, leaf in leaves(output)
        if isinstance(leaf, Tensor) and leaf.is_floating_point()
    ]
    if len(found) == 1:
        return found[0]
    raise ModelError(
        f"the layer {layer!r} returns {describe(output)}; expected one floating point tensor. Name a layer that "
        "returns one."
    )


def _replaced(output: Any, activation: Tensor) -> Any:
    """What a layer returned with another activation."""
    path, own = activation_of(output, "")
    if own.shape != activation.shape:
        raise ModelError(
            f"the layer returns shape {tuple(own.shape)} here, and {tuple(activation.shape)} arrived when the data was "
            "read: its output depends on the other samples of a batch."
        )
    return rebuild(output, {path: activation.to(own.dtype)}, len(activation))
