"""The scale-free defect of every direction, and the directions that do not move the data."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import (
    FULL_SVD_LIMIT,
    fix_signs,
    orthonormal_rows,
    right_singular,
    symmetric_eigen,
    without_zero_rows,
)
from liegg.actions import Displacement
from liegg.polarization.gram import Gram
from liegg.spectrum.smallest_singular import smallest_singular

COEFFICIENT_UNITS = 8.0
"""Rounding units by which coefficients of a direction may be off; what only these move does not move."""

TRIVIAL_TOLERANCE = 1e-12
"""Share of the displacement of uncorrelated features below which a direction does not move the data."""


@dataclass(frozen=True, eq=False)
class Defects:
    r"""Solution of the pair $(A, M)$: sensitivity against displacement.

    Attributes:
        values: `δ²` ascending, one per direction that moves the data; 0 is an exact symmetry, 1 an average direction.
        directions: unit coefficients, one row per value.
        trivial: orthonormal coefficients of the directions that do not move the data.
        sensitivity: `κ`, the mean over directions of output motion per input motion; 0 for a constant model.
        barely: how many of the trivial ones do move it, but too little to decide.
    """

    values: Float[Tensor, " r"]
    directions: Float[Tensor, "r g"]
    trivial: Float[Tensor, "t g"]
    sensitivity: float
    barely: int = 0


def defects(
    rows: Float[Tensor, "m g"] | Gram,
    displacement: Displacement,
    samples: int,
    *,
    sensitivity: float | None = None,
    trivial_tolerance: float = TRIVIAL_TOLERANCE,
    coverage: float = 0.0,
) -> Defects:
    r"""Solve $A h = \lambda M h$ with $A = R^\top R/|D|$ and scale by the mean sensitivity $\kappa$.

    The pair is whitened by $M^{-1/2}$ on the range of $M$ and its small end is solved on $R$ itself, so a zero stays a zero;
    $\kappa = \mathrm{tr}(M^{+}A)/\mathrm{rank}\,M$.

    Args:
        rows: R factor of the rows, or their Gram matrix where that is what is kept.
        displacement: M of the data.
        samples: number of samples.
        sensitivity: use this `κ` in place of the one computed here (of the input alone for equivariance, of the parent for a
            restricted action); 0 if only rounding moves the output.
        trivial_tolerance: share of the displacement of uncorrelated features below which a direction does not move the data.
        coverage: the same share below which it moves the data too little to decide; such directions are trivial too.

    Returns:
        Defects ascending, their directions, and the trivial directions.
    """
    whiten, kernel = whitening(displacement, max(trivial_tolerance, coverage))
    trivial, barely = trivial_of(kernel, displacement, trivial_tolerance, coverage)
    if not whiten.shape[1]:
        return Defects(kernel.new_zeros(0), trivial[:0], trivial, 0.0, barely)
    if isinstance(rows, Gram):
        values, vectors = right_singular(
            lambda: _by_copies(rows.r, whiten), square=rows.between(whiten)
        )
    else:
        values, vectors = right_singular(_by_copies(without_zero_rows(rows), whiten))
    lengths = values.square() / samples
    if sensitivity is None:
        sensitivity = float(lengths.mean())
    scaled = lengths / sensitivity if sensitivity > 0 else torch.zeros_like(lengths)
    return Defects(scaled, _directions(vectors, whiten), trivial, sensitivity, barely)


@dataclass(frozen=True, eq=False)
class Bottom:
    r"""How the smallest defects were solved for, if only these were requested.

    Attributes:
        requested: how many were requested.
        moving: number of directions that move the data, of which these have the smallest defects.
        residuals: an exact $\delta^2$ of the whole problem lies within this of each of the defects.
        steps: steps taken; 0 where all were solved for, because they are few.
    """

    requested: int
    moving: int
    residuals: Float[Tensor, " k"]
    steps: int


def smallest_defects(
    rows: Float[Tensor, "m g"] | Gram,
    displacement: Displacement,
    samples: int,
    count: int,
    *,
    sensitivity: float | None = None,
    trivial_tolerance: float = TRIVIAL_TOLERANCE,
    coverage: float = 0.0,
) -> tuple[Defects, Bottom]:
    r"""The `count` smallest defects with their directions, without computing the others.

    Symmetries are the small end of the spectrum, and a full solution of many candidates spends nearly all of its time and memory
    on the rest. The decision needs one number of the rest, the mean sensitivity $\kappa$, which is a trace.

    Args:
        rows: as for `defects`, on any device.
        displacement: as for `defects`.
        samples: as for `defects`.
        count: number of defects.
        sensitivity: as for `defects`.
        trivial_tolerance: as for `defects`.
        coverage: as for `defects`.

    Returns:
        The smallest defects, and how they were solved for.

    Examples:
        >>> factor = torch.diag(torch.tensor([3.0, 0.0, 2.0, 1.0], dtype=torch.float64))
        >>> unit = Displacement(torch.eye(4, dtype=torch.float64))
        >>> solution, how = smallest_defects(factor, unit, 10, 2)
        >>> solution.values, solution.sensitivity, how.moving
        (tensor([0.0000, 0.2857], dtype=torch.float64), 0.35, 4)
    """
    r = without_zero_rows(rows.r if isinstance(rows, Gram) else rows)
    displacement = replace(displacement, block=displacement.block.to(r))
    whiten, kernel = _triangular_whitening(displacement, max(trivial_tolerance, coverage))
    trivial, barely = trivial_of(kernel, displacement, trivial_tolerance, coverage)
    moving = displacement.repeat * whiten.shape[1]
    if not moving:
        none = r.new_zeros(0)
        return Defects(none, trivial[:0], trivial, 0.0, barely), Bottom(count, 0, none, 0)
    matrix = _by_copies(r, whiten)
    if sensitivity is None:
        sensitivity = float(matrix.square().sum()) / samples / moving
    square = rows.between(whiten) if isinstance(rows, Gram) and moving > FULL_SVD_LIMIT else None
    pairs = smallest_singular(matrix, count, square=square)
    scale = 1 / (samples * sensitivity) if sensitivity > 0 else 0.0
    values, directions = pairs.values.square() * scale, _directions(pairs.vectors, whiten)
    how = Bottom(count, moving, pairs.residuals * scale, pairs.steps)
    return Defects(values, directions, trivial, sensitivity, barely), how


def _by_copies(matrix: Float[Tensor, "m g"], whiten: Float[Tensor, "s k"]) -> Float[Tensor, "m p"]:
    """Rows times the same matrix for every copy of the block of the displacement."""
    return (matrix.reshape(-1, len(whiten)) @ whiten).reshape(len(matrix), -1)


def _directions(
    vectors: Float[Tensor, "d p"], whiten: Float[Tensor, "s k"]
) -> Float[Tensor, "d g"]:
    """Unit coefficients of directions in whitened coordinates."""
    directions = _by_copies(vectors, whiten.mT)
    return fix_signs(directions.div_(directions.norm(dim=1, keepdim=True)))


def trivial_of(
    kernel: Float[Tensor, "s t"],
    displacement: Displacement,
    trivial_tolerance: float,
    coverage: float,
) -> tuple[Float[Tensor, "q g"], int]:
    """Coefficients of the directions that do not move the data, as rows, and how many of them do, but too little.

    Args:
        kernel: from `whitening`, with the larger of both shares.
        displacement: M of the data.
        trivial_tolerance: as for `defects`.
        coverage: as for `defects`.
    """
    copies, side = displacement.repeat, displacement.block.shape[0]
    barely = 0
    if coverage > trivial_tolerance and kernel.shape[1]:
        barely = copies * (kernel.shape[1] - whitening(displacement, trivial_tolerance)[1].shape[1])
    return fix_signs(torch.block_diag(*[kernel.mT] * copies).reshape(-1, copies * side)), barely


def mean_sensitivity(
    r: Float[Tensor, "m g"],
    displacement: Displacement,
    samples: int,
    *,
    trivial_tolerance: float = TRIVIAL_TOLERANCE,
) -> float:
    r"""Mean sensitivity $\kappa = \mathrm{tr}(M^{+}A)/\mathrm{rank}\,M$ over the directions that move the data."""
    whiten, _ = whitening(displacement, trivial_tolerance)
    if not whiten.shape[1]:
        return 0.0
    total = (
        (r.reshape(-1, displacement.repeat, displacement.block.shape[0]) @ whiten).square().sum()
    )
    return float(total) / samples / (displacement.repeat * whiten.shape[1])


def whitening(
    displacement: Displacement, trivial_tolerance: float
) -> tuple[Float[Tensor, "s k"], Float[Tensor, "s t"]]:
    """Columns `W` with `Wᵀ M W = 1` on the range of M, and an orthonormal basis of its kernel as columns.

    M is scaled to a unit diagonal before it is cut, so that the units of the features do not decide what moves.
    """
    still = displacement.block.diagonal() <= displacement.noise
    block = displacement.block.masked_fill(still[:, None] | still, 0.0)
    lengths = block.diagonal().clamp_min(0).sqrt()
    scale = torch.where(lengths > 0, lengths, 1.0)
    squares, axes = symmetric_eigen(block / scale[:, None] / scale)
    moving = squares > trivial_tolerance * max(float(squares[-1]), torch.finfo(block.dtype).tiny)
    kernel = orthonormal_rows((axes[:, ~moving] / scale[:, None]).mT).mT
    whiten = axes[:, moving] / squares[moving].sqrt() / scale[:, None]
    return whiten - kernel @ (
        kernel.mT @ whiten
    ), kernel  # of directions that differ by a trivial one, the orthogonal one


def _triangular_whitening(
    displacement: Displacement, tolerance: float
) -> tuple[Float[Tensor, "s k"], Float[Tensor, "s t"]]:
    r"""As `whitening`, for a large block without diagonalising it if every direction moves the data.

    With $M = L\,C^\top C\,L$ for the lengths $L$ and a Cholesky factor $C$, $W = L^{-1}C^{-1}$; the smallest eigenvalue of
    $C^\top C$ is at least $1/\lVert C^{-1}\rVert_F^2$, which tells whether a direction may be trivial.
    """
    block = displacement.block
    if len(block) > FULL_SVD_LIMIT and bool(
        (block.diagonal() > max(displacement.noise, 0.0)).all()
    ):
        lengths = block.diagonal().sqrt()
        unit = block / lengths[:, None] / lengths
        factor, trouble = torch.linalg.cholesky_ex(unit, upper=True)
        inverse = torch.linalg.solve_triangular(factor, torch.eye(len(unit)).to(unit), upper=True)
        least = 1 / float(inverse.square().sum())
        if not int(trouble) and least > tolerance * float(unit.abs().sum(1).max()):
            return inverse / lengths[:, None], block.new_zeros(len(block), 0)
    return whitening(displacement, tolerance)


def defect_of(
    h: Float[Tensor, "d g"],
    changes: Float[Tensor, "d p"],
    displacement: Displacement,
    samples: int,
    *,
    sensitivity: float,
    trivial_tolerance: float = TRIVIAL_TOLERANCE,
) -> Float[Tensor, " d"]:
    r"""Defect $\delta^2(h) = h^\top A h / (\kappa\, h^\top M h)$ of given directions; NaN for one that does not move the data.

    Args:
        h: coefficients of the directions.
        changes: the factor applied to each direction, so that $h^\top A h$ is the mean square of its row.
        displacement: M of the data.
        samples: number of samples.
        sensitivity: the mean sensitivity κ.
        trivial_tolerance: as for `defects`.
    """
    moved, diagonal = squared_motion(h, displacement), displacement.block.diagonal()
    uncorrelated = h.square() @ diagonal.repeat(displacement.repeat)
    rounding = (COEFFICIENT_UNITS * torch.finfo(h.dtype).eps) ** 2 * h.square().sum(1)
    least = torch.maximum(trivial_tolerance * uncorrelated, rounding * diagonal.max())
    moving = moved > least.clamp_min(displacement.noise)
    changed = changes.square().sum(1) / samples
    return torch.where(
        moving, changed / (sensitivity * moved) if sensitivity > 0 else 0.0, torch.nan
    )


def squared_motion(h: Float[Tensor, "d g"], displacement: Displacement) -> Float[Tensor, " d"]:
    r"""Mean squared speed $h^\top M h$ of the data under each direction."""
    parts = h.reshape(len(h), displacement.repeat, len(displacement.block))
    return (parts @ displacement.block).mul(parts).sum((1, 2))
