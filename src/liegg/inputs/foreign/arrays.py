"""Functions of numpy arrays: derivatives are finite differences."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import torch

from liegg._utils.arguments import checked
from liegg._utils.errors import ArgumentError
from liegg.inputs.foreign.protocol import ForeignModel


class ArrayFunction(ForeignModel):
    """A function from batches of arrays to batches of arrays."""

    def __init__(
        self,
        function: Callable[[np.ndarray], Any],
        name: str,
        precision: torch.dtype = torch.float64,
    ):
        self.function, self.name, self.precision = function, name, precision

    def evaluate(self, x: np.ndarray) -> Any:
        """Outputs of a batch."""
        return self.function(x)


@checked()
def from_arrays(
    function: Any, *, dtype: Literal["float32", "float64"] = "float64", name: str | None = None
) -> ForeignModel:
    """A function of numpy arrays as a model; its derivatives are finite differences.

    `liegg.discover` takes such functions as they are. This is for those that need float32, or a name.

    Args:
        function: takes a batch `[b, *x]` and returns an array `[b, ...]`, or a mapping of arrays.
        dtype: floating point type in which it takes samples.
        name: for messages and reports; by default that of the function.

    Examples:
        >>> model = from_arrays(lambda x: np.square(x).sum(1), name="square")
        >>> model.name, model.evaluate(np.ones((2, 3)))
        ('square', array([3., 3.]))
    """
    if not callable(function):
        raise ArgumentError(
            f"function is a {type(function).__name__}; expected a function of a batch, for example "
            "model.predict."
        )
    title = name or getattr(function, "__name__", type(function).__name__)
    return ArrayFunction(function, title, getattr(torch, dtype))
