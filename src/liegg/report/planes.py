"""The coordinate plane in which a generator is drawn."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions import MatrixAction
from liegg.algebra.words.wording import coordinate_names


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

    def velocities(self, places: Float[Tensor, "k 2"]) -> Float[Tensor, "k 2"]:
        """Velocity of the motion at each place."""
        return places @ self.linear.mT + self.shift


def grid_of_places(side: int) -> Float[Tensor, "k 2"]:
    """Places of the arrows of a vector field: a square grid from -1 to 1."""
    steps = torch.linspace(-1.0, 1.0, side, dtype=torch.float64)
    return torch.cartesian_prod(steps, steps)


def plane_in(action: MatrixAction, matrix: Float[Tensor, "n n"]) -> Plane:
    """The plane in which a generator of an action is largest; for a product, that of the part that moves most."""
    blocks = blocks_of(action, matrix)
    part, start, block = max(blocks, key=lambda entry: float(entry[2].norm()))
    n = part.ambient - part.homogeneous
    names = part.axes if len(blocks) == 1 else coordinate_names(len(matrix))[start : start + n]
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
    pairs = torch.triu_indices(n, n, 1)
    best = int(inside[pairs[0], pairs[1]].argmax())
    i, j = int(pairs[0][best]), int(pairs[1][best])
    size = float(matrix.square().sum())
    called = coordinate_names(n, names)
    return Plane(
        linear=matrix[[i, j]][:, [i, j]],
        shift=shift[[i, j]],
        axes=(i, j),
        names=(called[i], called[j]),
        share=1.0 if n == 2 or not size > 0 else float(inside[i, j]) / size,
    )
