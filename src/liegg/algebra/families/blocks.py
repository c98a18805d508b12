"""Algebras made of parts: linear maps with translations, and sums on separate subspaces."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate, pairwise, product

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.bracket import intertwiner_gram
from liegg.algebra.catalog import direct_sum
from liegg.algebra.families.record import Member, Proposer, conjugate, lowest, usable
from liegg.algebra.forms.commutant import invariant_subspaces
from liegg.algebra.structure.real_forms import abelian, bracketed
from liegg.algebra.subspace import components

START_NOISE_FACTOR = 10.0
"""Multiple of the noise that may lie outside the blocks before a fit, which mends a poor start."""

SMALLEST_COUPLING = 1e-6
"""Product of unit matrices on two subspaces above which they move together, without noise."""

OBLIQUE_COUPLING = 0.1
"""The same up to which noise explains it if the subspaces are oblique, which enlarges noise."""


def blocks(
    span: Float[Tensor, "d n n"], noise: float, best: Proposer, *, loose: float = 1.0
) -> Iterator[Member]:
    """Algebras that act on invariant subspaces: separately, or in copies where all are coupled.

    Args:
        span: orthonormal generators.
        noise: relative error of a unit generator.
        best: proposes the best few algebras for the part on some of the subspaces.
        loose: factor on the noise when the space is split into subspaces.
    """
    subspaces = invariant_subspaces(span, uncertainty=loose * noise)
    if len(subspaces) < 2:
        return
    frame = torch.cat(subspaces, 1)
    if not usable(frame):
        return
    inside = torch.linalg.solve(frame, span @ frame)
    edges = [0, *accumulate(basis.shape[1] for basis in subspaces)]
    pieces = [inside[:, a:b, a:b] for a, b in pairwise(edges)]
    outside = 1 - float(sum(piece.square().sum() for piece in pieces) / inside.square().sum())
    stretch = float(torch.linalg.cond(frame))
    if outside > (START_NOISE_FACTOR * noise * stretch) ** 2:
        return
    oblique = min(START_NOISE_FACTOR / 2 * noise * stretch, OBLIQUE_COUPLING)
    parts = _components(pieces, max(SMALLEST_COUPLING, START_NOISE_FACTOR / 2 * noise, oblique))
    order = torch.cat([torch.arange(edges[i], edges[i + 1]) for part, _ in parts for i in part])
    coupled = len(parts) == 1
    members = _copies(pieces, best, noise) if coupled else _separate(pieces, parts, best, noise)
    for member in members:
        yield replace(
            member,
            generators=conjugate(member.generators, frame[:, order]),
            stretch=max(stretch, member.stretch),
        )


def _components(pieces: list[Tensor], threshold: float) -> list[tuple[list[int], int]]:
    """Sets of blocks that move independently, each with the dimension of what moves it.

    Fixed ones last.

    If the algebra is a sum, its projector, on the entries of all blocks, has no entries between
    blocks of different summands.
    """
    rows = torch.linalg.qr(torch.cat([piece.flatten(1) for piece in pieces], 1).mT).Q
    own = rows.split([piece[0].numel() for piece in pieces])
    coupling = torch.tensor([[float((a @ b.mT).norm()) for b in own] for a in own])
    groups = components(coupling > threshold)
    sizes = [round(sum(float(own[i].square().sum()) for i in group)) for group in groups]
    fixed = sorted(i for group, size in zip(groups, sizes, strict=True) if not size for i in group)
    moved = sorted((group, size) for group, size in zip(groups, sizes, strict=True) if size)
    return [*moved, *([(fixed, 0)] if fixed else [])]


def _separate(
    pieces: list[Tensor], parts: list[tuple[list[int], int]], best: Proposer, noise: float
) -> Iterator[Member]:
    """Direct sums of the algebras proposed for the parts, in every combination."""
    if sum(size for _, size in parts) != len(pieces[0]):
        return
    proposals = []
    for group, size in parts:
        matrices = zip(*(pieces[i] for i in group), strict=True)
        own = torch.stack([torch.block_diag(*matrix) for matrix in matrices])
        rows = torch.linalg.svd(own.flatten(1), full_matrices=False)[2][:size]
        proposals.append(list(best(rows.unflatten(1, own.shape[1:]), noise)))
    yield from map(_side_by_side, product(*proposals))


def _side_by_side(members: tuple[Member, ...]) -> Member:
    generators = direct_sum(*(member.generators for member in members))
    names = tuple(
        part
        for member in members
        for part in (member.blocks or ((member.name, len(member.generators)),))
        if part[1]
    )
    moving = [member for member in members if len(member.generators)]
    one = moving[0] if len(names) == 1 else Member("", generators)
    return replace(
        one,
        name=sum_name(names, generators.shape[1]),
        generators=generators,
        blocks=names if len(names) > 1 else one.blocks,
        stretch=max(member.stretch for member in members),
        whole=False,
    )


def _copies(pieces: list[Tensor], best: Proposer, noise: float) -> Iterator[Member]:
    """An algebra for one block, repeated on the others, or its dual there."""
    d, m = len(pieces[0]), pieces[0].shape[1]
    one = pieces[0].flatten(1)
    _, values, right = torch.linalg.svd(one, full_matrices=False)
    regular = len(values) == d and float(values[-1]) >= START_NOISE_FACTOR * noise * float(
        values[0]
    )
    if not regular or any(piece.shape[1] != m for piece in pieces):
        return
    for member in best(right.unflatten(1, (m, m)), noise):
        # `lstsq` does not always return the same bits.
        weights = torch.linalg.pinv(one.mT) @ member.generators.flatten(1).mT
        others = [torch.einsum("ba,bij->aij", weights, piece) for piece in pieces[1:]]
        copies = [member.generators, *(_copy(member.generators, other) for other in others)]
        matrices = [torch.block_diag(*matrix) for matrix in zip(*copies, strict=True)]
        yield replace(
            member,
            generators=torch.stack(matrices),
            copies=member.copies * len(pieces),
            whole=False,
        )


def _copy(here: Float[Tensor, "d m m"], there: Float[Tensor, "d m m"]) -> Float[Tensor, "d m m"]:
    """`here` or its dual, in the coordinates in which it comes nearest to `there`."""
    options = [(one, *_intertwiner(one, there)) for one in (here, -here.mT)]
    nearest, _, frame = min(options, key=lambda option: option[1])
    return conjugate(nearest, frame)


def _intertwiner(
    here: Float[Tensor, "d m m"], there: Float[Tensor, "d m m"]
) -> tuple[float, Float[Tensor, "m m"]]:
    """Smallest squared norm of there·X − X·here, and the unit map X.

    Infinite for a singular map.
    """
    m = here.shape[1]
    gram = intertwiner_gram(here, there)
    vector = lowest(gram, 1)[0]
    frame = vector.unflatten(0, (m, m))
    if not usable(frame):
        return torch.inf, torch.eye(m).to(here)
    return float(vector @ gram @ vector), frame


def sum_name(parts: tuple[tuple[str, int], ...], n: int = 0) -> str:
    """Name of a direct sum on Rⁿ, the largest part first.

    Scalings and translations together as R, R², ….

    >>> sum_name((("so(2)", 1), ("so(3)", 3))), sum_name((("so(3)", 3), ("scaling(1)", 1)))
    ('so(3) ⊕ so(2)', 'so(3) ⊕ R')
    >>> sum_name((("scaling(1)", 1), ("scaling(1)", 1)), 2)
    'diagonal(2)'
    """
    if n > 1 and list(parts) == [("scaling(1)", 1)] * n:
        return f"diagonal({n})"
    if len(parts) == 1:
        return parts[0][0]
    plain = [size for name, size in parts if _plain(name, size)]
    others = [part for part in parts if not _plain(*part)]
    names = [name for name, _ in sorted(others, key=lambda part: (-part[1], part[0]))]
    return " ⊕ ".join([*map(bracketed, names), *([abelian(sum(plain))] if plain else [])])


def _plain(name: str, size: int) -> bool:
    """Whether a part consists of scalings and translations that commute."""
    return name.startswith(("scaling", "translation")) or name == abelian(size)


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
