"""Check generators given by the user: a real tensor, of the right size, in the span of the candidates."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError

SPAN_TOLERANCE = 1e-6
"""Part of a matrix outside the span of the candidates, relative to its size, up to which it counts as inside."""


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


def check_side(matrices: Float[Tensor, "d n n"], action: Any) -> None:
    """Raise `ArgumentError` unless matrices have the side of the action's generators."""
    n = action.ambient
    if matrices.ndim != 3 or matrices.shape[1:] != (n, n):
        raise ArgumentError(
            f"generators have shape {tuple(matrices.shape)}; expected [d, {n}, {n}], matrices of "
            f"{action!r}."
        )


def check_inside(
    outside: Float[Tensor, " d"], sizes: Float[Tensor, " d"], action: Any, hint: str = ""
) -> None:
    """Raise `ArgumentError` if matrices do not lie in the span of an action's candidates.

    Args:
        outside: size of the part of each matrix outside the span.
        sizes: size of each matrix.
        action: the action.
        hint: what to give instead.
    """
    excess = outside - SPAN_TOLERANCE * sizes
    if bool((excess > 1e-300).any()):
        raise ArgumentError(
            f"generator {int(excess.argmax())} lies outside the {action.size}-dimensional space of "
            f"{action!r}.{hint}"
        )
