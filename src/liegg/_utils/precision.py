"""The rounding unit of the arithmetic that a model really runs in."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

TENSOR_FLOAT = 2.0**-10
"""Rounding unit of TensorFloat-32, in which GPUs multiply float32 numbers where they are allowed to."""

CONVOLUTIONS = (
    nn.Conv1d,
    nn.Conv2d,
    nn.Conv3d,
    nn.ConvTranspose1d,
    nn.ConvTranspose2d,
    nn.ConvTranspose3d,
    nn.RNNBase,
)
"""Modules that cuDNN computes, which rounds their products to TensorFloat-32 unless told otherwise."""


CUDNN: Any = torch.backends.cudnn
PLACES: tuple[Any, ...] = (torch.backends.cuda.matmul, CUDNN.conv, CUDNN.rnn)
"""Where torch keeps what a GPU may do to the products of float32 numbers."""


def convolves(*modules: nn.Module) -> bool:
    """Whether modules hold convolutions or recurrent layers."""
    return any(isinstance(part, CONVOLUTIONS) for module in modules for part in module.modules())


def rounding_unit(dtype: torch.dtype, device: torch.device, *, convolves: bool = False) -> float:
    """Spacing of numbers around 1 in a model's arithmetic: that of its dtype, or of TensorFloat-32 where a GPU falls back on it.

    Args:
        dtype: of the weights and samples.
        device: where the model runs.
        convolves: whether it has convolutions or recurrent layers, for which TensorFloat-32 is the default.

    Examples:
        >>> rounding_unit(torch.float32, torch.device("cpu"))
        1.1920928955078125e-07
    """
    own = torch.finfo(dtype).eps
    if dtype is not torch.float32 or device.type != "cuda":
        return own
    products, convolutions, _ = (place.fp32_precision == "tf32" for place in PLACES)
    return TENSOR_FLOAT if products or (convolves and convolutions) else own


def coarsest(*dtypes: torch.dtype | None) -> torch.dtype:
    """The floating point type with the fewest digits; None stands for one that is not known and does not count.

    >>> coarsest(torch.float32, None, torch.bfloat16, torch.float16)
    torch.bfloat16
    """
    return max(
        (dtype for dtype in dtypes if dtype is not None), key=lambda dtype: torch.finfo(dtype).eps
    )


@contextmanager
def watched() -> Iterator[Callable[[], tuple[torch.dtype, ...]]]:
    """Follow what is computed from tensors that require gradients: autocast and casts inside a model show here alone.

    Yields:
        What gives the floating point types seen so far.
    """
    seen: dict[torch.dtype, None] = {}
    with _Watch(seen):
        yield lambda: tuple(seen)


class _Watch(TorchFunctionMode):
    """Notes the floating point types of all results that require gradients."""

    def __init__(self, seen: dict[torch.dtype, None]):
        super().__init__()
        self.seen = seen

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for one in result if isinstance(result, tuple | list) else (result,):
            if isinstance(one, Tensor) and one.dtype.is_floating_point and one.requires_grad:
                self.seen[one.dtype] = None
        return result


@contextmanager
def full_products() -> Iterator[None]:
    """Let GPUs multiply float32 numbers in float32 while a block runs, so that differences mean something; then as before."""
    before = [place.fp32_precision for place in PLACES]
    try:
        for place in PLACES:
            place.fp32_precision = "ieee"
        yield
    finally:
        for place, precision in zip(PLACES, before, strict=True):
            place.fp32_precision = precision
