"""The protocol of models that are not PyTorch: evaluate, push tangents, pull cotangents, and the precision.

A new framework is one file with one subclass of `ForeignModel`; see `jax_function.py`.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch

from liegg._utils.diagnoses import Remark
from liegg._utils.errors import ModelError


class ForeignModel(ABC):
    """A function of batches of arrays, in whatever framework it is written.

    A subclass states `name`, `precision` and `evaluate`. With `differentiable` also `push` and `pull`;
    without, derivatives are finite differences of `evaluate`.

    Attributes:
        name: for messages and reports.
        precision: floating point type in which the model takes samples.
        differentiable: whether `push` and `pull` give derivatives up to rounding.
        notes: remarks on how the model is called.
        batched: whether `x` is a batch of samples, so that several batches can be joined.
        no_batch: what to do if the model takes no batch of samples.
    """

    name: str
    precision: torch.dtype
    differentiable: bool = False
    notes: tuple[Remark, ...] = ()
    batched: bool = True
    no_batch: str = (
        "If it takes one sample, pass lambda x: np.stack([model(sample) for sample in x])."
    )

    @abstractmethod
    def evaluate(self, x: np.ndarray) -> Any:
        """Outputs of a batch `[b, *x]`: an array `[b, ...]`, or a mapping or sequence of arrays."""

    def push(self, x: np.ndarray, tangents: np.ndarray) -> np.ndarray:
        """Derivatives of the output `[t, b, ...]` along tangents `[t, b, *x]` of a batch."""
        raise ModelError(f"{self.name} has no forward derivatives.")

    def pull(self, x: np.ndarray, cotangents: np.ndarray) -> np.ndarray:
        """Gradients `[t, b, *x]` of the output, combined with cotangents `[t, b, ...]`."""
        raise ModelError(f"{self.name} has no reverse derivatives.")
