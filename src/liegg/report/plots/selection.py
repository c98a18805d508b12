"""Which generator a figure shows, and the plane that it is shown in."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions import Action, Product, Restricted
from liegg.actions.grid.grid import Grid
from liegg.algebra.words.wording import coordinate_names
from liegg.report.page.generators import strongest_plane
from liegg.results.symmetries import Symmetries


@dataclass(frozen=True, eq=False)
class Plane:
    """A generator seen in a coordinate plane.

    Attributes:
        linear: its block in the plane.
        shift: its translation in the plane.
        axes: numbers of the two coordinates.
        names: their names.
        share: share of its squared size that the plane shows; 1 where it acts on a plane.
        picture: whether the coordinates are those of a picture, where 1 is half its shorter side.
    """

    linear: Float[Tensor, "2 2"]
    shift: Float[Tensor, " 2"]
    axes: tuple[int, int]
    names: tuple[str, str]
    share: float
    picture: bool = False


def generator_of(sym: Symmetries, which: int | Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    """A generator found, by its number from 0, or one of your own.

    Raises:
        ArgumentError: there is no such generator, or it is none of the action.
    """
    if isinstance(which, Tensor):
        sym.action.coefficients(which[None])
        return which.detach().to("cpu", torch.float64)
    if not 0 <= which < sym.nullity:
        there = (
            "no symmetry was found"
            if not sym.nullity
            else f"there are {sym.nullity} generators, from 0 to {sym.nullity - 1}"
        )
        raise ArgumentError(
            f"which={which}: {there}. To see another direction, give its generator, for example the nearest candidate, "
            "sym.action.matrices(sym.accumulated.solution.directions[:1])[0]."
        )
    return sym.generators[which]


def parts_of(action: Action) -> list[Action]:
    """The actions that a sample is moved by, without their restrictions."""
    whole = action.parent if isinstance(action, Restricted) else action
    return (
        [each for part in whole.parts for each in parts_of(part)]
        if isinstance(whole, Product)
        else [whole]
    )


def plane_in(action: Action, matrix: Float[Tensor, "n n"]) -> Plane:
    """The plane in which a generator of an action does most; of a product, that of the part that moves most."""
    start, blocks, parts = 0, [], parts_of(action)
    for part in parts:
        blocks.append((part, start))
        start += part.ambient
    inside = lambda part, start: matrix[start : start + part.ambient, start : start + part.ambient]  # noqa: E731
    part, start = max(blocks, key=lambda pair: float(inside(*pair).norm()))
    n = part.ambient - part.homogeneous
    names = (
        part.axes if len(parts) == 1 else coordinate_names(len(matrix))[start : start + n]
    )  # as the words call them
    found = plane_of(inside(part, start), homogeneous=part.homogeneous, names=names)
    return Plane(
        found.linear, found.shift, found.axes, found.names, found.share, isinstance(part, Grid)
    )


def plane_of(
    matrix: Float[Tensor, "n n"], *, homogeneous: bool = False, names: tuple[str, ...] | None = None
) -> Plane:
    """The coordinate plane in which most of a motion happens.

    Args:
        matrix: the generator.
        homogeneous: its last column is a translation and its last row is zero.
        names: of the coordinates; x₁, x₂, ... otherwise.

    Raises:
        ArgumentError: not a square matrix of finite numbers, or it moves a line only.
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
    i, j, share = (
        strongest_plane(matrix, homogeneous=homogeneous)
        if float(matrix.abs().max()) > 0
        else (0, 1, 1.0)
    )
    called = coordinate_names(n, names)
    shift = matrix[[i, j], n] if homogeneous else torch.zeros(2, dtype=torch.float64)
    return Plane(
        matrix[[i, j]][:, [i, j]], shift, (i, j), (called[i], called[j]), 1.0 if n == 2 else share
    )
