"""Checks that several stages share: seeds, finite numbers, checksums."""

import hashlib
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError, NonFiniteError


def check_seed(seed: Any) -> None:
    """Raise `ArgumentError` unless a seed is a whole number that torch accepts."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise ArgumentError(f"seed={seed}: expected a whole number from 0 to 2^63 - 1.")


def first_nonfinite(values: Float[Tensor, "b ..."]) -> int | None:
    """Index of the first entry along axis 0 that holds NaN or infinity; None if all are finite.

    >>> (
    ...     first_nonfinite(torch.tensor([[1.0, 2.0], [torch.inf, 3.0]])),
    ...     first_nonfinite(torch.ones(3)),
    ... )
    (1, None)
    """
    finite = torch.isfinite(values).reshape(len(values), -1).all(1)
    return None if bool(finite.all()) else int(finite.to(torch.int8).argmin())


def checksum(*parts: str | Tensor) -> str:
    """SHA-256 of texts and of the shape, dtype and values of tensors, in order.

    >>> checksum("a", torch.zeros(2)) == checksum("a", torch.zeros(1, 2))
    False
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Tensor):
            digest.update(f"{tuple(part.shape)} {part.dtype}".encode())
            here = part.detach().cpu().contiguous().reshape(-1)
            digest.update(here.view(torch.uint8).numpy().data)
        else:
            digest.update(f"{len(part)} {part}".encode())
    return digest.hexdigest()


def check_finite(
    rows: Float[Tensor, "b k g"], y: Float[Tensor, "b c"], first: int, name: str
) -> None:
    """Raise `NonFiniteError` naming the first sample whose output or rows hold NaN or infinity."""
    if (bad := first_nonfinite(y)) is not None:
        raise NonFiniteError(
            f"{name} returned NaN or infinity for sample {first + bad}. Check it there, or remove "
            "the sample."
        )
    if (bad := first_nonfinite(rows)) is not None:
        raise NonFiniteError(
            f"the derivative of {name} at sample {first + bad} is NaN or infinite. Remove the "
            "sample, or make the model smooth there: a square root or a norm has no derivative "
            "at 0."
        )
