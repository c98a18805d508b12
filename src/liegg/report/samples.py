"""A few samples, checked and laid out as they are drawn."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions import Action
from liegg.results.run_folder import STORED_SAMPLES


def checked_samples(action: Action, samples: Tensor | np.ndarray) -> Float[Tensor, "k ..."]:
    """The first samples as float64 on the CPU.

    Args:
        action: what moves them.
        samples: `[k, *x]`.

    Raises:
        ArgumentError: they are not finite real numbers.
        ShapeError: the action does not move samples of this shape.
    """
    tensor = torch.as_tensor(samples)
    first = tensor[:STORED_SAMPLES]
    if first.ndim < 2 or not len(first) or first.is_complex() or not bool(first.isfinite().all()):
        raise ArgumentError(
            f"samples have shape {tuple(tensor.shape)} and type {tensor.dtype}; expected a few inputs "
            "of the model, [k, *x], of finite numbers, for example samples=data[:8]."
        )
    action.check(tuple(first.shape[1:]))
    return first.detach().to("cpu", torch.float64)


def as_images(signals: Float[Tensor, "k c h w"]) -> tuple[Float[Tensor, "k e h w"], str]:
    """Images with 1 or 3 channels, and a note where channels were averaged."""
    channels = signals.shape[1]
    if channels in (1, 3):
        return signals, ""
    return signals.mean(1, keepdim=True), f"mean of {channels} channels"


def value_range(values: Float[Tensor, "..."]) -> tuple[float, float]:
    """Smallest and largest value, and a range of 1 where they are equal."""
    low, high = float(values.min()), float(values.max())
    return low, high if high > low else low + 1.0
