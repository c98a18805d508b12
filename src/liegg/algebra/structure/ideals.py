r"""Decomposition of a Lie algebra into a direct sum of ideals that do not decompose further; for a semisimple one, simple ideals.

Decompositions are idempotents of the centroid: the matrices $T$ with $T[x, y] = [x, Ty]$, which commute with the adjoint
representation. The generalised eigenspaces of a generic one are the ideals.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.bracket import adjoint
from liegg.algebra.structure.series import Constants, Rows, checked, scale, span_rows

SEED = 21
"""Of the generic elements; any other gives the same answers."""

DRAWS = 8
"""Generic elements tried; that with the widest gap between eigenvalues decides."""

SAME = 1e-4
"""Eigenvalues of a generic element of unit size that lie closer than this belong to one ideal.

Those of different ideals are random numbers about 1/k apart; those of one ideal are equal up to rounding, or to its square root
where the element is not diagonalisable."""

POINTS = 64
"""Points of the integral around a group of eigenvalues; the error is about 2 to the minus this."""


class Ideal(NamedTuple):
    """An indecomposable direct summand.

    Attributes:
        basis: orthonormal coefficient rows.
        complex: the summand is a complex algebra seen as a real one of twice the dimension.
    """

    basis: Rows
    complex: bool


def centroid(constants: Constants, *, tolerance: float = 1e-8) -> Float[Tensor, "k d d"]:
    r"""Matrices that commute with the adjoint representation, an orthonormal basis of them; holds the identity.

    Args:
        constants: structure constants.
        tolerance: a matrix of unit norm commutes if it does to this share of the largest constant.

    Returns:
        Orthonormal matrices `[k, d, d]` that act on coefficient columns.

    Examples:
        >>> from liegg.algebra.catalog import so
        >>> from liegg.algebra.bracket import structure_constants
        >>> len(
        ...     centroid(structure_constants(so(1, 3)))
        ... )  # real and imaginary multiples: so(1,3) is sl(2,C)
        2
    """
    constants = checked(constants)
    d, ad = constants.shape[0], adjoint(constants)
    if d == 0:
        return constants
    eye = torch.eye(d, dtype=ad.dtype)
    # Square of the map T -> (ad_i T - T ad_i) for all i: d³ equations would be slow, and the gap is wide.
    twice = torch.einsum("iab,icd->acbd", ad, ad).reshape(d * d, d * d)
    square = (
        torch.kron((ad.mT @ ad).sum(0), eye)
        + torch.kron(eye, (ad @ ad.mT).sum(0))
        - twice
        - twice.mT
    )
    values, vectors = torch.linalg.eigh(square)
    few = vectors[:, values <= tolerance * float(values[-1])].mT.reshape(-1, d, d)
    # What squaring cannot tell apart is decided on the map itself.
    moved = (ad[:, None] @ few - few @ ad[:, None]).transpose(0, 1).flatten(1)
    _, sizes, turn = torch.linalg.svd(moved.mT, full_matrices=False)
    return torch.einsum("ab,bij->aij", turn[sizes <= tolerance * scale(constants)], few)


def direct_summands(constants: Constants, *, tolerance: float = 1e-8) -> tuple[Ideal, ...]:
    """Indecomposable ideals whose direct sum is the algebra, largest first.

    Unique up to isomorphism; as subspaces they are unique if the algebra is semisimple. Central summands are found only one
    dimension at a time and in no special position: split them off first.

    Args:
        constants: structure constants.
        tolerance: as in `centroid`.

    Returns:
        One record for each ideal.

    Examples:
        >>> from liegg.algebra.catalog import so
        >>> from liegg.algebra.bracket import structure_constants
        >>> [len(ideal.basis) for ideal in direct_summands(structure_constants(so(4)))]
        [3, 3]
    """
    constants = checked(constants)
    if constants.shape[0] == 0:
        return ()
    basis = centroid(constants, tolerance=tolerance)
    source = torch.Generator().manual_seed(SEED)
    draws = torch.randn(DRAWS, len(basis), generator=source, dtype=torch.float64)
    elements = torch.einsum("ab,bij->aij", draws, basis)
    elements = elements / torch.linalg.matrix_norm(elements, 2)[:, None, None]
    best = _most_generic(elements)
    ideals = [_ideal(best, i) for i in range(len(best.centres))]
    return tuple(sorted(ideals, key=lambda ideal: -len(ideal.basis)))


class _Clusters(NamedTuple):
    element: Float[Tensor, "d d"]
    centres: tuple[complex, ...]
    gap: float


def _most_generic(elements: Float[Tensor, "m d d"]) -> _Clusters:
    """The element with the most different eigenvalues, then with the widest gap.

    Conjugate eigenvalues count as two: a complex pair that happens to lie on the real axis is not generic, however wide its gap.
    """
    found = [_clusters(element) for element in elements]
    return max(
        found, key=lambda one: (sum(2 if centre.imag > 0 else 1 for centre in one.centres), one.gap)
    )


def _clusters(element: Float[Tensor, "d d"]) -> _Clusters:
    """Groups of equal eigenvalues, conjugate ones together and shown by the one above the real axis; how far they are apart."""
    values = torch.linalg.eigvals(element.to(torch.complex128))
    values = torch.complex(values.real, values.imag.abs())
    centres: list[complex] = []
    while len(values):
        near = torch.zeros(len(values), dtype=torch.bool)
        near[0] = True
        while bool(
            ((grown := (values[:, None] - values[near]).abs().amin(1) < SAME) != near).any()
        ):
            near = grown
        middle = complex(values[near].mean())
        centres.append(middle if middle.imag > SAME else complex(middle.real))
        values = values[~near]
    return _Clusters(
        element, tuple(centres), min(_distance(centres, i) for i in range(len(centres)))
    )


def _distance(centres: Sequence[complex], i: int) -> float:
    """From a centre to the nearest other one, its own conjugate among them; at most 1."""
    others = [c for j, c in enumerate(centres) if j != i] + [
        c.conjugate() for c in centres if c.imag > 0
    ]
    return min([1.0, *(abs(c - centres[i]) for c in others)])


def _ideal(found: _Clusters, i: int) -> Ideal:
    """Image of the spectral projector of one group, by an integral of the resolvent around it."""
    centre, radius = found.centres[i], _distance(found.centres, i) / 2
    angles = torch.arange(POINTS, dtype=torch.float64) * (2 * math.pi / POINTS)
    steps = torch.polar(torch.full_like(angles, radius), angles)
    eye = torch.eye(len(found.element), dtype=steps.dtype)
    resolvents = torch.linalg.inv((centre + steps)[:, None, None] * eye - found.element)
    projector = (resolvents * steps[:, None, None]).mean(0).real * (2 if centre.imag > 0 else 1)
    return Ideal(span_rows(projector.mT, 0.5), centre.imag > 0)
