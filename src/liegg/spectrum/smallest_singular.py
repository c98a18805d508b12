r"""The smallest right singular pairs of a large matrix, without computing the others.

All pairs cost about $10 g^3$ operations. For the small end one product $C = B^\top B$ and one Cholesky factor of it are enough,
$\tfrac43 g^3$ operations. Squaring drowns what lies below $10^{-8}$, so the Cholesky factor only proposes where to look; what
counts is measured on $B$ itself: the values are singular values of $B X$, the residuals are $B^\top (B x) - \sigma^2 x$, and zeros
stay zeros.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import (
    FULL_SVD_LIMIT,
    add_upper_square,
    orthonormal_columns,
    right_singular,
)

SOLVED_RESIDUAL = 1e-12
"""Residual at which a pair is taken as solved, as a share of the largest eigenvalue: a few hundred roundings of float64."""

SOLVER_STEPS = 200
"""Most steps; a gap behind the wanted values takes one to six, none at all a few tens."""

PATIENCE = 12
"""Steps without the largest residual being halved after which it is left as it is, and reported."""

GUARD_VECTORS = 8
"""Vectors carried beyond those that are wanted: the gap behind these decides how fast the wanted ones settle."""

PRECONDITIONER_RIDGES = (1e-14, 1e-13, 1e-12, 1e-10, 1e-8)
"""Shares of the largest eigenvalue added until a Cholesky factor exists. It only proposes directions, so none does harm."""

LARGEST_UNSCALED = 1e50
"""Size of the entries from which on their squares are taken of a rescaled matrix, as fourth powers would overflow."""


class SingularPairs(NamedTuple):
    """Smallest right singular pairs of a matrix.

    Attributes:
        values: singular values, ascending.
        vectors: unit right singular vectors as rows.
        residuals: length of $B^T B x - σ^2 x$: an exact squared singular value lies within it.
        steps: steps taken; 0 where all pairs were solved for.

    Values whose squares are below about 1e-14 of the largest are told apart only if fewer of them exist than are wanted.
    """

    values: Float[Tensor, " k"]
    vectors: Float[Tensor, "k g"]
    residuals: Float[Tensor, " k"]
    steps: int


def smallest_singular(
    matrix: Float[Tensor, "m g"],
    count: int,
    *,
    square: Float[Tensor, "g g"] | None = None,
    full_limit: int = FULL_SVD_LIMIT,
    seed: int = 0,
) -> SingularPairs:
    r"""Smallest right singular pairs by preconditioned subspace iteration, in blocks.

    Args:
        matrix: float64, on any device.
        count: how many are wanted; at most as many as there are columns are returned.
        square: $B^\top B$, where it is known already; its upper triangle is read.
        full_limit: number of columns up to which all pairs are solved for.
        seed: of the first vectors, drawn on the CPU so that every device starts alike.
    """
    columns = matrix.shape[1]
    count = min(count, columns)
    width = count + GUARD_VECTORS
    if columns <= max(full_limit, 4 * width):
        values, vectors = (part[:count] for part in right_singular(matrix))
        gap = matrix.mT @ (matrix @ vectors.mT) - vectors.mT * values.square()
        return SingularPairs(values, vectors, gap.norm(dim=0), 0)
    size = float(matrix.abs().max())
    if size > 0 and not 1 / LARGEST_UNSCALED < size < LARGEST_UNSCALED:
        found = smallest_singular(matrix / size, count, full_limit=full_limit, seed=seed)
        return found._replace(values=found.values * size, residuals=found.residuals * size**2)
    start = torch.randn(
        columns, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    ).to(matrix)
    top = _largest(matrix, start)
    if top == 0.0:
        zero = matrix.new_zeros(count)
        return SingularPairs(zero, orthonormal_columns(start)[:, :count].mT.contiguous(), zero, 0)
    square = (
        add_upper_square(matrix.new_zeros(columns, columns), matrix)
        if square is None
        else square.clone()
    )
    return _iterate(matrix, start, _cholesky(square, top), count, tolerance=SOLVED_RESIDUAL * top)


def _iterate(
    matrix: Float[Tensor, "m g"],
    start: Float[Tensor, "g w"],
    factor: Float[Tensor, "g g"],
    count: int,
    *,
    tolerance: float,
) -> SingularPairs:
    r"""Improve the pairs until their residuals are below the tolerance, or shrink no more.

    The subspace is $[X,\ C_\mu^{-1} G,\ P]$: the pairs so far, their residuals through the Cholesky factor of $C + \mu$, and the
    last step. The ridge $\mu$ makes a null space no obstacle, and as $G$ is taken from the matrix itself it leaves no trace.
    """
    width, x, last = start.shape[1], start, start[:, :0]
    for _ in range(2):
        x = orthonormal_columns(torch.cholesky_solve(x, factor, upper=True))
    x, values, images = _ritz(matrix, x, width)
    best, halved, since, steps = float("inf"), float("inf"), 0, 0
    kept = x, values, images  # replaced by the first step
    while steps < SOLVER_STEPS:
        steps += 1
        gap = matrix.mT @ images - x * values.square()
        worst = float(gap[:, :count].norm(dim=0).max())
        halved, since = (worst, 0) if worst < 0.5 * halved else (halved, since + 1)
        if worst < best:
            best, kept = worst, (x, values, gap)
        if best <= tolerance or since > PATIENCE:
            break
        lengths = gap.norm(dim=0).clamp_min(torch.finfo(gap.dtype).tiny)
        proposed = torch.cholesky_solve(gap / lengths, factor, upper=True)
        basis = orthonormal_columns(torch.cat([x, proposed, last], dim=1))
        new, values, images = _ritz(matrix, basis, width)
        x, last = new, new - x @ (x.mT @ new)
    x, values, gap = (part[..., :count] for part in kept)
    return SingularPairs(values, x.mT.contiguous(), gap.norm(dim=0), steps)


def _ritz(
    matrix: Float[Tensor, "m g"], basis: Float[Tensor, "g q"], width: int
) -> tuple[Float[Tensor, "g w"], Float[Tensor, " w"], Float[Tensor, "m w"]]:
    """Best approximations to the smallest pairs within a subspace, from the matrix and not its square; with their images."""
    images = matrix @ basis
    small = torch.linalg.qr(images, mode="r").R if len(images) > images.shape[1] else images
    _, values, turn = torch.linalg.svd(small, full_matrices=True)
    values = torch.cat([values, values.new_zeros(basis.shape[1] - len(values))]).flip(0)[:width]
    turn = turn.flip(0)[:width].mT
    return basis @ turn, values, images @ turn


def _largest(matrix: Float[Tensor, "m g"], start: Float[Tensor, "g q"]) -> float:
    """Largest squared singular value, to a few per cent."""
    x = start
    for _ in range(10):
        x = matrix.mT @ (matrix @ x)
        length = x.norm(dim=0)
        if float(length.max()) == 0.0:
            return 0.0
        x = x / length.max()
    return float((matrix @ orthonormal_columns(x)).norm(dim=0).max().square())


def _cholesky(square: Float[Tensor, "g g"], top: float) -> Float[Tensor, "g g"]:
    """Upper Cholesky factor of the matrix and a ridge; the matrix is added to in place."""
    added = 0.0
    for ridge in PRECONDITIONER_RIDGES:
        square.diagonal().add_(ridge * top - added)
        added = ridge * top
        factor, trouble = torch.linalg.cholesky_ex(square, upper=True)
        if not int(trouble):
            return factor
    raise ArgumentError(
        "the rows are not finite, or their sum is no sum of squares: no factor of it exists."
    )
