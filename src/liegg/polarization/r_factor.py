"""Stage 4, accumulate: all that is kept of the rows is their R factor."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import NonFiniteError

BLOCK_COLUMNS = 4
"""Rows to a block, in multiples of the number of columns: a QR of `[R; block]` then wastes a fifth of its work at most."""

BLOCK_ROWS = {"cpu": 1024, "cuda": 2**16}
"""Fewest rows to a block: below it a QR is all overhead."""

BLOCK_NUMBERS = 2**24
"""Numbers to a block beyond which it is not made larger for the overhead alone: 128 MB."""


class RFactor(NamedTuple):
    """Upper triangular factor of the rows seen so far.

    Attributes:
        r: `[g, g]` with `rᵀ r = Eᵀ E`, float64, non-negative diagonal.
        rows: number of rows folded in.
    """

    r: Float[Tensor, "g g"]
    rows: int


def init(columns: int, device: torch.device | None = None) -> RFactor:
    """Factor of no rows at all."""
    return RFactor(torch.zeros(columns, columns, dtype=torch.float64, device=device), 0)


def update(state: RFactor, rows: Float[Tensor, "m g"]) -> RFactor:
    r"""Fold new polarization rows into the running factor.

    Keeps $R$ with $R^\top R = E^\top E$ by a QR of the stacked $[R;\ \text{rows}]$, so the result does not depend on how the
    rows were batched or in which order they came.

    Args:
        state: factor of the rows seen so far.
        rows: new rows, any number, any float dtype; folded in as float64.

    Returns:
        The factor of all rows, with the row count advanced.

    Raises:
        NonFiniteError: a row holds NaN or infinity; the message names the first such row.

    Examples:
        >>> state = update(init(2), torch.tensor([[3.0, 0.0], [4.0, 0.0], [0.0, 2.0]]))
        >>> state.r.abs(), state.rows
        (tensor([[5., 0.],
                [0., 2.]], dtype=torch.float64), 3)
    """
    check_finite(rows, state.rows)
    return extend(state, rows)


def extend(state: RFactor, rows: Float[Tensor, "m g"]) -> RFactor:
    """As `update`, for rows that were looked at already: nothing is read back from the device."""
    rows = rows.to(torch.float64)
    stacked = rows if state.rows == 0 else torch.cat([state.r, rows])
    return RFactor(_triangle(stacked), state.rows + rows.shape[0])


def check_finite(rows: Float[Tensor, "m g"], before: int) -> None:
    """Raise `NonFiniteError` naming the first row with NaN or infinity; `before` rows came earlier."""
    if bool(
        torch.isfinite(rows.sum())
    ):  # one reduction for the usual case; the exact search only on suspicion
        return
    finite = torch.isfinite(rows).all(1)
    if not bool(finite.all()):
        first = before + int(finite.to(torch.int8).argmin())
        raise NonFiniteError(
            f"polarization row {first} holds NaN or infinity: the model's derivative is not finite there."
        )


def merge(one: RFactor, other: RFactor) -> RFactor:
    """Factor of the rows of both; commutative and associative up to rounding."""
    return RFactor(_triangle(torch.cat([one.r, other.r])), one.rows + other.rows)


def block_rows(columns: int, device: torch.device) -> int:
    """Rows to a block: enough for an efficient QR on this device."""
    fewest = BLOCK_ROWS.get(device.type, BLOCK_ROWS["cpu"])
    return max(
        BLOCK_COLUMNS * columns, min(fewest, max(BLOCK_ROWS["cpu"], BLOCK_NUMBERS // columns))
    )


@dataclass(eq=False)
class Waiting:
    """Rows regrouped into blocks of one size, large enough for an efficient QR, whatever the batching was.

    Every block has `block_rows` rows, so the same rows in the same order give the same bits. The blocks share one buffer:
    each is overwritten when more rows come.

    Attributes:
        columns: columns of the factor, which decide the size of a block.
    """

    columns: int
    _buffer: Float[Tensor, "s p"] | None = None
    _filled: int = 0

    @property
    def rows(self) -> Float[Tensor, "w p"] | None:
        """Rows that wait; None if none ever came."""
        return None if self._buffer is None else self._buffer[: self._filled]

    def put(self, piece: Float[Tensor, "m p"]) -> Iterator[Float[Tensor, "s p"]]:
        """Add rows; the blocks that they fill."""
        while piece.shape[0]:
            if self._buffer is None:
                size = block_rows(self.columns, piece.device)
                self._buffer = torch.empty(
                    size, piece.shape[1], dtype=torch.float64, device=piece.device
                )
            part = piece[: self._buffer.shape[0] - self._filled]
            self._buffer[self._filled : self._filled + part.shape[0]] = part
            self._filled += part.shape[0]
            piece = piece[part.shape[0] :]
            if self._filled == self._buffer.shape[0]:
                self._filled = 0
                yield self._buffer

    def rest(self) -> Iterator[Float[Tensor, "w p"]]:
        """The last block, which need not be full, if there is one; none waits then."""
        if self._buffer is not None and self._filled:
            filled, self._filled = self._filled, 0
            yield self._buffer[:filled]


def blocks(pieces: Iterable[Float[Tensor, "_ p"]], columns: int) -> Iterator[Float[Tensor, "_ p"]]:
    """Rows in the blocks of `Waiting`, and the last, which need not be full."""
    waiting = Waiting(columns)
    for piece in pieces:
        yield from waiting.put(piece)
    yield from waiting.rest()


def _triangle(stacked: Float[Tensor, "m g"]) -> Float[Tensor, "g g"]:
    """Square upper triangular factor with a non-negative diagonal, padded with zero rows when there are few rows."""
    r = torch.linalg.qr(stacked, mode="r").R
    r = r * torch.where(r.diagonal() < 0, -1.0, 1.0)[:, None]
    return torch.cat([r, r.new_zeros(r.shape[1] - r.shape[0], r.shape[1])])
