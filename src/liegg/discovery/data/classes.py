"""Labels of samples as classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from liegg._utils.errors import ArgumentError, one_line

MOST_CLASSES, BINS = 16, 4
"""Different labels, at most, and classes of equal size into which numbers are sorted."""


@dataclass(frozen=True, eq=False)
class Classes:
    """A class of every sample.

    Attributes:
        count: number of classes; 1 without labels.
        numbers: `[n]`, class of every sample; None without labels.
        binned: whether numbers were sorted into classes.
    """

    count: int = 1
    numbers: Int[Tensor, " n"] | None = None
    binned: bool = False

    def of(self, first: int, samples: int) -> Int[Tensor, " b"] | None:
        """Classes of a batch, by the position of its first sample; None without labels."""
        if self.numbers is None:
            return None
        if first + samples > len(self.numbers):
            raise ArgumentError(
                f"labels has {len(self.numbers)} entries, but the data has more samples; give one label per sample."
            )
        return self.numbers[first : first + samples]

    def check_count(self, samples: int) -> None:
        """Raise `ArgumentError` unless every sample has a label."""
        if self.numbers is not None and len(self.numbers) != samples:
            raise ArgumentError(
                f"labels has {len(self.numbers)} entries, but the data has {samples} samples; give one label per sample."
            )

    def in_words(self, functions: str) -> str:
        """The test functions in words, with the classes."""
        if self.numbers is None:
            return functions
        kind = "quarters of the labels" if self.binned else "labels"
        return f"{functions} times {self.count} {kind}"


def as_classes(labels: Tensor | np.ndarray | Sequence[Any] | None) -> Classes:
    """The user's labels: a few different ones, or numbers, which are sorted into classes of equal size."""
    if labels is None:
        return Classes()
    try:
        values = np.asarray(labels.detach().cpu() if isinstance(labels, Tensor) else labels)
        different, numbers = np.unique(values, return_inverse=True)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"labels cannot be compared ({one_line(error)}); expected numbers or texts, one per sample."
        ) from error
    if values.ndim != 1 or not len(values):
        raise ArgumentError(f"labels has the shape {values.shape}; expected one label per sample.")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ArgumentError("labels holds numbers that are not finite.")
    if len(different) <= MOST_CLASSES:
        return Classes(len(different), torch.from_numpy(numbers.reshape(-1)))
    if values.dtype.kind != "f":
        raise ArgumentError(
            f"labels holds {len(different)} different ones; at most {MOST_CLASSES} can be tested together. Merge some, or give "
            "numbers as floats, which are sorted into classes."
        )
    ends = np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1])
    return Classes(BINS, torch.from_numpy(np.searchsorted(ends, values)), binned=True)
