"""What a module does to a feature map, as far as its class tells: role, padding, stride and reach."""

import copy
from typing import Any, NamedTuple, cast

from torch import nn
from torch.nn.modules import activation, batchnorm, conv, instancenorm, padding, pooling

from liegg.results.layer_errors import Cause, Role

ADAPTIVE = (pooling._AdaptiveAvgPoolNd, pooling._AdaptiveMaxPoolNd)
POOLINGS = (pooling._MaxPoolNd, pooling._AvgPoolNd, pooling._LPPoolNd, *ADAPTIVE)
PADDINGS = (
    padding._ConstantPadNd,
    padding._ReflectionPadNd,
    padding._ReplicationPadNd,
    padding._CircularPadNd,
)
NORMALISATIONS = (
    batchnorm._NormBase,
    instancenorm._InstanceNorm,
    nn.GroupNorm,
    nn.LayerNorm,
    nn.LocalResponseNorm,
)


class Traits(NamedTuple):
    """What a module does to a feature map.

    Attributes:
        role: what it is, in words.
        cause: what its error is due to, away from the border.
        pads: whether it pads the map.
        step: pixels of its input per pixel of its output, per axis; empty if its class does not tell.
        reach: how far a pixel of its output sees to either side, in pixels of its input, per axis;
            empty for one pixel.
    """

    role: Role
    cause: Cause
    pads: bool = False
    step: tuple[float, ...] = ()
    reach: tuple[float, ...] = ()


def traits(module: nn.Module, dimension: int, *, leaf: bool = True) -> Traits:
    """The traits of a module; of a block of modules it is only known that it is one.

    Args:
        module: the module.
        dimension: number of axes of a map.
        leaf: whether it calls no other module.

    Examples:
        >>> traits(nn.Conv2d(1, 1, 3, stride=2, padding=1), 2)[:4]
        ('convolution', 'stride or pooling', True, (2.0, 2.0))
    """
    if isinstance(module, conv._ConvNd):
        return _windowed(module, dimension, "convolution")
    if isinstance(module, ADAPTIVE):
        return Traits("pooling", "stride or pooling")
    if isinstance(module, POOLINGS):
        return _windowed(module, dimension, "pooling")
    if isinstance(module, PADDINGS):
        widths = _per_axis(module.padding, 2 * dimension)
        return Traits("padding", "padding", step=(1.0,) * dimension if widths else ())
    if isinstance(module, NORMALISATIONS):
        return Traits("normalisation", "other")
    if type(module).__module__ == activation.__name__ and not isinstance(
        module, nn.MultiheadAttention
    ):
        return Traits("nonlinearity", "nonlinearity")
    if isinstance(module, nn.Linear | nn.Bilinear):
        return Traits("linear", "other")
    return Traits("other" if leaf else "block", "other")


def without_stride(module: nn.Module) -> nn.Module | None:
    """A strided convolution of torch's own with the same weights and stride 1; None for other modules."""
    if type(module) not in (nn.Conv1d, nn.Conv2d, nn.Conv3d):
        return None
    dense = cast(nn.Conv2d, copy.copy(module))
    if max(dense.stride) == 1:
        return None
    dense.stride = (1,) * len(dense.stride)
    return dense


def _windowed(module: Any, dimension: int, role: Role) -> Traits:
    """A convolution or a pooling with a window."""
    kernel = _per_axis(module.kernel_size, dimension)
    stride = _per_axis(module.stride, dimension)
    if not kernel or not stride:  # it slides along other axes
        return Traits(role, "other")
    dense = role == "convolution" and max(stride) == 1
    cause: Cause = "filters" if dense else "stride or pooling"
    dilation = _per_axis(getattr(module, "dilation", 1), dimension)
    reach = tuple(d * (k - 1) / 2 for d, k in zip(dilation, kernel, strict=True))
    around = getattr(module, "padding", 0)
    if isinstance(around, str):
        around = around == "same" and max(kernel) > 1
    pads = any(_per_axis(around, dimension)) or bool(getattr(module, "ceil_mode", False))
    if isinstance(module, conv._ConvTransposeNd):
        return Traits(role, cause, True, tuple(1 / s for s in stride), reach)
    return Traits(role, cause, pads, stride, reach)


def _per_axis(value: Any, axes: int) -> tuple[float, ...]:
    """One number per axis; empty if there are others."""
    values = tuple(value) if isinstance(value, tuple | list) else (value,) * axes
    return tuple(map(float, values)) if len(values) == axes else ()
