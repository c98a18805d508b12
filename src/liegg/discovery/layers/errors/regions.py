"""Pixels of a layer's output whose error is counted, and those that see nothing of the border."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg.actions.grid.pixel_motion import ON_PIXEL, PixelMotion, from_centre
from liegg.discovery.layers.errors.spaces import Space


class Regions(NamedTuple):
    """Pixels of the output of a layer; None for vectors.

    Attributes:
        counted: pixels whose content comes from inside the map.
        interior: those of them that depend neither on padding nor on what lies beyond the border.
    """

    counted: Bool[Tensor, " p"] | None
    interior: Bool[Tensor, " p"] | None


def regions(motion: PixelMotion, before: Space, after: Space, reach: tuple[float, ...]) -> Regions:
    """The regions of the moved output of a layer.

    A pixel of the output sees a box of the input around its place. The box before the motion, the same
    box moved, and the box around the place after the motion lie inside the input if the pixel is in the
    interior.

    Args:
        motion: the motion.
        before: space of the layer's input.
        after: space of its output.
        reach: half the sides of the box, in pixels of the input.
    """
    counted = after.inside(motion)
    if counted is None or not before.is_map:
        return Regions(counted, counted)
    pitch = torch.tensor(before.pitch, dtype=torch.float64)
    half = torch.tensor(reach or (0.0,) * len(pitch), dtype=torch.float64)
    edge = (torch.tensor(before.sides, dtype=torch.float64) - 1) / 2
    scale = torch.tensor(after.pitch, dtype=torch.float64) / pitch
    places, back = from_centre(after.sides) * scale, motion.inverse()
    sources = back.places(after.sides, after.pitch) * scale
    if motion.border == "periodic" and motion.is_shift:
        side = torch.tensor(before.sides, dtype=torch.float64)
        sources = (sources + edge).remainder(side) - edge
    linear = (torch.diag(1 / pitch) @ back.linear @ torch.diag(pitch)).abs()
    moved = torch.maximum(half, linear @ half)
    interior = _within(places, half, edge) & _within(sources, moved, edge)
    return Regions(counted, counted & interior)


def _within(
    places: Float[Tensor, "p d"], half: Float[Tensor, " d"], edge: Float[Tensor, " d"]
) -> Bool[Tensor, " p"]:
    """Whether the boxes around places lie inside a grid."""
    return (places.abs() + half <= edge + ON_PIXEL).all(1)
