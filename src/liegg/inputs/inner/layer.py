"""The module of a model whose output is the inner point that the user names."""

from difflib import get_close_matches
from typing import Any

import torch
from torch import nn

from liegg._utils.arguments import shown
from liegg._utils.errors import ArgumentError
from liegg._utils.unwrap_compiled import original

EMBEDDINGS = "embeddings"
"""Word for the layer that turns tokens into vectors."""

WRAPPER = "_orig_mod."
"""Part of a name that `torch.compile` adds."""

LISTED_LAYERS = 12
"""Most layers listed in a message."""


def layers_by_name(model: nn.Module) -> dict[str, nn.Module]:
    """All modules inside a model by name, without the names that compiling adds."""
    named = original(model).named_modules(remove_duplicate=False)
    return {name.replace(WRAPPER, ""): module for name, module in named if name}


def layer_name(model: Any, at: str) -> str:
    """The name of the module that `at=` means.

    Args:
        model: the user's model.
        at: name of a module, as in `model.named_modules()`; or `"embeddings"` for the model's input embeddings: what
            `get_input_embeddings()` returns, or its only `nn.Embedding`. A module that has that name comes first.

    Raises:
        ArgumentError: the model has no modules, or no such one.

    Examples:
        >>> layer_name(nn.Sequential(nn.Embedding(9, 4), nn.Linear(4, 2)), "embeddings")
        '0'
    """
    inner = original(model)
    if not isinstance(inner, nn.Module) or isinstance(inner, torch.jit.ScriptModule):
        raise ArgumentError(
            f"at={shown(at)}: the model is a {type(inner).__name__}; its inner points are known for an nn.Module "
            "only. Pass the module itself."
        )
    named = layers_by_name(inner)
    if at in named:
        return at
    if at == EMBEDDINGS:
        return _embeddings(inner, named)
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
    count = "several embeddings" if tables else "no nn.Embedding"
    names = sorted(tables.values()) if tables else list(named)
    raise ArgumentError(
        f"at='embeddings': {type(model).__name__} has {count}. Name one of its modules: {_listed(names)}."
    )


def _listed(names: Any) -> str:
    names = [repr(name) for name in names]
    rest = f" and {len(names) - LISTED_LAYERS} more" if len(names) > LISTED_LAYERS else ""
    return (", ".join(names[:LISTED_LAYERS]) or "none") + rest
