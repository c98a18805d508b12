"""How far a model is from linear on the data: linear functions have many symmetries."""

import math
from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg._utils.device import call_within_memory
from liegg.inputs.batches import evenly_spaced
from liegg.inputs.model import Model

MIDPOINT_PAIRS = 256
"""Pairs of samples at whose midpoints the model is evaluated."""


def nonlinearity(
    model: Model,
    x: Float[Tensor, "b ..."],
    *,
    movable: Bool[Tensor, "b ..."] | None = None,
    pairs: int = MIDPOINT_PAIRS,
) -> float | None:
    r"""Squared deviation of the model from its linear interpolation, at midpoints between samples.

    $$\frac{\mathrm{mean}\,\lVert f(\tfrac{x + x'}{2}) - \tfrac{f(x) + f(x')}{2} \rVert^2}
    {\mathrm{mean}\,\lVert \tfrac{f(x) - f(x')}{2} \rVert^2}$$

    It is 0 for an affine function, and 1 if the value at the midpoint is unrelated to the ends.

    Args:
        model: the probed model.
        x: a batch; pairs are neighbours among evenly spaced samples.
        movable: numbers of the samples that are not context; None for all. Only these are taken from the other sample.
        pairs: most pairs.

    Returns:
        The ratio; None for a single sample, or if the output is constant or not finite.

    Examples:
        >>> x = torch.randn(100, 3, generator=torch.Generator().manual_seed(0))
        >>> nonlinearity(Model(lambda x: x @ torch.ones(3, 1), "sum"), x) < 1e-10
        True
    """
    places = evenly_spaced(x, pairs)
    if movable is None:
        return call_within_memory(partial(midpoint_ratio, model), x[places])
    some, both = x[places], movable[places] & movable[places].roll(1, 0)
    ends = torch.where(both, some.roll(1, 0), some)
    triples = torch.stack([some, ends, torch.where(both, (some + ends) / 2, some)], dim=1)
    return call_within_memory(partial(_context_ratio, model), triples)


def midpoint_ratio(model: Callable[[Tensor], Tensor], x: Float[Tensor, "b ..."]) -> float | None:
    """The ratio between each sample and the one before."""
    with torch.no_grad():
        ends, middle = model(torch.cat([x, (x + x.roll(1, 0)) / 2])).double().chunk(2)
    return _ratio(ends, ends.roll(1, 0), middle)


def _context_ratio(
    model: Callable[[Tensor], Tensor], triples: Float[Tensor, "b 3 D"]
) -> float | None:
    """The ratio where both ends of a pair have the context of one sample."""
    with torch.no_grad():
        y = model(triples.flatten(0, 1)).double().unflatten(0, (-1, 3))
    return _ratio(y[:, 0], y[:, 1], y[:, 2])


def _ratio(
    one: Float[Tensor, "b c"], other: Float[Tensor, "b c"], middle: Float[Tensor, "b c"]
) -> float | None:
    """The ratio for outputs at both ends of pairs and at their midpoints."""
    change = float(((one - other) / 2).square().sum())
    deviation = float((middle - (one + other) / 2).square().sum())
    known = change > 0 and math.isfinite(change) and math.isfinite(deviation)
    return deviation / change if known else None
