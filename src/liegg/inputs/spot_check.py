"""Whether a model is a deterministic function of one sample beyond the batch on which it is probed."""

import random
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg._utils.errors import BatchMixingError, RandomModelError
from liegg._utils.precision import coarsest, full_precision_products, rounding_unit
from liegg.inputs.model import Model
from liegg.inputs.probe import (
    LARGEST_CHANGE,
    MIXING_ADVICE,
    MIXING_NOISES,
    MIXING_UNITS,
    RANDOM_ADVICE,
    RANDOM_UNITS,
)

LENIENCE = 10
"""How many times more than in the probe outputs may differ: many samples are drawn, not three."""


@dataclass
class SpotCheck:
    """Compares one random sample of batches 1, 2, 4, 8, ... with the same sample alone.

    The cost grows with the logarithm of the number of batches. A pass that does not begin with the
    first sample checks its batch 0 too, because the model is not probed on that one.

    Attributes:
        model: the probed model.
        pieces: batches, or pieces of split batches, that are done.
    """

    model: Model
    pieces: int = 0

    def due(self, first: int) -> bool:
        """Whether the next batch, or piece of one, is to be checked.

        Args:
            first: position of its first sample.
        """
        return first > 0 and self.pieces & (self.pieces - 1) == 0

    def agrees(
        self, x: Float[Tensor, "b ..."], y: Float[Tensor, "b c"], first: int
    ) -> Bool[Tensor, ""]:
        """Whether a sample has the same output alone; on the device, which is not waited for.

        Args:
            x: samples.
            y: their outputs, computed together.
            first: position of the first sample, which determines the one that is drawn.
        """
        place = _draw(len(x), first)
        dtype = coarsest(x.dtype, self.model.arithmetic)
        unit = rounding_unit(dtype, x.device, convolves=self.model.convolves)
        change = (_alone(self.model, x, place) - y[place]).abs().max()
        least = max(MIXING_UNITS * unit, MIXING_NOISES * self.model.noise)
        return change <= min(LENIENCE * least, LARGEST_CHANGE) * y.abs().max()

    def confirm(self, x: Float[Tensor, "b ..."], first: int) -> None:
        """Call the model again, in full precision, to see what is wrong; nothing if it was rounding.

        Args:
            x: samples of which one had another output alone.
            first: position of the first sample.

        Raises:
            RandomModelError: two calls differ.
            BatchMixingError: the sample's output depends on the other samples.
        """
        place, name = _draw(len(x), first), self.model.name
        eps = torch.finfo(coarsest(x.dtype, self.model.arithmetic)).eps
        with torch.no_grad(), full_precision_products():
            y, again = self.model(x), self.model(x)
            alone, alone_again = (_alone(self.model, x, place) for _ in range(2))
        scale = float(y.abs().max()) + torch.finfo(y.dtype).tiny
        change = max(_distance(again, y), _distance(alone_again, alone)) / scale
        noise = MIXING_NOISES * self.model.noise
        if change > min(LENIENCE * max(RANDOM_UNITS * eps, noise), LARGEST_CHANGE):
            raise RandomModelError(
                f"two calls of {name} differ by {change:.1e} of the output's size, at sample "
                f"{first + place} and its batch though not at the first samples: the model draws "
                f"random numbers. {RANDOM_ADVICE}"
            )
        if (change := _distance(alone, y[place]) / scale) > min(
            LENIENCE * max(MIXING_UNITS * eps, noise), LARGEST_CHANGE
        ):
            raise BatchMixingError(
                f"the output of {name} for sample {first + place} changes by {change:.1e} of its "
                "size when the other samples of the batch are left out, though not for the first "
                f"samples: it mixes samples (batch statistics, or an operation along axis 0). "
                f"{MIXING_ADVICE}"
            )


def _draw(count: int, first: int) -> int:
    """A random place among `count` samples, the same at every call."""
    return random.Random(first).randrange(count)


def _alone(model: Model, x: Float[Tensor, "b ..."], place: int) -> Float[Tensor, " c"]:
    """Output of one sample without the others."""
    with torch.no_grad():
        return model(x[place : place + 1])[0]


def _distance(one: Tensor, other: Tensor) -> float:
    """Largest difference of two outputs."""
    return float((one - other).abs().max())
