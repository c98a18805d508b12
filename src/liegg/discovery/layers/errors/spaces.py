"""How a motion of the input moves the tensors inside a network: as feature maps, or not at all."""

from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg.actions.grid.pixel_motion import ON_PIXEL, PixelMotion, from_centre


@dataclass(frozen=True)
class Space:
    """A tensor per sample: a feature map, or a vector, which the motion does not move.

    Attributes:
        view: shape with channels first, `(c, *sides)`; empty for a vector.
        pitch: pixels of the network's input per pixel, per axis.
    """

    view: tuple[int, ...] = ()
    pitch: tuple[float, ...] = ()

    @property
    def is_map(self) -> bool:
        """Whether it has places."""
        return bool(self.view)

    @property
    def sides(self) -> tuple[int, ...]:
        """Sides of the map."""
        return self.view[1:]

    def move(self, motion: PixelMotion, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Move tensors of this space; vectors stay."""
        if not self.is_map:
            return x
        return motion.move(x.reshape(len(x), *self.view), self.pitch).reshape(x.shape)

    def is_exact(self, motion: PixelMotion) -> bool:
        """Whether the motion takes pixels to pixels."""
        return not self.is_map or motion.is_exact(self.sides, self.pitch)

    def inside(self, motion: PixelMotion) -> Bool[Tensor, " p"] | None:
        """Pixels of a moved map whose content comes from inside; None for a vector."""
        return motion.inside(self.sides, self.pitch) if self.is_map else None


@dataclass
class Spaces:
    """The spaces of a network, as its layers are met: maps of equal sides have equal pitch.

    Attributes:
        sample: shape of a sample.
        view: the same with channels first.
        pitches: pitch of the maps that were met, by their sides.
        latest: sides of the map that was met last.
    """

    sample: tuple[int, ...]
    view: tuple[int, ...]
    pitches: dict[tuple[int, ...], tuple[float, ...]] = field(default_factory=dict)
    latest: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.latest = self.view[1:]
        self.pitches[self.latest] = (1.0,) * len(self.latest)

    def of(
        self, shape: tuple[int, ...], before: Space | None = None, step: tuple[float, ...] = ()
    ) -> Space | None:
        """The space of tensors of a shape; None if they have places whose pitch is not known.

        Args:
            shape: shape of one sample's tensor.
            before: space of the input of the layer that returns them; None if it is not known.
            step: pixels of that input per pixel, where the class of the layer tells.
        """
        if shape == self.sample:
            return Space(self.view, self.pitches[self.view[1:]])
        d = len(self.view) - 1
        bare = len(shape) == d == len(self.sample)  # maps without channels, as the samples are
        view = (1, *shape) if bare else shape
        if len(view) != d + 1 or max(view[1:]) < 2:
            return Space()
        sides = view[1:]
        if sides not in self.pitches:
            old = self.latest if before is None or not before.is_map else before.sides
            step = step or _ratios(old, sides)
            if not step:
                return None
            self.pitches[sides] = tuple(p * s for p, s in zip(self.pitches[old], step, strict=True))
        self.latest = sides
        return Space(view, self.pitches[sides])


def _ratios(old: tuple[int, ...], new: tuple[int, ...]) -> tuple[float, ...]:
    """How many pixels of one map make one of another; empty if that differs between the axes.

    >>> _ratios((32, 32), (15, 15)), _ratios((8, 8), (16, 16)), _ratios((56, 56), (56, 96))
    ((2.0, 2.0), (0.5, 0.5), ())
    """
    steps = tuple(
        float(max(1, round(a / b))) if a >= b else 1 / max(1, round(b / a))
        for a, b in zip(old, new, strict=True)
    )
    return steps if len(set(steps)) == 1 else ()


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
