"""Spans of generators: orthonormal bases, projections, principal angles, distances."""

import math

import torch
from jaxtyping import Bool, Float, Num
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import canonical_basis, orthonormal_rows

ROUNDED_PART, SMALLEST_PART = 1e-5, 1e-7
"""Linear parts of unit generators that are rounding, relative to the largest of them and alone."""


def orthonormal(generators: Num[Tensor, "d ..."]) -> Float[Tensor, "r n n"]:
    """Generators `[d, n, n]` with the same span, orthonormal in the Frobenius inner product.

    Dependent ones are reduced.

    Raises:
        ArgumentError: not square matrices, complex, or not finite.
    """
    matrices = checked_generators(generators)
    return orthonormal_rows(matrices.flatten(1)).unflatten(1, matrices.shape[1:])


def linear_part(span: Float[Tensor, "d p p"], n: int) -> Float[Tensor, "r n n"]:
    """Orthonormal linear parts, of n dimensions, of an orthonormal span of affine generators.

    Translations have none, but those of a model in float32 carry its rounding errors.

    >>> shift, turn = torch.zeros(2, 3, 3)
    >>> shift[0, 2], shift[0, 0], turn[0, 1], turn[1, 0] = 1.0, 1e-8, -0.7, 0.7
    >>> len(linear_part(torch.stack([shift, turn]), 2))
    1
    """
    _, sizes, rows = torch.linalg.svd(span[:, :n, :n].flatten(1), full_matrices=False)
    largest = float(sizes.max()) if len(sizes) else 0.0
    kept = rows[sizes > max(ROUNDED_PART * largest, SMALLEST_PART)]
    return orthonormal(kept.unflatten(1, (n, n)))


def translations(span: Float[Tensor, "d p p"], n: int) -> Float[Tensor, "r n"]:
    """Directions of the translations in an orthonormal span of affine generators of n dimensions.

    >>> shift, turn = torch.zeros(2, 3, 3)
    >>> shift[0, 2], turn[0, 1], turn[1, 0] = 1.0, -0.7, 0.7
    >>> translations(torch.stack([turn, shift]), 2).abs()
    tensor([[1., 0.]])
    """
    mixtures, sizes, _ = torch.linalg.svd(span[:, :n, :n].flatten(1))
    sizes = torch.cat([sizes, sizes.new_zeros(max(0, len(span) - len(sizes)))])
    still = sizes <= max(ROUNDED_PART * float(sizes.max()), SMALLEST_PART)
    return torch.einsum("dr,di->ri", mixtures[:, still], span[:, :n, n])


def qr_rows(rows: Float[Tensor, "k g"]) -> Float[Tensor, "k g"]:
    """Orthonormal rows with the span of independent rows, by QR."""
    return torch.linalg.qr(rows.mT).Q.mT.contiguous()


def components(adjacency: Bool[Tensor, "n n"]) -> list[list[int]]:
    """Connected components of a graph, as ascending lists of nodes, in the order of first nodes.

    >>> components(torch.tensor([[1, 0, 1], [0, 1, 0], [1, 0, 1]]).bool())
    [[0, 2], [1]]
    """
    from scipy.sparse.csgraph import connected_components

    count, labels = connected_components(adjacency.numpy(), directed=False)
    return [(labels == k).nonzero()[0].tolist() for k in range(count)]


def canonical(generators: Num[Tensor, "d ..."]) -> Float[Tensor, "r n n"]:
    """Orthonormal generators `[r, n, n]` that depend on the span alone, not on the given basis.

    >>> from liegg.algebra import so
    >>> mixed = torch.tensor(
    ...     [[3.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 1.0]], dtype=torch.float64
    ... )
    >>> difference = canonical(torch.einsum("ab,bij->aij", mixed, so(3))) - canonical(so(3))
    >>> bool(difference.abs().max() < 1e-12)
    True
    """
    basis = orthonormal(generators)
    return canonical_basis(basis.flatten(1)).unflatten(1, basis.shape[1:])


def project(
    matrices: Float[Tensor, "k n n"], span: Float[Tensor, "d n n"]
) -> Float[Tensor, "k n n"]:
    """The nearest matrix of a span to each matrix given.

    >>> from liegg.algebra import so
    >>> project(torch.tensor([[[1.0, 2.0], [0.0, 3.0]]]), so(2))[0, 0, 1]  # the antisymmetric part
    tensor(1.000..., dtype=torch.float64)
    """
    basis = orthonormal(span).flatten(1)
    return (checked_generators(matrices).flatten(1) @ basis.mT @ basis).unflatten(
        1, matrices.shape[1:]
    )


def distance_to_span(
    vectors: Float[Tensor, "k g"], span: Float[Tensor, "d g"]
) -> Float[Tensor, " k"]:
    """Euclidean distance of each row to the span of the rows of `span`.

    >>> distance_to_span(torch.tensor([[3.0, 4.0]]), torch.tensor([[1.0, 0.0]]))
    tensor([4.], dtype=torch.float64)
    """
    vectors = vectors.to(torch.float64)
    basis = orthonormal_rows(span.to(vectors))
    return (vectors - vectors @ basis.mT @ basis).norm(dim=1)


def principal_angles(one: Float[Tensor, "d g"], other: Float[Tensor, "e g"]) -> Float[Tensor, " k"]:
    r"""Principal angles between two row spans in radians, ascending, `min(d, e)` of them.

    Cosines lose angles below 1e-8 and sines those near 90°, so each angle comes from `atan2` of
    both: with $V$, $W$ orthonormal, the cosines are the singular values of $VW^\top$ and the sines
    those of the part of $V$ outside $W$.

    Args:
        one: rows that span the first space.
        other: rows that span the second.

    Returns:
        Angles, right to about 1e-15.

    Examples:
        >>> principal_angles(torch.eye(3)[:2], torch.eye(3)[1:]).rad2deg()
        tensor([ 0., 90.], dtype=torch.float64)
    """
    v, w = orthonormal_rows(one.to(torch.float64)), orthonormal_rows(other.to(torch.float64))
    if v.shape[0] > w.shape[0]:
        v, w = w, v
    inside = v @ w.mT
    outside = v - inside @ w
    if len(v) == 1:  # one row has its length as the only singular value
        return torch.atan2(outside.norm(dim=1), inside.norm(dim=1))
    return torch.atan2(torch.linalg.svdvals(outside).flip(0), torch.linalg.svdvals(inside))


def grassmann_distance(one: Float[Tensor, "d _ ..."], other: Float[Tensor, "e _ ..."]) -> float:
    r"""Geodesic distance $\sqrt{\sum_i \theta_i^2}$ of two spans, with principal angles $\theta_i$.

    Spans of different dimension have fewer angles than the larger one has dimensions; each missing
    angle counts as 90°, so the distance is zero for equal spans only.

    Args:
        one: generators `[d, n, n]`, or rows `[d, g]`.
        other: generators `[e, n, n]`, or rows `[e, g]`.

    Returns:
        The distance; symmetric in its arguments.

    Examples:
        >>> grassmann_distance(
        ...     torch.eye(3)[:2], torch.eye(3)[1:]
        ... )  # one shared direction, one at 90°
        1.5707...
        >>> grassmann_distance(torch.eye(3)[:1], torch.eye(3)[:2])  # inside it, but smaller
        1.5707...
    """
    v, w = (orthonormal_rows(span.to(torch.float64).flatten(1)) for span in (one, other))
    if v.shape[1] != w.shape[1]:
        raise ArgumentError(
            f"spans of shapes {tuple(one.shape)} and {tuple(other.shape)}; "
            "expected matrices or rows of one size."
        )
    missing = abs(v.shape[0] - w.shape[0]) * (math.pi / 2) ** 2
    return math.sqrt(float(principal_angles(v, w).square().sum()) + missing)


def checked_generators(generators: Num[Tensor, "d ..."]) -> Float[Tensor, "d n n"]:
    """Generators as float64, or an error that says what is wrong with them.

    Raises:
        ArgumentError: not square matrices, complex, or not finite.
    """
    if generators.ndim != 3 or generators.shape[1] != generators.shape[2]:
        raise ArgumentError(
            f"generators have shape {tuple(generators.shape)}; expected matrices [d, n, n]."
        )
    if generators.is_complex():
        raise ArgumentError(
            f"generators are {generators.dtype}; expected real matrices: "
            "write A + iB as the block matrix [[A, -B], [B, A]]."
        )
    bad = (~generators.isfinite()).flatten(1).any(1).nonzero().flatten().tolist()
    if bad:
        raise ArgumentError(
            f"generator {bad[0]} contains NaN or infinity; expected finite matrices [d, n, n]."
        )
    return generators.to(torch.float64)


def checked_matrix(matrix: Num[Tensor, "..."], what: str) -> Float[Tensor, "n n"]:
    """One square matrix as float64, or an error that says what is wrong with it.

    Args:
        matrix: the matrix.
        what: what it is, for the message.

    Raises:
        ArgumentError: not a square matrix, complex, or not finite.
    """
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ArgumentError(
            f"the {what} has shape {tuple(matrix.shape)}; expected one square matrix [n, n]."
        )
    if matrix.is_complex() or not bool(matrix.isfinite().all()):
        raise ArgumentError(
            f"the {what} has complex entries, NaN or infinity; expected a real, finite matrix."
        )
    return matrix.to(torch.float64)


def checked_uncertainty(uncertainty: float) -> float:
    """The relative error of unit generators as a float, checked to be finite and not negative."""
    if not 0 <= uncertainty < math.inf:
        raise ArgumentError(
            f"uncertainty is {uncertainty}; "
            "expected the relative error of a unit generator, for example 0.01."
        )
    return float(uncertainty)
