"""How much error a name bears: its margin, and which other algebra is possible."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.algebra.bracket import structure_constants
from liegg.algebra.families.candidates import CONFIDENT_MARGIN, Candidate
from liegg.algebra.given import EXACT_DOUBLE, Given, Noise
from liegg.algebra.stability import limit_distance, rigid
from liegg.algebra.structure.abstract import Abstract, abstract_name
from liegg.algebra.structure.real_forms import UNKNOWN

ZERO_CONSTANT = 1e-8
"""Structure constants of exact matrices in float64 that count as zero.

Those of an orthonormal basis have the natural scale 1."""

NOISY_CONSTANT = 2.0
"""Structure constants that count as zero, over the error of a unit generator."""

LARGEST_EXACT_STRETCH = 300.0
"""Condition number of the coordinates of a fitted algebra up to which it is exact."""


@dataclass(frozen=True, eq=False)
class ByConstants:
    """A name by structure constants.

    Attributes:
        abstract: the name, without the constants that the uncertainty may have made.
        margin: smallest constant that decides, over the possible error; at most 1 where an error
            may have made another algebra of it.
        doubts: which other name is possible, and what would decide.
    """

    abstract: Abstract
    margin: float
    doubts: tuple[Remark, ...]


def stability(
    choice: Candidate, near: list[Candidate], noise: Noise, *, affine: bool
) -> tuple[float, tuple[Remark, ...]]:
    """Margin of a name towards simpler algebras and towards larger ones, and what is in doubt.

    Args:
        choice: the fitted algebra that is named.
        near: all candidates.
        noise: error of a unit generator.
        affine: whether the errors are affine matrices.
    """
    generators, possible = choice.fit.generators, noise.possible
    degrees = math.degrees(possible)
    distance = limit_distance(generators, choice.fit.orbit)
    margin, doubts = distance / possible, []
    if margin < CONFIDENT_MARGIN:
        smaller = [one for one in near if one.fit.orbit < choice.fit.orbit]
        doubts.append(
            Diagnosis.SIMPLER_WITHIN_NOISE(
                needs=math.degrees(distance),
                others=_others(choice, smaller, possible),
                possible=degrees,
                decides=math.degrees(distance / CONFIDENT_MARGIN),
            )
        )
    # Stretched coordinates enlarge the rounding of an algebra until it fits anything near it.
    exact = choice.fit.angle <= noise.angle and choice.stretch <= LARGEST_EXACT_STRETCH
    if not exact and (
        _nilpotent_line(generators) or not rigid(generators, possible, affine=affine)
    ):
        larger = [one for one in near if one.fit.orbit >= choice.fit.orbit]
        others = _others(choice, larger, possible)
        doubts.append(Diagnosis.NOT_RIGID(others=others, possible=degrees))
        margin = min(margin, 1.0)
    return (margin if margin < CONFIDENT_MARGIN else distance / noise.allowed), tuple(doubts)


def _nilpotent_line(generators: Float[Tensor, "d n n"]) -> bool:
    """Whether there is one generator, and it is nilpotent: an error makes a translation a rotation about a far point."""
    if len(generators) != 1:
        return False
    power = torch.linalg.matrix_power(generators[0], generators.shape[1])
    return float(power.norm()) <= ZERO_CONSTANT


def _others(choice: Candidate, others: list[Candidate], error: float) -> str:
    names = [one.name for one in others if one.name != choice.name and one.fits(error)]
    return f" ({' or '.join(names[:2])})" if names else ""


def name_by_constants(
    basis: Float[Tensor, "d n n"], noise: Noise, given: Given, *, exact: bool, affine: bool
) -> ByConstants:
    """Name a closed span by its structure constants, cut at the uncertainty.

    Args:
        basis: orthonormal generators of an algebra.
        noise: error of a unit generator.
        given: what was given.
        exact: whether the basis is what was given, not the nearest algebra.
        affine: whether the errors are affine matrices.
    """
    constants = structure_constants(basis)
    zero = ZERO_CONSTANT if given.floor == EXACT_DOUBLE else math.sqrt(ZERO_CONSTANT)
    cut = zero if exact else max(zero, NOISY_CONSTANT * noise.allowed)
    abstract = _cut_name(constants, cut)
    finest = min(max(noise.angle, given.rounding), cut)
    coarsest = max(CONFIDENT_MARGIN * noise.possible, cut)
    for size in (finest, coarsest):
        other = _cut_name(constants, size)
        if other.name != abstract.name:
            names = (other.name, abstract.name) if size == finest else (abstract.name, other.name)
            doubt = Diagnosis.SMALL_CONSTANTS_DECIDE(
                cut=max(size, cut),
                exact=names[0],
                cut_name=names[1],
                possible=math.degrees(noise.possible),
            )
            return ByConstants(abstract, 1.0, (doubt,))
    decisive = _smallest(constants, finest)
    margin = decisive / noise.possible
    margin = margin if margin < CONFIDENT_MARGIN else decisive / noise.allowed
    if not noise.angle and not rigid(basis, noise.possible, affine=affine):
        doubt = Diagnosis.NOT_RIGID(others="", possible=math.degrees(noise.possible))
        return ByConstants(abstract, min(margin, 1.0), (doubt,))
    return ByConstants(abstract, margin, ())


def _cut_name(constants: Float[Tensor, "d d d"], size: float) -> Abstract:
    """The name if constants up to this size are zero."""
    scale = float(constants.abs().max())
    if scale <= size:
        return abstract_name(torch.zeros_like(constants))
    try:
        return abstract_name(constants, tolerance=size / scale)
    except RuntimeError as error:  # constants on the border of a rank
        return Abstract(UNKNOWN, (UNKNOWN,), (Diagnosis.TEXT(text=str(error)),))


def _smallest(constants: Float[Tensor, "d d d"], zero: float) -> float:
    """Smallest singular value, above zero, of the map from pairs of generators to brackets."""
    values = torch.linalg.svdvals(constants.flatten(0, 1))
    values = values[values > zero]
    return float(values.min()) if len(values) else math.inf
