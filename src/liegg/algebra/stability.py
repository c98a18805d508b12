r"""How robust a name is: could an error of the generators make it another algebra?

Every algebra of the same name is $S \mathfrak h S^{-1}$, an orbit under changes of coordinates. An
error has two ways to leave the orbit.

- Towards a simpler algebra, a limit of the orbit: so(3) becomes se(2) where one axis is stretched
  without end. A limit has a smaller orbit, so a map of full rank on $\mathfrak h$, the motion of the
  span under changes of coordinates, loses rank there. Its smallest singular value bounds the
  distance to all limits from below.
- Towards a larger algebra, of which $\mathfrak h$ is itself a limit: se(2) is one error away from
  so(3), and a rotation one error away from a spiral. An algebra without such an error is rigid
  (`liegg.algebra.rigidity`).
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.algebra.bracket import structure_constants
from liegg.algebra.families.candidates import CONFIDENT_MARGIN, Candidate
from liegg.algebra.fit import orbit_values
from liegg.algebra.given import EXACT_DOUBLE, Noise
from liegg.algebra.rigidity import rigidity
from liegg.algebra.structure.abstract import Abstract, abstract_name
from liegg.algebra.structure.real_forms import UNKNOWN

EXACT_CONSTANT = 1e-8
"""Structure constants of exact matrices in float64 that count as zero.

Those of an orthonormal basis have the natural scale 1."""

NOISY_CONSTANT = 2.0
"""Structure constants that count as zero, over the error of a unit generator."""

LARGEST_EXACT_STRETCH = 300.0
"""Condition number of the coordinates of a fitted algebra up to which it is exact."""

ORBIT_GAIN = 3.0
"""Largest singular value by which a unit error of each generator moves the map of the orbit.

so(3) with axes 1 : 1 : s is $s^{-2}$ from se(2), and its smallest singular value $3.5\\,s^{-2}$."""


def stability(
    choice: Candidate, near: list[Candidate], noise: Noise, name: str, *, affine: bool
) -> tuple[float, tuple[Remark, ...]]:
    """Margin of a name towards simpler algebras and towards larger ones, and what is in doubt.

    Args:
        choice: the fitted algebra that is named.
        near: all candidates.
        noise: error of a unit generator.
        name: what it is called.
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
    exact = choice.fit.angle <= noise.same and choice.stretch <= LARGEST_EXACT_STRETCH
    if not exact and (doubt := _not_rigid(choice, near, noise, name, affine=affine)) is not None:
        doubts.append(doubt)
        margin = min(margin, 1.0)
    return (margin if margin < CONFIDENT_MARGIN else distance / noise.allowed), tuple(doubts)


def _not_rigid(
    choice: Candidate, near: list[Candidate], noise: Noise, name: str, *, affine: bool
) -> Remark | None:
    """Say that an error can make another algebra, or one that acts otherwise if the name says how it acts; None if it cannot."""
    generators, degrees = choice.fit.generators, math.degrees(noise.possible)
    stays = rigidity(generators, noise.possible, affine=affine)
    if not stays.algebra:
        larger = [one for one in near if one.fit.orbit >= choice.fit.orbit]
        others = _others(choice, larger, noise.possible)
        return Diagnosis.NOT_RIGID(others=others, possible=degrees)
    if stays.action:
        return None
    abstract = abstract_name(structure_constants(generators)).name
    return None if abstract == name else Diagnosis.OTHER_ACTION(algebra=abstract, possible=degrees)


def _others(choice: Candidate, others: list[Candidate], error: float) -> str:
    names = [one.name for one in others if one.name != choice.name and one.fits(error)]
    return f" ({' or '.join(names[:2])})" if names else ""


def name_by_constants(
    basis: Float[Tensor, "d n n"], noise: Noise, *, exact: bool, affine: bool
) -> tuple[Abstract, float, tuple[Remark, ...]]:
    """Name a closed span by its structure constants, cut at the uncertainty.

    Args:
        basis: orthonormal generators of an algebra.
        noise: error of a unit generator.
        exact: whether the basis is what was given, not the nearest algebra.
        affine: whether the errors are affine matrices.

    Returns:
        The name; its margin, the smallest constant that decides over the possible error, at most 1
        where an error may have made another algebra of it; and which other name is possible.
    """
    constants = structure_constants(basis)
    zero = EXACT_CONSTANT if noise.floor == EXACT_DOUBLE else math.sqrt(EXACT_CONSTANT)
    cut = zero if exact else max(zero, NOISY_CONSTANT * noise.allowed)
    abstract = _cut_name(constants, cut)
    finest = min(max(noise.angle, noise.rounding), cut)
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
            return abstract, 1.0, (doubt,)
    decisive = _smallest(constants, finest)
    margin = decisive / noise.possible
    margin = margin if margin < CONFIDENT_MARGIN else decisive / noise.allowed
    if not noise.angle and not rigidity(basis, noise.possible, affine=affine).algebra:
        doubt = Diagnosis.NOT_RIGID(others="", possible=math.degrees(noise.possible))
        return abstract, min(margin, 1.0), (doubt,)
    return abstract, margin, ()


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


def limit_distance(generators: Float[Tensor, "d n n"], orbit: int) -> float:
    """Error of a unit generator, at least, that turns an algebra into a limit of its orbit.

    Args:
        generators: orthonormal generators of the algebra.
        orbit: dimension of its orbit; infinite if that is zero, since every change of coordinates
            then leaves the span as it is.
    """
    if not orbit:
        return math.inf
    return float(orbit_values(generators.flatten(1).numpy())[orbit - 1]) / ORBIT_GAIN
