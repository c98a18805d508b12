"""Interpolation of signals on a grid by cubic splines, in any number of dimensions."""

from itertools import product

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
    taps = [_taps(places[:, axis], side, border) for axis, side in enumerate(shape)]
    corners = [_corner(corner, shape, taps) for corner in product(range(4), repeat=len(shape))]
    pixels, weights = (torch.stack(each, dim=1) for each in zip(*corners, strict=True))
    return _weighted(signals.flatten(1), pixels, weights)


def _weighted(
    signals: Float[Tensor, "b s"], pixels: Int[Tensor, "p k"], weights: Float[Tensor, "p k"]
) -> Float[Tensor, "b p"]:
    """Weighted sums of pixels; without derivatives by one call that is several times faster."""
    if torch.is_grad_enabled():
        return _summed(signals, pixels, weights)
    try:
        return embedding_bag(
            pixels, signals.mT.contiguous(), per_sample_weights=weights, mode="sum"
        ).mT.contiguous()
    except (NotImplementedError, RuntimeError):
        return _summed(signals, pixels, weights)


def _summed(
    signals: Float[Tensor, "b s"], pixels: Int[Tensor, "p k"], weights: Float[Tensor, "p k"]
) -> Float[Tensor, "b p"]:
    """The same, one corner at a time, with derivatives."""
    zero = torch.zeros(len(signals), len(pixels), dtype=signals.dtype, device=signals.device)
    corners = zip(pixels.unbind(1), weights.unbind(1), strict=True)
    return sum((signals[:, pixel] * weight for pixel, weight in corners), zero)


def _corner(
    corner: tuple[int, ...],
    shape: torch.Size,
    taps: list[tuple[Int[Tensor, "4 p"], Float[Tensor, "4 p"]]],
) -> tuple[Int[Tensor, " p"], Float[Tensor, " p"]]:
    """Index and weight of the coefficient at one corner of the cube around each place."""
    pixel, weight = taps[0][0][corner[0]], taps[0][1][corner[0]]
    for tap, side, (pixels, weights) in zip(corner[1:], shape[1:], taps[1:], strict=True):
        pixel, weight = pixel * side + pixels[tap], weight * weights[tap]
    return pixel, weight


def _taps(
    places: Float[Tensor, " p"], side: int, border: Border
) -> tuple[Int[Tensor, "4 p"], Float[Tensor, "4 p"]]:
    """Indices and weights of the four coefficients around each place along one axis."""
    if border == "replicate":
        places = places.clamp(0, side - 1)
    first = places.detach().floor()
    offsets = torch.arange(-1, 3, device=places.device)[:, None]
    distance = ((places - first)[None] - offsets).abs()
    near = 2 / 3 + (distance / 2 - 1) * distance.square()
    weights = torch.where(distance <= 1, near, (2 - distance).clamp_min(0) ** 3 / 6)
    pixels, counts = outside(first.to(torch.int64)[None] + offsets, side, border)
    return pixels, weights * counts
