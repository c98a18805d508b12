r"""Names of Lie algebras made of linear maps and all translations of the space they act on: e(p,q), sim(p,q), saff(n), aff(n)."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.forms.forms import symmetric_units
from liegg.algebra.structure.real_forms import abelian
from liegg.algebra.structure.series import (
    Constants,
    Rows,
    brackets,
    checked,
    null_rows,
    scale,
    span_rows,
)


class Translations(NamedTuple):
    """An abelian ideal and what the algebra does to it.

    Attributes:
        basis: orthonormal coefficient rows of the ideal.
        maps: orthonormal matrices that span the action of the algebra, all of it except the ideal itself.
    """

    basis: Rows
    maps: Float[Tensor, "m n n"]


def translations(
    constants: Constants, radical: Rows, *, tolerance: float = 1e-8
) -> Translations | None:
    r"""The ideal $[\mathfrak{g}, \mathfrak{r}]$ of brackets with the radical, if it is abelian and only itself commutes with it.

    Args:
        constants: structure constants.
        radical: its radical.
        tolerance: singular values below this share of the largest constant count as zero.

    Returns:
        The ideal and the linear maps; None where the algebra is not of this kind.
    """
    constants = checked(constants)
    threshold = tolerance * scale(constants)
    basis = brackets(
        constants, torch.eye(len(constants), dtype=torch.float64), radical, tolerance=tolerance
    )
    if len(basis) == 0 or len(brackets(constants, basis, basis, tolerance=tolerance)):
        return None
    action = torch.einsum("bj,ijk,ck->icb", basis, constants, basis)
    maps = span_rows(action.flatten(1), threshold).unflatten(1, (len(basis), len(basis)))
    return Translations(basis, maps) if len(maps) + len(basis) == len(constants) else None


def semidirect_name(moved: Translations, *, tolerance: float = 1e-8) -> tuple[tuple[str, ...], str]:
    """Names of the algebra of those maps and translations, and why; no names if the maps are not one of the families known here.

    The maps decide, because the algebra is a semidirect sum for each family: its maps are semisimple, or hold the identity, or are
    one-dimensional.
    """
    maps, n = moved.maps, len(moved.basis)
    if len(maps) == n * n:
        return (
            (f"aff({n})", f"gl({n},R) ⋉ {abelian(n)}") if n > 1 else ("aff(1)",)
        ), f"An abelian ideal of dimension {n}, on which the rest acts by all linear maps."
    eye = torch.eye(n, dtype=maps.dtype) / n**0.5
    along = torch.einsum("aij,ij->a", maps, eye)
    scaled = float((torch.einsum("a,aij->ij", along, maps) - eye).norm()) < 1e-6
    traceless = (
        null_rows(along[None], 1e-9) @ maps.flatten(1)
        if float(along.norm()) > 1e-9
        else maps.flatten(1)
    )
    traceless = traceless.unflatten(1, (n, n))
    if not scaled and len(traceless) == n * n - 1 and n > 1:
        return (
            f"saff({n})",
            f"sl({n},R) ⋉ {abelian(n)}",
        ), f"An abelian ideal of dimension {n}, on which the rest acts as sl({n},R)."
    if len(maps) != len(traceless) + scaled or len(traceless) != n * (n - 1) // 2 or n < 2:
        return (), ""
    signature = _metric(traceless, tolerance)
    if signature is None:
        return (), ""
    p, q = signature
    label = f"{n}" if p == 0 else f"{p},{q}"
    also = " and by scaling" if scaled else ""
    why = f"An abelian ideal of dimension {n}, on which the rest acts as so({label}), preserving a form of signature ({p},{q}){also}."
    if scaled:
        return ((f"sim({label})", "aff(1,C)") if (p, n) == (0, 2) else (f"sim({label})",)), why
    return ((f"se({label})", f"e({label})") if p == 0 else (f"e({label})", f"iso({label})")), why


def preserves_area(maps: Float[Tensor, "m n n"], *, tolerance: float = 1e-8) -> bool:
    """Whether the maps are all of sp(n,R): as many, and with an antisymmetric form that is regular and preserved."""
    n = maps.shape[1]
    if n % 2 or len(maps) != n * (n + 1) // 2:
        return False
    forms = _forms(maps, -1, tolerance)
    return len(forms) == 1 and float(torch.linalg.svdvals(forms[0]).min()) > 1e-6


def _metric(maps: Float[Tensor, "m n n"], tolerance: float) -> tuple[int, int] | None:
    """Signature, smaller number first, of the one symmetric form that the maps preserve."""
    forms = _forms(maps, 1, tolerance)
    if len(forms) != 1:
        return None
    values = torch.linalg.eigvalsh(forms[0])
    if float(values.abs().min()) < 1e-6:
        return None
    positive = int((values > 0).sum())
    return min(positive, len(values) - positive), max(positive, len(values) - positive)


def _forms(maps: Float[Tensor, "m n n"], sign: int, tolerance: float) -> Float[Tensor, "k n n"]:
    """Orthonormal basis of the forms with AᵀQ + QA = 0 for all maps A and Qᵀ = ± Q."""
    n = maps.shape[1]
    basis = symmetric_units(n, sign).to(maps)
    change = (maps.mT[:, None] @ basis + basis @ maps[:, None]).transpose(0, 1).flatten(1)
    return torch.einsum("ab,bij->aij", null_rows(change.mT, tolerance), basis)
