"""Forward derivatives, without the warning that torch raises against itself on their first use, and of attention too."""

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel


def jvp(function: Callable[[Tensor], Tensor], at: Tensor, along: Tensor) -> tuple[Tensor, Tensor]:
    """Value of a function, and its derivative along a tangent.

    >>> jvp(torch.square, torch.tensor(3.0), torch.tensor(1.0))
    (tensor(9.), tensor(6.))
    """
    _warm_up()
    value, slope = torch.func.jvp(function, (at,), (along,))[:2]
    return value, slope


@functools.cache
def _warm_up() -> None:
    """Let torch load its forward rules: torch 2.13 calls its own deprecated `torch.jit.script` there, fatal under `-W error`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.func.jvp(torch.sin, (torch.zeros(()),), (torch.ones(()),))


@contextmanager
def differentiable_attention() -> Iterator[None]:
    """Hold torch to the attention kernels that have forward derivatives, and put its choice back."""
    fast = torch.backends.mha.get_fastpath_enabled()
    try:
        torch.backends.mha.set_fastpath_enabled(False)
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
