r"""The smallest defects of very many candidates, without all the others.

Symmetries are the small end of the spectrum, and a full solution of many candidates spends nearly all of its time and memory on
the rest. The decision needs one number of the rest, the mean sensitivity $\kappa$, which is a trace.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import FULL_SVD_LIMIT, fix_signs, orthonormal_columns, without_zero_rows
from liegg.actions import Displacement
from liegg.polarization.gram import Gram
from liegg.spectrum.defects import TRIVIAL_TOLERANCE, Defects, trivial_of, whitening
from liegg.spectrum.smallest_singular import smallest_singular

MARGIN = 100.0
"""How far above the tolerance the smallest share of a displacement must be for no direction to be trivial: it is estimated."""


@dataclass(frozen=True, eq=False)
class Bottom:
    r"""How the smallest defects were solved for, where only these were asked for.

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


def bottom(
    rows: Float[Tensor, "m g"] | Gram,
    displacement: Displacement,
    samples: int,
    count: int,
    *,
    sensitivity: float | None = None,
    trivial_tolerance: float = TRIVIAL_TOLERANCE,
    coverage: float = 0.0,
) -> tuple[Defects, Bottom]:
    r"""The `count` smallest defects with their directions; else as `liegg.spectrum.defects.defects`.

    Args:
        rows: R factor of the rows, or their Gram matrix where that is what is kept; on any device.
        displacement: M of the data.
        samples: number of samples.
        count: how many are wanted.
        sensitivity: use this `κ` in place of the one of all directions.
        trivial_tolerance: share of the displacement of uncorrelated features below which a direction does not move the data.
        coverage: the same share below which it moves the data too little to say anything; such directions are trivial too.

    Returns:
        The smallest defects, and how they were solved for.

    Examples:
        >>> factor = torch.diag(torch.tensor([3.0, 0.0, 2.0, 1.0], dtype=torch.float64))
        >>> found, how = bottom(factor, Displacement(torch.eye(4, dtype=torch.float64)), 10, 2)
        >>> found.values, found.sensitivity, how.moving
        (tensor([0.0000, 0.2857], dtype=torch.float64), 0.35, 4)
    """
    r = without_zero_rows(rows.r if isinstance(rows, Gram) else rows)
    matrix, back, whiten, kernel = _whitened(r, displacement, max(trivial_tolerance, coverage))
    trivial, barely = trivial_of(kernel, displacement, trivial_tolerance, coverage)
    moving = matrix.shape[1]
    if not moving:
        return Defects(r.new_zeros(0), r.new_zeros(0, r.shape[1]), trivial, 0.0, barely), Bottom(
            count, 0, r.new_zeros(0), 0
        )
    if sensitivity is None:
        sensitivity = float(matrix.square().sum()) / samples / moving
    square = (
        rows.between(whiten)
        if isinstance(rows, Gram) and whiten is not None and moving > FULL_SVD_LIMIT
        else None
    )
    found = smallest_singular(matrix, count, square=square)
    directions = back(found.vectors)
    directions = fix_signs(directions / directions.norm(dim=1, keepdim=True))
    scale = 1 / (samples * sensitivity) if sensitivity > 0 else 0.0
    solved = Defects(found.values.square() * scale, directions, trivial, sensitivity, barely)
    return solved, Bottom(count, moving, found.residuals * scale, found.steps)


def _whitened(
    r: Float[Tensor, "m g"], displacement: Displacement, tolerance: float
) -> tuple[
    Float[Tensor, "m p"],
    Callable[[Tensor], Tensor],
    Float[Tensor, "s k"] | None,
    Float[Tensor, "s t"],
]:
    r"""The factor times $W$ with $W^\top M W = 1$, the map back to coefficients, $W$ where it is formed, and the kernel of $M$.

    A large block gets a Cholesky factor if every direction moves the data, which inverse iteration tells; a small one, or one with
    a direction that may be trivial, is diagonalised.
    """
    copies, block = displacement.repeat, displacement.block.to(r)
    side = block.shape[0]
    lengths = block.diagonal().clamp_min(0).sqrt()
    if side > FULL_SVD_LIMIT and bool((block.diagonal() > max(displacement.noise, 0.0)).all()):
        unit = block / lengths[:, None] / lengths
        factor, trouble = torch.linalg.cholesky_ex(unit, upper=True)
        if not int(trouble) and _least(factor) > MARGIN * tolerance * float(
            unit.abs().sum(1).max()
        ):
            parts = r.reshape(-1, side) / lengths
            matrix = torch.linalg.solve_triangular(factor, parts, upper=True, left=False).reshape(
                len(r), -1
            )

            def solved(vectors: Float[Tensor, "k p"]) -> Float[Tensor, "k g"]:
                each = torch.linalg.solve_triangular(
                    factor, vectors.reshape(-1, side).mT, upper=True
                ).mT
                return (each / lengths).reshape(len(vectors), -1)

            return matrix, solved, None, block.new_zeros(side, 0)
    whiten, kernel = whitening(Displacement(block, copies, displacement.noise), tolerance)
    matrix = (r.reshape(-1, side) @ whiten).reshape(len(r), -1)
    return (
        matrix,
        lambda vectors: (vectors.reshape(-1, whiten.shape[1]) @ whiten.mT).reshape(
            len(vectors), -1
        ),
        whiten,
        kernel,
    )


def _least(factor: Float[Tensor, "s s"]) -> float:
    """Smallest eigenvalue of the matrix with this Cholesky factor, from above, by inverse iteration."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(len(factor), 8, generator=generator, dtype=torch.float64).to(factor)
    for _ in range(8):
        x = orthonormal_columns(torch.cholesky_solve(x, factor, upper=True))
    return float((factor @ x).norm(dim=0).min().square())
