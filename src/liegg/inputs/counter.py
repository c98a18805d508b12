"""Counts how often a model is called, and on how many samples."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor


@dataclass
class Counter:
    """What a model has evaluated so far.

    Attributes:
        calls: calls of the model.
        samples: samples in these calls.
    """

    calls: int = 0
    samples: int = 0


@dataclass(frozen=True)
class Counted:
    """A function that counts its calls.

    Attributes:
        function: a function of a batch.
        counter: where they are counted.
    """

    function: Callable[[Tensor], Any]
    counter: Counter

    def __call__(self, x: Tensor) -> Any:
        """Call the function."""
        self.counter.calls += 1
        self.counter.samples += len(x)
        return self.function(x)
