r"""A basis of a span with few nonzero entries, small integers where the span has such a basis."""

import math

import numpy as np
import torch
from jaxtyping import Float, Num
from torch import Tensor

from liegg.algebra.subspace import checked_uncertainty, orthonormal, principal_angles

Rows = Float[np.ndarray, "d g"]

ROUNDING_ENTRY = 1e-9
"""Relative size of an entry that rounding explains, at condition numbers of 100 and more."""

ENTRY_DEVIATIONS = (5.0, 3.5, 2.5)
"""Standard deviations that an entry may be off.

The first that keeps the span within the noise is used.

Five hold for the thousands of entries of a large algebra at once. A span without structure has
small entries that are real: there the smaller numbers round fewer of them."""

LARGEST_SIMPLE_INTEGER = 12
"""Largest denominator, and largest integer, that counts as simple."""

FRACTION_CHANCE = 0.1
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
    axes = np.eye(n) if frame is None else frame.to(basis).numpy()
    back = np.linalg.inv(axes)
    # Column by column, so that the image of the first coordinate comes first.
    rows = (back @ basis.numpy() @ axes).swapaxes(1, 2).reshape(d, n * n)
    noise = uncertainty / n
    scales = np.outer(np.linalg.norm(axes, axis=0), np.linalg.norm(back, axis=1)).ravel()
    echelon, spread = _echelon(rows, scales, ties=max(1e-8, 4 * uncertainty))
    # Twice the spectral norm of a random matrix with entries of this size; of one row, its length.
    spectral = math.sqrt(n * n - d) + (math.sqrt(d) if d > 1 else 0.0)
    allowed = max(100 * ROUNDING_ENTRY, 2 * noise * spectral)
    for deviations in ENTRY_DEVIATIONS:
        rounded = _rounded(echelon, deviations * noise * spread)
        matrices = _presentable(_eliminate(rounded)).reshape(d, n, n).swapaxes(1, 2)
        image = torch.from_numpy(axes @ matrices @ back)
        angles = principal_angles(image.flatten(1), basis.flatten(1))
        if len(angles) == d and float(angles[-1]) <= allowed:
            break
    else:
        matrices = _presentable(echelon).reshape(d, n, n).swapaxes(1, 2)
    return torch.from_numpy(np.ascontiguousarray(matrices))


def pivots(projector: Float[np.ndarray, "g g"], count: int, *, ties: float = 1e-8) -> list[int]:
    """Coordinate axes nearest to a space, each after the directions of those before it are removed.

    Args:
        projector: orthogonal projector onto the space.
        count: number of axes; the dimension of the space gives a basis.
        ties: axes whose squared projection is within this share of the largest count as equally
            near; the first is taken.

    >>> pivots(np.ones((2, 2)) / 2, 1)
    [0]
    """
    axes: list[int] = []
    for _ in range(count):
        reach = projector.diagonal().copy()
        reach[axes] = 0
        axis = int((reach >= reach.max() * (1 - ties)).argmax())
        column = projector[:, axis]
        projector = projector - np.outer(column, projector[axis]) / column[axis]
        axes.append(axis)
    return axes


def _echelon(rows: Rows, noise: Float[np.ndarray, " g"], ties: float) -> tuple[Rows, Rows]:
    r"""Reduced row echelon form, and the standard deviations of its entries.

    Noise of deviation $s_j$ in the columns of $V$ reaches $R = V_P^{-1}V$ directly and through the
    pivots $P$: $\Delta R = V_P^{-1}(\Delta V - \Delta V_P R)$, so $\sigma_{ij}^2 =
    |V_P^{-1}|_i^2\,(s_j^2 + \sum_{p \in P} s_p^2 R_{pj}^2)$.
    """
    ties = min(ties, 0.5)
    if len(rows) == 1:  # without the projector, which is large
        squares = np.square(rows[0])
        columns = [int((squares >= squares.max() * (1 - ties)).argmax())]
    else:
        unit = np.linalg.svd(rows, full_matrices=False)[2]
        columns = sorted(pivots(unit.T @ unit, len(rows), ties=ties))
    inverse = np.linalg.inv(rows[:, columns])
    echelon = inverse @ rows
    echelon[:, columns] = np.eye(len(columns))
    through = np.square(noise) + np.square(noise[columns]) @ np.square(echelon)
    return echelon, np.linalg.norm(inverse, axis=1, keepdims=True) * np.sqrt(through)


def _rounded(echelon: Rows, error: Rows) -> Rows:
    """Entries replaced by the simplest fraction within their error."""
    tolerance = np.maximum(error.clip(max=0.25), ROUNDING_ENTRY * _largest(echelon))
    rounded, pending = echelon.copy(), np.ones_like(echelon, dtype=bool)
    for denominator in range(1, LARGEST_SIMPLE_INTEGER + 1):
        if denominator > 1:
            pending &= denominator**2 * tolerance <= FRACTION_CHANCE  # nor does a larger one tell
        if not pending.any():
            break
        near = (echelon * denominator).round() / denominator
        fits = pending & (abs(echelon - near) <= tolerance)
        rounded[fits] = near[fits]
        pending &= ~fits
    return rounded


def _largest(rows: Float[np.ndarray, "*d g"]) -> Float[np.ndarray, "*d 1"]:
    """Largest size of an entry in each row."""
    return abs(rows).max(-1, keepdims=True)


def _eliminate(rows: Rows) -> Rows:
    """Add multiples of one row to others as long as that leaves fewer nonzeros."""
    counts, before = (abs(rows) > ROUNDING_ENTRY * _largest(rows)).sum(1).tolist(), -1
    while sum(counts) != before:
        before = sum(counts)
        for k in range(len(rows)):
            # Axes inside the span are rows already, so a row with two entries cannot be shortened.
            long = [i for i in range(len(rows)) if i != k and counts[i] > 2]
            if not long:
                continue
            at = (abs(rows[k]) > 0.01 * abs(rows[k]).max()).nonzero()[0]
            trials = rows[long, None] - (rows[long][:, at] / rows[k, at])[:, :, None] * rows[k]
            trials = np.where(
                abs(trials) > ROUNDING_ENTRY * _largest(rows[long, None]), trials, 0.0
            )
            sizes = (trials != 0).sum(2)
            for i, trial, size in zip(long, trials, sizes, strict=True):
                if size.min() < counts[i]:
                    rows[i], counts[i] = trial[size.argmin()], int(size.min())
    return rows


def _presentable(rows: Rows) -> Rows:
    """Integers where possible, with signs and order that do not depend on the basis."""
    rows = rows / _largest(rows)
    sizes = np.arange(1.0, LARGEST_SIMPLE_INTEGER + 1)
    scaled: list[np.ndarray] = []
    for row in rows:
        multiples = np.outer(sizes, row)
        integers = multiples.round()
        whole = (abs(multiples - integers) <= ROUNDING_ENTRY).all(1)
        row = integers[whole.argmax()] if whole.any() else row
        first = (abs(row) >= 0.05 * abs(row).max()).argmax()
        scaled.append(row * np.sign(row[first]) + 0.0)  # no negative zeros

    def places(row: np.ndarray) -> list[int]:
        """Entries that are not zero."""
        return np.flatnonzero(np.abs(row) > ROUNDING_ENTRY * np.abs(row).max()).tolist()

    return np.stack(sorted(scaled, key=places) if len(scaled) > 1 else scaled)
