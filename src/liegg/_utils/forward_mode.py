"""Forward derivatives, without the warning that torch raises against itself on their first use, and of attention too."""

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.autograd.forward_ad as forward_ad
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode


def jvp(function: Callable[[Tensor], Tensor], at: Tensor, along: Tensor) -> tuple[Tensor, Tensor]:
    """Value of a function, and its derivative along a tangent.

    >>> jvp(torch.square, torch.tensor(3.0), torch.tensor(1.0))
    (tensor(9.), tensor(6.))
    """
    _warm_up()
    with FixedNorms():
        value, slope = torch.func.jvp(function, (at,), (along,))[:2]
    return value, slope


class FixedNorms(TorchFunctionMode):
    """Batch norms with fixed statistics derived as what they are, a product.

    torch derives them forwards by the general formula, a dozen operations as large as the tangents. Values are left to torch.
    """

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Take over the one function, where it is of a moving input and of nothing else that moves."""
        if func is not torch.nn.functional.batch_norm:
            return func(*args, **(kwargs or {}))
        given: dict[str, Any] = _SIGNATURE.bind(*args, **(kwargs or {})).arguments
        value, slope = forward_ad.unpack_dual(given["input"])
        mean, var = given["running_mean"], given["running_var"]
        if (
            slope is None
            or mean is None
            or var is None
            or given.get("training")
            or any(map(_moves, (given.get(name) for name in _NUMBERS)))
        ):
            return func(*args, **(kwargs or {}))
        exact = torch.promote_types(
            slope.dtype, torch.float32
        )  # of half precision the product alone is rounded
        scale = (var.to(exact) + given.get("eps", 1e-5)).rsqrt()
        scale = scale if given.get("weight") is None else scale * given["weight"].to(exact)
        moved = (slope * scale.reshape(-1, *[1] * (value.ndim - 2))).to(slope.dtype)
        return forward_ad.make_dual(func(**given | {"input": value}), moved)


_SIGNATURE = inspect.signature(torch.nn.functional.batch_norm)
_NUMBERS = ("running_mean", "running_var", "weight", "bias")


def _moves(value: Tensor | None) -> bool:
    """Whether a tensor has a tangent."""
    return value is not None and forward_ad.unpack_dual(value).tangent is not None


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
