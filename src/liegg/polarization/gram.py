r"""Stage 4', Gram: rows of a coarse model summed as $E^\top E$, a third of the work of a QR and as good where it is allowed.

A Gram matrix squares the condition number, so in general it invents symmetries. Its error in float64 is about $10^{-16}$ of
$\lVert e_i\rVert \lVert e_j\rVert$ in each entry, $e_i$ being the columns of $E$. Rows of a model that computes with rounding
unit $\varepsilon$ carry squared errors of $\varepsilon^2$ of the same already, which is $10^{-14}$ for float32. So the sum is
safe exactly where the model is that coarse, and `allowed` says where; models in float64 go through `liegg.polarization.r_factor`.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import add_upper_square
from liegg.polarization.r_factor import RFactor, check_finite

RIDGES = (1e-15, 1e-14, 1e-13)
"""Shares of each diagonal entry added until a Cholesky factor exists; the last is still far below float32's exact floor, 1e-10."""

CHUNK = 2048
"""Rows whose products are held at once by `update_products`."""


@dataclass(frozen=True, eq=False)
class Gram:
    """Sum of the rows' outer products so far.

    Attributes:
        matrix: `[g, g]`, float64; only its upper triangle is kept true.
        rows: number of rows folded in.
    """

    matrix: Float[Tensor, "g g"]
    rows: int

    @cached_property
    def r(self) -> Float[Tensor, "g g"]:
        """R factor of the same rows, made when first asked for: most of what is solved needs the sum alone."""
        return factor(self).r

    def between(self, columns: Float[Tensor, "s k"]) -> Float[Tensor, "p p"]:
        r"""Upper triangle of $(I \otimes W)^\top E^\top E\, (I \otimes W)$ for $W$ = `columns`, as many copies as fit."""
        side, kept = columns.shape
        copies = self.matrix.shape[0] // side
        half = (self.matrix.reshape(-1, side) @ columns).reshape(copies, side, copies * kept)
        product = torch.matmul(columns.mT, half).reshape(copies * kept, copies * kept)
        squares = (
            self.matrix.reshape(copies, side, copies, side)
            .diagonal(dim1=0, dim2=2)
            .permute(2, 0, 1)
        )
        squares = (
            columns.mT @ (squares.triu() + squares.triu(1).mT) @ columns
        )  # those on the diagonal need both their triangles
        product.reshape(copies, kept, copies, kept).diagonal(dim1=0, dim2=2).copy_(
            squares.permute(1, 2, 0)
        )
        return product


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
    return extend(state, rows)


def extend(state: Gram, rows: Float[Tensor, "m g"]) -> Gram:
    """As `update`, for rows that were looked at already: nothing is read back from the device."""
    rows = rows.to(torch.float64)
    add_upper_square(state.matrix, rows)
    return Gram(state.matrix, state.rows + rows.shape[0])


def update_products(state: Gram, left: Float[Tensor, "m p"], right: Float[Tensor, "m q"]) -> Gram:
    r"""Add rows $l \otimes r$ that were never formed.

    Their sum is $\sum (l l^\top) \otimes (r r^\top)$, and each factor is symmetric: a quarter of the products is enough.

    Args:
        state: sum over the rows seen so far; its matrix is added to in place.
        left: first factor of every new row.
        right: second factor of every new row; `p q = g`.
    """
    p, q = left.shape[1], right.shape[1]
    (i, k), (j, m) = (torch.triu_indices(n, n, device=left.device) for n in (p, q))
    pairs = torch.zeros(len(i), len(j), dtype=torch.float64, device=left.device)
    for lefts, rights in zip(left.split(CHUNK), right.split(CHUNK), strict=True):
        pairs.addmm_(_pair_products(lefts), _pair_products(rights).mT)
    both = torch.empty(len(i), q, q, dtype=torch.float64, device=left.device)
    both[:, j, m] = pairs
    both[:, m, j] = pairs
    state.matrix.view(p, q, p, q)[i, :, k] += (
        both  # the block (i, k) for i <= k; only the upper triangle is kept true
    )
    return Gram(state.matrix, state.rows + left.shape[0])


def _pair_products(vectors: Float[Tensor, "m n"]) -> Float[Tensor, "pairs m"]:
    """Products of the components i <= k of every vector, in the order of `torch.triu_indices`."""
    columns = vectors.double().mT.contiguous()
    return torch.cat([columns[i:] * column for i, column in enumerate(columns)])


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
    squares, vectors = torch.linalg.eigh(
        unit, UPLO="U"
    )  # rounding beyond the ridges: the square root that always exists
    r = torch.linalg.qr(squares.clamp_min(0).sqrt()[:, None] * vectors.mT, mode="r").R
    return RFactor(r * lengths, state.rows)
