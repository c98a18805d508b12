"""The samples themselves: how far they move, with the effect of rounding, and how many differ."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.device import to_device
from liegg._utils.errors import NonFiniteError
from liegg.actions import Action

COARSE_FLOOR = 1e-6
"""Fraction of the displacement below which a float32 sum resolves nothing."""


EQUAL_PROJECTIONS = 1e-9
"""Relative difference up to which two projections belong to equal samples."""

INPUT_CENTRE_SAMPLES = 64
"""Samples whose mean is the centre of sums of squared distances."""


class InputSums(NamedTuple):
    """Sums over the samples themselves, whatever the model.

    Attributes:
        moments: summed moments of each block, from which the action computes the displacement.
        square: summed squared lengths of the samples.
        samples: number of samples.
        centre: mean of the first samples, from which distances are measured; not additive.
        offset: sum of the samples less the centre.
        distance: summed squared distances from the centre.
    """

    moments: Float[Tensor, "p s s"]
    square: Float[Tensor, ""]
    samples: int
    centre: Float[Tensor, "..."]
    offset: Float[Tensor, "..."]
    distance: Float[Tensor, ""]


@dataclass(eq=False)
class Workspace:
    """What is reused from batch to batch.

    Attributes:
        action: candidate generators.
        precomputed: result of `Action.precompute` for the current batch.
        buffer: memory in float64; new pages would cost more than the sum.
    """

    action: Action
    precomputed: Any = None
    buffer: Float[Tensor, "..."] = field(default_factory=lambda: torch.empty(0))

    def prepare(self, x: Float[Tensor, "b ..."]) -> None:
        """Precompute what the action needs for a batch."""
        self.precomputed = self.action.precompute(x, self.precomputed)

    def clear(self) -> None:
        """Free the memory."""
        self.precomputed, self.buffer = None, torch.empty(0)

    def as_double(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """The batch in float64, in the buffer."""
        if len(self.buffer) < len(x):
            self.buffer = torch.empty_like(x, dtype=torch.float64)
        return self.buffer[: len(x)].copy_(x)


def init(action: Action, first: Float[Tensor, "b ..."], blocks: int = 1) -> InputSums:
    """Sums over no samples.

    Args:
        action: candidate generators.
        first: a batch of the data, for shapes and device.
        blocks: number of blocks of samples.
    """
    moment = action.moment(first[:1].double())
    zeros = moment.new_zeros(blocks, *moment.shape, dtype=torch.float64)
    zero = zeros.new_zeros(())
    precision = torch.promote_types(first.dtype, torch.float32)
    centre = _centre(action, first[:INPUT_CENTRE_SAMPLES].detach(), precision)
    return InputSums(zeros, zero, 0, centre, torch.zeros_like(centre, dtype=torch.float64), zero)


def _centre(
    action: Action, x: Float[Tensor, "b ..."], precision: torch.dtype
) -> Float[Tensor, "..."]:
    """Mean of samples, in the numbers that are moved; zero elsewhere."""
    movable = action.movable(x)
    if movable is None:
        return x.mean(0, dtype=precision)
    return torch.where(movable, x, 0.0).to(precision).sum(0) / movable.sum(0).clamp_min(1)


def update(
    state: InputSums,
    x: Float[Tensor, "b ..."],
    workspace: Workspace,
    block: Int[Tensor, " b"] | None = None,
) -> InputSums:
    """Add the samples of a batch.

    Args:
        state: sums over the samples so far.
        x: the batch, for which `workspace.prepare` was called.
        workspace: the action, and memory to reuse.
        block: block of every sample; None if there is one block.
    """
    action, precomputed = workspace.action, workspace.precomputed
    samples = workspace.as_double(x) if precomputed is None else x
    known: dict[str, Any] = {} if precomputed is None else {"precomputed": precomputed}
    if block is not None and len(state.moments) > 1:
        moments = action.moments(samples, block, len(state.moments), **known)
    else:
        moments = action.moment(samples, **known)[None]
    # A size is all that is needed of the square, so the batch's own precision is enough.
    precision = torch.promote_types(x.dtype, torch.float32)
    movable = action.movable(x)
    own = x if movable is None else torch.where(movable, x, 0.0)  # context does not count
    square = torch.linalg.vector_norm(own, dtype=precision).double().square()
    apart = own.detach().to(precision) - state.centre
    apart = apart if movable is None else torch.where(movable, apart, 0.0)
    return state._replace(
        moments=state.moments + moments,
        square=state.square + square,
        samples=state.samples + len(x),
        offset=state.offset + apart.sum(0),
        distance=state.distance + torch.linalg.vector_norm(apart).double().square(),
    )


def merge(one: InputSums, other: InputSums) -> InputSums:
    """Sums over the samples of both, which must have started from the same `init`."""
    return InputSums(
        one.moments + other.moments,
        one.square + other.square,
        one.samples + other.samples,
        one.centre,
        one.offset + other.offset,
        one.distance + other.distance,
    )


def spread(state: InputSums) -> float:
    """Mean squared distance of the samples from their mean."""
    offset = float((state.offset / state.samples).square().sum())
    return max(float(state.distance) / state.samples - offset, 0.0)


def finalise(
    state: InputSums, action: Action, first: Float[Tensor, "b ..."]
) -> tuple[Float[Tensor, "s s"], float, float]:
    """The moment of all samples on the CPU, and what rounding alone may contribute.

    Args:
        state: sums over all samples.
        action: candidate generators.
        first: the first batch.

    Returns:
        The moment, `PassSums.trivial_floor` and `PassSums.noise`.

    Raises:
        NonFiniteError: the moments overflow.
    """
    moment = state.moments.sum(0).cpu()
    if not bool(torch.isfinite(moment).all()):
        raise NonFiniteError(
            "the squared motion of the data overflows: its numbers are too large for their "
            "precision. Divide them by their largest."
        )
    coarse = action.precompute(first[:1]) is not None and first.dtype != torch.float64
    precision = torch.promote_types(first.dtype, torch.float32) if coarse else torch.float64
    mean_square = float(state.square) / state.samples
    noise = action.rounding_motion(precision, mean_square, tuple(first.shape[1:]))
    return moment, COARSE_FLOOR if coarse else 0.0, noise


def add_samples(
    projections: Float[Tensor, " k"], x: Float[Tensor, "b ..."], enough: int
) -> Float[Tensor, " j"]:
    """Add samples to those that differ: copies of a few samples are not more evidence.

    Samples are compared by their projections on one random direction. A GPU is waited for until
    there are enough.

    Args:
        projections: sorted projections of the samples so far, one for each that differs.
        x: a batch.
        enough: number of distinct samples from which on no more are looked at.
    """
    if len(projections) >= enough:
        return projections
    flat = x.detach().reshape(len(x), -1)
    direction = torch.randn(
        flat.shape[1], generator=torch.Generator().manual_seed(0), dtype=torch.float64
    )
    more = (flat.double() * to_device(direction, x.device)).sum(1).cpu()
    return distinct(torch.cat([projections, more]))


def distinct(projections: Float[Tensor, " k"]) -> Float[Tensor, " j"]:
    """Sorted projections, one for each group of equal ones."""
    if not len(projections):
        return projections
    values = projections.sort().values
    step = values.diff() > EQUAL_PROJECTIONS * values.abs().max()
    return values[torch.cat([torch.ones(1, dtype=torch.bool), step])]
