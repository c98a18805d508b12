"""The rounding unit of the arithmetic that a model runs in."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

TENSOR_FLOAT = 2.0**-10
"""Rounding unit of TensorFloat-32, in which GPUs may multiply float32 numbers."""

CUDNN_MODULES = (
    nn.Conv1d,
    nn.Conv2d,
    nn.Conv3d,
    nn.ConvTranspose1d,
    nn.ConvTranspose2d,
    nn.ConvTranspose3d,
    nn.RNNBase,
)
"""Modules that cuDNN computes, by default with products in TensorFloat-32."""


CUDNN: Any = torch.backends.cudnn


class _AllowTF32:
    """The setting `fp32_precision` for versions of torch that have only `allow_tf32`."""

    def __init__(self, owner: Any):
        self.owner = owner

    @property
    def fp32_precision(self) -> str:
        """`"tf32"` or `"ieee"`."""
        return "tf32" if self.owner.allow_tf32 else "ieee"

    @fp32_precision.setter
    def fp32_precision(self, precision: str) -> None:
        self.owner.allow_tf32 = precision == "tf32"


SETTINGS: tuple[Any, ...] = (
    (torch.backends.cuda.matmul, CUDNN.conv, CUDNN.rnn)
    if hasattr(CUDNN, "conv")
    else (_AllowTF32(torch.backends.cuda.matmul), _AllowTF32(CUDNN), _AllowTF32(CUDNN))
)
"""Torch settings that control the precision of float32 products on a GPU."""


def convolves(*modules: nn.Module) -> bool:
    """Whether any of the modules contains a convolution or a recurrent layer."""
    return any(isinstance(part, CUDNN_MODULES) for module in modules for part in module.modules())


def rounding_unit(dtype: torch.dtype, device: torch.device, *, convolves: bool = False) -> float:
    """Spacing of numbers around 1: of the model's dtype, or of TensorFloat-32 on a GPU.

    Args:
        dtype: dtype of the weights and samples.
        device: device of the model.
        convolves: whether the model has convolutions or recurrent layers; TensorFloat-32 is their
            default.

    Examples:
        >>> rounding_unit(torch.float32, torch.device("cpu"))
        1.1920928955078125e-07
    """
    own = torch.finfo(dtype).eps
    if dtype is not torch.float32 or device.type != "cuda":
        return own
    products, convolutions, _ = (setting.fp32_precision == "tf32" for setting in SETTINGS)
    return TENSOR_FLOAT if products or (convolves and convolutions) else own


def coarsest(*dtypes: torch.dtype | None) -> torch.dtype:
    """The floating point type with the fewest digits; None (unknown) is ignored.

    >>> coarsest(torch.float32, None, torch.bfloat16, torch.float16)
    torch.bfloat16
    """
    return max(
        (dtype for dtype in dtypes if dtype is not None), key=lambda dtype: torch.finfo(dtype).eps
    )


@contextmanager
def record_dtypes() -> Iterator[Callable[[], tuple[torch.dtype, ...]]]:
    """Record the floating point types of everything computed from tensors that require gradients.

    This reveals autocast and casts inside a model.

    Yields:
        A function that returns the types seen so far.
    """
    seen: dict[torch.dtype, None] = {}
    with _DtypeRecorder(seen):
        yield lambda: tuple(seen)


class _DtypeRecorder(TorchFunctionMode):
    """Records the floating point types of all results that require gradients."""

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
def full_precision_products() -> Iterator[None]:
    """Multiply float32 numbers in float32 inside the block, so small differences are meaningful."""
    before = [setting.fp32_precision for setting in SETTINGS]
    try:
        for setting in SETTINGS:
            setting.fp32_precision = "ieee"
        yield
    finally:
        for setting, precision in zip(SETTINGS, before, strict=True):
            setting.fp32_precision = precision
