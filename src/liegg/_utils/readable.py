"""Tensors and arrays whose numbers cannot be read, as arguments."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from liegg._utils.errors import ArgumentError


def check_readable(name: str, value: Any) -> None:
    """Raise `ArgumentError` for a tensor or array, or a list with one, that has no plain numbers or hides some.

    Args:
        name: of the argument.
        value: anything.

    Examples:
        >>> check_readable("generators", torch.zeros(2, 2).to("meta"))
        Traceback (most recent call last):
        liegg._utils.errors.ArgumentError: generators is a tensor without values, on the device 'meta'; expected plain numbers.
    """
    for one in value if isinstance(value, list | tuple) else (value,):
        if (kind := _kind(one)) is not None:
            inside = " holds" if one is not value else " is"
            raise ArgumentError(f"{name}{inside} {kind}; expected plain numbers.")


def _kind(value: Any) -> str | None:
    """What a tensor or array is whose numbers cannot be read; None for anything else."""
    if isinstance(value, np.ndarray):
        return "an array with masked entries" if np.ma.is_masked(value) else None
    if not isinstance(value, Tensor):
        return None
    if value.is_nested:
        return "a nested tensor"
    if value.layout is not torch.strided:
        return "a sparse tensor"
    if value.is_meta:
        return "a tensor without values, on the device 'meta'"
    if value.is_quantized:
        return "a quantised tensor"
    if value.dtype.is_floating_point and value.dtype.itemsize < 2:
        return f"a tensor of {value.dtype}"
    return None
