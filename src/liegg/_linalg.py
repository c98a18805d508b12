"""Dense float64 linear algebra that the stages share: right singular pairs, signs, orthonormal bases."""

import torch
from jaxtyping import Float
from torch import Tensor

FULL_SVD_LIMIT = 512
"""Largest number of columns for which a full SVD is taken; above it an SVD costs about nine eigendecompositions."""

SMALL_END = 1e-6
"""Share of the largest eigenvalue of RᵀR below which a direction is solved again on R itself.

An eigendecomposition of RᵀR in float64 is right to about 1e-16 of its largest value, so what lies above this share has at
least ten correct digits already."""


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
    return torch.where(rows.gather(1, first) < 0, -rows, rows)


def orthonormal_rows(rows: Float[Tensor, "k g"], *, tolerance: float = 1e-10) -> Float[Tensor, "r g"]:
    """Orthonormal basis of the span of the rows, by SVD; `tolerance` is relative to the largest singular value."""
    if rows.numel() == 0:
        return rows.new_zeros((0, rows.shape[1]))
    _, values, right = torch.linalg.svd(rows, full_matrices=False)
    return right[values > tolerance * values[0]] if values[0] > 0 else right[:0]


def right_singular(
    matrix: Float[Tensor, "m g"], *, full_limit: int = FULL_SVD_LIMIT
) -> tuple[Float[Tensor, " g"], Float[Tensor, "g g"]]:
    r"""All right singular pairs of a matrix, ascending, with a complete basis whatever its rank.

    Up to `full_limit` columns by SVD. Above, the subspaces come from an eigendecomposition of $R^\top R$ and the small end is
    solved again on $R$ itself: with $V_0$ the eigenvectors below `SMALL_END`, the SVD of $R V_0$ gives values that the
    squaring would have drowned in rounding.

    Args:
        matrix: float64, any number of rows.
        full_limit: number of columns up to which a full SVD is taken.

    Returns:
        Singular values, ascending, and the singular vectors as rows in the same order, with deterministic signs.
    """
    columns = matrix.shape[1]
    if columns <= full_limit:
        _, values, right = torch.linalg.svd(matrix, full_matrices=True)
        values = torch.cat([values, values.new_zeros(columns - values.shape[0])])
        return values.flip(0), fix_signs(right.flip(0))
    squares, vectors = torch.linalg.eigh(matrix.mT @ matrix)
    values = squares.clamp_min(0).sqrt()
    small = int((squares <= SMALL_END * squares[-1]).sum())
    if small:
        _, low, turn = torch.linalg.svd(matrix @ vectors[:, :small], full_matrices=True)
        low = torch.cat([low, low.new_zeros(small - low.shape[0])])
        values[:small] = low.flip(0)
        vectors[:, :small] = vectors[:, :small] @ turn.flip(0).mT
    return values, fix_signs(vectors.mT.contiguous())


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
