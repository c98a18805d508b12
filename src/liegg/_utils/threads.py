"""Threads of torch: tiny matrices are slower on several threads, and far slower if other processes need the cores.

Every parallel operation ends when its last thread does. On a busy machine a thread waits for a core while the others spin, so
thousands of tiny operations take as many time slices of the scheduler instead of microseconds.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

SMALL_COLUMNS = 512
"""Columns up to which matrices are factorised on one thread."""

SMALL_PRODUCTS = 2**26
"""Products up to which a sum of products is formed on one thread: about ten milliseconds."""

TINY_PRODUCTS = 2**24
"""Products of samples (of images: pixels) and weights up to which a model runs on one thread: a few milliseconds."""


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Run a block on a number of threads; restore the caller's number afterwards.

    >>> before = torch.get_num_threads()
    >>> with threads(1):
    ...     torch.get_num_threads()
    1
    >>> torch.get_num_threads() == before
    True
    """
    before = torch.get_num_threads()
    if count == before:
        yield
        return
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def one_if(small: bool) -> int:
    """One thread for a small problem, otherwise the caller's number."""
    return 1 if small else torch.get_num_threads()
