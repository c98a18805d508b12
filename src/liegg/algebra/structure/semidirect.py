r"""Names of Lie algebras of linear maps and all translations: e(p,q), sim(p,q), saff(n), aff(n)."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis
from liegg.algebra.forms.forms import form_map, symmetric_units
from liegg.algebra.structure.real_forms import abelian, pair
from liegg.algebra.structure.series import (
    Constants,
    Rows,
    brackets,
    checked,
    identity,
    null_rows,
    scale,
    span_rows,
)
from liegg.algebra.structure.solvable import Named


class Translations(NamedTuple):
    """An abelian ideal and the action of the algebra on it.

    Attributes:
        basis: orthonormal coefficient rows of the ideal.
        maps: orthonormal matrices that span the action of the rest of the algebra.
    """

    basis: Rows
    maps: Float[Tensor, "m n n"]


def translations(
    constants: Constants, radical: Rows, *, tolerance: float = 1e-8
) -> Translations | None:
    r"""The ideal $[\mathfrak{g}, \mathfrak{r}]$ of the radical, if it is its own centraliser.

    Args:
        constants: structure constants.
        radical: its radical.
        tolerance: singular values below this share of the largest constant count as zero.

    Returns:
        The ideal and the linear maps; None if the algebra is not of this kind.
    """
    constants = checked(constants)
    threshold = tolerance * scale(constants)
    basis = brackets(constants, identity(constants), radical, tolerance=tolerance)
    if len(basis) == 0 or len(brackets(constants, basis, basis, tolerance=tolerance)):
        return None
    action = torch.einsum("bj,ijk,ck->icb", basis, constants, basis)
    maps = span_rows(action.flatten(1), threshold).unflatten(1, (len(basis), len(basis)))
    return Translations(basis, maps) if len(maps) + len(basis) == len(constants) else None


def semidirect_name(ideal: Translations, *, tolerance: float = 1e-8) -> Named | None:
    """Names of the algebra of those maps and translations, and why.

    None if the maps are in no known family.

    The maps decide, because the algebra is a semidirect sum for each family: its maps are
    semisimple, or contain the identity, or are one-dimensional.
    """
    maps, n = ideal.maps, len(ideal.basis)
    if len(maps) == n * n:
        names = (f"aff({n})", f"gl({n},R) ⋉ {abelian(n)}") if n > 1 else ("aff(1)",)
        return _named(n, names, "by all linear maps")
    eye = torch.eye(n, dtype=maps.dtype) / n**0.5
    along = torch.einsum("aij,ij->a", maps, eye)
    scaled = float((torch.einsum("a,aij->ij", along, maps) - eye).norm()) < 1e-6
    rows = maps.flatten(1)
    rows = null_rows(along[None], 1e-9) @ rows if float(along.norm()) > 1e-9 else rows
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
