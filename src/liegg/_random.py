"""The caller's random number generators, left as they were found."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


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
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would also queue a seed for a CUDA not yet started
        if cuda:
            torch.cuda.manual_seed_all(seed)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: NPY002
