"""Random numbers: restore the caller's generators; signs by seed and index."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Run a block under fixed seeds; restore Python's, NumPy's and torch's generators afterwards.

    Whatever the block draws (a shuffling loader, a random augmentation) is the same at every call.

    >>> before = torch.get_rng_state()
    >>> with seeded(0):
    ...     _ = torch.rand(3)
    >>> bool((torch.get_rng_state() == before).all())
    True
    """
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    cuda = torch.cuda.is_available() and torch.cuda.is_initialized()
    with torch.random.fork_rng(devices=range(torch.cuda.device_count()) if cuda else []):
        random.seed(seed)
        np.random.seed(seed % 2**32)  # noqa: NPY002
        # torch.manual_seed would also queue a seed for a CUDA context that does not exist yet.
        torch.default_generator.manual_seed(seed)
        if cuda:
            torch.cuda.manual_seed_all(seed)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: NPY002


STRIDE = -7046029254386353131
"""Step between the states of SplitMix64: 2⁶⁴ divided by the golden ratio, as a signed integer."""

FACTORS = (-4658895280553007687, -7723592293110705685)
"""Factors of the two products of SplitMix64, as signed integers."""

WORD = 64
"""Signs per 64-bit number: its bits."""

FEW_WORDS = 64
"""Words whose signs are taken bit by bit; more are looked up by octets."""


def rademacher(
    seed: int, indices: Int[Tensor, "..."], *, size: float = 1.0, dtype: torch.dtype = torch.float64
) -> Float[Tensor, "... 64"]:
    """Random signs that depend on a seed and an index alone: equal on every device, in any batch.

    Args:
        seed: seed of all signs.
        indices: indices; each gives 64 signs.
        size: factor of the signs.
        dtype: dtype of the result.

    >>> rademacher(3, torch.arange(2))[:, :6].tolist()
    [[1.0, 1.0, -1.0, -1.0, -1.0, 1.0], [1.0, -1.0, 1.0, 1.0, 1.0, -1.0]]
    """
    words = splitmix64((indices + 1) * STRIDE + _key(seed))[..., None]
    bits = torch.arange(WORD if words.numel() <= FEW_WORDS else 8, device=indices.device)
    if words.numel() <= FEW_WORDS:
        return (((words >> bits) & 1) * -2 + 1).to(dtype) * size
    octets = (words >> 8 * bits) & 255
    table = (1.0 - 2.0 * ((torch.arange(256, device=indices.device)[:, None] >> bits) & 1)).to(
        dtype
    ) * size
    return table[octets].flatten(-2)


def signs_like(x: Float[Tensor, "..."], *, seed: int) -> Float[Tensor, "..."]:
    """Random signs in the shape, in the dtype and on the device of a tensor; equal on every device.

    >>> signs_like(torch.zeros(2, 3), seed=3)
    tensor([[ 1.,  1., -1.],
            [-1., -1.,  1.]])
    """
    words = torch.arange(-(-x.numel() // WORD), device=x.device)
    return rademacher(seed, words, dtype=x.dtype).flatten()[: x.numel()].reshape(x.shape)


def _key(seed: int) -> int:
    """`splitmix64` of a seed times the stride, as a signed integer; in Python, which costs less than a tensor of one number."""
    state = (seed * STRIDE) % 2**64
    for shift, factor in zip((30, 27), FACTORS, strict=True):
        state = ((state ^ (state >> shift)) * factor) % 2**64
    state ^= state >> 31
    return state - 2**64 if state >= 2**63 else state


def splitmix64(state: Int[Tensor, "..."]) -> Int[Tensor, "..."]:
    """The mixing function of SplitMix64, in wrapping signed 64-bit arithmetic."""
    state = (state ^ _shift_right(state, 30)) * FACTORS[0]
    state = (state ^ _shift_right(state, 27)) * FACTORS[1]
    return state ^ _shift_right(state, 31)


def _shift_right(state: Int[Tensor, "..."], bits: int) -> Int[Tensor, "..."]:
    """Logical shift to the right, as for unsigned integers."""
    return (state >> bits) & ((1 << (64 - bits)) - 1)
