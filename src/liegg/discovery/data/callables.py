"""The user's functions of samples, called on the device of the data."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import torch
from torch import Tensor

from liegg.inputs.batches import Batches
from liegg.polarization.test_functions import TestFunctions


def device_of(batches: Batches) -> torch.device:
    """Device of the data."""
    if isinstance(batches.source, Tensor):
        return batches.source.device
    with closing(iter(batches)) as iterator:
        return next(iterator).device


def called_on(function: Any, device: torch.device) -> Any:
    """The function, called with samples on a device; what it returns is moved back to that of the samples.

    Args:
        function: of a batch of samples; families of test functions stay as they are.
        device: of the user's data.
    """
    if device.type == "cpu" or isinstance(function, TestFunctions):
        return function
    return _moved(function, device)


def _moved(function: Callable[[Tensor], Any], device: torch.device) -> Callable[[Tensor], Any]:
    def call(x: Tensor) -> Any:
        values = function(x.to(device))
        return values.to(x.device) if isinstance(values, Tensor) else values

    call.__name__ = getattr(function, "__name__", type(function).__name__)
    return call
