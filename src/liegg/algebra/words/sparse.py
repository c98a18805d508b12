r"""A basis of a span with few nonzero entries, small integers where the span has such a basis."""

import math

import torch
from jaxtyping import Float, Num
from torch import Tensor

from liegg._utils.linalg import orthonormal_rows
from liegg.algebra.subspace import checked_uncertainty, orthonormal, principal_angles

ROUNDING = 1e-9
"""Relative size of an entry that rounding explains, at condition numbers of 100 and more."""

DEVIATIONS = (5.0, 3.5, 2.5)
"""Standard deviations that an entry may be off.

The first that keeps the span within the noise is used.

Five hold for the thousands of entries of a large algebra at once. A span without structure has
small entries that are real: there the smaller numbers round fewer of them."""

LARGEST_INTEGER = 12
"""Largest denominator, and largest integer, that counts as simple."""

COINCIDENCE_CHANCE = 0.1
"""Share of all numbers that may lie within the tolerance of a simple fraction by chance.

Bounds the denominators."""


def sparse_basis(
    generators: Num[Tensor, "d ..."],
    *,
    uncertainty: float = 0.0,
    frame: Float[Tensor, "n n"] | None = None,
) -> Float[Tensor, "r n n"]:
    r"""Basis of the span with few nonzero entries, in small integers where they fit.

    It is the reduced row echelon form, with the matrix entries that the span determines best as
    pivots: each generator has its own pivot. It depends on the span alone. Entries are rounded to
    simple fractions within $10^{-9}$, or within what noise explains, and a generator is replaced by
    its sum with a multiple of another while that leaves fewer nonzeros. Each is scaled to integers
    up to 12, or to a largest entry of 1 where there are none. The first entry that is not small,
    read column by column, is positive, and the generators are in the order of their first entries.
    If the rounded span is further from the given span than rounding, or noise, explains, the
    entries are not rounded.

    Args:
        generators: any basis of the span; dependent ones are reduced.
        uncertainty: error of each unit generator in radians: a random matrix of about this
            Frobenius norm.
        frame: axes as columns; the basis is one of the matrices $S^{-1}AS$. Errors are still those
            of the given generators.

    Returns:
        The basis, float64.

    Raises:
        ArgumentError: the uncertainty is negative or not a number, or the generators are not square
            matrices.

    Examples:
        >>> from liegg.algebra import so
        >>> rotation = torch.tensor([[0.6, 0.8], [-0.8, 0.6]], dtype=torch.float64)
        >>> sparse_basis(torch.einsum("ab,bij->aij", rotation, so(3)[:2]))
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
    # Column by column, so that the image of the first coordinate comes first.
    rows = (back @ basis @ frame).mT.flatten(1)
    noise = uncertainty / n
    scales = torch.outer(frame.norm(dim=0), back.norm(dim=1)).flatten()
    echelon, spread = _echelon(rows, scales, ties=max(1e-8, 4 * uncertainty))
    # Twice the spectral norm of a random matrix with entries of this size.
    allowed = max(100 * ROUNDING, 2 * noise * (math.sqrt(d) + math.sqrt(n * n - d)))
    for deviations in DEVIATIONS:
        rounded = _rounded(echelon, deviations * noise * spread)
        matrices = _presentable(_eliminate(rounded)).unflatten(1, (n, n)).mT.contiguous()
        angles = principal_angles((frame @ matrices @ back).flatten(1), basis.flatten(1))
        if len(angles) == d and float(angles[-1]) <= allowed:
            return matrices
    return _presentable(echelon).unflatten(1, (n, n)).mT.contiguous()


def pivots(projector: Float[Tensor, "g g"], count: int, *, ties: float = 1e-8) -> list[int]:
    """Coordinate axes nearest to a space, each after the directions of those before it are removed.

    Args:
        projector: orthogonal projector onto the space.
        count: number of axes; the dimension of the space gives a basis.
        ties: axes whose squared projection is within this share of the largest count as equally
            near; the first is taken.

    >>> pivots(torch.ones(2, 2, dtype=torch.float64) / 2, 1)
    [0]
    """
    axes: list[int] = []
    for _ in range(count):
        reach = projector.diagonal().clone()
        reach[axes] = 0
        axis = int((reach >= reach.max() * (1 - ties)).to(torch.int8).argmax())
        column = projector[:, axis]
        projector = projector - torch.outer(column, projector[axis]) / column[axis]
        axes.append(axis)
    return axes


def _echelon(
    rows: Float[Tensor, "d g"], noise: Float[Tensor, " g"], ties: float
) -> tuple[Float[Tensor, "d g"], Float[Tensor, "d g"]]:
    r"""Reduced row echelon form, and the standard deviations of its entries.

    Noise of deviation $s_j$ in the columns of $V$ reaches $R = V_P^{-1}V$ directly and through the
    pivots $P$: $\Delta R = V_P^{-1}(\Delta V - \Delta V_P R)$, so $\sigma_{ij}^2 =
    |V_P^{-1}|_i^2\,(s_j^2 + \sum_{p \in P} s_p^2 R_{pj}^2)$.
    """
    unit = orthonormal_rows(rows, tolerance=0.0)
    columns = sorted(pivots(unit.mT @ unit, len(rows), ties=min(ties, 0.5)))
    inverse = torch.linalg.inv(rows[:, columns])
    echelon = inverse @ rows
    echelon[:, columns] = torch.eye(len(columns)).to(rows)
    through = noise.square() + noise[columns].square() @ echelon.square()
    return echelon, inverse.norm(dim=1, keepdim=True) * through.sqrt()


def _rounded(echelon: Float[Tensor, "d g"], error: Float[Tensor, "d g"]) -> Float[Tensor, "d g"]:
    """Entries replaced by the simplest fraction within their error."""
    tolerance = error.clamp(max=0.25).maximum(ROUNDING * echelon.abs().amax(1, keepdim=True))
    rounded, pending = echelon.clone(), torch.ones_like(echelon, dtype=torch.bool)
    for denominator in range(1, LARGEST_INTEGER + 1):
        near = (echelon * denominator).round() / denominator
        telling = (denominator == 1) | (denominator**2 * tolerance <= COINCIDENCE_CHANCE)
        fits = pending & telling & ((echelon - near).abs() <= tolerance)
        rounded, pending = torch.where(fits, near, rounded), pending & ~fits
    return rounded


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
                trials.abs() > ROUNDING * rows[long, None].abs().amax(2, keepdim=True), trials, 0.0
            )
            sizes = trials.ne(0).sum(2)
            for i, trial, size in zip(long, trials, sizes, strict=True):
                if int(size.min()) < counts[i]:
                    rows[i], counts[i] = trial[size.argmin()], int(size.min())
    return rows


def _counts(rows: Float[Tensor, "d g"]) -> list[int]:
    return (rows.abs() > ROUNDING * rows.abs().amax(1, keepdim=True)).sum(1).tolist()


def _presentable(rows: Float[Tensor, "d g"]) -> Float[Tensor, "d g"]:
    """Integers where possible, with signs and order that do not depend on the basis."""
    scaled = []
    for row in rows / rows.abs().amax(1, keepdim=True):
        for size in range(1, LARGEST_INTEGER + 1):
            if torch.allclose(row * size, (row * size).round(), rtol=0, atol=ROUNDING):
                row = (row * size).round()
                break
        first = int((row.abs() >= 0.05 * row.abs().max()).to(torch.int8).argmax())
        scaled.append(row * row[first].sign() + 0.0)  # no negative zeros
    support = [(row.abs() > ROUNDING * row.abs().max()).nonzero().flatten() for row in scaled]
    order = sorted(range(len(scaled)), key=lambda i: support[i].tolist())
    return torch.stack([scaled[i] for i in order])
