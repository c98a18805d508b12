"""Centre, derived series and lower central series, from structure constants.

`constants[i, j, k]` are the coefficients of `[B_i, B_j]` over the basis; subspaces are orthonormal
coefficient rows `[k, d]`.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float, Num
from torch import Tensor

from liegg._utils.errors import ArgumentError

Constants = Float[Tensor, "d d d"]
Rows = Float[Tensor, "_ d"]

GENERIC_SEED = 20
"""Seed of generic elements; any other gives the same answers."""

GENERIC_ELEMENTS = 8
"""Number of generic elements that are tried where the most generic one decides."""

ABELIAN_CONSTANT = 1e-10
"""Size below which all constants of unit matrices count as zero."""


def centre(constants: Constants, *, tolerance: float = 1e-8) -> Rows:
    """Elements that commute with all others.

    Args:
        constants: structure constants.
        tolerance: singular values below this share of the largest constant count as zero.

    Returns:
        Orthonormal coefficient rows.

    Examples:
        >>> from liegg.algebra.catalog import gl
        >>> from liegg.algebra.bracket import structure_constants
        >>> len(centre(structure_constants(gl(3))))  # the multiples of the identity
        1
    """
    return null_rows(constants.flatten(1).mT, tolerance * scale(constants))


def brackets(constants: Constants, one: Rows, other: Rows, *, tolerance: float = 1e-8) -> Rows:
    """Span of all brackets of an element of `one` with an element of `other`."""
    pairs = torch.einsum("ai,bj,ijk->abk", one, other, constants).flatten(0, 1)
    return span_rows(pairs, tolerance * scale(constants))


def derived_series(
    constants: Constants, *, start: Rows | None = None, tolerance: float = 1e-8
) -> tuple[Rows, ...]:
    """The algebra (or `start`), the span of its brackets, the span of theirs, until it stays.

    >>> from liegg.algebra.catalog import se
    >>> from liegg.algebra.bracket import structure_constants
    >>> [len(rows) for rows in derived_series(structure_constants(se(2)))]
    [3, 2, 0]
    """
    first = identity(constants) if start is None else start
    return _series(first, lambda last: brackets(constants, last, last, tolerance=tolerance))


def lower_central_series(constants: Constants, *, tolerance: float = 1e-8) -> tuple[Rows, ...]:
    """The algebra, the span of its brackets, of their brackets with the algebra, until it stays.

    >>> from liegg.algebra.catalog import shear
    >>> from liegg.algebra.bracket import structure_constants
    >>> [len(rows) for rows in lower_central_series(structure_constants(shear(4)))]
    [6, 3, 1, 0]
    """
    first = identity(constants)
    return _series(first, lambda last: brackets(constants, first, last, tolerance=tolerance))


def _series(first: Rows, following: Callable[[Rows], Rows]) -> tuple[Rows, ...]:
    """Subspaces, each made from the one before, as long as they shrink."""
    series = [first]
    while len(smaller := following(series[-1])) < len(series[-1]):
        series.append(smaller)
    return tuple(series)


def identity(constants: Constants) -> Float[Tensor, "d d"]:
    """Rows that span the complete algebra."""
    return torch.eye(len(constants), dtype=torch.float64)


def restricted(constants: Constants, rows: Float[Tensor, "k d"]) -> Float[Tensor, "k k k"]:
    """Structure constants of a subalgebra over its rows, which need not be orthonormal."""
    own = torch.einsum("ai,bj,ijk,kc->abc", rows, rows, constants, torch.linalg.pinv(rows))
    own = (own - own.transpose(0, 1)) / 2
    # Constants of an abelian part are rounding, and no tolerance may be relative to their size.
    return own if scale(own) > 1e-9 * scale(constants) else torch.zeros_like(own)


def scale(constants: Constants) -> float:
    """Size of the constants, to which tolerances are relative: the largest entry."""
    return float(constants.abs().max()) if constants.numel() else 0.0


def span_rows(matrix: Float[Tensor, "m d"], threshold: float) -> Rows:
    """Orthonormal basis of the row space; singular values up to the threshold count as zero."""
    _, values, right = torch.linalg.svd(matrix, full_matrices=False)
    return right[values > threshold]


def null_rows(matrix: Float[Tensor, "m d"], threshold: float) -> Rows:
    """Orthonormal basis of the null space, as rows.

    Singular values up to the threshold count as zero.
    """
    # Tall matrices are reduced first: the left factor is not needed.
    reduced = torch.linalg.qr(matrix, mode="r").R if matrix.shape[0] > matrix.shape[1] else matrix
    _, values, right = torch.linalg.svd(reduced, full_matrices=True)
    return right[int((values > threshold).sum()) :]


def outside(rows: Rows, inner: Float[Tensor, "j d"]) -> Float[Tensor, "m d"]:
    """Orthonormal basis of the orthogonal complement of a span inside a larger one."""
    _, _, right = torch.linalg.svd(inner @ rows.mT, full_matrices=True)
    return right[len(inner) :] @ rows


def generic(count: int, dimension: int) -> Float[Tensor, "c d"]:
    """Coefficients of a few elements without any relation; others would give the same answers."""
    source = torch.Generator().manual_seed(GENERIC_SEED)
    return torch.randn(count, dimension, generator=source, dtype=torch.float64)


def checked_constants(constants: Num[Tensor, "..."]) -> Constants:
    """The constants in float64, zeros if they are rounding.

    An error if not a finite antisymmetric cube.

    >>> checked_constants(torch.ones(2, 2, 2))
    Traceback (most recent call last):
    liegg._utils.errors.ArgumentError: constants are not antisymmetric in their first two axes; ...
    """
    shape = tuple(constants.shape)
    if len(shape) != 3 or len(set(shape)) != 1:
        raise ArgumentError(
            f"constants have shape {shape}; expected [d, d, d], "
            "for example structure_constants(so(3))."
        )
    if constants.is_complex() or not bool(constants.isfinite().all()):
        raise ArgumentError(
            "constants are complex or not finite; expected real numbers, "
            "for example structure_constants(so(3))."
        )
    constants = constants.to(torch.float64)
    if scale(constants) < ABELIAN_CONSTANT:
        return torch.zeros_like(constants)
    if scale(constants + constants.transpose(0, 1)) > 1e-6 * scale(constants):
        raise ArgumentError(
            "constants are not antisymmetric in their first two axes; "
            "expected [B_i, B_j] = -[B_j, B_i], for example structure_constants(so(3))."
        )
    return constants
