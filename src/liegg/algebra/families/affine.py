"""Affine algebras as homogeneous matrices: a linear algebra with all translations."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.families.record import Member, Proposer, lowest
from liegg.algebra.structure.real_forms import abelian, bracketed

COVECTOR_NOISE_FACTOR = 6.0
"""Largest change of the fixed covector before a fit, over the change that noise explains."""


def affine(
    span: Float[Tensor, "d n n"], noise: float, linear: Proposer, *, dual: bool = False
) -> Iterator[Member]:
    """Algebras h ⋉ Rᵐ for every h that `linear` proposes for the linear parts.

    The matrices fix a covector; with that covector last they are `[[a, t], [0, 0]]`.

    Args:
        span: orthonormal generators.
        noise: relative error of a unit generator.
        linear: proposes algebras for the span of the linear parts.
        dual: the matrices fix a vector instead: minus their transposes are affine.
    """
    if dual:
        for member in affine(-span.mT, noise, linear):
            yield replace(member, generators=-member.generators.mT, dual=not member.dual)
        return
    d, n, _ = span.shape
    m = n - 1
    if m < 1 or d - m > m * m:
        return
    square = torch.einsum("aij,akj->ik", span, span)
    covector = lowest(square, 1)[0]
    if float(covector @ square @ covector) > (COVECTOR_NOISE_FACTOR * noise) ** 2 * d / n:
        return
    # Columns: an orthonormal basis of the plane on which the covector vanishes, then the covector
    # itself.
    frame = torch.cat([torch.linalg.svd(covector[None])[2][1:], covector[None]]).mT
    inside = frame.mT @ span @ frame
    parts = inside[:, :m, :m]
    if d > m:
        rows = torch.linalg.svd(parts.flatten(1), full_matrices=False)[2][: d - m]
        for member in linear(rows.unflatten(1, (m, m)), noise):
            yield _with_translations(member, torch.eye(m).to(span), frame)
    else:  # translations alone, perhaps along fewer directions than there are
        along = torch.linalg.svd(inside[:, :m, m], full_matrices=False)[2]
        yield _with_translations(Member("", parts[:0]), along, frame)


def _with_translations(
    member: Member, along: Float[Tensor, "k m"], frame: Float[Tensor, "n n"]
) -> Member:
    """A linear algebra and translations, in the coordinates of the frame."""
    translations = torch.nn.functional.pad(along[:, :, None], (along.shape[1], 0, 0, 1))
    linear = torch.nn.functional.pad(member.generators.to(along), (0, 1, 0, 1))
    name = semidirect(member.name, len(along), whole=member.whole and not member.dual)
    generators = frame @ torch.cat([linear, translations]) @ frame.mT
    return Member(name, generators, stretch=member.stretch)


def semidirect(linear: str, k: int, *, whole: bool = True) -> str:
    """Name of a linear algebra with translations along k axes.

    Special names only if it acts on all axes.

    >>> (
    ...     semidirect("so(3)", 3),
    ...     semidirect("so(1,3)", 4),
    ...     semidirect("gl(2,R)", 2),
    ...     semidirect("", 2),
    ... )
    ('se(3)', 'e(1,3)', 'aff(2)', 'translation(2)')
    >>> semidirect("u(2)", 4), semidirect("so(2) ⊕ so(2)", 4), semidirect("so(2)", 3, whole=False)
    ('u(2) ⋉ R⁴', '(so(2) ⊕ so(2)) ⋉ R⁴', 'so(2) ⋉ R³')
    """
    if not linear:
        return f"translation({k})"
    if not whole:
        return f"{bracketed(linear, sums=True)} ⋉ {abelian(k)}"
    if linear == "scaling(1)":
        return "aff(1)"
    kind, _, rest = linear.partition("(")
    inside, _, tail = rest.partition(")")
    if kind == "so" and tail in ("", " ⊕ R"):
        inside = inside if "," in inside else f"{k}"
        return f"sim({inside})" if tail else f"e({inside})" if "," in inside else f"se({inside})"
    if kind in ("sl", "gl") and inside.endswith(",R") and not tail:
        return f"{'saff' if kind == 'sl' else 'aff'}({k})"
    return semidirect("R" if kind == "scaling" else linear, k, whole=False)
