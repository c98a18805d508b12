"""Interpolation of signals on a grid by cubic splines, in any number of dimensions."""

from contextlib import suppress

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import embedding_bag

from liegg.actions.grid.stencils import Border, along, knot_matrix, outside


def resample(
    signals: Float[Tensor, "b ..."], places: Float[Tensor, "p d"], border: Border
) -> Float[Tensor, "b p"]:
    r"""Values of signals at places given in pixels, by interpolating cubic splines.

    A spline through the pixels has slopes of fourth-order accuracy, so that small motions move an
    image by the right amount. (The slopes of the cubic convolution of
    `torch.nn.functional.grid_sample` are 50 % too large.)

    Args:
        signals: samples over a grid of `d` axes.
        places: one per value, in pixels from the first pixel's centre, in the order of the axes.
        border: what lies beyond the border; `"replicate"` is the value at the nearest place inside.

    Returns:
        One value per signal and place; differentiable in both.

    Examples:
        >>> wave = torch.cos(2 * torch.pi * torch.arange(16.0) / 16)[None]
        >>> between = resample(wave, torch.tensor([[2.0], [2.5], [18.0]]), "periodic")
        >>> torch.allclose(between, torch.tensor([[0.7071, 0.5556, 0.7071]]), atol=1e-3)
        True
    """
    shape = signals.shape[1:]
    for axis in range(-len(shape), 0):
        signals = along(knot_matrix(signals.shape[axis], border), signals, axis)
    pixels, weights = _taps(places[:, 0], shape[0], border)
    for axis, side in enumerate(shape[1:], start=1):  # all corners of the cube around each place
        more, factors = _taps(places[:, axis], side, border)
        pixels = (pixels[:, :, None] * side + more[:, None]).flatten(1)
        weights = (weights[:, :, None] * factors[:, None]).flatten(1)
    return _weighted(signals.flatten(1), pixels, weights)


def _weighted(
    signals: Float[Tensor, "b s"], pixels: Int[Tensor, "p k"], weights: Float[Tensor, "p k"]
) -> Float[Tensor, "b p"]:
    """Weighted sums of pixels; without derivatives by one call that is several times faster."""
    if not torch.is_grad_enabled():
        with suppress(NotImplementedError, RuntimeError):  # a dtype or transform that it lacks
            columns = signals.mT.contiguous()
            sums = embedding_bag(pixels, columns, per_sample_weights=weights, mode="sum")
            return sums.mT.contiguous()
    zero = torch.zeros(len(signals), len(pixels), dtype=signals.dtype, device=signals.device)
    corners = zip(pixels.unbind(1), weights.unbind(1), strict=True)
    return sum((signals[:, pixel] * weight for pixel, weight in corners), zero)


def _taps(
    places: Float[Tensor, " p"], side: int, border: Border
) -> tuple[Int[Tensor, "p 4"], Float[Tensor, "p 4"]]:
    """Indices and weights of the four coefficients around each place along one axis."""
    if border == "replicate":
        places = places.clamp(0, side - 1)
    first = places.detach().floor()
    offsets = torch.arange(-1, 3, device=places.device)
    distance = ((places - first)[:, None] - offsets).abs()
    near = 2 / 3 + (distance / 2 - 1) * distance.square()
    weights = torch.where(distance <= 1, near, (2 - distance).clamp_min(0) ** 3 / 6)
    pixels, counts = outside(first.to(torch.int64)[:, None] + offsets, side, border)
    return pixels, weights * counts
