"""The motions that pages and figures show, and how far they follow them."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions import MatrixAction
from liegg.algebra.words.wording import coordinate_names
from liegg.discovery.verification.further_curves import words_tolerance
from liegg.results.symmetries import Symmetries
from liegg.results.verification import Curve

ROTATING = 0.25
"""Largest growth rate over angular speed for which a motion is followed once around."""

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


def words_of(sym: Symmetries, which: int | Float[Tensor, "..."]) -> str:
    """What a symmetry does, by its number from 0, or what a generator of the caller does.

    Raises:
        ArgumentError: there is no such symmetry, or the action does not have the generator.
    """
    generator = generator_of(sym, which)
    if isinstance(which, int) and sym.account.words:
        return sym.account.words[which]
    row = sym.action.as_coefficients(generator[None]).to(sym.coefficients)
    return sym.action.describe(row, tolerance=words_tolerance(sym))[0]


def coordinates_of(action: MatrixAction) -> tuple[str, ...]:
    """Names of the rows of the matrices; `1` for the last one of affine maps."""
    names = coordinate_names(action.ambient - action.homogeneous, action.axes)
    return (*names, "1") if action.homogeneous else names


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
