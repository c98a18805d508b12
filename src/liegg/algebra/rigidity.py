r"""Rigid algebras: those that no small error turns into others.

To first order an error $\Delta$ of the generators keeps the span $\mathfrak h$ closed if
$L\Delta = 0$ (`liegg.algebra.closure`). Changes of coordinates give such errors, and leave the
algebra as it is. Two things may differ along the others.

- **The algebra itself**: the structure constants change by more than a change of basis. se(2)
  becomes so(3) or a spiral with translations.
- **How it acts**: the structure constants stay, but no change of coordinates undoes the error. A
  rotation becomes a spiral, u(n) becomes su(n) with a spiral. These are the classes of
  $H^1(\mathfrak h, \mathfrak{gl}_n/\mathfrak h)$. For semisimple algebras there are none
  (Whitehead).
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import orthonormal_rows
from liegg.algebra.bracket import killing_form, structure_constants
from liegg.algebra.closure import Tangent
from liegg.algebra.fit import SMALLEST_ORBIT_MOVE, orbit_moves
from liegg.algebra.forms.forms import preserved

BRACKET_GAIN = 2.0
"""Size of the brackets that count as closed, over the error of a unit generator."""

CLOSED_MOVE = 1e-7
"""Size of the brackets that count as closed whatever the error."""

SEMISIMPLE_SHARE = 0.01
"""Smallest eigenvalue of the Killing form, over the largest, of an algebra that is semisimple
whatever the error."""

CHANGED_CONSTANTS = 0.02
"""Change of the structure constants, beyond a change of basis, by a unit error that counts."""

OUTSIDE_ORBIT = 0.02
"""Part of a unit error, beyond changes of coordinates, that counts."""

SMALLEST_CHANGE = 1e-6
"""Smallest singular value, over the largest, of the change of structure constants by a new basis."""

LARGEST_RIGIDITY_MOVES, LARGEST_RIGIDITY_DIMENSION = 512, 20
"""Number of independent errors, generators times directions out of the span, and of generators, up
to which rigidity is computed: the work grows as the sixth power of the dimension. Larger algebras
count as rigid only by theorem: if they are semisimple, but for scalings."""


class Rigidity(NamedTuple):
    """What no error of a size can change.

    Attributes:
        algebra: the structure constants, up to a change of basis.
        action: the matrices, up to a change of coordinates.
    """

    algebra: bool
    action: bool


def rigidity(generators: Float[Tensor, "d n n"], error: float, *, affine: bool = False) -> Rigidity:
    """What of an algebra no error of this size can change.

    Args:
        generators: orthonormal generators of an exact algebra.
        error: error of a unit generator.
        affine: the errors are affine matrices, with a zero last row.

    Examples:
        >>> from liegg.algebra import diagonal, orthonormal, se, so
        >>> rigidity(orthonormal(so(3)), 1e-3), rigidity(orthonormal(diagonal(2)), 1e-3)
        (Rigidity(algebra=True, action=True), Rigidity(algebra=True, action=True))
        >>> rigidity(orthonormal(so(2)), 1e-3)  # a spiral is as near
        Rigidity(algebra=True, action=False)
        >>> rigidity(orthonormal(se(3)), 1e-3).algebra  # so(4) in stretched coordinates is as near
        False
        >>> rigidity(orthonormal(se(3)), 1e-3, affine=True)  # which is not affine
        Rigidity(algebra=True, action=True)
    """
    constants = structure_constants(generators)
    semisimple, known = _almost_semisimple(constants)
    if semisimple or (known and len(preserved("commutant", generators, 0.0).answers) == 1):
        return Rigidity(True, True)
    tangent = Tangent.at(generators, affine=affine)
    d, m = len(generators), len(tangent.outside)
    if d * m == 0:
        return Rigidity(True, True)
    if d * m > LARGEST_RIGIDITY_MOVES or d > LARGEST_RIGIDITY_DIMENSION:
        return Rigidity(known, False)
    moves = torch.eye(d * m, dtype=torch.float64).reshape(d * m, d, m)
    square = tangent.apply(moves).flatten(1)
    values, vectors = torch.linalg.eigh(square @ square.mT)
    sizes = (values.clamp_min(0) / 2).sqrt()  # each pair of generators is counted twice
    moved = torch.from_numpy(orbit_moves(tangent.basis.numpy()))
    orbit = orthonormal_rows(moved, tolerance=SMALLEST_ORBIT_MOVE)
    closed = vectors[:, sizes <= CLOSED_MOVE].mT.unflatten(1, (d, m))
    hidden = vectors[:, sizes <= max(BRACKET_GAIN * error, CLOSED_MOVE)].mT.unflatten(1, (d, m))
    return Rigidity(
        known or not _changes_constants(_beyond(hidden, tangent, orbit), tangent.inside, constants),
        not len(_beyond(closed, tangent, orbit)),
    )


def _almost_semisimple(constants: Float[Tensor, "d d d"]) -> tuple[bool, bool]:
    """Whether the algebra is semisimple; and whether it is that, or the sum of such a one and a line, which is rigid too."""
    values, vectors = torch.linalg.eigh(killing_form(constants))
    order = values.abs().argsort()
    sizes = values.abs()[order]
    threshold = max(SEMISIMPLE_SHARE * float(sizes[-1]), 1e-9)
    if float(sizes[0]) > threshold:
        return True, True
    central = torch.einsum("i,ijk->jk", vectors[:, order[0]], constants)
    line = len(sizes) > 1 and float(sizes[1]) > threshold and float(central.norm()) < 1e-6
    return False, line


def _beyond(
    moves: Float[Tensor, "k d m"], tangent: Tangent, orbit: Float[Tensor, "r p"]
) -> Float[Tensor, "j d m"]:
    """Orthonormal combinations of moves that no change of coordinates makes."""
    rows = (moves @ tangent.outside).flatten(1)
    rest = rows - rows @ orbit.mT @ orbit
    values, vectors = torch.linalg.eigh(rest @ rest.mT)
    return torch.einsum("kj,kdm->jdm", vectors[:, values > OUTSIDE_ORBIT**2], moves)


def _changes_constants(
    moves: Float[Tensor, "k d m"], inside: Float[Tensor, "m d d"], constants: Float[Tensor, "d d d"]
) -> bool:
    """Whether a move changes the structure constants by more than a change of basis does."""
    d = len(constants)
    if d < 2 or not len(moves):
        return False
    first = torch.einsum("kia,ajl->kijl", moves, inside)
    change = first - first.transpose(1, 2)
    if not _counts(change):
        return False
    # By normal equations: the changes by a new basis have many more numbers than the new basis.
    values, vectors = torch.linalg.eigh(_new_basis_gram(constants))
    kept = values > SMALLEST_CHANGE**2 * values[-1]
    inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].mT
    for _ in range(2):  # small values cost digits
        slope = torch.einsum("kijl,ajl->kai", change, constants)
        slope = 2 * slope - torch.einsum("kija,ijb->kab", change, constants)
        new = (slope.flatten(1) @ inverse).unflatten(1, (d, d))
        change = change - _by_new_basis(new, constants)
    return _counts(change)


def _by_new_basis(
    new: Float[Tensor, "k d d"], constants: Float[Tensor, "d d d"]
) -> Float[Tensor, "k d d d"]:
    """Change of the structure constants, to first order, by the basis B_i + φ_ai B_a."""
    first = torch.einsum("kai,ajl->kijl", new, constants)
    return first - first.transpose(1, 2) - torch.einsum("ijb,klb->kijl", constants, new)


def _new_basis_gram(constants: Float[Tensor, "d d d"]) -> Float[Tensor, "p p"]:
    """Inner products of the changes by a new basis, for every two entries of φ."""
    d = len(constants)
    one = torch.eye(d, dtype=torch.float64)
    within = torch.einsum("ajl,bjl,ip->aibp", constants, constants, one)
    across = torch.einsum("apl,ibl->aibp", constants, constants)
    along = torch.einsum("ijc,ijp,ab->acbp", constants, constants, one)
    mixed = torch.einsum("ayb,iyp->aibp", constants, constants).reshape(d * d, d * d)
    return (2 * within + 2 * across + along).reshape(d * d, d * d) - 2 * (mixed + mixed.mT)


def _counts(change: Float[Tensor, "k d d d"]) -> bool:
    """Whether the change of the structure constants by any unit combination is large."""
    return float(torch.linalg.matrix_norm(change.flatten(1), 2)) > CHANGED_CONSTANTS
