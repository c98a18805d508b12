r"""Decomposition of a Lie algebra into a direct sum of indecomposable ideals.

Simple ones if it is semisimple.

Decompositions are idempotents of the centroid: the matrices $T$ with $T[x, y] = [x, Ty]$, which
commute with the adjoint representation. The generalised eigenspaces of a generic one are the
ideals.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.bracket import adjoint, bracket, intertwiner_gram
from liegg.algebra.structure.series import (
    GENERIC_ELEMENTS,
    Constants,
    Rows,
    generic,
    scale,
    span_rows,
)
from liegg.algebra.subspace import components

EQUAL_EIGENVALUES = 1e-4
"""Distance below which eigenvalues of a generic element of unit size belong to one ideal.

Those of different ideals are random numbers about 1/k apart. Those of one ideal are equal up to
rounding, or up to its square root where the element is not diagonalisable."""

CONTOUR_POINTS = 64
"""Points of the integral around a group of eigenvalues; its error is about 2 to the minus this."""


class Ideal(NamedTuple):
    """An indecomposable direct summand.

    Attributes:
        basis: orthonormal coefficient rows.
        complex: whether it is a complex algebra seen as a real one of twice the dimension.
    """

    basis: Rows
    complex: bool


def centroid(constants: Constants, *, tolerance: float = 1e-8) -> Float[Tensor, "k d d"]:
    r"""Orthonormal basis of the matrices that commute with the adjoint representation.

    Contains the identity.

    Args:
        constants: structure constants.
        tolerance: commutators of unit matrices below this share of the largest constant are zero.

    Returns:
        Orthonormal matrices `[k, d, d]` that act on coefficient columns.

    Examples:
        >>> from liegg.algebra.catalog import so
        >>> from liegg.algebra.bracket import structure_constants
        >>> constants = structure_constants(so(1, 3))
        >>> len(centroid(constants))  # real and imaginary multiples: so(1,3) is sl(2,C)
        2
    """
    d, ad = constants.shape[0], adjoint(constants)
    if d == 0:
        return constants
    # The Gram matrix of d² unknowns: the map itself has d³ equations, and the gap is wide.
    values, vectors = torch.linalg.eigh(intertwiner_gram(ad, ad))
    matrices = vectors[:, values <= tolerance * float(values[-1])].mT.reshape(-1, d, d)
    # What squaring cannot resolve is decided on the map itself.
    images = bracket(ad, matrices[:, None]).flatten(1)
    _, sizes, right = torch.linalg.svd(images.mT, full_matrices=False)
    return torch.einsum("ab,bij->aij", right[sizes <= tolerance * scale(constants)], matrices)


def direct_summands(constants: Constants, *, tolerance: float = 1e-8) -> tuple[Ideal, ...]:
    """Indecomposable ideals whose direct sum is the algebra, largest first.

    They are unique up to isomorphism; as subspaces they are unique if the algebra is semisimple.
    Central summands come one dimension at a time and in no special position: split them off first.

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
    if constants.shape[0] == 0:
        return ()
    basis = centroid(constants, tolerance=tolerance)
    elements = torch.einsum("ab,bij->aij", generic(GENERIC_ELEMENTS, len(basis)), basis)
    elements = elements / torch.linalg.matrix_norm(elements, 2)[:, None, None]
    best = _most_generic(elements)
    ideals = [_ideal(best, i) for i in range(len(best.centres))]
    return tuple(sorted(ideals, key=lambda ideal: -len(ideal.basis)))


class _Clusters(NamedTuple):
    """Distinct eigenvalues of an element, one of each conjugate pair, and their distance."""

    element: Float[Tensor, "d d"]
    centres: tuple[complex, ...]
    gap: float


def _most_generic(elements: Float[Tensor, "m d d"]) -> _Clusters:
    """The element with the most different eigenvalues, then with the widest gap.

    Conjugate eigenvalues count as two: a complex pair that happens to lie on the real axis is not
    generic, however wide its gap.
    """
    spectra = [_clusters(element) for element in elements]
    return max(spectra, key=lambda one: (sum(1 + (c.imag > 0) for c in one.centres), one.gap))


def _clusters(element: Float[Tensor, "d d"]) -> _Clusters:
    """Group equal eigenvalues; conjugate ones count as one, the one above the real axis."""
    values = torch.linalg.eigvals(element.to(torch.complex128))
    values = torch.complex(values.real, values.imag.abs())
    groups = components((values[:, None] - values).abs() < EQUAL_EIGENVALUES)
    means = [complex(values[group].mean()) for group in groups]
    centres = tuple(mean if mean.imag > EQUAL_EIGENVALUES else complex(mean.real) for mean in means)
    return _Clusters(element, centres, min(_distance(centres, i) for i in range(len(centres))))


def _distance(centres: Sequence[complex], i: int) -> float:
    """Distance of a centre to the nearest other one, its own conjugate among them; at most 1."""
    others = [c for j, c in enumerate(centres) if j != i]
    others += [c.conjugate() for c in centres if c.imag > 0]
    return min([1.0, *(abs(c - centres[i]) for c in others)])


def _ideal(clusters: _Clusters, i: int) -> Ideal:
    """Image of the spectral projector of one group, by an integral of the resolvent around it."""
    centre, radius = clusters.centres[i], _distance(clusters.centres, i) / 2
    angles = torch.arange(CONTOUR_POINTS, dtype=torch.float64) * (2 * math.pi / CONTOUR_POINTS)
    steps = torch.polar(torch.full_like(angles, radius), angles)
    eye = torch.eye(len(clusters.element), dtype=steps.dtype)
    resolvents = torch.linalg.inv((centre + steps)[:, None, None] * eye - clusters.element)
    projector = (resolvents * steps[:, None, None]).mean(0).real * (2 if centre.imag > 0 else 1)
    return Ideal(span_rows(projector.mT, 0.5), centre.imag > 0)
