r"""Stage 5'', bottom: the few smallest defects of very many candidates, without all the others.

A full solution costs about $10 g^3$ operations and its directions $g^2$ numbers more. Symmetries are the small end, and for that
one product $C = B^\top B$ of the whitened factor and one Cholesky factor of it are enough, $\tfrac43 g^3$ operations. Squaring
drowns what lies below $10^{-8}$, so the Cholesky factor only proposes where to look; what counts is measured on $B$ itself:
the values are singular values of $B X$, the residuals are $B^\top (B x) - \sigma^2 x$, and zeros stay zeros.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._errors import ArgumentError
from liegg._linalg import FULL_SVD_LIMIT, add_upper_square, fix_signs, right_singular
from liegg.actions import Displacement
from liegg.defect import TRIVIAL_TOLERANCE, whitening
from liegg.gram import Gram

RESIDUAL = 1e-12
"""Residual at which a pair is taken as solved, as a share of the largest eigenvalue: a few hundred roundings of float64."""

STEPS = 60
"""Most steps; a gap behind the wanted values takes three to six, none at all a few tens."""

GUARD = 8
"""Vectors carried beyond those that are wanted: the gap behind these decides how fast the wanted ones settle."""

RIDGES = (1e-14, 1e-13, 1e-12, 1e-10, 1e-8)
"""Shares of the largest eigenvalue added until a Cholesky factor exists. It only proposes directions, so none does harm."""

EXTREME = 1e50
"""Size of the entries from which on their squares are taken of a rescaled matrix, as fourth powers would overflow."""

MARGIN = 100.0
"""How far above the tolerance the smallest share of a displacement must be for no direction to be trivial: it is estimated."""


class Smallest(NamedTuple):
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


@dataclass(frozen=True, eq=False)
class Bottom:
    r"""The smallest solutions of $A h = \lambda M h$.

    Attributes:
        values: `δ²` ascending; without a displacement the paper's variances `σ²/|D|`.
        directions: unit coefficients, one row per value.
        residuals: an exact `δ²` of the whole problem lies within this of each value.
        sensitivity: `κ`, over all directions that move the data; 1 without a displacement.
        moving: number of directions that move the data, of which these are the smallest.
        steps: steps taken; 0 where all were solved for because they are few.
    """

    values: Float[Tensor, " k"]
    directions: Float[Tensor, "k g"]
    residuals: Float[Tensor, " k"]
    sensitivity: float
    moving: int
    steps: int


def bottom(
    rows: Float[Tensor, "m g"] | Gram,
    displacement: Displacement | None,
    samples: int,
    count: int,
    *,
    sensitivity: float | None = None,
    trivial_tolerance: float = TRIVIAL_TOLERANCE,
) -> Bottom:
    r"""The `count` smallest defects and their directions; else as `liegg.defect.defects`.

    Args:
        rows: R factor of the rows, or their Gram matrix where that is what is kept; on any device.
        displacement: M of the data; None for the Frobenius metric of the generators.
        samples: number of samples.
        count: how many are wanted.
        sensitivity: use this `κ` in place of the one computed here.
        trivial_tolerance: share of the displacement of uncorrelated features below which a direction does not move the data.

    Returns:
        The smallest pairs, each with its residual.

    Raises:
        ArgumentError: fewer than one is wanted.

    Examples:
        >>> factor = torch.diag(torch.tensor([3.0, 0.0, 2.0, 1.0], dtype=torch.float64))
        >>> bottom(factor, None, 1, 2).values
        tensor([0., 1.], dtype=torch.float64)
    """
    if count < 1:
        raise ArgumentError(f"count={count}: expected how many of the smallest defects are wanted, for example count=20.")
    columns = rows.matrix.shape[1] if isinstance(rows, Gram) else rows.shape[1]
    if displacement is None:
        found = smallest(rows.r if isinstance(rows, Gram) else rows, count, square=rows.matrix if isinstance(rows, Gram) else None)
        return Bottom(
            found.values.square() / samples, fix_signs(found.vectors), found.residuals / samples, 1.0, columns, found.steps
        )
    matrix, back, whiten = _whitened(rows.r if isinstance(rows, Gram) else rows, displacement, trivial_tolerance)
    moving = matrix.shape[1]
    if sensitivity is None:
        sensitivity = float(matrix.square().sum()) / samples / max(moving, 1)
    square = rows.between(whiten) if isinstance(rows, Gram) and whiten is not None and moving > FULL_SVD_LIMIT else None
    found = smallest(matrix, count, square=square)
    directions = back(found.vectors)
    directions = fix_signs(directions / directions.norm(dim=1, keepdim=True))
    scale = 1 / (samples * sensitivity) if sensitivity > 0 else 0.0
    return Bottom(found.values.square() * scale, directions, found.residuals * scale, sensitivity, moving, found.steps)


def smallest(
    matrix: Float[Tensor, "m g"],
    count: int,
    *,
    square: Float[Tensor, "g g"] | None = None,
    full_limit: int = FULL_SVD_LIMIT,
    seed: int = 0,
) -> Smallest:
    r"""Smallest right singular pairs by preconditioned subspace iteration, in blocks.

    The subspace is $[X,\ C_\mu^{-1} G,\ P]$: the pairs so far, their residuals through the Cholesky factor of $C + \mu$, and the
    last step. The ridge $\mu$ makes a null space no obstacle, and as $G$ is taken from the matrix itself it leaves no trace.

    Args:
        matrix: float64, on any device.
        count: how many are wanted; at most as many as there are columns are returned.
        square: $B^\top B$, where it is known already; its upper triangle is read.
        full_limit: number of columns up to which all pairs are solved for.
        seed: of the first vectors, drawn on the CPU so that every device starts alike.
    """
    columns = matrix.shape[1]
    count = min(count, columns)
    width = count + GUARD
    if columns <= max(full_limit, 4 * width):
        values, vectors = right_singular(matrix)
        values, vectors = values[:count], vectors[:count]
        gap = matrix.mT @ (matrix @ vectors.mT) - vectors.mT * values.square()
        return Smallest(values, vectors, gap.norm(dim=0), 0)
    size = float(matrix.abs().max())
    if size > 0 and not 1 / EXTREME < size < EXTREME:
        found = smallest(matrix / size, count, full_limit=full_limit, seed=seed)
        return found._replace(values=found.values * size, residuals=found.residuals * size**2)
    start = torch.randn(columns, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(matrix)
    top = _largest(matrix, start)
    if top == 0.0:
        return Smallest(*_zeros(matrix, start, count), 0)
    square = add_upper_square(matrix.new_zeros(columns, columns), matrix) if square is None else square.clone()
    factor = _cholesky(square, top)
    x = _orthonormal(torch.cholesky_solve(_orthonormal(torch.cholesky_solve(start, factor, upper=True)), factor, upper=True))
    x, values, images = _ritz(matrix, x, width)
    best, last, since, steps = float("inf"), None, 0, 0
    kept = x, values, images
    while steps < STEPS:
        steps += 1
        gap = matrix.mT @ images - x * values.square()
        worst = float(gap[:, :count].norm(dim=0).max())
        since = 0 if worst < 0.5 * best else since + 1
        if worst < best:
            best, kept = worst, (x, values, images)
        if best <= RESIDUAL * top or since > 6:
            break
        proposed = torch.cholesky_solve(gap / gap.norm(dim=0).clamp_min(torch.finfo(gap.dtype).tiny), factor, upper=True)
        basis = _orthonormal(torch.cat([x, proposed] if last is None else [x, proposed, last], dim=1))
        new, values, images = _ritz(matrix, basis, width)
        last = new - x @ (x.mT @ new)
        x = new
    x, values, images = (part[..., :count] for part in kept)
    gap = matrix.mT @ images - x * values.square()
    return Smallest(values, x.mT.contiguous(), gap.norm(dim=0), steps)


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


def _orthonormal(columns: Float[Tensor, "g q"]) -> Float[Tensor, "g q"]:
    """Orthonormal basis of the span; what is dependent is filled up."""
    lengths = columns.norm(dim=0).clamp_min(torch.finfo(columns.dtype).tiny)
    return torch.linalg.qr(columns / lengths).Q


def _largest(matrix: Float[Tensor, "m g"], start: Float[Tensor, "g q"]) -> float:
    """Largest squared singular value, to a few per cent."""
    x = start
    for _ in range(10):
        x = matrix.mT @ (matrix @ x)
        length = x.norm(dim=0)
        if float(length.max()) == 0.0:
            return 0.0
        x = x / length.max()
    return float((matrix @ _orthonormal(x)).norm(dim=0).max().square())


def _zeros(matrix: Tensor, start: Float[Tensor, "g q"], count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Pairs of a matrix that is zero."""
    zero = matrix.new_zeros(count)
    return zero, _orthonormal(start)[:, :count].mT.contiguous(), zero


def _cholesky(square: Float[Tensor, "g g"], top: float) -> Float[Tensor, "g g"]:
    """Upper Cholesky factor of the matrix and a ridge; the matrix is added to in place."""
    added = 0.0
    for ridge in RIDGES:
        square.diagonal().add_(ridge * top - added)
        added = ridge * top
        factor, trouble = torch.linalg.cholesky_ex(square, upper=True)
        if not int(trouble):
            return factor
    raise ArgumentError("the rows are not finite, or their sum is no sum of squares: no factor of it exists.")


def _whitened(
    r: Float[Tensor, "m g"], displacement: Displacement, tolerance: float
) -> tuple[Float[Tensor, "m p"], Callable[[Tensor], Tensor], Float[Tensor, "s k"] | None]:
    r"""The factor times $W$ with $W^\top M W = 1$, the map from whitened vectors back to coefficients, and $W$ where it is formed.

    One small block is diagonalised. A large one gets a Cholesky factor if every direction moves the data, which inverse iteration
    tells; only where one may be trivial it is diagonalised too.
    """
    copies, block = displacement.repeat, displacement.block.to(r)
    side = block.shape[0]
    lengths = block.diagonal().clamp_min(0).sqrt()
    if side > FULL_SVD_LIMIT and bool((block.diagonal() > displacement.noise).all()) and bool((lengths > 0).all()):
        unit = block / lengths[:, None] / lengths
        factor, trouble = torch.linalg.cholesky_ex(unit, upper=True)
        if not int(trouble) and _least(factor) > MARGIN * tolerance * float(unit.abs().sum(1).max()):
            parts = r.reshape(-1, copies, side) / lengths
            matrix = torch.linalg.solve_triangular(factor, parts, upper=True, left=False).flatten(1)

            def solved(vectors: Float[Tensor, "k p"]) -> Float[Tensor, "k g"]:
                each = vectors.reshape(-1, copies, side).mT
                return (torch.linalg.solve_triangular(factor, each, upper=True).mT / lengths).flatten(1)

            return matrix, solved, None
    whiten, _ = whitening(Displacement(block, copies, displacement.noise), tolerance)
    matrix = (r.reshape(-1, copies, side) @ whiten).flatten(1)
    return matrix, lambda vectors: (vectors.reshape(-1, copies, whiten.shape[1]) @ whiten.mT).flatten(1), whiten


def _least(factor: Float[Tensor, "s s"]) -> float:
    """Smallest eigenvalue of the matrix with this Cholesky factor, from above, by inverse iteration."""
    x = torch.randn(len(factor), GUARD, generator=torch.Generator().manual_seed(0), dtype=torch.float64).to(factor)
    for _ in range(8):
        x = _orthonormal(torch.cholesky_solve(x, factor, upper=True))
    return float((factor @ x).norm(dim=0).min().square())
