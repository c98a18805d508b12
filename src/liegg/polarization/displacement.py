"""How much the samples move: summed moments, squared lengths, and what rounding does to them."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.errors import NonFiniteError
from liegg.actions import Action

COARSE_FLOOR = 1e-6
"""Share of the displacement below which nothing can be told apart where its sum is taken in float32: ten times its rounding."""


def moments_of(
    action: Action,
    x: Float[Tensor, "b ..."],
    precomputed: Any,
    room: Float[Tensor, "..."],
    block: Int[Tensor, " b"],
    count: int = 1,
) -> tuple[Float[Tensor, "p s s"], Float[Tensor, "..."]]:
    """Moments of the blocks of one batch, and room in float64 to be used again for the next.

    Args:
        action: candidate generators.
        x: the batch.
        precomputed: what `Action.precompute` said of it.
        room: what the call before returned; anything empty for the first.
        block: block of every sample.
        count: number of blocks.
    """
    if precomputed is None:
        if len(room) < len(x):
            room = torch.empty_like(x, dtype=torch.float64)
        x = room[: len(x)].copy_(x)  # into memory that is there: new pages cost more than the sum
    if count == 1:
        return (
            action.moment(x) if precomputed is None else action.moment(x, precomputed=precomputed)
        )[None], room
    return action.moments(x, block, count, precomputed=precomputed), room


def roundings(
    action: Action, first: Float[Tensor, "b ..."], moment: Float[Tensor, "s s"], input_square: float
) -> tuple[float, float]:
    """What rounding alone may do: `Streamed.trivial_floor` and `Streamed.noise`.

    Args:
        action: candidate generators.
        first: the first batch.
        moment: summed moments of all samples.
        input_square: mean squared length of a sample.

    Raises:
        NonFiniteError: the moments overflow.
    """
    if not bool(torch.isfinite(moment).all()):
        raise NonFiniteError(
            "the squared motion of the data overflows: its numbers are too large for their precision. Divide them by their largest."
        )
    coarse = action.precompute(first[:1]) is not None and first.dtype != torch.float64
    precision = torch.promote_types(first.dtype, torch.float32) if coarse else torch.float64
    return COARSE_FLOOR if coarse else 0.0, action.rounding_motion(
        precision, input_square, tuple(first.shape[1:])
    )


def square_of(x: Float[Tensor, "b ..."]) -> Float[Tensor, ""]:
    """Sum of squares, in the batch's own precision (float32 at least): a size is all that is asked of it."""
    return (
        torch.linalg.vector_norm(x, dtype=torch.promote_types(x.dtype, torch.float32))
        .double()
        .square()
    )
