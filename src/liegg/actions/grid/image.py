"""Images, volumes and sequences: which maps of their coordinates are candidates."""

from dataclasses import replace
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from liegg._utils.arguments import checked
from liegg._utils.errors import ArgumentError
from liegg.actions.base import MatrixAction
from liegg.actions.grid.grid import GRID_NAMES, Grid
from liegg.actions.grid.stencils import Border, Scheme
from liegg.algebra.catalog import scaling, se

Group = Literal["linear", "affine", "similarity", "euclidean"]


@checked()
def Image(  # noqa: N802, one of the actions, which are named as classes are
    group: Group | Float[Tensor, "r n n"] = "linear",
    *,
    derivative: Scheme = "secant",
    border: Border = "replicate",
    sigma: float = 1.0,
    shape: tuple[int, ...] | None = None,
    frame: int = 0,
    step: float = 1.0,
) -> MatrixAction:
    r"""Maps of the plane that images live in: the paper's groups acting on $\mathbb{R}^2$.

    Samples are `[h, w]`, `[c, h, w]`, or flat with `shape` stated. The origin is the centre, x points
    right, y up, and one unit is half the shorter side, so that pixels are square.

    Args:
        group: `"linear"`: the four generators of GL(2), as in the paper; `"affine"`: six, with
            translations; `"similarity"`: rotation, scaling and translations; `"euclidean"`:
            rotation and translations; or generators of your own, `[r, 2, 2]` or homogeneous
            `[r, 3, 3]`. Defects of smaller groups are relative to all linear (or affine) maps, see
            `Action.restrict`.
        derivative: `"secant"`: the difference between the image moved forwards and backwards by a
            finite amount, over twice that amount: no pixel moves by more than `step` pixels (a
            translation by one pixel, a rotation of a 28 × 28 image by 4.2°, of a 224 × 224 image
            by 0.5°). `"spectral"`: exact derivatives, for images without detail as fine as a
            pixel. `"central"`, `"gaussian"` (smoothing and derivative in one), or `"paper"`
            (forward differences on an off-centre grid, to reproduce its numbers).
        border: what lies beyond the border: `"replicate"` (the nearest pixel), `"zeros"` or `"periodic"`.
        sigma: width in pixels of the Gaussian derivative.
        shape: shape of a flat sample, such as `(28, 28)` or `(3, 32, 32)`.
        frame: width in pixels of a border to leave out, for images that are cut off there:
            `frame=1` removes most of the error.
        step: how far a secant moves the outermost pixels, in pixels, at most 1.

    Raises:
        ArgumentError: a group, derivative, border, width or shape that does not exist.

    Examples:
        >>> dot = torch.zeros(1, 5, 5)
        >>> dot[0, 2, 3] = 1.0  # right of the centre
        >>> turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]])
        >>> above = Image().act(torch.pi / 2 * turn, dot)
        >>> float(above[0, 1, 2].round(decimals=5))
        1.0
    """
    return _on_grid(group, Grid(2, False, derivative, border, sigma, shape, frame, step))


@checked()
def Volume(  # noqa: N802
    group: Group | Float[Tensor, "r n n"] = "linear",
    *,
    derivative: Scheme = "secant",
    border: Border = "replicate",
    sigma: float = 1.0,
    shape: tuple[int, ...] | None = None,
    frame: int = 0,
    step: float = 1.0,
) -> MatrixAction:
    """Maps of the space of volumes `[d, h, w]` or `[c, d, h, w]`; otherwise as `Image`.

    There are nine linear generators and twelve affine ones; z is the first spatial axis.

    >>> Volume().size, Volume("affine").size, Volume("euclidean").size
    (9, 12, 6)
    """
    return _on_grid(group, Grid(3, False, derivative, border, sigma, shape, frame, step))


@checked()
def Sequence(  # noqa: N802
    group: Group | Float[Tensor, "r n n"] = "affine",
    *,
    derivative: Scheme = "secant",
    border: Border = "replicate",
    sigma: float = 1.0,
    shape: tuple[int, ...] | None = None,
    frame: int = 0,
    step: float = 1.0,
) -> MatrixAction:
    """Maps of the line of sequences `[t]` or `[c, t]`: stretching about the middle and shifts.

    Otherwise as `Image`.

    >>> Sequence().size, Sequence("linear").size
    (2, 1)
    """
    return _on_grid(group, Grid(1, False, derivative, border, sigma, shape, frame, step))


def _on_grid(group: str | Tensor, linear: Grid) -> MatrixAction:
    """The linear or affine action, or its restriction."""
    dimension, name = linear.dimension, GRID_NAMES[linear.dimension]
    if isinstance(group, Tensor):
        sides = tuple(group.shape[1:])
        if group.ndim != 3 or sides not in ((dimension,) * 2, (dimension + 1,) * 2):
            raise ArgumentError(
                f"group has shape {tuple(group.shape)}; {name} expects generators [r, {dimension}, {dimension}] or "
                f"homogeneous ones [r, {dimension + 1}, {dimension + 1}], for example liegg.so({max(dimension, 2)})."
            )
        return replace(linear, translations=sides[0] == dimension + 1).restrict(group)
    grid = replace(linear, translations=group != "linear")
    if group in ("linear", "affine"):
        return grid
    basis = se(dimension)
    if group == "similarity":
        basis = torch.cat([basis, pad(scaling(dimension), (0, 1, 0, 1))])
    return grid.subgroup(group, basis)
