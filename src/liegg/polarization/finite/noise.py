r"""Noise of a function, from its values at a few close, equally spaced points.

The method is ECnoise of Moré and Wild (2011), "Estimating computational noise". Differences of order
$k$ of a smooth function vanish with the $k$-th power of the spacing; those of noise of variance
$\sigma^2$ have the variance $\binom{2k}{k}\sigma^2$.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

POINTS = 9
"""Values along each line."""

AGREE = 4.0
"""Largest ratio of the levels of three neighbouring orders that all show noise."""


def noise_level(values: Float[Tensor, "m s c"]) -> Float[Tensor, " s"]:
    """Standard deviation of the noise of a function on lines, all outputs together.

    Args:
        values: outputs at equally spaced points of each of several lines.

    Returns:
        For each line the level of the first order of differences that agrees with the next two and
        changes sign, as noise does; else that of the highest order.

    Examples:
        >>> place = torch.linspace(0, 1e-6, 9, dtype=torch.float64)
        >>> noise = torch.randn(9, generator=torch.Generator().manual_seed(0)).double()
        >>> found = noise_level((place.sin() + 1e-9 * noise)[:, None, None])
        >>> bool((found > 3e-10) & (found < 3e-9))
        True
    """
    columns, levels, signs = values.double(), [], []
    for order in range(1, len(values) - 1):
        columns = columns[1:] - columns[:-1]
        variance = columns.square().sum(2).mean(0) / math.comb(2 * order, order)
        levels.append(variance.sqrt())
        signs.append(((columns[1:] * columns[:-1]).sum(2) < 0).any(0))
    table = torch.stack(levels)
    found = table[-1].clone()
    settled = torch.zeros_like(found, dtype=torch.bool)
    for order in range(len(table) - 2):
        three = table[order : order + 3]
        agree = (three.amax(0) <= AGREE * three.amin(0)) & signs[order] & ~settled
        found = torch.where(agree, table[order], found)
        settled |= agree
    return found


def still_share(values: Float[Tensor, "m s c"]) -> Float[Tensor, " s"]:
    """Share of neighbouring points of each line with equal outputs."""
    return (values[1:] == values[:-1]).all(2).double().mean(0)
