"""Weights of a file by name, read without running anything, and the prefixes that trainers put before names."""

import re
from collections import OrderedDict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch.serialization import get_unsafe_globals_in_checkpoint, safe_globals

from liegg._utils.errors import ArgumentError, one_line

PICKLED = (".pt", ".pth", ".ckpt", ".bin")
"""Files of torch, read by its reader that builds nothing but tensors and plain containers; see `_read`."""

INSIDE = ("state_dict", "model_state_dict", "model")
"""Entries of a checkpoint that hold the weights: of Lightning, and of many training scripts."""

PREFIXES = {"module", "model", "net", "network", "_orig_mod"}
"""Parts of a prefix that DataParallel, Lightning modules and torch.compile put before names."""


class _Inert:
    """Stands for an object that is not built, such as a path among the hyperparameters."""

    def __new__(cls, *_arguments: Any, **_named: Any) -> Any:
        return object.__new__(cls)

    def __setstate__(self, _state: Any) -> None:
        pass


class _InertMapping:
    """Stands for a mapping that is not built; torch fills none but its own kinds."""

    def __new__(cls, *_arguments: Any, **_named: Any) -> Any:
        return OrderedDict()


def load_state(weights: Path) -> dict[str, torch.Tensor]:
    """The named tensors of a file.

    Args:
        weights: .safetensors, or a state dict in a file of torch, alone or as an entry of a checkpoint.

    Raises:
        ArgumentError: the file is missing or damaged, or its weights are not tensors.
    """
    if not weights.is_file():
        raise ArgumentError(f"weights {str(weights)!r}: file not found.")
    try:
        if weights.suffix not in PICKLED:
            return load_file(weights)
        state = _read(weights)
    except (OSError, SafetensorError) as error:
        raise ArgumentError(
            f"weights {str(weights)!r} cannot be read: {error}. Save them with "
            "safetensors.torch.save_file."
        ) from error
    except Exception as error:  # torch raises many types for damaged files and files with code
        named = re.search(r"GLOBAL ([\w.]+)", str(error))
        reason = f"it holds a {named[1]}" if named else one_line(error)
        raise ArgumentError(
            f"weights {str(weights)!r} hold more than tensors, or are damaged ({reason}). Objects are never "
            "unpickled. Where you trust the file, load it with torch.load(path, weights_only=False), and save "
            "the state dict in it alone with torch.save(state_dict, 'weights.pt')."
        ) from error
    found = _weights_in(state)
    if found is None:
        raise ArgumentError(_no_weights(weights, state))
    return found


def _read(path: Path) -> Any:
    """What torch's reader makes of a file; objects that it does not know become inert ones.

    Their names are replaced before anything is read, so that nothing of theirs is imported, built or called.
    """
    try:
        names = get_unsafe_globals_in_checkpoint(path)
    except Exception:  # a damaged file, or one of the older kind, which torch reads or refuses
        names = []
    try:
        with safe_globals([(_Inert, name) for name in names]):
            return torch.load(path, map_location="cpu", weights_only=True)
    except Exception:  # perhaps one of them is a mapping
        if not names:
            raise
    with safe_globals([(_InertMapping, name) for name in names]):
        return torch.load(path, map_location="cpu", weights_only=True)


def _no_weights(path: Path, state: Any) -> str:
    """The message for a file without a state dict."""
    if isinstance(state, _Inert):
        return (
            f"weights {str(path)!r} hold a pickled object, perhaps a complete model, which is never unpickled. "
            "Where you trust the file, save its weights alone: "
            "torch.save(torch.load(path, weights_only=False).state_dict(), 'weights.pt')."
        )
    inside = state if isinstance(state, dict) else {}
    nested = [name for name, value in inside.items() if isinstance(value, dict)]
    hint = f" The weights may be its entry {nested[0]!r}." if nested else ""
    return (
        f"weights {str(path)!r} are not a state dict of tensors.{hint} Save one with "
        "torch.save(model.state_dict(), ...)."
    )


def without_prefix(
    state: dict[str, torch.Tensor], names: set[str]
) -> tuple[dict[str, torch.Tensor], list[str]]:
    """The weights with the names of a module, and what was done for that.

    Args:
        state: weights of a file.
        names: names in the module.

    Returns:
        The weights; unchanged if their names fit, or if no prefix or more than one makes them fit.

    Examples:
        >>> state, remarks = without_prefix({"module.w": torch.zeros(1)}, {"w"})
        >>> list(state), remarks
        (['w'], ["the prefix 'module.' was removed from 1 name"])
    """
    if not names or names <= set(state):
        return state, []
    example = min(names)
    ends = [name.removesuffix(example) for name in state if name.endswith(f".{example}")]
    usual = [end for end in ends if set(end.removesuffix(".").split(".")) <= PREFIXES]
    fitting = [end for end in usual if {end + name for name in names} <= set(state)]
    if len(fitting) != 1:
        return state, []
    (prefix,) = fitting
    found = {
        name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)
    }
    others = len(state) - len(found)
    remarks = [f"the prefix {prefix!r} was removed from {len(found)} name{'s' * (len(found) != 1)}"]
    if others:
        remarks.append(f"{others} other tensors do not belong to the model, and were left out")
    return found, remarks


def _weights_in(state: Any) -> dict[str, torch.Tensor] | None:
    """A state dict, or that of a checkpoint; None if there is none."""
    if not isinstance(state, dict):
        return None
    if state and all(isinstance(value, torch.Tensor) for value in state.values()):
        return {str(name): value for name, value in state.items()}
    for name in INSIDE:
        found = _weights_in(state[name]) if name in state else None
        if found is not None:
            return found
    return None
