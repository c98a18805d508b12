"""Forward-mode derivatives: without torch's own warning on first use, and through attention."""

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
    """Differentiate batch norms with fixed statistics as the elementwise product that they are.

    torch uses the general formula in forward mode: a dozen operations as large as the tangents.
    Values are left to torch.
    """

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Replace `batch_norm` where only its input has a tangent."""
        if func is not torch.nn.functional.batch_norm:
            return func(*args, **(kwargs or {}))
        arguments: dict[str, Any] = _SIGNATURE.bind(*args, **(kwargs or {})).arguments
        value, slope = forward_ad.unpack_dual(arguments["input"])
        mean, var = arguments["running_mean"], arguments["running_var"]
        if (
            slope is None
            or mean is None
            or var is None
            or arguments.get("training")
            or any(
                forward_ad.unpack_dual(arguments[name]).tangent is not None
                for name in ("running_mean", "running_var", "weight", "bias")
                if arguments.get(name) is not None
            )
        ):
            return func(*args, **(kwargs or {}))
        # In half precision only the product is rounded.
        exact = torch.promote_types(slope.dtype, torch.float32)
        scale = (var.to(exact) + arguments.get("eps", 1e-5)).rsqrt()
        scale = scale if arguments.get("weight") is None else scale * arguments["weight"].to(exact)
        tangent = (slope * scale.reshape(-1, *[1] * (value.ndim - 2))).to(slope.dtype)
        return forward_ad.make_dual(func(**arguments | {"input": value}), tangent)


_SIGNATURE = inspect.signature(torch.nn.functional.batch_norm)


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
