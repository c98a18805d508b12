"""Convolutional networks that rotate their filters, and smooth images, for `groups.py` and the tests."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import conv2d

from group_cases import normal

IMAGE_SIDE, FILTER_SIDE = 25, 11
"""Pixels along the sides of images and of filters."""

FILTER_WIDTH, ORDERS, CHANNELS = 1.6, 4, 4
"""Width of filters in pixels, angular frequencies of each, and filters per angle."""

GAIN = 3.0
"""Factor before the nonlinearity: with more of it, angles between those of the filters differ more."""

BLOBS, BLOB_WIDTH = 6, 2.0
"""Blobs of an image, and their width in pixels."""


def plane(side: int) -> Tensor:
    """Places of pixels as complex numbers x + iy, with y up, from the centre."""
    places = torch.arange(side, dtype=torch.float64) - (side - 1) / 2
    return torch.complex(places.expand(side, side), -places[:, None].expand(side, side))


def rotated_filters(fold: int) -> Tensor:
    """Random filters `[fold, channels, side, side]` at angles 360°/fold apart.

    They are combinations of circular harmonics, which are rotated without interpolation: a rotation multiplies them by a phase.
    """
    z = plane(FILTER_SIDE) / FILTER_WIDTH
    orders, envelope = torch.arange(ORDERS), (-z.abs().square() / 2).exp()
    powers = [torch.ones_like(z)]
    for order in range(1, ORDERS):
        powers.append(powers[-1] * z / math.sqrt(order))
    harmonics = torch.stack(powers) * envelope
    weights = torch.view_as_complex(normal(CHANNELS, ORDERS, 2))
    phases = torch.polar(
        torch.ones(fold, ORDERS, dtype=torch.float64),
        -2 * math.pi * torch.arange(fold, dtype=torch.float64)[:, None] * orders / fold,
    )
    filters = torch.einsum("co,go,oij->gcij", weights.conj(), phases, harmonics).real
    return filters / filters[0].square().sum((1, 2)).sqrt().mean()


def steerable(fold: int, *, mirrors: bool = False) -> Callable[[Tensor], Tensor]:
    """A group convolutional network: filters at `fold` angles, responses of neighbouring angles multiplied, a mean over all places.

    On a grid it keeps rotations by 90° exactly and those by other multiples of 360°/fold as well as the grid holds the filters.
    """
    filters, last = rotated_filters(fold), normal(CHANNELS, 2, seed=2)

    def responses(x: Tensor) -> Tensor:
        kernel = filters.to(x).flatten(0, 1)[:, None]
        maps = (GAIN * conv2d(x, kernel, padding=FILTER_SIDE // 2)).tanh()
        maps = maps.unflatten(1, (fold, CHANNELS))
        pooled = (maps * maps.roll(1, 1)).mean((3, 4))
        return (8 * pooled).tanh().mean(1) @ last.to(x)

    return (lambda x: responses(x) + responses(x.flip(3))) if mirrors else responses


def blobs(count: int, *, seed: int = 0, degrees: float = 0.0) -> Tensor:
    """Smooth images: a sum of blobs near the centre, at places that are rotated without interpolation."""
    draw = torch.Generator().manual_seed(seed)
    uniform = torch.rand(2, count, BLOBS, generator=draw, dtype=torch.float64)
    sizes = torch.randn(count, BLOBS, generator=draw, dtype=torch.float64)
    angles = 2 * math.pi * uniform[0] + math.radians(degrees)
    centres = torch.polar(0.28 * IMAGE_SIDE * uniform[1].sqrt(), angles)
    gaps = (plane(IMAGE_SIDE) - centres[..., None, None]).abs()
    shapes = (-gaps.square() / (2 * BLOB_WIDTH**2)).exp()
    return (sizes[..., None, None] * shapes).sum(1)[:, None]
