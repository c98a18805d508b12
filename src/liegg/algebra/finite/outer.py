r"""Matrices for the outer automorphisms of an algebra: reflections, complex conjugations, exchanges of isomorphic parts.

The space is split into invariant parts. Parts on which the algebra acts by conjugate matrices are of one kind. With bases in which
these matrices are the same, an exchange of two parts is an exchange of their bases, and a matrix that normalises the algebra of one
part does so on the others.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.bracket import intertwiner_gram
from liegg.algebra.finite.membership import distance, nearest_to_identity, violation
from liegg.algebra.finite.normalise import angle_off, conjugators
from liegg.algebra.forms.forms import oriented, preserved, preserved_forms, signature
from liegg.algebra.forms.frame import frame_of
from liegg.algebra.subspace import orthonormal

ON_A_PART, ON_ALL_PARTS, EXCHANGE, CYCLE = (
    "outer automorphism of a part",
    "outer automorphism of all parts",
    "exchange of parts",
    "cycle of parts",
)
"""What the matrices are called."""

LARGEST_SOLVED = 12
"""Largest dimension in which conjugating matrices are solved for."""

CONJUGATOR_STARTS = 16
"""Random orthogonal starts, half of either determinant."""

MOST_EXCHANGED = 6
"""Largest number of parts of one kind of which all pairs are exchanged; of more, neighbours."""

MOST_OUTER = 6
"""Most matrices of a part that are kept; a solvable algebra may have a continuum of them."""

NORMALISES, ERRORS = 1e-8, 3.0
"""Sine up to which an algebra is taken to another: at least, and over the relative error of its generators."""

SAME_CLASS, CLASS_STARTS = 1e-5, 6
"""Distance to the identity within which two automorphisms differ by an inner one, and random starts of the descent to it."""

CLEARLY_APART = 0.1
"""Violation of what an identity component preserves from which on a matrix is outside of it."""

MOST_CORRECTED = 8
"""Matrices that normalise the algebras of the parts and not the complete one that are moved until they do."""

REGULAR = 1e-6
"""Least eigenvalue of a form over the largest."""

LARGEST_CONDITION = 1e6
"""Condition number of the parts' bases above which they do not span the space."""

Named = list[tuple[str, Float[Tensor, "n n"]]]


@dataclass(frozen=True, eq=False)
class Kind:
    """Parts on which an algebra acts alike.

    Attributes:
        bases: of each part as columns, such that the algebra has the same matrices in each; the first is orthonormal.
        span: these matrices, orthonormal.
        odd: whether −1 is an outer automorphism of its own.
        outer: what normalises them, one of each class but those of ±1.
    """

    bases: tuple[Float[Tensor, "n m"], ...]
    span: Float[Tensor, "d m m"]
    odd: bool = False
    outer: tuple[Float[Tensor, "m m"], ...] = ()


def outer_elements(
    algebra: Float[Tensor, "d n n"],
    parts: Sequence[Float[Tensor, "n _"]],
    moments: Sequence[Float[Tensor, "n n"]],
    *,
    uncertainty: float = 0.0,
) -> Named:
    """Matrices for the outer automorphisms: on one part, on all parts, between parts.

    The algebra does not say how large one part is beside another, so that each part is given volume one: for the identity as second
    moment in the given coordinates, for that of data in theirs. ±1 on a part is left out.

    Args:
        algebra: generators.
        parts: bases of its invariant subspaces.
        moments: second moments.
        uncertainty: relative error of each unit generator.

    Returns:
        Words and matrices; several may differ by an inner automorphism or the sign of a part.

    Examples:
        >>> from liegg.algebra import direct_sum, invariant_subspaces, so
        >>> algebra = direct_sum(so(3), so(3))
        >>> found = outer_elements(algebra, invariant_subspaces(algebra), [torch.eye(6)])
        >>> {words for words, _ in found}
        {'exchange of parts'}
    """
    algebra = orthonormal(algebra)
    tolerance = max(NORMALISES, ERRORS * uncertainty)
    whole = torch.cat(list(parts), 1)
    if whole.shape[0] != whole.shape[1] or float(torch.linalg.cond(whole)) > LARGEST_CONDITION:
        return []
    kinds = [
        _with_outer(kind, uncertainty, tolerance) for kind in _kinds(algebra, parts, tolerance)
    ]
    found: Named = []
    for moment in moments:
        frame = _scaled(
            torch.cat([basis for kind in kinds for basis in kind.bases], 1), kinds, moment
        )
        inverse = torch.linalg.inv(frame)
        found += [(words, frame @ h @ inverse) for words, h in _block_matrices(kinds)]
    return _normalising(found, algebra, tolerance)


def _kinds(
    algebra: Float[Tensor, "d n n"], bases: Sequence[Float[Tensor, "n _"]], tolerance: float
) -> list[Kind]:
    """Parts by what the algebra does on them."""
    duals = torch.linalg.inv(torch.cat(list(bases), 1)).split([basis.shape[1] for basis in bases])
    kinds: list[Kind] = []
    for basis, dual in zip(bases, duals, strict=True):
        inside = dual @ algebra @ basis
        span = _span(inside, tolerance)
        for place, kind in enumerate(kinds):
            if kind.span.shape != span.shape or not len(span):
                continue
            first = torch.linalg.pinv(kind.bases[0]) @ algebra @ kind.bases[0]
            starts = [_intertwiner(first, inside), *_isometries(kind.span, span)]
            maps = _solutions(kind.span, span, torch.stack(starts), tolerance)
            if len(maps):
                kinds[place] = replace(kind, bases=(*kind.bases, basis @ maps[0]))
                break
        else:
            kinds.append(Kind((basis,), span))
    return kinds


def _span(inside: Float[Tensor, "d m m"], tolerance: float) -> Float[Tensor, "r m m"]:
    """Orthonormal matrices on a part, errors left out."""
    _, sizes, rows = torch.linalg.svd(inside.flatten(1), full_matrices=False)
    return rows[sizes > max(tolerance, tolerance * float(sizes.max()))].unflatten(
        1, inside.shape[1:]
    )


def _intertwiner(
    one: Float[Tensor, "d m m"], other: Float[Tensor, "d m m"]
) -> Float[Tensor, "m m"]:
    """The matrix that comes nearest to T A = B T; a multiple of an invertible one if the representations are equivalent."""
    m = one.shape[1]
    matrix = torch.linalg.eigh(intertwiner_gram(one, other))[1][:, 0].unflatten(0, (m, m))
    return matrix / torch.linalg.det(matrix).abs().clamp_min(1e-300) ** (1 / m)


def _isometries(
    one: Float[Tensor, "d m m"], other: Float[Tensor, "d m m"]
) -> Float[Tensor, "s m m"]:
    """Orthogonal matrices between frames where the preserved forms are standard: 1, a reflection, random ones of both determinants."""
    m = one.shape[1]
    identity = torch.eye(m, dtype=torch.float64)
    mirror = identity.clone()
    mirror[0, 0] = -1
    generator = torch.Generator().manual_seed(0)
    count = CONJUGATOR_STARTS if m <= LARGEST_SOLVED else 0
    random = torch.randn(count, m, m, generator=generator, dtype=torch.float64)
    turns = torch.linalg.qr(random).Q
    turns[::2] = mirror @ turns[1::2]
    orthogonal = torch.cat([identity[None], mirror[None], turns])
    return _frame(other) @ orthogonal @ torch.linalg.inv(_frame(one))


def _frame(span: Float[Tensor, "d m m"]) -> Float[Tensor, "m m"]:
    """Where the form that a span preserves is standard; the given coordinates without one."""
    form = _form(span)
    return torch.eye(span.shape[1]).to(span) if form is None else frame_of(form)


def _form(span: Float[Tensor, "d m m"], uncertainty: float = 0.0) -> Float[Tensor, "m m"] | None:
    """The regular symmetric form that a span preserves, if there is one up to scale; positive if definite."""
    m = span.shape[1]
    forms = preserved("symmetric", span, uncertainty).answers.unflatten(1, (m, m))
    if len(forms) != 1 or signature(forms[0], REGULAR)[2]:
        return None
    return oriented(forms[0])


def _solutions(
    one: Float[Tensor, "d m m"],
    other: Float[Tensor, "d m m"],
    starts: Float[Tensor, "s m m"],
    tolerance: float,
) -> Float[Tensor, "k m m"]:
    """Matrices of determinant ±1 that take one algebra to another, in the order of the starts."""
    regular = torch.linalg.cond(starts) < LARGEST_CONDITION
    found = starts[regular]
    if one.shape[1] <= LARGEST_SOLVED:
        found = conjugators(one, other, found)
    found = found[angle_off(found, one, other) <= tolerance]
    return found / torch.linalg.det(found).abs()[:, None, None] ** (1 / found.shape[1])


def _with_outer(kind: Kind, uncertainty: float, tolerance: float) -> Kind:
    """The kind with one matrix for each class of what normalises its algebra."""
    if not len(kind.span):
        return kind
    m, starts = kind.span.shape[1], _isometries(kind.span, kind.span)
    form = _form(kind.span, uncertainty)
    rotations = len(kind.span) == m * (m - 1) // 2 and m > 1
    if rotations and form is not None and signature(form)[0] == m:
        return replace(kind, odd=m % 2 == 1, outer=() if m % 2 else (starts[1],))
    commutant = preserved("commutant", kind.span, uncertainty).answers.unflatten(1, (m, m))
    inner = orthonormal(torch.cat([kind.span, commutant]))
    kept = preserved_forms(inner, uncertainty=uncertainty)

    def others(matrix: Tensor, left: Tensor) -> Tensor:
        """Those that do not differ from a matrix by an inner automorphism."""
        moved = torch.linalg.inv(matrix) @ left
        apart = violation(moved, kept)
        open_ = apart < CLEARLY_APART
        near = nearest_to_identity(moved[open_], inner, goal=SAME_CLASS / 10, starts=CLASS_STARTS)
        apart[open_] = distance(near)
        return left[apart > max(SAME_CLASS, tolerance)]

    one = torch.eye(m, dtype=torch.float64)
    signs = (one, -one) if len(others(one, -one[None])) else (one,)
    left = _solutions(kind.span, kind.span, starts, tolerance)
    outer: list[Tensor] = []
    for known in signs:
        left = others(known, left)
    while len(left) and len(outer) < MOST_OUTER:
        first = left[0]
        for sign in signs:
            left = others(sign @ first, left)
            outer.append(sign @ first)
    return replace(kind, odd=len(signs) > 1, outer=tuple(outer))


def _scaled(
    frame: Float[Tensor, "n n"], kinds: Sequence[Kind], moment: Float[Tensor, "n n"]
) -> Float[Tensor, "n n"]:
    """The parts' bases as columns, each stretched until the second moment in it has determinant one."""
    sizes = [basis.shape[1] for kind in kinds for basis in kind.bases]
    columns = []
    for basis, dual in zip(
        frame.split(sizes, 1), torch.linalg.inv(frame).split(sizes), strict=True
    ):
        volume = torch.linalg.det(dual @ moment.to(dual) @ dual.mT).clamp_min(1e-300)
        columns.append(basis * volume ** (1 / (2 * len(dual))))
    return torch.cat(columns, 1)


def _block_matrices(kinds: Sequence[Kind]) -> Iterator[tuple[str, Float[Tensor, "n n"]]]:
    """The elements in the bases of the parts, one after the other."""
    sizes = [basis.shape[1] for kind in kinds for basis in kind.bases]
    places = list(torch.arange(sum(sizes)).split(sizes))
    every = torch.eye(sum(sizes), dtype=torch.float64)
    together, parts = every.clone(), 0
    for kind in kinds:
        own, places = places[: len(kind.bases)], places[len(kind.bases) :]
        one = torch.eye(len(own[0]), dtype=torch.float64)
        legs = [one, *([-one] if kind.odd else []), *kind.outer]
        for place, outer in itertools.product(own, kind.outer):
            yield ON_A_PART, _with_blocks(every, [(place, place, outer)])
        if kind.outer:
            parts += len(own)
            together = _with_blocks(together, [(place, place, kind.outer[0]) for place in own])
        if not len(kind.span):
            continue
        pairs = itertools.combinations if len(own) <= MOST_EXCHANGED else _neighbours
        for (i, j), leg in itertools.product(pairs(own, 2), legs):
            yield EXCHANGE, _with_blocks(every, [(j, i, leg), (i, j, torch.linalg.inv(leg))])
            if leg is not one:
                yield EXCHANGE, _with_blocks(every, [(j, i, leg), (i, j, one)])
        for ring in (*_neighbours(own, 3), *([own] if len(own) > 3 else [])):
            steps = zip(ring, (*ring[1:], ring[0]), strict=True)
            yield CYCLE, _with_blocks(every, [(j, i, one) for i, j in steps])
    if parts > 1:
        yield ON_ALL_PARTS, together


def _neighbours(places: Sequence[Tensor], count: int) -> Iterator[Sequence[Tensor]]:
    """Runs of so many places."""
    return (places[i : i + count] for i in range(len(places) - count + 1))


def _with_blocks(
    matrix: Float[Tensor, "n n"], blocks: Sequence[tuple[Tensor, Tensor, Tensor]]
) -> Float[Tensor, "n n"]:
    """A matrix with other blocks in some rows, each given by rows, columns and entries."""
    changed = matrix.clone()
    for rows, _, _ in blocks:
        changed[rows] = 0
    for rows, columns, entries in blocks:
        changed[rows[:, None], columns] = entries
    return changed


def _normalising(named: Named, algebra: Float[Tensor, "d n n"], tolerance: float) -> Named:
    """Matrices that normalise the complete algebra; a few of those that do not are made to."""
    if not named:
        return []
    matrices = torch.stack([h for _, h in named])
    off = angle_off(matrices, algebra, algebra) > tolerance
    tried = off.nonzero().flatten()[:MOST_CORRECTED]
    if len(tried) and algebra.shape[1] <= LARGEST_SOLVED:
        matrices[tried] = conjugators(algebra, algebra, matrices[tried])
        good = torch.linalg.cond(matrices) < LARGEST_CONDITION
        off = ~good | (angle_off(matrices, algebra, algebra) > tolerance)
    return [
        (words, h) for (words, _), h, wrong in zip(named, matrices, off, strict=True) if not wrong
    ]
