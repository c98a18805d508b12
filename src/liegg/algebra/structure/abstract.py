"""A name for a Lie algebra as such, whatever matrices it came from, with the reasons for it."""

from dataclasses import dataclass

import torch

from liegg.algebra.bracket import jacobi_residual
from liegg.algebra.structure.ideals import direct_summands
from liegg.algebra.structure.invariants import Invariants, Simple, invariants
from liegg.algebra.structure.real_forms import UNKNOWN, sum_names
from liegg.algebra.structure.semidirect import preserves_area, semidirect_name, translations
from liegg.algebra.structure.series import (
    Constants,
    Rows,
    brackets,
    checked,
    null_rows,
    outside,
    restricted,
    span_rows,
)
from liegg.algebra.structure.solvable import nilpotent_name, plane_name

JACOBI = 0.03
"""Share of the tolerance that the violation of the Jacobi identity may reach: with more, an error could pass for a bracket.

Random errors gave no wrong name below a share of 0.1, and the first ones right above it."""


@dataclass(frozen=True)
class Abstract:
    """Name of an abstract Lie algebra.

    Attributes:
        name: the commonest name; `"unknown"` where the classification here does not decide. A name with ⋉ describes the parts, the
            Levi factor and the radical, and leaves open how one acts on the other.
        aliases: all names, `name` first.
        reasons: sentences that say what was found and why the name follows.
    """

    name: str
    aliases: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class _Part:
    """A summand that decomposes no further."""

    names: tuple[str, ...]
    dimension: int
    noncompact: int
    reason: str


def abstract_name(
    constants: Constants, found: Invariants | None = None, *, tolerance: float = 1e-8
) -> Abstract:
    r"""Name the algebra with the given structure constants.

    Args:
        constants: structure constants, as `invariants` takes them.
        found: their invariants, where they are known already.
        tolerance: as in `invariants`. Constants that violate the Jacobi identity by more than 3 % of it stay unnamed.

    Returns:
        Name, other names and reasons.

    Examples:
        >>> from liegg.algebra.catalog import aff, so, u
        >>> from liegg.algebra.bracket import structure_constants
        >>> [abstract_name(structure_constants(g)).name for g in (so(1, 3), u(2), aff(3))]
        ['so(1,3)', 'so(3) ⊕ R', 'aff(3)']
        >>> print(*abstract_name(structure_constants(u(2))).reasons, sep="\n")
        Dimension 4, rank 2, centre of dimension 1.
        The radical is the centre: the algebra is reductive.
        Simple ideal of dimension 3, type A1, Killing form of signature (0,3): so(3).
        Beside it an abelian summand of dimension 1, in the centre and outside all brackets.
    """
    constants = checked(constants)
    if (violation := jacobi_residual(constants)) > max(JACOBI * tolerance, 1e-12):
        why = f"The constants violate the Jacobi identity by {violation:.1e} of their size, too much at tolerance {tolerance:g}."
        return Abstract(UNKNOWN, (UNKNOWN,), (why,))
    found = found or invariants(constants, tolerance=tolerance)
    body, flat = _split_centre(constants, found, tolerance)
    free = [
        s
        for s in found.simple
        if not len(brackets(constants, s.basis, found.radical, tolerance=tolerance))
    ]
    tied = [s.basis for s in found.simple if s not in free]
    parts = [_simple_part(simple) for simple in free]
    rest = span_rows(torch.cat([_intersection(found.radical, body), *tied]), 1e-6)
    if len(rest):
        parts += _other_parts(constants, found, rest, tolerance)
    parts.sort(key=lambda part: (-part.dimension, part.noncompact, part.names))
    reasons = (*_overview(found), *(part.reason for part in parts))
    if flat and parts:
        reasons = (
            *reasons,
            f"Beside it an abelian summand of dimension {flat}, in the centre and outside all brackets.",
        )
    if any(part.names[0] == UNKNOWN for part in parts):
        return Abstract(UNKNOWN, (UNKNOWN,), reasons)
    names = sum_names([part.names for part in parts], flat)
    names = (*names, "Bianchi III") if names == ("aff(1) ⊕ R",) else names
    return Abstract(names[0], names, reasons)


def _split_centre(constants: Constants, found: Invariants, tolerance: float) -> tuple[Rows, int]:
    """An ideal that holds all brackets and leaves out of the centre what is no bracket; the dimension of what it leaves out."""
    whole = torch.eye(len(constants), dtype=torch.float64)
    derived = brackets(constants, whole, whole, tolerance=tolerance)
    flat = outside(found.centre, _intersection(found.centre, derived))
    others = outside(whole, span_rows(torch.cat([derived, flat]), 1e-6))
    return span_rows(torch.cat([derived, others]), 1e-6), len(flat)


def _intersection(one: Rows, other: Rows) -> Rows:
    """What of a span lies in another, both given by orthonormal rows."""
    return null_rows((one - one @ other.mT @ other).mT, 1e-6) @ one


def _simple_part(simple: Simple) -> _Part:
    p, q = simple.killing_signature
    kind = f"type {simple.dynkin}" + (" over the complex numbers" if simple.complex else "")
    reason = f"Simple ideal of dimension {simple.dimension}, {kind}, Killing form of signature ({p},{q}): {simple.real_form}."
    return _Part(simple.aliases, simple.dimension, p, reason)


def _other_parts(
    constants: Constants, found: Invariants, rows: Rows, tolerance: float
) -> list[_Part]:
    """Names of the indecomposable parts of an ideal without simple summands."""
    inner = restricted(constants, rows) if len(rows) < len(constants) else constants
    pieces = direct_summands(inner, tolerance=tolerance)
    if len(pieces) == 1:
        return [
            _part(
                inner,
                found if inner is constants else invariants(inner, tolerance=tolerance),
                tolerance,
            )
        ]
    shares = [restricted(inner, piece.basis) for piece in pieces]
    return [_part(share, invariants(share, tolerance=tolerance), tolerance) for share in shares]


def _part(constants: Constants, found: Invariants, tolerance: float) -> _Part:
    """Name of an algebra that is not semisimple and no direct sum."""
    if found.nilpotent:
        names, why = nilpotent_name(constants, tolerance=tolerance)
    elif found.solvable and found.dimension == 3:
        names, why = plane_name(constants, tolerance=tolerance)
    else:
        moved = translations(constants, found.radical, tolerance=tolerance)
        names, why = semidirect_name(moved, tolerance=tolerance) if moved else ((), "")
    if not names:
        names, why = _described(constants, found, tolerance)
    reason = why if names[0] == UNKNOWN else f"{why[:-1]}: {names[0]}."
    return _Part(names, found.dimension, found.killing_signature[0], reason)


def _described(
    constants: Constants, found: Invariants, tolerance: float
) -> tuple[tuple[str, ...], str]:
    """A name by parts: Levi factor and radical, or one element and the nilradical, for which the sum always splits."""
    if len(found.levi):
        ideal = found.radical
        factors = sum_names([simple.aliases for simple in found.simple])
        moved = translations(constants, ideal, tolerance=tolerance)
        if moved and preserves_area(
            moved.maps, tolerance=tolerance
        ):  # an algebra of other names too, but acting as this one
            area = f"sp({len(moved.basis)},R)"
            factors = (area, *(name for name in factors if name != area))
        why = f"Levi factor {factors[0]} with the radical "
    else:
        ideal, factors, why = found.nilradical, ("R",), "One element that acts on the nilradical "
    if len(ideal) and (len(found.levi) or len(ideal) == found.dimension - 1):
        inner = abstract_name(restricted(constants, ideal), tolerance=tolerance).name
        if UNKNOWN not in (inner, *factors):
            names = tuple(f"{_grouped(factor)} ⋉ {_grouped(inner)}" for factor in factors)
            return names, f"{why}{inner}; how one acts on the other is not told apart."
    return (
        (UNKNOWN,),
        f"A summand of dimension {found.dimension}, with {_series(found)}, is in none of the lists known here.",
    )


def _grouped(name: str) -> str:
    return f"({name})" if " ⊕ " in name or " ⋉ " in name else name


def _overview(found: Invariants) -> tuple[str, ...]:
    """What the invariants say, in sentences."""
    first = (
        f"Dimension {found.dimension}, rank {found.rank}, centre of dimension {len(found.centre)}."
    )
    if found.abelian:
        return first, "All brackets vanish: the algebra is abelian."
    if found.semisimple:
        return first, "There is no solvable ideal: the algebra is semisimple."
    if found.reductive:
        return first, "The radical is the centre: the algebra is reductive."
    if found.nilpotent:
        return first, f"The algebra is nilpotent, with {_series(found)}."
    if found.solvable:
        return (
            first,
            f"The algebra is solvable but not nilpotent, with {_series(found)}; nilradical of dimension {len(found.nilradical)}.",
        )
    sizes = f"Levi factor of dimension {len(found.levi)}, radical of dimension {len(found.radical)}"
    return (
        first,
        f"The algebra is neither solvable nor reductive: {sizes}, nilradical of dimension {len(found.nilradical)}.",
    )


def _series(found: Invariants) -> str:
    derived = ", ".join(map(str, found.derived_series))
    lower = ", ".join(map(str, found.lower_central_series))
    return f"derived series of dimensions {derived} and lower central series of dimensions {lower}"
