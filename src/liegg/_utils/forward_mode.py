"""Forward-mode derivatives: without torch's own warning on first use, and through attention."""

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from liegg._utils.forward_rules import ForwardRules


def jvp(function: Callable[[Tensor], Tensor], at: Tensor, along: Tensor) -> tuple[Tensor, Tensor]:
    """Value of a function, and its derivative along a tangent.

    >>> jvp(torch.square, torch.tensor(3.0), torch.tensor(1.0))
    (tensor(9.), tensor(6.))
    """
    _warm_up()
    with ForwardRules():
        value, slope = torch.func.jvp(function, (at,), (along,))[:2]
    return value, slope


@functools.cache
def _warm_up() -> None:
    """Load torch's forward rules; torch 2.13 uses its own deprecated `torch.jit.script` there.

    Under `-W error` that warning would be fatal.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)  # torch 2.15 on
        torch.func.jvp(torch.sin, (torch.zeros(()),), (torch.ones(()),))


@contextmanager
def differentiable_attention() -> Iterator[None]:
    """Use only attention kernels with forward derivatives; restore the setting afterwards."""
    fast = torch.backends.mha.get_fastpath_enabled()
    try:
        torch.backends.mha.set_fastpath_enabled(False)
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
