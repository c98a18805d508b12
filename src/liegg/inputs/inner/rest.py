"""An inner point of a model: the layer that the user names, and the model with the output of that layer replaced."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

import torch
from torch import Tensor, nn

from liegg._utils.arguments import shown
from liegg._utils.errors import ArgumentError, ModelError
from liegg._utils.unwrap_compiled import original
from liegg.inputs.output_field import describe
from liegg.inputs.structure.entry import Convention
from liegg.inputs.structure.tree import leaves, rebuild
from liegg.inputs.structure.unpack import Call

ACTIVATION, INPUT = "activation", "input"
"""Leaves of a sample at an inner point: what the layer returned for it, and the input if that is one tensor."""


EMBEDDINGS = "embeddings"
"""Word for the layer that turns tokens into vectors."""

WRAPPER = "_orig_mod."
"""Part of a name that `torch.compile` adds."""

LISTED_LAYERS = 12
"""Most layers listed in a message."""


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


def layers_by_name(model: nn.Module) -> dict[str, nn.Module]:
    """All modules inside a model by name, without the names that compiling adds."""
    named = original(model).named_modules(remove_duplicate=False)
    return {name.replace(WRAPPER, ""): module for name, module in named if name}


def layer_name(model: Any, at: str) -> str:
    """The name of the module that `at=` means.

    Args:
        model: the user's model.
        at: name of a module, as in `model.named_modules()`; or `"embeddings"` for the model's input embeddings: what
            `get_input_embeddings()` returns, or its only `nn.Embedding`, or else a module of that name.

    Raises:
        ArgumentError: the model has no modules, or no such one.

    Examples:
        >>> layer_name(nn.Sequential(nn.Embedding(9, 4), nn.Linear(4, 2)), "embeddings")
        '0'
    """
    inner = original(model)
    if not isinstance(inner, nn.Module) or isinstance(inner, torch.jit.ScriptModule):
        raise ArgumentError(
            f"at={shown(at)}: the model is a {type(inner).__name__}; inner points need an nn.Module. "
            "Pass the module itself."
        )
    named = layers_by_name(inner)
    if at == EMBEDDINGS:
        return _embeddings(inner, named)
    if at in named:
        return at
    nearest = get_close_matches(at, named, n=1, cutoff=0.5)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    raise ArgumentError(
        f"at={shown(at)}: {type(inner).__name__} has no module of that name. Its modules are {_listed(named)}.{hint}"
    )


def _embeddings(model: nn.Module, named: dict[str, nn.Module]) -> str:
    """The name of the input embeddings."""
    own = getattr(model, "get_input_embeddings", None)
    if callable(own):
        try:
            found = own()
        except (NotImplementedError, AttributeError, TypeError):
            found = None
        for name, module in named.items():
            if module is found or original(module) is found:
                return name
    tables = {
        id(module): name
        for name, module in reversed(named.items())
        if isinstance(module, nn.Embedding | nn.EmbeddingBag)
    }
    if len(tables) == 1:
        return next(iter(tables.values()))
    if EMBEDDINGS in named:
        return EMBEDDINGS
    count = "several embeddings" if tables else "no nn.Embedding"
    names = sorted(tables.values()) if tables else list(named)
    raise ArgumentError(
        f"at='embeddings': {type(model).__name__} has {count}. Name one of its modules: {_listed(names)}."
    )


def _listed(names: Any) -> str:
    names = [repr(name) for name in names]
    rest = f" and {len(names) - LISTED_LAYERS} more" if len(names) > LISTED_LAYERS else ""
    return (", ".join(names[:LISTED_LAYERS]) or "none") + rest


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
        twins = _twins(model, layer)
        raise ModelError(
            f"the layer {layer!r} is not called when {type(model).__name__} runs (its weights may be used without "
            "calling it). Name a layer whose output the model uses"
            + (f"; its weights are also those of {_listed(twins)}." if twins else ".")
        )


def _twins(model: nn.Module, layer: str) -> list[str]:
    """Names of the other modules that have the weight of a layer."""
    named = layers_by_name(model)
    weight = getattr(named[layer], "weight", None)
    same = [name for name, one in named.items() if getattr(one, "weight", None) is weight]
    return [] if weight is None else [name for name in same if name != layer]


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
            f"the layer returns shape {tuple(own.shape)} here, and returned {tuple(activation.shape)} when the data "
            "was read: its output depends on the other samples of the batch."
        )
    return rebuild(output, {path: activation.to(own.dtype)}, len(activation))
