"""A name for a Lie algebra from its structure constants alone, with the reasons for it."""

from dataclasses import dataclass

import torch

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.algebra.bracket import jacobi_residual
from liegg.algebra.structure.ideals import direct_summands
from liegg.algebra.structure.invariants import Invariants, Simple, invariants
from liegg.algebra.structure.real_forms import UNKNOWN, bracketed, sum_names
from liegg.algebra.structure.series import (
    Constants,
    Rows,
    brackets,
    checked_constants,
    identity,
    null_rows,
    outside,
    restricted,
    span_rows,
)
from liegg.algebra.structure.solvable import (
    maps_of_translations,
    nilpotent_name,
    plane_name,
    preserves_area,
    semidirect_name,
)

JACOBI_SHARE = 0.03
"""Largest violation of the Jacobi identity, as a share of the tolerance.

Random errors gave no wrong name below a share of 0.1, and the first ones right above it."""


@dataclass(frozen=True)
class Abstract:
    """Name of an abstract Lie algebra.

    Attributes:
        name: the commonest name; `"unknown"` where this classification does not decide. A name with
            ⋉ describes the parts, the Levi factor and the radical, and leaves open how one acts on
            the other.
        aliases: all names, `name` first.
        reasons: the invariants and why the name follows from them.
    """

    name: str
    aliases: tuple[str, ...]
    reasons: tuple[Remark, ...]


@dataclass(frozen=True)
class _Part:
    """An indecomposable summand."""

    names: tuple[str, ...]
    dimension: int
    noncompact: int
    reason: Remark


def abstract_name(
    constants: Constants, known: Invariants | None = None, *, tolerance: float = 1e-8
) -> Abstract:
    r"""Name the algebra with the given structure constants.

    Args:
        constants: structure constants, as `invariants` takes them.
        known: their invariants, where they are known already.
        tolerance: as in `invariants`. Constants that violate the Jacobi identity by more than 3 %
            of it stay unnamed.

    Returns:
        Name, other names and reasons.

    Examples:
        >>> from liegg.algebra.catalog import aff, so, u
        >>> from liegg.algebra.bracket import structure_constants
        >>> [abstract_name(structure_constants(g)).name for g in (so(1, 3), u(2), aff(3))]
        ['so(1,3)', 'so(3) ⊕ R', 'aff(3)']
        >>> print(*abstract_name(structure_constants(u(2))).reasons, sep="\n")
        dimension 4, rank 2, centre of dimension 1
        the radical is the centre: the algebra is reductive
        simple ideal of dimension 3, type A1, Killing form of signature (0,3): so(3)
        an abelian summand of dimension 1, in the centre and outside all brackets
    """
    constants = checked_constants(constants)
    if (violation := jacobi_residual(constants)) > max(JACOBI_SHARE * tolerance, 1e-12):
        reason = Diagnosis.JACOBI_VIOLATED(violation=violation, tolerance=tolerance)
        return Abstract(UNKNOWN, (UNKNOWN,), (reason,))
    known = known or invariants(constants, tolerance=tolerance)
    ideal, flat = _split_centre(constants, known, tolerance)
    coupled = [
        bool(len(brackets(constants, simple.basis, known.radical, tolerance=tolerance)))
        for simple in known.simple
    ]
    parts = [_simple_part(s) for s, tied in zip(known.simple, coupled, strict=True) if not tied]
    factors = [s.basis for s, tied in zip(known.simple, coupled, strict=True) if tied]
    rest = span_rows(torch.cat([_intersection(known.radical, ideal), *factors]), 1e-6)
    if len(rest):
        parts += _other_parts(constants, known, rest, tolerance)
    parts.sort(key=lambda part: (-part.dimension, part.noncompact, part.names))
    reasons = [*_overview(known), *(part.reason for part in parts)]
    if flat and parts:
        reasons.append(Diagnosis.ABELIAN_SUMMAND(dimension=flat))
    names = sum_names([part.names for part in parts], flat)
    if any(part.names[0] == UNKNOWN for part in parts):
        names = (UNKNOWN,)
    elif names == ("aff(1) ⊕ R",):
        names = (*names, "Bianchi III")
    return Abstract(names[0], names, tuple(reasons))


def _split_centre(constants: Constants, known: Invariants, tolerance: float) -> tuple[Rows, int]:
    """An ideal with all brackets, without the rest of the centre; the dimension of that rest."""
    space = identity(constants)
    derived = brackets(constants, space, space, tolerance=tolerance)
    flat = outside(known.centre, _intersection(known.centre, derived))
    others = outside(space, span_rows(torch.cat([derived, flat]), 1e-6))
    return span_rows(torch.cat([derived, others]), 1e-6), len(flat)


def _intersection(one: Rows, other: Rows) -> Rows:
    """Intersection of two spans, both given by orthonormal rows."""
    return null_rows((one - one @ other.mT @ other).mT, 1e-6) @ one


def _simple_part(simple: Simple) -> _Part:
    p, q = simple.killing_signature
    member = Diagnosis.COMPLEX_SIMPLE_IDEAL if simple.complex else Diagnosis.SIMPLE_IDEAL
    reason = member(
        dimension=simple.dimension,
        dynkin=simple.dynkin,
        positive=p,
        negative=q,
        name=simple.real_form,
    )
    return _Part(simple.aliases, simple.dimension, p, reason)


def _other_parts(
    constants: Constants, known: Invariants, rows: Rows, tolerance: float
) -> list[_Part]:
    """Names of the indecomposable parts of an ideal without simple summands."""
    inner = restricted(constants, rows) if len(rows) < len(constants) else constants
    ideals = direct_summands(inner, tolerance=tolerance)
    if len(ideals) == 1 and inner is constants:
        return [_part(inner, known, tolerance)]
    parts = [inner] if len(ideals) == 1 else [restricted(inner, ideal.basis) for ideal in ideals]
    return [_part(part, invariants(part, tolerance=tolerance), tolerance) for part in parts]


def _part(constants: Constants, known: Invariants, tolerance: float) -> _Part:
    """Name of an algebra that is neither semisimple nor a direct sum."""
    named = None
    if known.nilpotent:
        named = nilpotent_name(constants, tolerance=tolerance)
    elif known.solvable and known.dimension == 3:
        named = plane_name(constants, tolerance=tolerance)
    elif (maps := maps_of_translations(constants, known.radical, tolerance=tolerance)) is not None:
        named = semidirect_name(maps, tolerance=tolerance)
    names, reason = named or _by_parts(constants, known, tolerance)
    return _Part(names, known.dimension, known.killing_signature[0], reason)


def _by_parts(
    constants: Constants, known: Invariants, tolerance: float
) -> tuple[tuple[str, ...], Remark]:
    """A name by parts: Levi factor and radical, or one element and the nilradical."""
    levi = bool(len(known.levi))
    ideal = known.radical if levi else known.nilradical
    factors = _levi_names(constants, known, tolerance) if levi else ("R",)
    if len(ideal) and (levi or len(ideal) == known.dimension - 1):
        inner = abstract_name(restricted(constants, ideal), tolerance=tolerance).name
        if UNKNOWN not in (inner, *factors):
            names = tuple(
                f"{bracketed(factor, sums=True)} ⋉ {bracketed(inner, sums=True)}"
                for factor in factors
            )
            if levi:
                return names, Diagnosis.LEVI_AND_RADICAL(levi=factors[0], radical=inner)
            return names, Diagnosis.ELEMENT_AND_NILRADICAL(nilradical=inner)
    return (UNKNOWN,), Diagnosis.NOT_IN_LISTS(dimension=known.dimension, **_series(known))


def _levi_names(constants: Constants, known: Invariants, tolerance: float) -> tuple[str, ...]:
    """Names of the Levi factor; sp(n,R) first where it acts on the radical as that."""
    names = sum_names([simple.aliases for simple in known.simple])
    maps = maps_of_translations(constants, known.radical, tolerance=tolerance)
    if maps is not None and preserves_area(maps, tolerance=tolerance):
        area = f"sp({maps.shape[1]},R)"
        return (area, *(name for name in names if name != area))
    return names


def _overview(known: Invariants) -> tuple[Remark, Remark]:
    """What the invariants say."""
    dimensions = Diagnosis.DIMENSIONS(
        dimension=known.dimension, rank=known.rank, centre=len(known.centre)
    )
    kinds = {
        Diagnosis.ABELIAN: known.abelian,
        Diagnosis.SEMISIMPLE: known.semisimple,
        Diagnosis.REDUCTIVE: known.reductive,
        Diagnosis.NILPOTENT: known.nilpotent,
        Diagnosis.SOLVABLE: known.solvable,
        Diagnosis.NEITHER_SOLVABLE_NOR_REDUCTIVE: True,
    }
    kind = next(member for member, holds in kinds.items() if holds)
    parts = {name: len(getattr(known, name)) for name in ("levi", "radical", "nilradical")}
    return dimensions, kind(**_series(known), **parts)


def _series(known: Invariants) -> dict[str, str]:
    return {
        "derived": ", ".join(map(str, known.derived_series)),
        "lower": ", ".join(map(str, known.lower_central_series)),
    }
