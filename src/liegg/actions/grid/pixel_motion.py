"""A motion of a grid in pixels, which moves feature maps of any size and pitch as it moves the input."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions.base import Action, MatrixAction
from liegg.actions.grid.interpolate import resample
from liegg.actions.grid.stencils import Border, outside

ON_PIXEL = 1e-6
"""Distance from a pixel, in pixels, below which a place is that pixel: rounding of an exponential."""


@dataclass(frozen=True, eq=False)
class PixelMotion:
    r"""An affine map $p \mapsto Ap + b$ of places, from the centre of the grid, in pixels of the input.

    Places have the order and the direction of the axes of the array. A map of pitch $s$ has one pixel
    for $s$ pixels of the input, and the same centre.

    Attributes:
        linear: `[d, d]`.
        offset: `[d]`.
        border: what lies beyond the border.
    """

    linear: Float[Tensor, "d d"]
    offset: Float[Tensor, " d"]
    border: Border

    @property
    def dimension(self) -> int:
        """Number of axes."""
        return len(self.offset)

    @property
    def is_shift(self) -> bool:
        """Whether it has no linear part."""
        return bool((self.linear - torch.eye(self.dimension)).abs().max() < ON_PIXEL)

    def inverse(self) -> "PixelMotion":
        """The motion back."""
        linear = torch.linalg.inv(self.linear)
        return PixelMotion(linear, -linear @ self.offset, self.border)

    def places(self, sides: tuple[int, ...], pitch: tuple[float, ...]) -> Float[Tensor, "p d"]:
        """Where the motion takes every pixel of a map, from its centre, in pixels of the map."""
        scale = torch.tensor(pitch, dtype=torch.float64)
        moved = (from_centre(sides) * scale @ self.linear.mT + self.offset) / scale
        middle = _middle(sides)
        whole = (moved + middle).round() - middle
        return torch.where((moved - whole).abs() <= ON_PIXEL, whole, moved)

    def is_exact(self, sides: tuple[int, ...], pitch: tuple[float, ...]) -> bool:
        """Whether every pixel of a map is taken to a pixel, so that nothing is interpolated."""
        places = self.places(sides, pitch) + _middle(sides)
        return bool((places == places.round()).all())

    def inside(self, sides: tuple[int, ...], pitch: tuple[float, ...]) -> Bool[Tensor, " p"]:
        """Pixels of a moved map whose content comes from inside the map."""
        if self.border == "periodic" and self.is_shift:
            return torch.ones(len(from_centre(sides)), dtype=torch.bool)
        sources = self.inverse().places(sides, pitch).abs()
        return (sources <= _middle(sides) + ON_PIXEL).all(1)

    def move(
        self, maps: Float[Tensor, "b c ..."], pitch: tuple[float, ...]
    ) -> Float[Tensor, "b c ..."]:
        """Move feature maps; a motion that takes pixels to pixels copies them."""
        sides = tuple(maps.shape[2:])
        places = self.inverse().places(sides, pitch) + _middle(sides)
        if bool((places == places.round()).all()):
            moved = _copied(maps.flatten(2), places, sides, self.border)
        else:
            dtype = torch.promote_types(maps.dtype, torch.float32)
            signals = maps.flatten(0, 1).to(dtype)
            moved = resample(signals, places.to(signals), self.border).to(maps.dtype)
        return moved.reshape(maps.shape)


def _middle(sides: tuple[int, ...]) -> Float[Tensor, " d"]:
    """The centre of a grid, in pixels from the first one."""
    return (torch.tensor(sides, dtype=torch.float64) - 1) / 2


def from_centre(sides: tuple[int, ...]) -> Float[Tensor, "p d"]:
    """Places of all pixels of a grid, from its centre.

    >>> from_centre((2, 2)).tolist()
    [[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]]
    """
    axes = [torch.arange(side, dtype=torch.float64) - (side - 1) / 2 for side in sides]
    return torch.stack(torch.meshgrid(*axes, indexing="ij"), dim=-1).flatten(0, -2)


def pixel_motion(
    action: Action, h: Float[Tensor, " g"], shape: tuple[int, ...], name: str = "the motion"
) -> PixelMotion:
    """The finite motion exp(h) of an action on images, volumes or sequences, in pixels.

    Args:
        action: the action that the coefficients belong to.
        h: coefficients.
        shape: shape of a sample.
        name: of the motion, for the error message.

    Raises:
        ArgumentError: the action does not move places of a grid.
    """
    if not isinstance(action, MatrixAction) or action.stage != "grid" or len(action.parts) > 1:
        raise ArgumentError(
            f"{name} belongs to {action!r}, which does not move places of a grid; feature maps can "
            "be moved by rotations, shifts, scalings and shears of liegg.Image(), liegg.Volume() or "
            "liegg.Sequence()."
        )
    matrix = torch.linalg.matrix_exp(action.matrices(h.double()[None])[0])
    sides = action.staged(torch.empty(1, *shape, device="meta")).shape[2:]
    d = len(sides)
    # From (x, y, z) to the order of the axes; only y runs against its axis.
    turn = torch.diag(torch.tensor([1.0, -1.0, 1.0])[-d:]).double().flip(1)
    offset = matrix[:d, d] if action.homogeneous else matrix.new_zeros(d)
    border = next(iter(action.parts)).settings().get("border", "replicate")
    return PixelMotion(turn @ matrix[:d, :d] @ turn.mT, turn @ offset * (min(sides) / 2), border)


def _copied(
    maps: Float[Tensor, "b c p"],
    places: Float[Tensor, "q d"],
    sides: tuple[int, ...],
    border: Border,
) -> Float[Tensor, "b c q"]:
    """Values at pixels, under the border rule."""
    index = torch.zeros(len(places), dtype=torch.int64)
    counts = torch.ones(len(places), dtype=torch.bool)
    for axis, side in enumerate(sides):
        pixels, inside = outside(places[:, axis].to(torch.int64), side, border)
        index, counts = index * side + pixels, counts & inside
    copied = maps[:, :, index.to(maps.device)]
    return copied * counts.to(copied)
