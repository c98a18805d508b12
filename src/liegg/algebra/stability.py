r"""How robust a name is: could an error of the generators make it another algebra?

Every algebra of the same name is $S \mathfrak h S^{-1}$, an orbit under changes of coordinates. An
error has two ways to leave the orbit.

- Towards a simpler algebra, a limit of the orbit: so(3) becomes se(2) where one axis is stretched
  without end. A limit has a smaller orbit, so a map of full rank on $\mathfrak h$, the motion of the
  span under changes of coordinates, loses rank there. Its smallest singular value bounds the
  distance to all limits from below.
- Towards a larger algebra, of which $\mathfrak h$ is itself a limit: se(2) is one error away from
  so(3). To first order such an error $\Delta$ keeps the span closed, $L\Delta = 0$
  (`liegg.algebra.closure`), and changes the structure constants by more than a change of basis. An
  algebra without such an error is rigid; semisimple algebras are (Whitehead).
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.linalg import orthonormal_rows
from liegg.algebra.bracket import killing_form, structure_constants
from liegg.algebra.closure import Tangent
from liegg.algebra.families.candidates import CONFIDENT_MARGIN, Candidate
from liegg.algebra.fit import orbit_values
from liegg.algebra.given import EXACT_DOUBLE, Noise
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

BRACKET_GAIN = 2.0
"""Size of the brackets that count as closed, over the error of a unit generator."""

SEMISIMPLE_SHARE = 0.01
"""Smallest eigenvalue of the Killing form, over the largest, of an algebra that is semisimple
whatever the error."""

CHANGED_CONSTANTS = 0.02
"""Change of the structure constants, beyond a change of basis, by a unit error that counts."""

LARGEST_RIGIDITY_MOVES, LARGEST_RIGIDITY_DIMENSION = 512, 20
"""Number of independent errors, generators times directions out of the span, and of generators, up
to which rigidity is computed: the work grows as the seventh power of the dimension. Larger algebras
count as rigid only if they are semisimple, but for a centre of dimension one."""


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
    return float(power.norm()) <= EXACT_CONSTANT


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
    if not noise.angle and not rigid(basis, noise.possible, affine=affine):
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


def rigid(generators: Float[Tensor, "d n n"], error: float, *, affine: bool = False) -> bool:
    """Whether no error of this size makes an algebra with other structure constants.

    Args:
        generators: orthonormal generators of an exact algebra.
        error: error of a unit generator.
        affine: the errors are affine matrices, with a zero last row.

    Examples:
        >>> from liegg.algebra import diagonal, orthonormal, se, so
        >>> rigid(orthonormal(so(3)), 1e-3), rigid(orthonormal(diagonal(2)), 1e-3)
        (True, True)
        >>> rigid(orthonormal(se(3)), 1e-3)  # so(4) in stretched coordinates is as near
        False
        >>> rigid(orthonormal(se(3)), 1e-3, affine=True)  # which is not affine
        True
    """
    constants = structure_constants(generators)
    if _almost_semisimple(constants):
        return True
    tangent = Tangent.at(generators, affine=affine)
    d, m = len(generators), len(tangent.outside)
    if d * m == 0:
        return True
    if d * m > LARGEST_RIGIDITY_MOVES or d > LARGEST_RIGIDITY_DIMENSION:
        return False
    moves = torch.eye(d * m, dtype=torch.float64).reshape(d * m, d, m)
    square = tangent.apply(moves).flatten(1)
    values, vectors = torch.linalg.eigh(square @ square.mT)
    # Each pair of generators is counted twice.
    hidden = (values.clamp_min(0) / 2).sqrt() <= max(BRACKET_GAIN * error, 1e-7)
    if not bool(hidden.any()):
        return True
    return not _changes_constants(
        vectors[:, hidden].mT.reshape(-1, d, m), tangent.inside, constants
    )


def _almost_semisimple(constants: Float[Tensor, "d d d"]) -> bool:
    """Whether the algebra is semisimple, or the sum of such a one and a line: rigid by theorem."""
    values, vectors = torch.linalg.eigh(killing_form(constants))
    order = values.abs().argsort()
    sizes = values.abs()[order]
    threshold = max(SEMISIMPLE_SHARE * float(sizes[-1]), 1e-9)
    if float(sizes[0]) > threshold:
        return True
    central = torch.einsum("i,ijk->jk", vectors[:, order[0]], constants)
    return len(sizes) > 1 and float(sizes[1]) > threshold and float(central.norm()) < 1e-6


def _changes_constants(
    moves: Float[Tensor, "k d m"], inside: Float[Tensor, "m d d"], constants: Float[Tensor, "d d d"]
) -> bool:
    """Whether a move changes the structure constants by more than a change of basis does."""
    d = len(constants)
    if d < 2:
        return False
    first = torch.einsum("kia,ajl->kijl", moves, inside)
    one = torch.eye(d, dtype=torch.float64)
    # The change by a new basis B_i + φ_ai B_a, for every entry of φ.
    basis = (
        torch.einsum("ajk,bi->abijk", constants, one)
        + torch.einsum("iak,bj->abijk", constants, one)
        - torch.einsum("ijb,ak->abijk", constants, one)
    ).flatten(0, 1)
    # Both are antisymmetric: every pair once, and the norm times √2.
    i, j = torch.triu_indices(d, d, 1)
    change = (first - first.transpose(1, 2))[:, i, j].flatten(1)
    rows = orthonormal_rows(basis[:, i, j].flatten(1), tolerance=1e-7)
    rest = change - change @ rows.mT @ rows
    return math.sqrt(2) * float(torch.linalg.matrix_norm(rest, 2)) > CHANGED_CONSTANTS
