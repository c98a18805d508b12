"""Weights of a file by name, read without running anything, and the prefixes that trainers put before names."""

import re
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from liegg._utils.errors import ArgumentError, one_line

PICKLED = (".pt", ".pth", ".ckpt", ".bin")
"""Files of torch, read by its reader that builds nothing but tensors and plain containers."""

INSIDE = ("state_dict", "model_state_dict", "model")
"""Entries of a checkpoint that hold the weights: of Lightning, and of many training scripts."""

PREFIXES = {"module", "model", "_orig_mod"}
"""Parts of a prefix that DataParallel, Lightning modules and torch.compile put before names."""


def load_state(weights: Path) -> dict[str, torch.Tensor]:
    """The named tensors of a file.

    Args:
        weights: .safetensors, or a state dict in a file of torch, alone or as an entry of a checkpoint.

    Raises:
        ArgumentError: the file is missing or damaged, or holds objects that would have to be unpickled.
    """
    if not weights.is_file():
        raise ArgumentError(f"weights {str(weights)!r}: file not found.")
    try:
        if weights.suffix not in PICKLED:
            return load_file(weights)
        state = torch.load(weights, map_location="cpu", weights_only=True)
    except (OSError, SafetensorError) as error:
        raise ArgumentError(
            f"weights {str(weights)!r} cannot be read: {error}. Save them with "
            "safetensors.torch.save_file."
        ) from error
    except Exception as error:  # torch raises many types for damaged files and files with code
        named = re.search(r"GLOBAL ([\w.]+)", str(error))
        reason = f"it holds a {named[1]}" if named else one_line(error)
        raise ArgumentError(
            f"weights {str(weights)!r} hold more than tensors, or are damaged ({reason}). Objects such as "
            "hyperparameters are never unpickled. Where you trust the file, save the weights alone: "
            "torch.save(torch.load(path, weights_only=False)['state_dict'], 'weights.pt')."
        ) from error
    found = _weights_in(state)
    if found is None:
        nested = (
            [name for name, value in state.items() if isinstance(value, dict)]
            if isinstance(state, dict)
            else []
        )
        hint = f" The weights may be its entry {nested[0]!r}." if nested else ""
        raise ArgumentError(
            f"weights {str(weights)!r} are not a state dict of tensors.{hint} Save one with "
            "torch.save(model.state_dict(), ...)."
        )
    return found


def without_prefix(
    state: dict[str, torch.Tensor], names: set[str]
) -> tuple[dict[str, torch.Tensor], list[str]]:
    """The weights with the names of a module, and what was done for that.

    Args:
        state: weights of a file.
        names: names in the module.

    Returns:
        The weights; unchanged if their names fit, or if no prefix makes them fit.

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
    for prefix in sorted(usual, key=len):
        found = {
            name.removeprefix(prefix): value
            for name, value in state.items()
            if name.startswith(prefix)
        }
        if set(found) >= names:
            others = len(state) - len(found)
            remarks = [
                f"the prefix {prefix!r} was removed from {len(found)} name{'s' * (len(found) != 1)}"
            ]
            if others:
                remarks.append(
                    f"{others} other tensors do not belong to the model, and were left out"
                )
            return found, remarks
    return state, []


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
