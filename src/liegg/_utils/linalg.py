"""Dense float64 linear algebra: right singular pairs, signs, orthonormal bases."""

import functools
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.device import to_device

FULL_SVD_LIMIT = 512
"""Largest number of columns for a full SVD; above, it costs about nine eigendecompositions."""

SMALL_END = 1e-9
"""Fraction of the largest eigenvalue of RᵀR below which a direction is solved again on R itself.

An eigendecomposition of RᵀR in float64 is accurate to about 1e-16 of its largest value, so
eigenvalues above this fraction have at least seven correct digits."""

WIDE_RATIO = 4
"""Ratio of columns to rows above which a full SVD is cheaper, whatever the number of columns."""

SPARSE_SIDE, SPARSE_ENTRIES = 256, 32
"""Smallest side, and most entries per row, of a symmetric matrix that is split into its blocks."""

PANELS = 8
"""Column panels of a symmetric product; more panels save little."""


def fix_signs(rows: Float[Tensor, "k g"]) -> Float[Tensor, "k g"]:
    """Flip each row so that its entry of largest magnitude is positive.

    Entries within a relative 1e-8 of the largest count as equally large, and the first of them
    decides, so rounding does not change the sign of a row such as `(1, -1) / √2`.

    >>> fix_signs(torch.tensor([[1.0, -2.0, 1.0]]))
    tensor([[-1.,  2., -1.]])
    """
    if rows.numel() == 0:
        return rows
    size = rows.abs()
    first = (size >= size.amax(1, keepdim=True) * (1 - 1e-8)).to(torch.int8).argmax(1, keepdim=True)
    return rows * torch.where(rows.gather(1, first) < 0, -1.0, 1.0).to(rows)


def group_by_block(
    values: Float[Tensor, "b *k"], block: Int[Tensor, " b"], count: int
) -> Float[Tensor, "p m *k"]:
    """Collect the values of each block in float64, padded with zeros to the size of the largest.

    >>> group_by_block(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0, 1, 0]), 2)
    tensor([[1., 3.],
            [2., 0.]], dtype=torch.float64)
    """
    order = torch.argsort(block, stable=True)
    counts = torch.bincount(block, minlength=count)
    slot = torch.empty_like(block)
    slot[order] = torch.arange(len(block)) - (counts.cumsum(0) - counts)[block[order]]
    out = torch.zeros(
        count, int(counts.max()), *values.shape[1:], dtype=torch.float64, device=values.device
    )
    out[to_device(block, values.device), to_device(slot, values.device)] = values.double()
    return out


def svd(
    matrix: Float[Tensor, "m g"], *, full_matrices: bool = True
) -> tuple[Float[Tensor, "m p"], Float[Tensor, " k"], Float[Tensor, "q g"]]:
    """Singular value decomposition as `torch.linalg.svd`; of the transpose where LAPACK does not converge.

    It fails for a few matrices with many repeated singular values, whose transposes are no harder than others.

    >>> svd(torch.tensor([[0.0, 2.0], [1.0, 0.0]]))[1]
    tensor([2., 1.])
    """
    try:
        return torch.linalg.svd(matrix, full_matrices=full_matrices)
    except torch.linalg.LinAlgError:  # pyright: ignore[reportPrivateImportUsage]
        right, values, left = torch.linalg.svd(matrix.mT.contiguous(), full_matrices=full_matrices)
        return left.mT, values, right.mT


def orthonormal_rows(
    rows: Float[Tensor, "k g"], *, tolerance: float = 1e-10
) -> Float[Tensor, "r g"]:
    """Orthonormal basis of the row space by SVD; `tolerance` is relative to the largest value."""
    if rows.numel() == 0:
        return rows.new_zeros((0, rows.shape[1]))
    if len(rows) == 1:
        largest = rows.abs().max()
        return torch.nn.functional.normalize(rows / largest, dim=1) if largest > 0 else rows[:0]
    _, values, right = svd(rows, full_matrices=False)
    return right[values > tolerance * values[0]] if values[0] > 0 else right[:0]


def orthonormal_columns(columns: Float[Tensor, "g q"]) -> Float[Tensor, "g q"]:
    """Orthonormal basis that contains the span of the columns, with as many columns."""
    lengths = columns.norm(dim=0).clamp_min(torch.finfo(columns.dtype).tiny)
    return torch.linalg.qr(columns / lengths).Q


def add_upper_square(
    total: Float[Tensor, "g g"], rows: Float[Tensor, "m g"]
) -> Float[Tensor, "g g"]:
    """Add the upper triangle of `rowsᵀ rows` to a matrix in place, by panels of columns."""
    edges = [total.shape[0] * i // PANELS for i in range(PANELS + 1)]
    for start, stop in pairwise(edges):
        total[start:stop, start:].addmm_(rows[:, start:stop].mT, rows[:, start:])
    return total


def right_singular(
    matrix: Float[Tensor, "m g"] | Callable[[], Float[Tensor, "m g"]],
    *,
    square: Float[Tensor, "g g"] | None = None,
    full_limit: int = FULL_SVD_LIMIT,
    floor: float = 0.0,
) -> tuple[Float[Tensor, " g"], Float[Tensor, "g g"]]:
    r"""All right singular pairs of a matrix, ascending, with a complete basis whatever its rank.

    Up to `full_limit` columns, or for very few rows, by SVD. Above, by eigendecomposition of
    $R^\top R$, repeated for the small values that squaring loses: with $V_0$ the eigenvectors below
    `SMALL_END`, $R V_0$ is decomposed in the same way, on the scale of its own largest value, until
    few enough columns are left for an SVD or only rounding is left. Before that, the component of
    $V_0$ along the other eigenvectors $V_1$ is removed,
    $V_0 \leftarrow V_0 - V_1 \Lambda_1^{-1} V_1^\top R^\top R V_0$: it is only about 1e-7, but it
    would leave a zero at 1e-13.

    Args:
        matrix: float64 matrix with any number of rows; with `square`, also a function that returns
            it.
        square: $R^\top R$ if already known; its upper triangle is read.
        full_limit: largest number of columns for a full SVD.
        floor: singular value below which there is only rounding.

    Returns:
        Singular values, ascending, and the singular vectors as rows; their signs are arbitrary.
    """
    factor = functools.cache(matrix) if callable(matrix) else lambda: matrix
    columns = factor().shape[1] if square is None else square.shape[1]
    if columns <= full_limit or (square is None and WIDE_RATIO * factor().shape[0] <= columns):
        _, values, right = svd(factor())
        values = torch.cat([values, values.new_zeros(columns - values.shape[0])])
        return values.flip(0), right.flip(0)
    if square is None:
        square = add_upper_square(factor().new_zeros(columns, columns), factor())
    squares, vectors = torch.linalg.eigh(square, UPLO="U")
    values = squares.clamp_min(0).sqrt()
    floor = max(floor, columns * torch.finfo(square.dtype).eps * float(values[-1]))
    small = int((squares <= SMALL_END * squares[-1]).sum())
    if small and float(values[-1]) > floor:
        r, low, high = factor(), vectors[:, :small], vectors[:, small:]
        component = high.mT @ (r.mT @ (r @ low)) / squares[small:, None]
        low, high = low - high @ component, high + low @ component.mT
        values[:small], rotation = right_singular(r @ low, full_limit=full_limit, floor=floor)
        vectors = torch.cat([low @ rotation.mT, high], dim=1)
    return values, vectors.mT


def without_zero_rows(matrix: Float[Tensor, "m g"]) -> Float[Tensor, "k g"]:
    """Remove trailing zero rows of a large factor, which come from fewer rows than columns.

    >>> without_zero_rows(torch.eye(600)[:2]).shape
    torch.Size([2, 600])
    """
    if matrix.shape[1] <= FULL_SVD_LIMIT:
        return matrix
    nonzero = matrix.any(1).nonzero()
    return matrix[: int(nonzero[-1]) + 1 if len(nonzero) else 1]


def symmetric_eigen(
    matrix: Float[Tensor, "s s"],
) -> tuple[Float[Tensor, " s"], Float[Tensor, "s s"]]:
    """Eigenvalues of a symmetric matrix, ascending, and eigenvectors as columns; block by block.

    >>> symmetric_eigen(torch.tensor([[2.0, 0.0], [0.0, 1.0]]))[0]
    tensor([1., 2.])
    """
    components = _components(matrix)
    if components is None:
        values, vectors = torch.linalg.eigh(matrix)
        return values, vectors
    values, vectors, first = matrix.new_zeros(len(matrix)), torch.zeros_like(matrix), 0
    for members in components:  # [components of one size, size]
        own, axes = torch.linalg.eigh(matrix[members[:, :, None], members[:, None, :]])
        columns = torch.arange(first, first + members.numel(), device=matrix.device).reshape(
            members.shape
        )
        values[columns], vectors[members[:, :, None], columns[:, None, :]] = own, axes
        first += members.numel()
    order = torch.argsort(values, stable=True)
    return values[order], vectors[:, order]


def _components(matrix: Float[Tensor, "s s"]) -> list[Int[Tensor, "c k"]] | None:
    """Indices of the connected components of a symmetric matrix, grouped by size.

    None if the matrix is small or dense, where splitting it does not pay.
    """
    side = len(matrix)
    if side < SPARSE_SIDE or int(torch.count_nonzero(matrix)) > SPARSE_ENTRIES * side:
        return None
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # Indices of 32 bits: older versions of scipy cannot read others here.
    row, column = (index.int().cpu().numpy() for index in matrix.nonzero(as_tuple=True))
    graph = coo_array((row >= 0, (row, column)), shape=(side, side))
    labels = torch.from_numpy(connected_components(graph, directed=False)[1]).long()
    sizes = torch.bincount(labels)
    components = torch.argsort(labels, stable=True).to(matrix.device).split(sizes.tolist())
    return [
        torch.stack([component for component in components if len(component) == size])
        for size in sizes.unique().tolist()
    ]


def canonical_basis(rows: Float[Tensor, "d g"]) -> Float[Tensor, "d g"]:
    r"""Orthonormal basis of the span of orthonormal rows that depends on the span alone.

    Pivoted Cholesky of the projector $P = V^\top V$: take the coordinate axis nearest to the span,
    project it onto the span, remove that direction, repeat. For antisymmetric matrices the result
    is $(E_{ij} - E_{ji})/\sqrt 2$.

    >>> rotation = torch.tensor([[0.6, 0.8], [-0.8, 0.6]], dtype=torch.float64)
    >>> canonical_basis(rotation).abs().round(decimals=12)
    tensor([[1., 0.],
            [0., 1.]], dtype=torch.float64)
    """
    rest, basis = rows.cpu().numpy(), []  # many small steps, which cost less in numpy
    while len(rest):
        reach = np.square(rest).sum(0)
        axis = int((reach >= reach.max() * (1 - 1e-8)).argmax())
        inside = rest[:, axis] / np.linalg.norm(rest[:, axis])
        basis.append(inside @ rest)
        # A reflection sends `inside` to the first axis; the other rows stay orthonormal.
        pivot = inside.copy()
        pivot[0] += np.copysign(1.0, inside[0])
        rest = (rest - np.outer(2 * pivot / (pivot @ pivot), pivot @ rest))[1:]
    return fix_signs(torch.from_numpy(np.stack(basis)).to(rows)) if basis else rows


def rank(values: Float[Tensor, " k"], tolerance: float) -> int:
    """Number of values above `tolerance` times the largest."""
    return int((values > tolerance * values.max()).sum()) if values.numel() else 0
