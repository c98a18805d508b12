"""Generators that the user gives, as a tensor."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from liegg._utils.errors import ArgumentError


def real_generators(generators: Any, name: str, expected: str) -> Tensor:
    """An array or tensor of finite real numbers as a tensor.

    Args:
        generators: what the user gave.
        name: the argument, for the message.
        expected: shapes that are possible, for the message.

    Raises:
        ArgumentError: anything else.

    Examples:
        >>> real_generators(np.eye(2), "generators", "matrices").dtype
        torch.float64
    """
    tensor = generators
    if isinstance(generators, np.ndarray) and generators.dtype.kind == "f":
        tensor = torch.from_numpy(np.ascontiguousarray(generators))
    real = isinstance(tensor, Tensor) and tensor.is_floating_point()
    if not real or not bool(torch.isfinite(tensor).all()):
        given = generators.dtype if isinstance(generators, Tensor) else type(generators).__name__
        raise ArgumentError(
            f"{name} were given as {given}; expected a real floating point tensor of finite "
            f"numbers: {expected}."
        )
    return tensor
