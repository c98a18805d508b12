"""Whether a model is a deterministic function of one sample beyond the three samples on which it is probed."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from liegg._utils.device import call_within_memory, layout, to_device
from liegg._utils.errors import BatchMixingError, RandomModelError
from liegg._utils.precision import coarsest, full_precision_products, rounding_unit
from liegg.inputs.batches import FEWEST_SPACED, SPACED_NUMBERS, affordable
from liegg.inputs.model import Model
from liegg.inputs.probe import (
    LARGEST_CHANGE,
    MIXING_ADVICE,
    MIXING_NOISES,
    MIXING_UNITS,
    NOISY_MIXING,
    RANDOM_ADVICE,
    RANDOM_UNITS,
)

LENIENCE = 10
"""How many times more than in the probe outputs may differ: many samples are drawn, not three."""

MOST_THOROUGH = 2048
"""Random samples that a thorough check calls again; fewer where samples or outputs are large, see `affordable`."""

BRIEF_SHARE, MOST_BRIEF = 64, 16
"""A brief check calls one of 64 samples again, at least one and at most 16."""


@dataclass(frozen=True)
class SpotCheck:
    """Calls random samples of every piece of the data again, in other groups.

    A model that mixes samples gives a sample another output among other samples, and a random model does at every call.
    Pieces 0, 1, 2, 4, 8, ... are checked thoroughly: one sample is called alone, and the others in two halves. So
    every sample of a small data set is checked, and the cost grows with the logarithm of the number of pieces.
    Of the other pieces a few samples are called together.

    Attributes:
        model: the probed model.
        groups: positions of the samples that are called together, for each call.
    """

    model: Model
    groups: tuple[Int[Tensor, " _"], ...]

    def agrees(self, x: Float[Tensor, "b ..."], y: Float[Tensor, "b c"]) -> Bool[Tensor, ""]:
        """Whether the samples have the same outputs; on the device, which is not waited for.

        Args:
            x: all samples.
            y: their outputs, computed together.
        """
        dtype = coarsest(x.dtype, self.model.arithmetic)
        unit = rounding_unit(dtype, x.device, convolves=self.model.convolves)
        places = to_device(torch.cat(self.groups), x.device)
        change = (self._again(x) - y[places]).abs().max()
        return change <= self._allowed(MIXING_UNITS * unit) * y.abs().max()

    def confirm(self, x: Float[Tensor, "b ..."], first: int | None) -> None:
        """Call the model once more, in full precision, to see what is wrong; nothing if it was rounding.

        Args:
            x: samples of which one had another output in another group.
            first: position of the first sample in the data; None if the samples are drawn from it.

        Raises:
            RandomModelError: two calls differ.
            BatchMixingError: a sample's output depends on the other samples.
        """

        def named(change: Tensor) -> str:
            return "a sample" if first is None else f"sample {first + int(places[change.argmax()])}"

        name = self.model.name
        eps = torch.finfo(coarsest(x.dtype, self.model.arithmetic)).eps
        places = torch.cat(self.groups).to(x.device)
        with torch.no_grad(), full_precision_products():
            y, again = self.model(x), self.model(x)
            grouped, grouped_again = self._again(x), self._again(x)
        scale = float(y.abs().max()) + torch.finfo(y.dtype).tiny
        changes = (_changes(again, y)[places], _changes(grouped_again, grouped))
        random = torch.stack(changes).amax(0) / scale
        if float(random.max()) > self._allowed(RANDOM_UNITS * eps):
            raise RandomModelError(
                f"two calls of {name} differ by {float(random.max()):.1e} of the output's size, at {named(random)} "
                "and its batch though not at the samples that were tried first: the model draws random numbers. "
                f"{RANDOM_ADVICE}"
            )
        mixing = _changes(grouped, y[places]) / scale
        if float(mixing.max()) > self._allowed(MIXING_UNITS * eps):
            raise BatchMixingError(
                f"the output of {name} for {named(mixing)} changes by {float(mixing.max()):.1e} of its size when other "
                "samples of the batch are left out, though not for the samples that were tried first: it mixes "
                f"samples (batch statistics, or an operation along axis 0). {MIXING_ADVICE}"
            )

    def _allowed(self, rounding: float) -> float:
        """Change of the output, relative to its size, that is no error.

        Args:
            rounding: change that rounding explains in the probe.
        """
        noise = max(MIXING_NOISES * self.model.noise, NOISY_MIXING if self.model.finite else 0.0)
        return min(LENIENCE * max(rounding, noise), LARGEST_CHANGE)

    def _again(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "k c"]:
        """Outputs of the samples of all groups, each group in a call of its own."""
        with torch.no_grad():
            groups = [x[to_device(group, x.device)] for group in self.groups]
            return torch.cat([self.model(one.to(memory_format=layout(x))) for one in groups])


def thorough(model: Model, x: Float[Tensor, "b ..."], first: int = 0) -> SpotCheck:
    """A check that calls one random sample alone and the others in two halves, as many as are affordable.

    Args:
        model: the probed model.
        x: the samples.
        first: position of the first sample in the data, which determines the draw.
    """
    drawn = _drawn(len(x), first)[: _count(model, x)]
    groups = (drawn[:1], *drawn[1:].tensor_split(2))
    return SpotCheck(model, tuple(group for group in groups if len(group)))


def brief(model: Model, x: Float[Tensor, "b ..."], first: int = 0) -> SpotCheck:
    """A check that calls a few random samples together.

    Args:
        model: the probed model.
        x: the samples.
        first: position of the first sample in the data, which determines the draw.
    """
    count = min(MOST_BRIEF, max(1, len(x) // BRIEF_SHARE))
    return SpotCheck(model, (_drawn(len(x), first)[:count],))


def of_piece(model: Model, x: Float[Tensor, "b ..."], first: int, number: int) -> SpotCheck:
    """The check of a piece of the data: thorough for pieces 0, 1, 2, 4, 8, ..., else brief.

    Args:
        model: the probed model.
        x: the samples.
        first: position of the first sample in the data.
        number: of the piece, from 0.
    """
    return (thorough if number & (number - 1) == 0 else brief)(model, x, first)


def check_samples(model: Model, x: Float[Tensor, "b ..."], first: int | None = 0) -> None:
    """Check samples thoroughly, for questions that are answered without a pass over the data.

    Args:
        model: the probed model.
        x: the samples.
        first: position of the first sample in the data; None if the samples are drawn from it.

    Raises:
        RandomModelError: two calls differ.
        BatchMixingError: a sample's output depends on the other samples.
    """

    def compare(x: Tensor) -> None:
        check = thorough(model, x)
        with torch.no_grad():
            y = model(x)
        if not bool(check.agrees(x, y)) and bool(torch.isfinite(y).all()):
            check.confirm(x, first)

    call_within_memory(compare, x[: _count(model, x)])


def _count(model: Model, x: Float[Tensor, "b ..."]) -> int:
    """How many samples a thorough check calls again."""
    outputs = max(FEWEST_SPACED, SPACED_NUMBERS // max(1, math.prod(model.output_shape)))
    return min(affordable(x, MOST_THOROUGH), outputs)


def _drawn(count: int, first: int) -> Int[Tensor, " b"]:
    """Positions of samples in random order, the same at every call."""
    return torch.randperm(count, generator=torch.Generator().manual_seed(first))


def _changes(one: Float[Tensor, "k c"], other: Float[Tensor, "k c"]) -> Float[Tensor, " k"]:
    """Largest difference of the outputs of every sample."""
    return (one - other).abs().amax(1)
