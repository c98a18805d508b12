r"""A basis of a span with few nonzero entries, small integers where the span has such a basis."""

import math

import torch
from jaxtyping import Float, Num
from torch import Tensor

from liegg._utils.linalg import orthonormal_rows
from liegg.algebra.subspace import checked_uncertainty, orthonormal, principal_angles

EXACT = 1e-9
"""Relative size of an entry that rounding explains: input exact to 1e-12, seen through a condition number of 100 and more."""

EXPLAINED = (5.0, 3.5, 2.5)
"""Standard deviations that an entry may be off; the first for which the whole span stays within the noise is taken.

Five hold for the thousands of entries of a large algebra at once. A span without structure has small entries that are
real: there the smaller numbers round fewer of them."""

LARGEST = 12
"""Largest denominator, and largest integer, that counts as simple."""

CHANCE = 0.1
"""Share of all numbers that may lie within the tolerance of a simple fraction by chance; limits the denominators."""


def sparse_basis(
    generators: Num[Tensor, "d ..."],
    *,
    uncertainty: float = 0.0,
    frame: Float[Tensor, "n n"] | None = None,
) -> Float[Tensor, "r n n"]:
    r"""Basis of the span with few nonzero entries, in small integers where they fit.

    The reduced row echelon form, with the matrix entries that the span determines best as pivots: each generator has its
    pivot for itself. It depends on the span alone. Entries are rounded to simple fractions within $10^{-9}$, or within what noise
    explains, and a generator is replaced by its sum with a multiple of another while that leaves fewer nonzeros. Each is
    scaled to integers up to 12, or to a largest entry of 1 where there are none; the first entry that is not small, read column
    by column, is positive, and the generators are in the order of their first entries. If the rounded span is further from the
    span given than rounding, or noise, explains, the entries are returned as they are.

    Args:
        generators: any basis of the span; dependent ones are reduced.
        uncertainty: error of each unit generator in radians: a random matrix of about this Frobenius norm.
        frame: axes as columns; the basis is one of the matrices $S^{-1}AS$. Errors are still those of the generators given.

    Returns:
        The basis, float64.

    Raises:
        ArgumentError: the uncertainty is negative or not a number, or the generators are not square matrices.

    Examples:
        >>> from liegg.algebra import so
        >>> turn = torch.tensor([[0.6, 0.8], [-0.8, 0.6]], dtype=torch.float64)
        >>> sparse_basis(torch.einsum("ab,bij->aij", turn, so(3)[:2]))
        tensor([[[ 0., -1.,  0.],
                 [ 1.,  0.,  0.],
                 [ 0.,  0.,  0.]],
                [[ 0.,  0., -1.],
                 [ 0.,  0.,  0.],
                 [ 1.,  0.,  0.]]], dtype=torch.float64)
    """
    rounding = torch.finfo(generators.dtype).eps if generators.is_floating_point() else 0.0
    uncertainty = max(checked_uncertainty(uncertainty), 8 * rounding)
    basis = orthonormal(generators)
    d, n = basis.shape[:2]
    if d == 0:
        return basis
    frame = torch.eye(n).to(basis) if frame is None else frame.to(basis)
    back = torch.linalg.inv(frame)
    # Column by column, so that what becomes of the first coordinate comes first.
    rows = (back @ basis @ frame).mT.flatten(1)
    noise = uncertainty / n
    echelon, spread = _echelon(
        rows,
        torch.outer(frame.norm(dim=0), back.norm(dim=1)).flatten(),
        ties=max(1e-8, 4 * uncertainty),
    )
    # Twice the spectral norm of a random matrix with entries of this size.
    allowed = max(100 * EXACT, 2 * noise * (math.sqrt(d) + math.sqrt(n * n - d)))
    for deviations in EXPLAINED:
        found = (
            _presentable(_eliminate(_rounded(echelon, deviations * noise * spread)))
            .unflatten(1, (n, n))
            .mT.contiguous()
        )
        angles = principal_angles((frame @ found @ back).flatten(1), basis.flatten(1))
        if len(angles) == d and float(angles[-1]) <= allowed:
            return found
    return _presentable(echelon).unflatten(1, (n, n)).mT.contiguous()


def pivots(projector: Float[Tensor, "g g"], count: int, *, ties: float = 1e-8) -> list[int]:
    """Coordinate axes nearest to a space, each after the space has lost the directions of those before it.

    Args:
        projector: orthogonal projector onto the space.
        count: number of axes; the dimension of the space gives a basis.
        ties: axes whose squared reach is within this share of the largest count as equally near; the first is taken.

    >>> pivots(torch.ones(2, 2, dtype=torch.float64) / 2, 1)
    [0]
    """
    found = []
    for _ in range(count):
        reach = projector.diagonal().clone()
        reach[found] = 0
        axis = int((reach >= reach.max() * (1 - ties)).to(torch.int8).argmax())
        projector = (
            projector - torch.outer(projector[:, axis], projector[axis]) / projector[axis, axis]
        )
        found.append(axis)
    return found


def _echelon(
    rows: Float[Tensor, "d g"], noise: Float[Tensor, " g"], ties: float
) -> tuple[Float[Tensor, "d g"], Float[Tensor, "d g"]]:
    r"""Reduced row echelon form, and the standard deviations of its entries.

    Noise of deviation $s_j$ in the columns of $V$ reaches $R = V_P^{-1}V$ directly and through the pivots $P$:
    $\Delta R = V_P^{-1}(\Delta V - \Delta V_P R)$, so $\sigma_{ij}^2 = |V_P^{-1}|_i^2\,(s_j^2 + \sum_{p \in P} s_p^2 R_{pj}^2)$.
    """
    unit = orthonormal_rows(rows, tolerance=0.0)
    columns = sorted(pivots(unit.mT @ unit, len(rows), ties=min(ties, 0.5)))
    inverse = torch.linalg.inv(rows[:, columns])
    echelon = inverse @ rows
    echelon[:, columns] = torch.eye(len(columns)).to(rows)
    through = noise.square() + noise[columns].square() @ echelon.square()
    return echelon, inverse.norm(dim=1, keepdim=True) * through.sqrt()


def _rounded(echelon: Float[Tensor, "d g"], error: Float[Tensor, "d g"]) -> Float[Tensor, "d g"]:
    """Entries replaced by the simplest fraction that lies within their error."""
    tolerance = error.clamp(max=0.25).maximum(EXACT * echelon.abs().amax(1, keepdim=True))
    found = echelon.clone()
    open_ = torch.ones_like(echelon, dtype=torch.bool)
    for denominator in range(1, LARGEST + 1):
        near = (echelon * denominator).round() / denominator
        telling = (denominator == 1) | (denominator**2 * tolerance <= CHANCE)
        fits = open_ & telling & ((echelon - near).abs() <= tolerance)
        found, open_ = torch.where(fits, near, found), open_ & ~fits
    return found


def _eliminate(rows: Float[Tensor, "d g"]) -> Float[Tensor, "d g"]:
    """Add multiples of one row to others as long as that leaves fewer nonzeros."""
    counts, before = _counts(rows), -1
    while sum(counts) != before:
        before = sum(counts)
        for k in range(len(rows)):
            # Axes inside the span are rows already, so a row with two entries cannot be shortened.
            long = [i for i in range(len(rows)) if i != k and counts[i] > 2]
            at = (rows[k].abs() > 0.01 * rows[k].abs().max()).nonzero().flatten()
            trials = rows[long, None] - (rows[long][:, at] / rows[k, at])[:, :, None] * rows[k]
            trials = torch.where(
                trials.abs() > EXACT * rows[long, None].abs().amax(2, keepdim=True), trials, 0.0
            )
            sizes = trials.ne(0).sum(2)
            for i, trial, size in zip(long, trials, sizes, strict=True):
                if int(size.min()) < counts[i]:
                    rows[i], counts[i] = trial[size.argmin()], int(size.min())
    return rows


def _counts(rows: Float[Tensor, "d g"]) -> list[int]:
    return (rows.abs() > EXACT * rows.abs().amax(1, keepdim=True)).sum(1).tolist()


def _presentable(rows: Float[Tensor, "d g"]) -> Float[Tensor, "d g"]:
    """Integers where possible, signs and order that do not depend on the basis."""
    rows = rows / rows.abs().amax(1, keepdim=True)
    found = []
    for row in rows:
        scales = [
            size
            for size in range(1, LARGEST + 1)
            if torch.allclose(row * size, (row * size).round(), rtol=0, atol=EXACT)
        ]
        row = (row * scales[0]).round() if scales else row
        first = int((row.abs() >= 0.05 * row.abs().max()).to(torch.int8).argmax())
        found.append(row * row[first].sign() + 0.0)  # no negative zeros
    return torch.stack(
        sorted(
            found,
            key=lambda row: (row.abs() > EXACT * row.abs().max()).nonzero().flatten().tolist(),
        )
    )
