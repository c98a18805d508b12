"""Central differences of a model between two places of each sample."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.device import layout
from liegg.inputs.model import Model

JOINED_NUMBERS = 2**23
"""Most numbers in the places of both sides for which they are evaluated in one call: 32 MB in float32."""


def half_difference(
    model: Model,
    x: Float[Tensor, "b ..."],
    ahead: Float[Tensor, "n ..."],
    behind: Float[Tensor, "n ..."],
) -> Float[Tensor, "n c"]:
    """Half the change of the outputs between two places, in float64; one call of the model, two for many places.

    Args:
        model: the model.
        x: samples, whose type and memory format the places get.
        ahead: places ahead of samples.
        behind: places behind them.
    """
    sides = (ahead, behind)
    if 2 * ahead.numel() <= JOINED_NUMBERS:
        sides = (torch.cat(sides),)
    with torch.no_grad():
        found = [model(side.to(x.dtype, memory_format=layout(x))).double() for side in sides]
    one, other = torch.cat(found).split(len(ahead))
    return (one - other) / 2


def along(
    model: Model, x: Float[Tensor, "b ..."], way: Float[Tensor, "b ..."], length: float
) -> tuple[Float[Tensor, "b c"], Float[Tensor, "b c"]]:
    """Outputs, and their difference quotients along directions, with steps of a length.

    Args:
        model: the model.
        x: samples.
        way: a direction for each of them, of any length; zeros give zeros.
        length: how far to step to each side.
    """
    size = torch.linalg.vector_norm(way.double().flatten(1), dim=1)
    steps = length / size.clamp_min(torch.finfo(torch.float64).tiny)
    offset = steps.reshape(-1, *[1] * (x.ndim - 1)) * way.double()
    with torch.no_grad():
        y = model(x).double()
    return y, half_difference(model, x, x + offset, x - offset) * (size / length)[:, None]
