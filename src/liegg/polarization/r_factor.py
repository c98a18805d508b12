"""The R factor of all rows: everything that is kept of them."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

BLOCK_COLUMNS = 4
"""Rows per QR in multiples of the columns: a QR of `[R; block]` wastes at most a fifth."""

BLOCK_ROWS = {"cpu": 1024, "cuda": 2**16}
"""Fewest rows per QR; with fewer, a QR is all overhead."""

BLOCK_NUMBERS = 2**24
"""Numbers per QR above which a block is not made larger to save overhead: 128 MB."""


class RFactor(NamedTuple):
    """Upper triangular factor of the rows seen so far.

    Attributes:
        r: `[g, g]` with `rᵀ r = Eᵀ E`, float64, non-negative diagonal.
        rows: number of rows folded in.
    """

    r: Float[Tensor, "g g"]
    rows: int


def init(columns: int, device: torch.device | None = None) -> RFactor:
    """Factor of no rows."""
    return RFactor(torch.zeros(columns, columns, dtype=torch.float64, device=device), 0)


def update(state: RFactor, rows: Float[Tensor, "m g"]) -> RFactor:
    r"""Fold new polarization rows into the running factor.

    Keeps $R$ with $R^\top R = E^\top E$ by a QR of the stacked $[R;\ \text{rows}]$, so the result
    does not depend on how the rows were batched or in which order they came.

    Args:
        state: factor of the rows seen so far.
        rows: new rows, any number, any float dtype; folded in as float64. They must be finite: nothing is read back
            from the device.

    Returns:
        The factor of all rows, with the row count advanced.

    Examples:
        >>> state = update(init(2), torch.tensor([[3.0, 0.0], [4.0, 0.0], [0.0, 2.0]]))
        >>> state.r.abs(), state.rows
        (tensor([[5., 0.],
                [0., 2.]], dtype=torch.float64), 3)
    """
    rows = rows.to(torch.float64)
    stacked = rows if state.rows == 0 else torch.cat([state.r, rows])
    return RFactor(_triangle(stacked), state.rows + rows.shape[0])


def merge(one: RFactor, other: RFactor) -> RFactor:
    """Factor of the rows of both; commutative and associative up to rounding."""
    return RFactor(_triangle(torch.cat([one.r, other.r])), one.rows + other.rows)


def block_rows(columns: int, device: torch.device) -> int:
    """Rows per QR: enough for an efficient one on this device."""
    fewest = BLOCK_ROWS.get(device.type, BLOCK_ROWS["cpu"])
    return max(
        BLOCK_COLUMNS * columns, min(fewest, max(BLOCK_ROWS["cpu"], BLOCK_NUMBERS // columns))
    )


def _triangle(stacked: Float[Tensor, "m g"]) -> Float[Tensor, "g g"]:
    """Square upper triangular factor with a non-negative diagonal, padded with zero rows."""
    r = torch.linalg.qr(stacked, mode="r").R
    r = r * torch.where(r.diagonal() < 0, -1.0, 1.0)[:, None]
    return torch.cat([r, r.new_zeros(r.shape[1] - r.shape[0], r.shape[1])])
