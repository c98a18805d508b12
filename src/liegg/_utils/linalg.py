"""Dense float64 linear algebra that the stages share: right singular pairs, signs, orthonormal bases."""

import functools
from collections.abc import Callable
from itertools import pairwise

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.device import sent

FULL_SVD_LIMIT = 512
"""Largest number of columns for which a full SVD is taken; above it an SVD costs about nine eigendecompositions."""

SMALL_END = 1e-9
"""Share of the largest eigenvalue of RᵀR below which a direction is solved again on R itself.

An eigendecomposition of RᵀR in float64 is right to about 1e-16 of its largest value, so what lies above this share has at
least seven correct digits already."""

FEW_ROWS = 4
"""Times as many columns as rows from which on a full SVD is the cheaper one, however many columns there are."""

SPARSE_SIDE, SPARSE_ENTRIES = 256, 32
"""Side from which on a symmetric matrix is looked at for parts that do not touch, and entries to a row up to which it is."""

PANELS = 8
"""Column panels of a symmetric product; more save little."""


def fix_signs(rows: Float[Tensor, "k g"]) -> Float[Tensor, "k g"]:
    """Flip each row so that its entry of largest magnitude is positive.

    Entries within a relative 1e-8 of the largest count as equally large, and the first of them decides, so rounding does
    not change the sign of a row such as `(1, -1) / √2`.

    >>> fix_signs(torch.tensor([[0.0, -2.0, 1.0]]))
    tensor([[-0.,  2., -1.]])
    """
    if rows.numel() == 0:
        return rows
    size = rows.abs()
    first = (size >= size.amax(1, keepdim=True) * (1 - 1e-8)).to(torch.int8).argmax(1, keepdim=True)
    return rows * torch.where(rows.gather(1, first) < 0, -1.0, 1.0).to(rows)


def arranged(
    values: Float[Tensor, "b *k"], block: Int[Tensor, " b"], count: int
) -> Float[Tensor, "p m *k"]:
    """Values of every block side by side in float64, those of smaller blocks filled up with zeros.

    >>> arranged(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0, 1, 0]), 2)
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
    out[sent(block, values.device), sent(slot, values.device)] = values.double()
    return out


def orthonormal_rows(
    rows: Float[Tensor, "k g"], *, tolerance: float = 1e-10
) -> Float[Tensor, "r g"]:
    """Orthonormal basis of the span of the rows, by SVD; `tolerance` is relative to the largest singular value."""
    if rows.numel() == 0:
        return rows.new_zeros((0, rows.shape[1]))
    _, values, right = torch.linalg.svd(rows, full_matrices=False)
    return right[values > tolerance * values[0]] if values[0] > 0 else right[:0]


def orthonormal_columns(columns: Float[Tensor, "g q"]) -> Float[Tensor, "g q"]:
    """Orthonormal basis of the span; what is dependent is filled up."""
    lengths = columns.norm(dim=0).clamp_min(torch.finfo(columns.dtype).tiny)
    return torch.linalg.qr(columns / lengths).Q


def add_upper_square(
    total: Float[Tensor, "g g"], rows: Float[Tensor, "m g"]
) -> Float[Tensor, "g g"]:
    """Add `rowsᵀ rows` to a matrix in place, by panels of columns and only on and above their diagonal: 36 of 64 blocks."""
    edges = [total.shape[0] * i // PANELS for i in range(PANELS + 1)]
    for start, stop in pairwise(edges):
        total[start:stop, start:].addmm_(rows[:, start:stop].mT, rows[:, start:])
    return total


def right_singular(
    matrix: Float[Tensor, "m g"] | Callable[[], Float[Tensor, "m g"]],
    *,
    square: Float[Tensor, "g g"] | None = None,
    full_limit: int = FULL_SVD_LIMIT,
) -> tuple[Float[Tensor, " g"], Float[Tensor, "g g"]]:
    r"""All right singular pairs of a matrix, ascending, with a complete basis whatever its rank.

    Up to `full_limit` columns, or for very few rows, by SVD. Above, from eigendecompositions of $R^\top R$, taken again on what
    the squaring drowned: with $V_0$ the eigenvectors below `SMALL_END`, the same is done for $R V_0$, whose own largest value
    sets a new scale, until few enough columns are left for an SVD or nothing but rounding. Before, the lean of $V_0$ towards the
    other eigenvectors $V_1$ is taken out, $V_0 \leftarrow V_0 - V_1 \Lambda_1^{-1} V_1^\top R^\top R V_0$: only about 1e-7, but it
    would leave a zero at 1e-13.

    Args:
        matrix: float64, any number of rows; or, beside `square`, a function that makes it where it is needed.
        square: $R^\top R$, where it is known already; its upper triangle is read.
        full_limit: number of columns up to which a full SVD is taken.

    Returns:
        Singular values, ascending, and the singular vectors as rows in the same order; their signs are free.
    """
    values, vectors = _ascending(matrix, square, full_limit, floor=0.0)
    return values, vectors.mT


def _ascending(
    given: Float[Tensor, "m g"] | Callable[[], Float[Tensor, "m g"]],
    square: Float[Tensor, "g g"] | None,
    full_limit: int,
    floor: float,
) -> tuple[Float[Tensor, " g"], Float[Tensor, "g g"]]:
    """Singular values ascending and right vectors as columns; below `floor` nothing but rounding is left to resolve."""
    made = functools.cache(given) if callable(given) else lambda: given
    columns = made().shape[1] if square is None else square.shape[1]
    if columns <= full_limit or (square is None and FEW_ROWS * made().shape[0] <= columns):
        matrix = made()
        _, values, right = torch.linalg.svd(matrix, full_matrices=True)
        values = torch.cat([values, values.new_zeros(columns - values.shape[0])])
        return values.flip(0), right.flip(0).mT
    if square is None:
        square = add_upper_square(made().new_zeros(columns, columns), made())
    squares, vectors = torch.linalg.eigh(square, UPLO="U")
    values = squares.clamp_min(0).sqrt()
    floor = max(floor, columns * torch.finfo(square.dtype).eps * float(values[-1]))
    small = int((squares <= SMALL_END * squares[-1]).sum())
    if small and float(values[-1]) > floor:
        matrix, low, high = made(), vectors[:, :small], vectors[:, small:]
        lean = high.mT @ (matrix.mT @ (matrix @ low)) / squares[small:, None]
        low, high = low - high @ lean, high + low @ lean.mT
        values[:small], turn = _ascending(matrix @ low, None, full_limit, floor)
        vectors = torch.cat([low @ turn, high], dim=1)
    return values, vectors


def without_zero_rows(matrix: Float[Tensor, "m g"]) -> Float[Tensor, "k g"]:
    """A large factor without the zero rows at its end, which it has where there were fewer rows than columns.

    >>> without_zero_rows(torch.eye(600)[:2]).shape
    torch.Size([2, 600])
    """
    if matrix.shape[1] <= FULL_SVD_LIMIT:
        return matrix
    used = matrix.any(1).nonzero()
    return matrix[: int(used[-1]) + 1 if len(used) else 1]


def symmetric_eigen(
    matrix: Float[Tensor, "s s"],
) -> tuple[Float[Tensor, " s"], Float[Tensor, "s s"]]:
    """Eigenvalues of a symmetric matrix, ascending, and eigenvectors as columns; part by part where its parts do not touch.

    >>> symmetric_eigen(torch.tensor([[2.0, 0.0], [0.0, 1.0]]))[0]
    tensor([1., 2.])
    """
    parts = _parts(matrix)
    if parts is None:
        values, vectors = torch.linalg.eigh(matrix)
        return values, vectors
    values, vectors, first = matrix.new_zeros(len(matrix)), torch.zeros_like(matrix), 0
    for members in parts:  # [parts of one size, size]
        own, axes = torch.linalg.eigh(matrix[members[:, :, None], members[:, None, :]])
        columns = torch.arange(first, first + members.numel(), device=matrix.device).reshape(
            members.shape
        )
        values[columns], vectors[members[:, :, None], columns[:, None, :]] = own, axes
        first += members.numel()
    order = torch.argsort(values, stable=True)
    return values[order], vectors[:, order]


def _parts(matrix: Float[Tensor, "s s"]) -> list[Int[Tensor, "c k"]] | None:
    """Indices of the parts of a symmetric matrix that do not touch, those of one size together; None if it is small or dense."""
    side = len(matrix)
    if side < SPARSE_SIDE or int(torch.count_nonzero(matrix)) > SPARSE_ENTRIES * side:
        return None
    row, column = matrix.nonzero(as_tuple=True)
    label = torch.arange(side, device=matrix.device)
    while (
        True
    ):  # every index takes the smallest label among those it touches, and that one's label in turn
        lower = label.scatter_reduce(0, row, label[column], "amin")
        lower = lower[lower]
        if torch.equal(lower, label):
            break
        label = lower
    order = torch.argsort(label, stable=True)
    sizes = torch.unique_consecutive(label[order], return_counts=True)[1]
    groups = order.split(sizes.tolist())
    return [
        torch.stack([group for group in groups if len(group) == size])
        for size in sizes.unique().tolist()
    ]


def canonical_basis(rows: Float[Tensor, "d g"]) -> Float[Tensor, "d g"]:
    r"""Orthonormal basis of the span of orthonormal rows that depends on the span alone.

    Pivoted Cholesky of the projector $P = V^\top V$: take the coordinate axis nearest to the span, project it onto the span,
    remove that direction, repeat. The antisymmetric matrices come out as $(E_{ij} - E_{ji})/\sqrt 2$.

    >>> turn = torch.tensor([[0.6, 0.8], [-0.8, 0.6]], dtype=torch.float64)
    >>> canonical_basis(turn).abs().round(decimals=12)
    tensor([[1., 0.],
            [0., 1.]], dtype=torch.float64)
    """
    rest, found = rows, []
    for _ in range(rows.shape[0]):
        reach = rest.square().sum(0)
        axis = int((reach >= reach.max() * (1 - 1e-8)).to(torch.int8).argmax())
        inside = rest[:, axis] / rest[:, axis].norm()
        found.append(inside @ rest)
        # A reflection that sends `inside` to the first axis: the other rows then span what is left, still orthonormal.
        pivot = inside.clone()
        pivot[0] += 1.0 if inside[0] >= 0 else -1.0
        rest = (rest - 2 * pivot[:, None] * (pivot @ rest)[None] / pivot.square().sum())[1:]
    return fix_signs(torch.stack(found)) if found else rows


def rank(values: Float[Tensor, " k"], tolerance: float) -> int:
    """Number of values above `tolerance` times the largest."""
    return int((values > tolerance * values.max()).sum()) if values.numel() else 0
