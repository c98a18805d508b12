"""Which part of the data's spread lies in numbers that the output depends on: a model may ignore some of its inputs."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg.inputs.model import Model

READ_CHANGE = 1e-4
"""Squared change of the output by the spread of a number, relative to that of the number which changes it most, below which the number
counts as read in part only, and as ignored at 0."""


def read_share(
    model: Model, x: Float[Tensor, "b ..."], *, movable: Bool[Tensor, "b ..."] | None = None
) -> float:
    """Share of the variance of samples in those of their numbers on which the output depends.

    A number that the output ignores may vary as much as it likes; a motion need not be as large as that.

    Args:
        model: the probed model.
        x: a batch.
        movable: numbers of the samples that are not context; None for all.

    Returns:
        The share; 1 if the model has no gradient, or nothing is known.

    Examples:
        >>> x = torch.randn(500, 2, generator=torch.Generator().manual_seed(0)) * torch.tensor(
        ...     [1.0, 7.0]
        ... )
        >>> from liegg.inputs.probe import probe
        >>> share = read_share(probe(Model(lambda x: x[:, :1].sin(), "first number"), x), x)
        >>> 0.01 < share < 0.03
        True
    """
    if model.finite or model.squares is None:
        return 1.0
    values = x.double() if movable is None else torch.where(movable, x.double(), 0.0)
    variances = values.var(0, correction=0)
    changes = variances * model.squares
    most, total = float(changes.max()), float(variances.sum())
    if not (0 < most < math.inf and 0 < total < math.inf):
        return 1.0
    weights = (changes / (READ_CHANGE * most)).clamp_max(1.0)
    return float((weights * variances).sum()) / total
