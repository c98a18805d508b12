r"""Whether an error of the generators can turn an algebra into another one.

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

from liegg._utils.linalg import orthonormal_rows
from liegg.algebra.bracket import killing_form, structure_constants
from liegg.algebra.closure import Tangent
from liegg.algebra.fit import orbit_values

ORBIT_GAIN = 3.0
"""Largest singular value by which a unit error of each generator moves the map of the orbit.

so(3) with axes 1 : 1 : s is $s^{-2}$ from se(2), and its smallest singular value $3.5\\,s^{-2}$."""

BRACKET_GAIN = 2.0
"""Size of the brackets that count as closed, over the error of a unit generator."""

REGULAR = 0.01
"""Smallest eigenvalue of the Killing form, over the largest, of an algebra that is semisimple
whatever the error."""

CHANGED_CONSTANTS = 0.02
"""Change of the structure constants, beyond a change of basis, by a unit error that counts."""

LARGEST_MOVES, LARGEST_DIMENSION = 512, 20
"""Number of independent errors, generators times directions out of the span, and of generators, up
to which rigidity is computed: the work grows as the seventh power of the dimension. Larger algebras
count as rigid only if they are semisimple, but for a centre of dimension one."""


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
    if d * m > LARGEST_MOVES or d > LARGEST_DIMENSION:
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
    threshold = max(REGULAR * float(sizes[-1]), 1e-9)
    if float(sizes[0]) > threshold:
        return True
    central = torch.einsum("i,ijk->jk", vectors[:, order[0]], constants)
    return len(sizes) > 1 and float(sizes[1]) > threshold and float(central.norm()) < 1e-6


def _changes_constants(
    moves: Float[Tensor, "k d m"], inside: Float[Tensor, "m d d"], constants: Float[Tensor, "d d d"]
) -> bool:
    """Whether a move changes the structure constants by more than a change of basis does."""
    d = len(constants)
    first = torch.einsum("kia,ajl->kijl", moves, inside)
    change = (first - first.transpose(1, 2)).flatten(1)
    one = torch.eye(d, dtype=torch.float64)
    # The change by a new basis B_i + φ_ai B_a, for every entry of φ.
    basis = (
        torch.einsum("ajk,bi->abijk", constants, one)
        + torch.einsum("iak,bj->abijk", constants, one)
        - torch.einsum("ijb,ak->abijk", constants, one)
    ).reshape(d * d, -1)
    rows = orthonormal_rows(basis, tolerance=1e-7)
    rest = change - change @ rows.mT @ rows
    return float(torch.linalg.matrix_norm(rest, 2)) > CHANGED_CONSTANTS
