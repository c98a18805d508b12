"""What pages and figures draw: a motion, how far it goes, its plane, and a few samples."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import shown
from liegg._utils.errors import ArgumentError
from liegg.actions import Action, MatrixAction
from liegg.algebra.words.wording import coordinate_names
from liegg.results.account import direction_error, words_of
from liegg.results.run_folder import STORED_SAMPLES
from liegg.results.symmetries import Symmetries
from liegg.results.vector_fields import output_names
from liegg.results.verification import Curve

LOWEST_CHANGE, HIGHEST_CHANGE = 1e-6, 100.0
"""Changes of the output outside are drawn at the edge; unrelated outputs differ by about 2."""

MAX_VECTORS = 256
"""Vectors of a sample that are drawn."""

ROTATING = 0.25
"""Largest growth rate over angular speed for which a motion is followed once around."""

EVEN_TIMES = 80
"""Equal steps in which a curve is drawn."""

RETURN_TOLERANCE = 0.01
"""How close to its start a motion must come to count as periodic."""


class Extent(NamedTuple):
    """How far a motion is followed.

    Attributes:
        longest: largest time.
        both_ways: whether negative times are shown too.
        period: time after which the motion is back; None if it does not come back.
    """

    longest: float
    both_ways: bool
    period: float | None


def symmetry_curves(sym: Symmetries) -> tuple[Curve, ...]:
    """The curve that was measured along each symmetry; empty if there are none."""
    curves = () if sym.verification is None else sym.verification.curves
    return curves if len(curves) == sym.nullity else ()


def generator_of(sym: Symmetries, which: int | Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Generator of a symmetry by its number from 0, or a generator of the caller.

    Returns:
        A matrix, or coefficients where the action has no matrices.

    Raises:
        ArgumentError: there is no such symmetry, or the action does not have the generator.
    """
    action = sym.action
    if isinstance(which, Tensor):
        coefficients = action.as_coefficients(which[None]).to("cpu", torch.float64)
        if isinstance(action, MatrixAction) and which.ndim == 1:
            return action.matrices(coefficients)[0]
        return which.detach().to("cpu", torch.float64)
    if 0 <= which < sym.nullity:
        return (sym.generators if action.has_matrices else sym.coefficients)[which]
    count = f"there are {sym.nullity} generators, from 0 to {sym.nullity - 1}"
    nearest = "sym.accumulated.solution.directions[:1]"
    nearest = f"sym.action.matrices({nearest})" if action.has_matrices else nearest
    raise ArgumentError(
        f"which={which}: {count if sym.nullity else 'no symmetry was found'}. To see another "
        f"direction, give its generator, for example the nearest candidate, {nearest}[0]."
    )


def motion_words(sym: Symmetries, which: int | Float[Tensor, "..."]) -> str:
    """What a symmetry or a generator of the caller does; see `generator_of`."""
    if isinstance(which, int) and sym.account.words:
        return sym.account.words[which]
    row = sym.action.as_coefficients(generator_of(sym, which)[None]).to(sym.coefficients)
    return next(iter(words_of(sym.action, row, direction_error(sym.decision))), "")


def evenly(times: Sequence[float], values: Sequence[float]) -> tuple[list[float], list[float]]:
    """A curve at equal steps from its start on, and at the measured times, which may be far apart.

    Between two times the root of the change is interpolated linearly, from 0 at 0, as for the radius of a motion; from the first
    infinite value on it is infinite.

    >>> grid, r = evenly([1.0, 4.0], [1.0, 16.0])
    >>> [round(r[grid.index(t)], 9) for t in (0.5, 1.0, 2.0, 4.0)], len(grid)
    ([0.25, 1.0, 4.0, 16.0], 80)
    """
    steps = np.linspace(0.0, times[-1], EVEN_TIMES + 1)[1:]
    grid = np.unique(np.concatenate([steps.round(12), np.asarray(times, dtype=float).round(12)]))
    known, roots = np.array([0.0, *times]).round(12), np.sqrt(np.array([0.0, *values]))
    with np.errstate(invalid="ignore"):  # 0 times infinity
        squares = np.interp(grid, known, roots) ** 2
    return grid.tolist(), np.nan_to_num(squares, nan=np.inf, posinf=np.inf).tolist()


def coordinates_of(action: MatrixAction) -> tuple[str, ...]:
    """Names of the rows of the matrices; `1` for the last one of affine maps."""
    names = coordinate_names(action.ambient - action.homogeneous, action.axes)
    return (*names, "1") if action.homogeneous else names


def output_coordinates_of(action: MatrixAction) -> tuple[str, ...]:
    """The same for an action on outputs, whose coordinates are y₁, y₂, ... by default."""
    return (*output_names(action), "1") if action.homogeneous else output_names(action)


def extent_of(generator: Float[Tensor, "..."], curve: Curve | None = None) -> Extent:
    """How far to follow a motion: as far as its curve, else once around, else up to a motion of size 1.

    >>> extent = extent_of(torch.tensor([[0.0, -2.0], [2.0, 0.0]]))
    >>> round(extent.longest, 3), extent.both_ways, extent.period == extent.longest
    (3.142, False, True)
    >>> extent_of(torch.tensor([[0.5, 0.0], [0.0, 0.0]]))
    Extent(longest=2.0, both_ways=True, period=None)
    """
    if curve is not None:
        return Extent(curve.longest, curve.both_ways, curve.period)
    if generator.ndim == 1:
        return Extent(1 / max(float(generator.norm()), 1e-300), True, None)
    values = torch.linalg.eigvals(generator.double())
    speed = float(values.imag.abs().max())
    rotates = speed > 1e-3 * float(generator.norm())
    if not rotates or float(values.real.abs().max()) >= ROTATING * speed:
        size = float(torch.linalg.matrix_norm(generator.double(), 2))
        return Extent(1 / max(size, 1e-300), True, None)
    time = 2 * math.pi / speed
    returns = float(((values * time).exp() - 1).abs().max()) < RETURN_TOLERANCE
    return Extent(time, False, time if returns else None)


@dataclass(frozen=True, eq=False)
class Plane:
    """A generator in a coordinate plane.

    Attributes:
        linear: its block in the plane.
        shift: its translation in the plane.
        axes: numbers of the two coordinates.
        names: their names.
        share: share of its squared size that lies in the plane; 1 for a generator of a plane.
        is_grid: whether the coordinates are those of an image, where 1 is half its shorter side.
    """

    linear: Float[Tensor, "2 2"]
    shift: Float[Tensor, " 2"]
    axes: tuple[int, int]
    names: tuple[str, str]
    share: float
    is_grid: bool = False

    def arrows(self, side: int) -> tuple[Float[Tensor, "k 2"], Float[Tensor, "k 2"], float]:
        """Places on a square grid from -1 to 1, the velocity at each, and the largest speed."""
        steps = torch.linspace(-1.0, 1.0, side, dtype=torch.float64)
        places = torch.cartesian_prod(steps, steps)
        velocities = places @ self.linear.mT + self.shift
        return places, velocities, float(velocities.norm(dim=1).max())


def plane_in(action: MatrixAction, matrix: Float[Tensor, "n n"]) -> Plane:
    """The plane in which a generator of an action is largest; for a product, that of the part that moves most."""
    blocks = blocks_of(action, matrix)
    part, start, block = max(blocks, key=lambda entry: float(entry[2].norm()))
    n = part.ambient - part.homogeneous
    names = part.axes
    if names is None and len(blocks) > 1:
        names = coordinate_names(len(matrix))[start : start + n]
    plane = plane_of(block, homogeneous=part.homogeneous, names=names)
    return replace(plane, is_grid=part.stage == "grid")


def blocks_of(
    action: MatrixAction, matrix: Float[Tensor, "n n"]
) -> list[tuple[MatrixAction, int, Float[Tensor, "m m"]]]:
    """Each elementary action with its first row and its block of the matrix."""
    blocks, start = [], 0
    for part in action.parts:
        if isinstance(part, MatrixAction):  # parts of an action with matrices have them
            rows = slice(start, start + part.ambient)
            blocks.append((part, start, matrix[rows, rows]))
            start += part.ambient
    return blocks


def plane_of(
    matrix: Float[Tensor, "n n"], *, homogeneous: bool = False, names: tuple[str, ...] | None = None
) -> Plane:
    """The coordinate plane that holds the largest part of a generator.

    Args:
        matrix: the generator.
        homogeneous: its last column is a translation and its last row is zero.
        names: of the coordinates; x₁, x₂, ... otherwise.

    Raises:
        ArgumentError: the generator is not a square matrix of finite numbers, or acts on a line.

    >>> plane = plane_of(torch.tensor([[0.0, 0.0, -2.0], [0.0, 0.0, 0.0], [2.0, 1.0, 0.0]]))
    >>> plane.axes, round(plane.share, 3)
    ((0, 2), 0.889)
    """
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not bool(matrix.isfinite().all()):
        raise ArgumentError(
            f"a generator has shape {tuple(matrix.shape)}; expected a square matrix of finite numbers."
        )
    matrix = matrix.detach().to("cpu", torch.float64)
    n = len(matrix) - homogeneous
    if n < 2:
        raise ArgumentError(
            f"the generator acts on {n} coordinate{'s' * (n != 1)}; a plane needs two or more."
        )
    shift = matrix[:n, n] if homogeneous else matrix.new_zeros(n)
    squares = matrix[:n, :n].square()
    own = squares.diagonal() + shift.square()
    inside = own[:, None] + own[None] + squares + squares.mT
    below = torch.ones_like(inside, dtype=torch.bool).tril()
    i, j = divmod(int(inside.masked_fill(below, -1.0).argmax()), n)
    size = float(matrix.square().sum())
    called = coordinate_names(n, names)
    return Plane(
        linear=matrix[[i, j]][:, [i, j]],
        shift=shift[[i, j]],
        axes=(i, j),
        names=(called[i], called[j]),
        share=1.0 if n == 2 or not size > 0 else float(inside[i, j]) / size,
    )


EXPECTED_SAMPLES = (
    "expected a few inputs of the model, [k, *x], of finite numbers, for example samples=data[:8]."
)


def checked_samples(action: Action, samples: Tensor | np.ndarray) -> Float[Tensor, "k ..."]:
    """The first samples as float64 on the CPU.

    Args:
        action: what moves them.
        samples: `[k, *x]`.

    Raises:
        ArgumentError: they are not finite real numbers.
        ShapeError: the action does not move samples of this shape.
    """
    try:
        first = torch.as_tensor(samples[:STORED_SAMPLES])
        real = first.ndim > 1 and len(first) > 0 and not first.is_complex()
        real = real and bool(first.to_dense().isfinite().all())
    except (TypeError, ValueError, RuntimeError, IndexError) as error:
        raise ArgumentError(f"samples={shown(samples)}: {EXPECTED_SAMPLES}") from error
    if not real:
        raise ArgumentError(f"samples={shown(samples)}: {EXPECTED_SAMPLES}")
    action.check(tuple(first.shape[1:]))
    return first.detach().to("cpu", torch.float64)


def as_images(signals: Float[Tensor, "k c h w"]) -> tuple[Float[Tensor, "k e h w"], str]:
    """Images with 1 or 3 channels, and a note where channels were averaged."""
    channels = signals.shape[1]
    if channels in (1, 3):
        return signals, ""
    return signals.mean(1, keepdim=True), f"mean of {channels} channels"


def data_range(values: Float[Tensor, "..."]) -> tuple[float, float]:
    """Smallest and largest value, and a range of 1 where they are equal."""
    low, high = float(values.min()), float(values.max())
    return low, high if high > low else low + 1.0
