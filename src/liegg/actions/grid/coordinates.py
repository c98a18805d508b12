"""Where the pixels of a grid are."""

import functools

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor


def coordinates(sides: tuple[int, ...]) -> Float[Tensor, "p d"]:
    """Coordinates (x, y, z) of the pixels: the grid's centre is 0, half the shorter side 1, y up.

    >>> coordinates((2, 4))[:4].tolist()
    [[-1.5, 0.5], [-0.5, 0.5], [0.5, 0.5], [1.5, 0.5]]
    """
    return torch.from_numpy(_centred(sides))


def paper_coordinates(sides: tuple[int, ...]) -> tuple[Float[Tensor, "p d"], Float[Tensor, "p 1"]]:
    """The paper's coordinates, counted from the first pixel, and 0 for the last pixels, which it omits.

    >>> places, kept = paper_coordinates((4, 4))
    >>> places[0].tolist(), kept[:4, 0].tolist()
    ([-1.0, 1.0], [1.0, 1.0, 1.0, 0.0])
    """
    places, kept = _from_first(sides)
    return torch.from_numpy(places), torch.from_numpy(kept)


@functools.lru_cache(maxsize=64)
def _centred(sides: tuple[int, ...]) -> np.ndarray:
    return _mesh([(np.arange(side) - (side - 1) / 2) / (min(sides) / 2) for side in sides])


@functools.lru_cache(maxsize=64)
def _from_first(sides: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    half = max(1, min(sides) // 2)
    places = _mesh([(np.arange(side) - side // 2) / half for side in sides])
    kept = np.meshgrid(*[np.arange(side) < max(1, side - 1) for side in sides], indexing="ij")
    return places, np.all(kept, axis=0).reshape(-1, 1).astype(np.float64)


def _mesh(axes: list[np.ndarray]) -> np.ndarray:
    """Pixels of a grid as (x, y, z): x along the last axis, y against the one before."""
    if len(axes) > 1:
        axes[-2] = -axes[-2]
    return np.stack([mesh.ravel() for mesh in np.meshgrid(*axes, indexing="ij")][::-1], axis=1)
