"""Difference quotients of a model along given ways, for models without derivatives."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.inputs.model import Model


def along(
    model: Model, x: Float[Tensor, "b ..."], way: Float[Tensor, "b ..."], length: float
) -> tuple[Float[Tensor, "b c"], Float[Tensor, "b c"]]:
    """Outputs, and their difference quotients along ways, with steps of a length.

    Args:
        model: the model.
        x: samples.
        way: a direction for each of them, of any length; zeros give zeros.
        length: how far to step to each side.
    """
    size = torch.linalg.vector_norm(way.double().flatten(1), dim=1)
    step = (length / size.clamp_min(torch.finfo(torch.float64).tiny)).reshape(
        -1, *[1] * (x.ndim - 1)
    )
    with torch.no_grad():
        y = model(x).double()
        ends = [
            model((x.double() + sign * step * way.double()).to(x.dtype)).double()
            for sign in (1, -1)
        ]
    return y, (ends[0] - ends[1]) * (size / (2 * length))[:, None]
