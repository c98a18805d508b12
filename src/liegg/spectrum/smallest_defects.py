r"""The smallest defects of very many candidates, without all the others.

Symmetries are the small end of the spectrum, and a full solution of many candidates spends nearly all of its time and memory on
the rest. The decision needs one number of the rest, the mean sensitivity $\kappa$, which is a trace.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import FULL_SVD_LIMIT, fix_signs, without_zero_rows
from liegg.actions import Displacement
from liegg.polarization.gram import Gram
from liegg.spectrum.defects import TRIVIAL_TOLERANCE, Defects, trivial_of, whitening
from liegg.spectrum.smallest_singular import smallest_singular


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
    displacement = replace(displacement, block=displacement.block.to(r))
    whiten, kernel = _whitening(displacement, max(trivial_tolerance, coverage))
    trivial, barely = trivial_of(kernel, displacement, trivial_tolerance, coverage)
    moving = displacement.repeat * whiten.shape[1]
    if not moving:
        return Defects(r.new_zeros(0), r.new_zeros(0, r.shape[1]), trivial, 0.0, barely), Bottom(
            count, 0, r.new_zeros(0), 0
        )
    matrix = (r.reshape(-1, len(whiten)) @ whiten).reshape(len(r), moving)
    if sensitivity is None:
        sensitivity = float(matrix.square().sum()) / samples / moving
    square = None
    if isinstance(rows, Gram) and moving > FULL_SVD_LIMIT:
        square = rows.between(whiten)
    found = smallest_singular(matrix, count, square=square)
    directions = (found.vectors.reshape(-1, whiten.shape[1]) @ whiten.mT).reshape(-1, r.shape[1])
    directions = fix_signs(directions / directions.norm(dim=1, keepdim=True))
    scale = 1 / (samples * sensitivity) if sensitivity > 0 else 0.0
    solved = Defects(found.values.square() * scale, directions, trivial, sensitivity, barely)
    return solved, Bottom(count, moving, found.residuals * scale, found.steps)


def _whitening(
    displacement: Displacement, tolerance: float
) -> tuple[Float[Tensor, "s k"], Float[Tensor, "s t"]]:
    r"""As `liegg.spectrum.defects.whitening`, for a large block without diagonalising it if every direction moves the data.

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
