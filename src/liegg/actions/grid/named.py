"""Named motions of images, volumes, sequences and colours."""

import math
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.grid.color import Channels
from liegg.actions.grid.grid import Grid
from liegg.actions.motion import Motion
from liegg.actions.values import DEGREES_PER_RADIAN
from liegg.algebra.catalog import scaling, so, translation

LARGEST_SHIFT = 0.25
"""Longest shift, in units of half the shorter side: 4 pixels of 32."""

LARGEST_SHEAR = 0.25
"""Longest shear: the tangent of its angle, which is 14°."""

LARGEST_GROWTH = math.log(1.25)
"""Longest scaling and change of contrast or saturation: by a factor of 1.25."""

LARGEST_OFFSET = 0.25
"""Longest change of brightness, in standard deviations of the values."""

LARGEST_HUE = math.pi / 6
"""Largest rotation of the colours about grey: 30°."""


def motions_of_grid(grid: Grid, shape: tuple[int, ...], spread: float) -> dict[str, Motion]:
    """Rotation, shift, scaling and shear; for images also their colours.

    Args:
        grid: the action.
        shape: shape of a sample.
        spread: standard deviation of the values of the samples.
    """
    whole = grid.staged(torch.empty(1, *shape, device="meta")).shape[1:]
    channels, sides, n = whole[0], whole[1:], grid.dimension
    named = {}
    if n > 1:
        named["rotation"] = Motion(grid.coefficients(so(n)), unit="°", per_unit=DEGREES_PER_RADIAN)
    affine = replace(grid, translations=True)
    shifts = affine.coefficients(translation(n))
    outside = None if grid.translations else affine
    unit = "pixels" if n > 1 else "steps"
    named["shift"] = Motion(shifts, LARGEST_SHIFT, unit, min(sides) / 2, outside)
    growth = grid.coefficients(scaling(n))
    named["scaling" if n > 1 else "stretching"] = Motion(growth, LARGEST_GROWTH, "%")
    if n > 1:
        shears = grid.coefficients(_shears(n))
        named["shear"] = Motion(shears, LARGEST_SHEAR, "%", 100.0)
    if n == 2:
        colours = Channels(int(channels), True, None if grid.shape is None else tuple(whole))
        named |= {
            name: replace(motion, action=colours)
            for name, motion in motions_of_channels(colours, spread).items()
        }
    return named


def motions_of_channels(colours: Channels, spread: float) -> dict[str, Motion]:
    """Brightness, contrast, and hue and saturation of three channels; those that the action has.

    Args:
        colours: the action.
        spread: standard deviation of the values of the samples.
    """
    c = colours.channels
    named = {"contrast": Motion(_linear(colours, torch.eye(c)[None]), LARGEST_GROWTH, "%")}
    if colours.offsets:
        offset = torch.zeros(1, c + 1, c + 1, dtype=torch.float64)
        offset[0, :c, c] = 1.0
        brightness = Motion(
            colours.coefficients(offset), LARGEST_OFFSET * spread, "%", 100 / spread
        )
        named = {"brightness": brightness, **named}
    if c == 3:
        grey = torch.ones(3, 3) / 3
        turn = torch.tensor([[[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]]]) / 3**0.5
        named["hue"] = Motion(_linear(colours, turn), LARGEST_HUE, "°", DEGREES_PER_RADIAN)
        named["saturation"] = Motion(
            _linear(colours, (torch.eye(3) - grey)[None]), LARGEST_GROWTH, "%"
        )
    return named


def _linear(colours: Channels, matrices: Float[Tensor, "k c c"]) -> Float[Tensor, "k g"]:
    """Coefficients of linear maps of the channels."""
    return colours.coefficients(matrices.double())


def _shears(n: int) -> Float[Tensor, "k n n"]:
    """One shear for every ordered pair of axes."""
    unit = torch.eye(n * n, dtype=torch.float64).unflatten(1, (n, n))
    return unit[[i * n + j for i in range(n) for j in range(n) if i != j]]
