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


WORD = 64
"""Signs per 64-bit number: its bits."""


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
    key = splitmix64(torch.tensor(seed, device=indices.device) * STRIDE)
    bits = torch.arange(8, device=indices.device)
    octets = (splitmix64(key + (indices + 1) * STRIDE)[..., None] >> 8 * bits) & 255
    table = (1.0 - 2.0 * ((torch.arange(256, device=indices.device)[:, None] >> bits) & 1)).to(
        dtype
    ) * size
    return table[octets].flatten(-2)


def splitmix64(state: Int[Tensor, "..."]) -> Int[Tensor, "..."]:
    """The mixing function of SplitMix64, in wrapping signed 64-bit arithmetic."""
    state = (state ^ _shift_right(state, 30)) * -4658895280553007687
    state = (state ^ _shift_right(state, 27)) * -7723592293110705685
    return state ^ _shift_right(state, 31)


def _shift_right(state: Int[Tensor, "..."], bits: int) -> Int[Tensor, "..."]:
    """Logical shift to the right, as for unsigned integers."""
    return (state >> bits) & ((1 << (64 - bits)) - 1)
