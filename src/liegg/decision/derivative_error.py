"""Intervals of defects that also cover the error of derivatives, such as finite differences."""

import torch
from jaxtyping import Float
from torch import Tensor

LEAST = 1e-4
"""Lower end of an interval that reaches zero, as a share of its upper end: intervals are compared by ratios."""


def widened(
    values: Float[Tensor, " r"], bounds: Float[Tensor, "r 2"] | None, errors: Float[Tensor, " r"]
) -> Float[Tensor, "r 2"]:
    r"""Intervals that also cover the error of the derivatives.

    $\sqrt{\delta^2}$ is a norm of the rows along a direction, so that errors of the rows change it by at
    most the norm of the errors.

    Args:
        values: defects.
        bounds: their intervals; None or NaN where there is none.
        errors: defect that errors of the derivatives alone give each direction.

    Examples:
        >>> widened(torch.tensor([0.04]), None, torch.tensor([0.01])).sqrt()
        tensor([[0.1000, 0.3000]])
    """
    known = values[:, None].expand(-1, 2) if bounds is None else bounds
    known = torch.where(known.isfinite(), known, values[:, None])
    off = errors.sqrt()
    low, high = known.sqrt().unbind(1)
    top = (high + off).square()
    return torch.stack([torch.maximum((low - off).clamp_min(0).square(), LEAST * top), top], dim=1)
