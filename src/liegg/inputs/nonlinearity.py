"""How far a model is from linear on the data: a linear function has symmetries that nothing was needed to learn."""

import math
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.device import fitted
from liegg.inputs.model import Model

PAIRS = 256
"""Pairs of samples between which the model is looked at."""


def bend(model: Model, x: Float[Tensor, "b ..."], *, pairs: int = PAIRS) -> float | None:
    r"""Squared distance of the model half way between two samples from the mean of its outputs there, over half their change.

    $$\frac{\mathrm{mean}\,\lVert f(\tfrac{x + x'}{2}) - \tfrac{f(x) + f(x')}{2} \rVert^2}
    {\mathrm{mean}\,\lVert \tfrac{f(x) - f(x')}{2} \rVert^2}$$

    It is 0 for a linear (or affine) function, 1 for one that half way knows nothing of its ends.

    Args:
        model: the probed model.
        x: a batch; as many pairs as asked for are made of its samples, each of two neighbours in an even spread over the batch.
        pairs: number of pairs.

    Returns:
        None where it cannot be told: a single sample, an output that is the same at all of them or not finite half way.

    Examples:
        >>> x = torch.randn(100, 3, generator=torch.Generator().manual_seed(0))
        >>> bend(Model(lambda x: x @ torch.ones(3, 1), "sum"), x) < 1e-10
        True
    """
    places = torch.linspace(0, len(x) - 1, min(pairs, len(x))).long().to(x.device)
    return fitted(partial(_bend, model), x[places])


def _bend(model: Model, x: Float[Tensor, "b ..."]) -> float | None:
    """Bend between each sample and the one before."""
    with torch.no_grad():
        ends, middle = model(x).double(), model((x + x.roll(1, 0)) / 2).double()
    half = (ends - ends.roll(1, 0)) / 2
    change = float(half.square().sum())
    bent = float((middle - (ends + ends.roll(1, 0)) / 2).square().sum())
    return bent / change if change > 0 and math.isfinite(change) and math.isfinite(bent) else None
