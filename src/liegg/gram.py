r"""Stage 4', Gram: rows of a coarse model summed as $E^\top E$, a third of the work of a QR and as good where it is allowed.

A Gram matrix squares the condition number, so in general it invents symmetries. Its error in float64 is about $10^{-16}$ of
$\lVert e_i\rVert \lVert e_j\rVert$ in each entry, $e_i$ being the columns of $E$. Rows of a model that computes with rounding
unit $\varepsilon$ carry squared errors of $\varepsilon^2$ of the same already, which is $10^{-14}$ for float32. So the sum is
safe exactly where the model is that coarse, and `allowed` says where; models in float64 go through `liegg.accumulate`.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._linalg import add_upper_square
from liegg.accumulate import RFactor, check_finite

RIDGES = (1e-15, 1e-14, 1e-13)
"""Shares of each diagonal entry added until a Cholesky factor exists; the last is still far below float32's exact floor, 1e-10."""


class Gram(NamedTuple):
    """Sum of the rows' outer products so far.

    Attributes:
        matrix: `[g, g]`, float64; only its upper triangle is kept true.
        rows: number of rows folded in.
    """

    matrix: Float[Tensor, "g g"]
    rows: int


def allowed(dtype: torch.dtype) -> bool:
    """Whether a model of this dtype rounds so coarsely that the squared matrix loses nothing: float32 and below."""
    return torch.finfo(dtype).eps ** 2 > 16 * torch.finfo(torch.float64).eps


def init(columns: int, device: torch.device | None = None) -> Gram:
    """Sum over no rows at all."""
    return Gram(torch.zeros(columns, columns, dtype=torch.float64, device=device), 0)


def update(state: Gram, rows: Float[Tensor, "m g"]) -> Gram:
    """Add new rows.

    Args:
        state: sum over the rows seen so far; its matrix is added to in place.
        rows: new rows; summed as float64.

    Raises:
        NonFiniteError: a row holds NaN or infinity; the message names the first such row.
    """
    check_finite(rows, state.rows)
    rows = rows.to(torch.float64)
    add_upper_square(state.matrix, rows)
    return Gram(state.matrix, state.rows + rows.shape[0])


def factor(state: Gram) -> RFactor:
    r"""R factor with $R^\top R = E^\top E$, by Cholesky of the matrix scaled to a unit diagonal.

    A null space makes the smallest pivots rounding, of either sign; a ridge at the level of that rounding makes them positive.

    >>> state = update(init(2), torch.tensor([[3.0, 0.0], [4.0, 0.0], [0.0, 2.0]]))
    >>> factor(state).r.round(decimals=6)
    tensor([[5., 0.],
            [0., 2.]], dtype=torch.float64)
    """
    lengths = state.matrix.diagonal().sqrt()
    scale = torch.where(lengths > 0, lengths, 1.0)
    unit = state.matrix / scale[:, None]
    unit /= scale
    for ridge in RIDGES:
        unit.diagonal().copy_((lengths > 0).to(unit.dtype) + ridge)
        r, trouble = torch.linalg.cholesky_ex(unit, upper=True)  # reads the upper triangle alone
        if not int(trouble):
            return RFactor(r * lengths, state.rows)
    squares, vectors = torch.linalg.eigh(unit, UPLO="U")  # rounding beyond the ridges: the square root that always exists
    r = torch.linalg.qr(squares.clamp_min(0).sqrt()[:, None] * vectors.mT, mode="r").R
    return RFactor(r * lengths, state.rows)
