"""How far a model is from linear on the data: linear functions have many symmetries."""

import math
from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.device import call_within_memory
from liegg.inputs.batches import evenly_spaced
from liegg.inputs.model import Model

PAIRS = 256
"""Pairs of samples at whose midpoints the model is evaluated."""


def nonlinearity(model: Model, x: Float[Tensor, "b ..."], *, pairs: int = PAIRS) -> float | None:
    r"""Squared deviation of the model from its linear interpolation, at midpoints between samples.

    $$\frac{\mathrm{mean}\,\lVert f(\tfrac{x + x'}{2}) - \tfrac{f(x) + f(x')}{2} \rVert^2}
    {\mathrm{mean}\,\lVert \tfrac{f(x) - f(x')}{2} \rVert^2}$$

    It is 0 for an affine function, and 1 if the value at the midpoint is unrelated to the ends.

    Args:
        model: the probed model.
        x: a batch; pairs are neighbours among evenly spaced samples.
        pairs: most pairs.

    Returns:
        The ratio; None for a single sample, or if the output is constant or not finite.

    Examples:
        >>> x = torch.randn(100, 3, generator=torch.Generator().manual_seed(0))
        >>> nonlinearity(Model(lambda x: x @ torch.ones(3, 1), "sum"), x) < 1e-10
        True
    """
    return call_within_memory(partial(midpoint_ratio, model), x[evenly_spaced(x, pairs)])


def midpoint_ratio(model: Callable[[Tensor], Tensor], x: Float[Tensor, "b ..."]) -> float | None:
    """The ratio between each sample and the one before."""
    with torch.no_grad():
        ends, middle = model(torch.cat([x, (x + x.roll(1, 0)) / 2])).double().chunk(2)
    change = float(((ends - ends.roll(1, 0)) / 2).square().sum())
    deviation = float((middle - (ends + ends.roll(1, 0)) / 2).square().sum())
    known = change > 0 and math.isfinite(change) and math.isfinite(deviation)
    return deviation / change if known else None
