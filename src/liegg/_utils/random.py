"""The caller's random number generators, left as they were found."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Run a block under fixed seeds and put Python's, NumPy's and torch's global generators back afterwards.

    What the block draws (a shuffling loader, a random augmentation) is then the same at every call.

    >>> before = torch.get_rng_state()
    >>> with seeded(0):
    ...     _ = torch.rand(3)
    >>> bool((torch.get_rng_state() == before).all())
    True
    """
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002 - the caller's legacy state is what is kept
    cuda = torch.cuda.is_available() and torch.cuda.is_initialized()
    with torch.random.fork_rng(devices=range(torch.cuda.device_count()) if cuda else []):
        random.seed(seed)
        np.random.seed(seed % 2**32)  # noqa: NPY002
        torch.default_generator.manual_seed(
            seed
        )  # torch.manual_seed would also queue a seed for a CUDA not yet started
        if cuda:
            torch.cuda.manual_seed_all(seed)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: NPY002


STRIDE = -7046029254386353131
"""2⁶⁴ divided by the golden ratio, the step between the states of SplitMix64, as a signed number."""


WORD = 64
"""Signs that one number gives: its bits."""


def coins(
    seed: int, places: Int[Tensor, "..."], *, size: float = 1.0, dtype: torch.dtype = torch.float64
) -> Float[Tensor, "... 64"]:
    """Random signs, 64 to a number, that depend on a seed and that number alone: the same on every device, in any batch.

    Args:
        seed: of all of them.
        places: the numbers.
        size: what the signs are multiplied by.
        dtype: of the result.

    >>> coins(3, torch.arange(2))[:, :6].tolist()
    [[1.0, 1.0, -1.0, -1.0, -1.0, 1.0], [1.0, -1.0, 1.0, 1.0, 1.0, -1.0]]
    """
    key = mixed(torch.tensor(seed, device=places.device) * STRIDE)
    bits = torch.arange(8, device=places.device)
    octets = (mixed(key + (places + 1) * STRIDE)[..., None] >> 8 * bits) & 255
    table = (1.0 - 2.0 * ((torch.arange(256, device=places.device)[:, None] >> bits) & 1)).to(
        dtype
    ) * size
    return table[octets].flatten(-2)


def mixed(state: Int[Tensor, "..."]) -> Int[Tensor, "..."]:
    """SplitMix64's mixing of 64 bits, in wrapping signed arithmetic."""
    state = (state ^ _shifted(state, 30)) * -4658895280553007687
    state = (state ^ _shifted(state, 27)) * -7723592293110705685
    return state ^ _shifted(state, 31)


def _shifted(state: Int[Tensor, "..."], bits: int) -> Int[Tensor, "..."]:
    """Shift to the right that fills with zeros, as for unsigned numbers."""
    return (state >> bits) & ((1 << (64 - bits)) - 1)
