r"""The Gram matrix $E^\top E$ of the rows of a coarse model: a third of the work of a QR.

A Gram matrix squares the condition number, so in general it invents symmetries. Its error in
float64 is about $10^{-16}$ of $\lVert e_i\rVert \lVert e_j\rVert$ in each entry, where $e_i$ are
the columns of $E$. The rows of a model that computes with rounding unit $\varepsilon$ already carry
squared errors of $\varepsilon^2$ of that, $10^{-14}$ for float32. So the sum is safe exactly where
the model is that coarse (see `allowed`); models in float64 use `liegg.polarization.r_factor`.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import add_upper_square
from liegg.polarization.r_factor import RFactor, merge

CHOLESKY_RIDGES = (1e-15, 1e-14, 1e-13)
"""Fractions of the diagonal added until a Cholesky factor exists, all far below float32's 1e-10."""

ROWS_AT_ONCE = 2048
"""Rows whose products `update_products` holds at once."""


@dataclass(frozen=True, eq=False)
class Gram:
    """Sum of the outer products of the rows.

    Attributes:
        matrix: `[g, g]`, float64; only its upper triangle is maintained.
        rows: number of rows summed.
    """

    matrix: Float[Tensor, "g g"]
    rows: int

    @cached_property
    def r(self) -> Float[Tensor, "g g"]:
        """R factor of the same rows, computed on first use: most problems need the sum alone."""
        return factor(self).r

    def between(self, columns: Float[Tensor, "s k"]) -> Float[Tensor, "p p"]:
        r"""Upper triangle of $(I \otimes W)^\top E^\top E\, (I \otimes W)$ for $W$ = `columns`."""
        side, width = columns.shape
        copies = self.matrix.shape[0] // side
        half = (self.matrix.reshape(-1, side) @ columns).reshape(copies, side, copies * width)
        product = torch.matmul(columns.mT, half).reshape(copies * width, copies * width)
        squares = (
            self.matrix.reshape(copies, side, copies, side)
            .diagonal(dim1=0, dim2=2)
            .permute(2, 0, 1)
        )
        # Blocks on the diagonal need both triangles.
        squares = columns.mT @ (squares.triu() + squares.triu(1).mT) @ columns
        product.reshape(copies, width, copies, width).diagonal(dim1=0, dim2=2).copy_(
            squares.permute(1, 2, 0)
        )
        return product


def allowed(dtype: torch.dtype) -> bool:
    """Whether a model of this dtype is so coarse that squaring loses nothing: float32 and below."""
    return torch.finfo(dtype).eps ** 2 > 16 * torch.finfo(torch.float64).eps


def init(columns: int, device: torch.device | None = None) -> Gram:
    """Sum over no rows."""
    return Gram(torch.zeros(columns, columns, dtype=torch.float64, device=device), 0)


def update(state: Gram, rows: Float[Tensor, "m g"]) -> Gram:
    """Add new rows, which must be finite; nothing is read back from the device.

    Args:
        state: sum over the rows seen so far; its matrix is added to in place.
        rows: new rows; summed as float64.
    """
    rows = rows.to(torch.float64)
    add_upper_square(state.matrix, rows)
    return Gram(state.matrix, state.rows + rows.shape[0])


def update_products(state: Gram, left: Float[Tensor, "m p"], right: Float[Tensor, "m q"]) -> Gram:
    r"""Add rows $l \otimes r$ without forming them.

    Their sum is $\sum (l l^\top) \otimes (r r^\top)$; both factors are symmetric, so a quarter of
    the products is enough.

    Args:
        state: sum over the rows seen so far; its matrix is added to in place.
        left: first factor of every new row.
        right: second factor of every new row; `p q = g`.
    """
    p, q = left.shape[1], right.shape[1]
    (i, k), (j, m) = (torch.triu_indices(n, n, device=left.device) for n in (p, q))
    pairs = torch.zeros(len(i), len(j), dtype=torch.float64, device=left.device)
    for lefts, rights in zip(left.split(ROWS_AT_ONCE), right.split(ROWS_AT_ONCE), strict=True):
        pairs.addmm_(_pair_products(lefts), _pair_products(rights).mT)
    both = torch.empty(len(i), q, q, dtype=torch.float64, device=left.device)
    both[:, j, m] = pairs
    both[:, m, j] = pairs
    # Blocks (i, k) for i <= k; only the upper triangle is maintained.
    state.matrix.view(p, q, p, q)[i, :, k] += both
    return Gram(state.matrix, state.rows + left.shape[0])


def _pair_products(vectors: Float[Tensor, "m n"]) -> Float[Tensor, "pairs m"]:
    """Products of the components i <= k of every vector, in the order of `torch.triu_indices`."""
    columns = vectors.double().mT.contiguous()
    return torch.cat([columns[i:] * column for i, column in enumerate(columns)])


def factor(state: Gram) -> RFactor:
    r"""R factor with $R^\top R = E^\top E$, by Cholesky of the matrix scaled to a unit diagonal.

    In a null space the smallest pivots are rounding, of either sign; a ridge at the level of that
    rounding makes them positive.

    >>> state = update(init(2), torch.tensor([[3.0, 0.0], [4.0, 0.0], [0.0, 2.0]]))
    >>> factor(state).r.round(decimals=6)
    tensor([[5., 0.],
            [0., 2.]], dtype=torch.float64)
    """
    lengths = state.matrix.diagonal().sqrt()
    scale = torch.where(lengths > 0, lengths, 1.0)
    unit = state.matrix / scale[:, None]
    unit /= scale
    for ridge in CHOLESKY_RIDGES:
        unit.diagonal().copy_((lengths > 0).to(unit.dtype) + ridge)
        r, failure = torch.linalg.cholesky_ex(unit, upper=True)  # reads the upper triangle alone
        if not int(failure):
            return RFactor(r * lengths, state.rows)
    # Rounding beyond the ridges: the eigendecomposition always exists.
    squares, vectors = torch.linalg.eigh(unit, UPLO="U")
    r = torch.linalg.qr(squares.clamp_min(0).sqrt()[:, None] * vectors.mT, mode="r").R
    return RFactor(r * lengths, state.rows)


def join(exact: RFactor, squared: Gram) -> tuple[RFactor | Gram, str]:
    """The rows of both, and how they were accumulated: `"qr"`, `"gram"` or `"qr+gram"`."""
    if not squared.rows:
        return exact, "qr"
    if not exact.rows:
        return squared, "gram"
    return merge(exact, factor(squared)), "qr+gram"
