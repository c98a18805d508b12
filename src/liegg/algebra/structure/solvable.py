"""Names of Lie algebras with a radical: small solvable ones, linear maps with translations."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.algebra.forms.forms import form_map, symmetric_units
from liegg.algebra.structure.real_forms import abelian, pair
from liegg.algebra.structure.series import (
    Constants,
    Rows,
    brackets,
    centre,
    identity,
    null_rows,
    outside,
    scale,
    span_rows,
)

Named = tuple[tuple[str, ...], Remark]
"""All names of an algebra, the commonest first, and why."""


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
    space = identity(constants)
    plane = brackets(constants, space, space, tolerance=tolerance)
    if len(space) != 3 or len(plane) != 2:
        return None
    matrix = torch.einsum("i,bj,ijk,ck->cb", outside(space, plane)[0], plane, constants, plane)
    zero = tolerance * scale(constants) / float(matrix.norm())
    names, action = _bianchi(matrix / matrix.norm(), max(zero, 1e-13))  # at least rounding
    return names, Diagnosis.ACTS_ON_PLANE(action=action, name=names[0])


def _bianchi(matrix: Float[Tensor, "two two"], zero: float) -> tuple[tuple[str, ...], str]:
    """Names, and what a unit matrix does to the plane; entries up to `zero` count as zero."""
    trace = float(matrix.trace())
    rest = matrix - trace / 2 * torch.eye(2, dtype=matrix.dtype)
    size, rotation = float(rest.norm()), 4 * float(torch.linalg.det(rest))
    if size <= zero:
        return ("Bianchi V",), "a scaling"
    # A change of the entries by `zero` changes the determinant by that times their size.
    nilpotent = abs(rotation) <= 4 * zero * size
    if nilpotent and abs(trace) > zero:
        return ("Bianchi IV",), "a Jordan block"
    if abs(trace) <= zero and rotation > 0:
        return ("se(2)", "e(2)", "Bianchi VII₀"), "a rotation"
    if abs(trace) <= zero:
        return ("e(1,1)", "Bianchi VI₀"), "a hyperbolic rotation"
    kind, action = ("VII", "a rotation with a scaling") if rotation > 0 else ("VI", "two scalings")
    return (f"Bianchi {kind} (h = {trace**2 / rotation:.4g})",), action


def maps_of_translations(
    constants: Constants, radical: Rows, *, tolerance: float = 1e-8
) -> Float[Tensor, "m n n"] | None:
    r"""How the algebra acts on the abelian ideal $[\mathfrak{g}, \mathfrak{r}]$ of its radical.

    Args:
        constants: structure constants.
        radical: its radical.
        tolerance: singular values below this share of the largest constant count as zero.

    Returns:
        Orthonormal matrices that span the action; None if the ideal is not its own centraliser.
    """
    threshold = tolerance * scale(constants)
    basis = brackets(constants, identity(constants), radical, tolerance=tolerance)
    if len(basis) == 0 or len(brackets(constants, basis, basis, tolerance=tolerance)):
        return None
    action = torch.einsum("bj,ijk,ck->icb", basis, constants, basis)
    maps = span_rows(action.flatten(1), threshold).unflatten(1, (len(basis), len(basis)))
    return maps if len(maps) + len(basis) == len(constants) else None


def semidirect_name(maps: Float[Tensor, "m n n"], *, tolerance: float = 1e-8) -> Named | None:
    """Names of the algebra of linear maps and translations, and why.

    None if the maps are in no known family.

    The maps decide, because the algebra is a semidirect sum for each family: its maps are
    semisimple, or contain the identity, or are one-dimensional.
    """
    n = maps.shape[1]
    if len(maps) == n * n:
        names = (f"aff({n})", f"gl({n},R) ⋉ {abelian(n)}") if n > 1 else ("aff(1)",)
        return _named(n, names, "by all linear maps")
    eye = torch.eye(n, dtype=maps.dtype) / n**0.5
    along = torch.einsum("aij,ij->a", maps, eye)
    scaled = float((torch.einsum("a,aij->ij", along, maps) - eye).norm()) < 1e-6
    rows = null_rows(along[None], 1e-9) @ maps.flatten(1)
    if not scaled and len(rows) == n * n - 1 and n > 1:
        return _named(n, (f"saff({n})", f"sl({n},R) ⋉ {abelian(n)}"), f"as sl({n},R)")
    if len(maps) != len(rows) + scaled or len(rows) != n * (n - 1) // 2 or n < 2:
        return None
    form = _regular_form(rows.unflatten(1, (n, n)), 1, tolerance)
    if form is None:
        return None
    positive = int((torch.linalg.eigvalsh(form) > 0).sum())
    label = pair(positive, n - positive)
    if scaled:
        names = (f"sim({label})", "aff(1,C)") if label == "2" else (f"sim({label})",)
        return _named(n, names, f"as so({label}) and by scaling")
    names = (f"e({label})", f"iso({label})") if "," in label else (f"se({label})", f"e({label})")
    return _named(n, names, f"as so({label})")


def _named(n: int, names: tuple[str, ...], action: str) -> Named:
    return names, Diagnosis.ACTS_ON_TRANSLATIONS(dimension=n, action=action, name=names[0])


def preserves_area(maps: Float[Tensor, "m n n"], *, tolerance: float = 1e-8) -> bool:
    """Whether the maps are all of sp(n,R): as many, and preserving a regular antisymmetric form."""
    n = maps.shape[1]
    complete = n % 2 == 0 and len(maps) == n * (n + 1) // 2
    return complete and _regular_form(maps, -1, tolerance) is not None


def _regular_form(
    maps: Float[Tensor, "m n n"], sign: int, tolerance: float
) -> Float[Tensor, "n n"] | None:
    """The one form with AᵀQ + QA = 0 for all maps A and Qᵀ = ± Q, if it is unique and regular."""
    units = symmetric_units(maps.shape[1], sign)
    rows = null_rows(form_map(maps, units).flatten(0, 1), tolerance)
    form = torch.einsum("ab,bij->aij", rows, units)
    regular = len(form) == 1 and float(torch.linalg.svdvals(form[0]).min()) > 1e-6
    return form[0] if regular else None
