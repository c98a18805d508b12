"""Names of small solvable Lie algebras: some nilpotent ones, and Bianchi's list."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.algebra.structure.series import (
    Constants,
    Rows,
    brackets,
    centre,
    checked,
    identity,
    null_rows,
    outside,
    scale,
)

Named = tuple[tuple[str, ...], Remark]
"""All names of an algebra, the commonest first, and why."""

EQUAL = 1e-6
"""Trace, or difference of eigenvalues, of a unit 2 × 2 matrix that counts as zero."""


def nilpotent_name(constants: Constants, *, tolerance: float = 1e-8) -> Named | None:
    """Names of a nilpotent algebra that is not a direct sum, and why.

    None if it is not in the list.

    The list: the Heisenberg algebras, the filiform algebra of dimension four, and the strictly
    upper triangular 4 × 4 matrices.

    >>> from liegg.algebra.catalog import shear
    >>> from liegg.algebra.bracket import structure_constants
    >>> nilpotent_name(structure_constants(shear(3)))[0]
    ('heis(3)', 'n(3)', 'Bianchi II')
    """
    constants = checked(constants)
    space = identity(constants)
    derived = brackets(constants, space, space, tolerance=tolerance)
    third = brackets(constants, space, derived, tolerance=tolerance)
    middle = centre(constants, tolerance=tolerance)
    d, dimensions = len(space), (len(derived), len(third), len(middle))
    if dimensions == (1, 0, 1):
        names = ("heis(3)", "n(3)", "Bianchi II") if d == 3 else (f"heis({d})",)
        return names, Diagnosis.HEISENBERG(name=names[0])
    if (d, *dimensions[:2]) == (4, 2, 1):
        return ("filiform(4)",), Diagnosis.FILIFORM(name="filiform(4)")
    if (d, *dimensions) == (6, 3, 1, 1) and _triangular(constants, derived, middle, tolerance):
        return ("n(4)",), Diagnosis.TRIANGULAR(name="n(4)")
    return None


def _triangular(constants: Constants, derived: Rows, middle: Rows, tolerance: float) -> bool:
    """Whether an algebra with the series 6, 3, 1, 0 is n(4).

    The only other one with a regular form has a definite one.
    """
    threshold = tolerance * scale(constants)
    if len(brackets(constants, derived, derived, tolerance=tolerance)):
        return False
    top = outside(identity(constants), derived)
    pairing = torch.einsum("ai,bj,ijk,k->ab", top, outside(derived, middle), constants, middle[0])
    idle = null_rows(pairing.mT, threshold)
    if len(idle) != 1:
        return False
    others = outside(top, idle @ top)
    images = torch.einsum("i,bj,ijk->bk", (idle @ top)[0], others, constants)
    form = torch.einsum("ai,bj,ijk,k->ab", others, images, constants, middle[0])
    return float(torch.linalg.det(form)) < -threshold * float(form.abs().max())


def plane_name(constants: Constants, *, tolerance: float = 1e-8) -> Named | None:
    r"""Bianchi's names of a solvable algebra of dimension three with a plane of brackets, and why.

    It is one element acting on that plane. Only the $2 \times 2$ matrix up to scale and conjugation
    matters, so the type and $h = \operatorname{tr}^2 / (4\det - \operatorname{tr}^2)$. That is
    $-((\lambda_1 + \lambda_2)/(\lambda_1 - \lambda_2))^2$ for real eigenvalues (VI), $(a/b)^2$ for
    $a \pm bi$ (VII).

    >>> from liegg.algebra.catalog import se
    >>> from liegg.algebra.bracket import structure_constants
    >>> plane_name(structure_constants(se(2)))[0]
    ('se(2)', 'e(2)', 'Bianchi VII₀')
    """
    constants = checked(constants)
    space = identity(constants)
    plane = brackets(constants, space, space, tolerance=tolerance)
    if len(space) != 3 or len(plane) != 2:
        return None
    matrix = torch.einsum("i,bj,ijk,ck->cb", outside(space, plane)[0], plane, constants, plane)
    names, action = _bianchi(matrix / matrix.norm())
    return names, Diagnosis.ACTS_ON_PLANE(action=action, name=names[0])


def _bianchi(matrix: Float[Tensor, "two two"]) -> tuple[tuple[str, ...], str]:
    """Names, and what a unit matrix does to the plane."""
    trace, determinant = float(matrix.trace()), float(torch.linalg.det(matrix))
    rotation = 4 * determinant - trace**2
    if abs(rotation) < EQUAL:
        rest = matrix - trace / 2 * torch.eye(2, dtype=matrix.dtype)
        scaling = float(rest.norm()) < EQUAL
        return (("Bianchi V",), "a scaling") if scaling else (("Bianchi IV",), "a Jordan block")
    if abs(trace) < EQUAL and rotation > 0:
        return ("se(2)", "e(2)", "Bianchi VII₀"), "a rotation"
    if abs(trace) < EQUAL:
        return ("e(1,1)", "Bianchi VI₀"), "a hyperbolic rotation"
    kind, action = ("VII", "a rotation with a scaling") if rotation > 0 else ("VI", "two scalings")
    return (f"Bianchi {kind} (h = {trace**2 / rotation:.4g})",), action
