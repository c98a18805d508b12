r"""How far a span is from an algebra of a given kind, in any coordinates.

A known algebra $\mathfrak h$, in any basis of $\mathbb{R}^n$, is $S \mathfrak h S^{-1}$. Its
distance to a span is the root of the summed squared sines of their principal angles. `fit`
minimises it over $S$ by damped Gauss–Newton steps. With unit generators off by $\eta$, entries by
$\eta/n$, the smallest sum is $\eta^2/n^2$ times a $\chi^2$ variable with one degree of freedom for
each way to leave the span that no $S$ can follow.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

GAUSS_NEWTON_STEPS = 25
"""Largest number of steps; a good start needs three or four."""

SMALLEST_ORBIT_MOVE = 1e-10
"""Size of the move of a span by a unit change of coordinates that rounding explains.

so(2) with scalings, of axes 1 : s, moves by 3/s² at least; s is at most 10⁵ where something is named."""

SERIES_REST = 1e-17
"""Size of a term of the exponential series after which the rest is below rounding: 1/19! is."""

REFUSAL_CHANCE = 1e-4
"""Chance with which noise of the stated size may refuse the right algebra."""


@dataclass(frozen=True, eq=False)
class Fit:
    """An algebra of a known kind, moved as near to a span as a change of coordinates can.

    Attributes:
        generators: its orthonormal generators, exactly an algebra.
        distance: root of the summed squared sines of the principal angles to the span.
        angle: largest principal angle, in radians.
        orbit: dimension of the family of all algebras of this kind; the smaller, the more special.
        freedom: number of ways in which a span can leave the family; with none, every span of this
            dimension near it belongs to it.
        stretch: condition number of the change of coordinates.
    """

    generators: Float[Tensor, "d n n"]
    distance: float
    angle: float
    orbit: int
    freedom: int
    stretch: float

    def needs(self, chance: float = REFUSAL_CHANCE) -> float:
        """Smallest uncertainty of a unit generator, in radians, that explains this distance."""
        return self._noise_at(1 - chance) if self.freedom else 0.0

    def at_most(self, chance: float = REFUSAL_CHANCE) -> float:
        """Largest uncertainty for which this distance is not surprisingly small."""
        return self._noise_at(chance) if self.freedom else math.inf

    def _noise_at(self, chance: float) -> float:
        """Noise with which the distance is the quantile `chance` of its distribution."""
        size = self.generators.shape[1] * self.distance
        return size / math.sqrt(chi_square(self.freedom, chance))

    def misfit(self, noise: float) -> float:
        """Squared distance over that of one noisy number: a χ² variable for the right algebra."""
        return (self.generators.shape[1] * self.distance / noise) ** 2

    @property
    def coincidence(self) -> float:
        """Chance, roughly, that a span which is not an algebra lies as near to this kind."""
        return min(self.distance, 1.0) ** self.freedom if self.freedom else 0.0


@functools.cache
def chi_square(freedom: int, chance: float) -> float:
    """Quantile of the χ² distribution.

    >>> round(chi_square(10, 0.95), 1)
    18.3
    """
    from scipy.special import gammaincinv

    return 2 * float(gammaincinv(freedom / 2, chance))


def fit(
    algebra: Float[Tensor, "d n n"],
    span: Float[Tensor, "d n n"],
    *,
    steps: int = GAUSS_NEWTON_STEPS,
) -> Fit:
    """Move an algebra as near to a span as a change of coordinates can.

    Many small products: numpy takes a fraction of the time of torch for each.

    Args:
        algebra: generators of the algebra, already near the span.
        span: orthonormal generators of the span, as many.
        steps: largest number of Gauss–Newton steps.
    """
    n, target = span.shape[1], span.flatten(1).numpy()
    current = start = _qr_rows(algebra.flatten(1).numpy())
    residual, change = _outside(current, target), np.eye(n)
    value, damping = float(np.square(residual).sum()), 1e-3
    for _ in range(steps if value > 1e-26 else 0):
        slopes = _slopes(current)
        slopes = (slopes - target.T @ (target @ slopes)).reshape(-1, n * n)
        square, pull = slopes.T @ slopes, slopes.T @ residual.ravel()
        scale, before = square.diagonal().max() + 1e-300, value
        while damping < 1e8:
            step = np.linalg.solve(square + damping * scale * np.eye(n * n), -pull)
            # Long steps are cut to unit length.
            short = step.reshape(n, n) * min(1.0, 1.0 / (np.linalg.norm(step) + 1e-300))
            frame = _exponential(short)
            moved = frame @ current.reshape(-1, n, n) @ np.linalg.inv(frame)
            there = _qr_rows(moved.reshape(-1, n * n))
            residual_there = _outside(there, target)
            value_there = float(np.square(residual_there).sum())
            if value_there < value:
                current, residual, value = there, residual_there, value_there
                damping, change = max(damping / 10, 1e-14), frame @ change
                break
            damping *= 10
        if value > before * (1 - 1e-6) or value < 1e-28:
            break
    # Of the algebra as given: stretched without end it turns into another one, of a smaller family.
    orbit = int((orbit_values(start) > SMALLEST_ORBIT_MOVE).sum())
    largest = np.linalg.norm(residual, 2) if residual.size else 0.0
    return Fit(
        generators=torch.from_numpy(current).unflatten(1, (n, n)),
        distance=math.sqrt(value),
        angle=math.asin(min(largest, 1.0)),
        orbit=orbit,
        freedom=max(len(algebra) * (n * n - len(algebra)) - orbit, 0),
        stretch=float(np.linalg.cond(change)),
    )


def _exponential(matrix: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """Exponential of a matrix of norm at most 1, by its series to rounding; short steps need few terms.

    Not by scipy, whose threads spin on matrices as small as these, nor by torch, which takes ten times as long.
    """
    size = rest = float(np.linalg.norm(matrix))
    terms = 1
    while rest > SERIES_REST:
        terms += 1
        rest *= size / terms
    total = one = np.eye(len(matrix))
    for k in range(terms, 0, -1):
        total = one + matrix @ total / k
    return total


def _qr_rows(rows: Float[np.ndarray, "k g"]) -> Float[np.ndarray, "k g"]:
    """Orthonormal rows with the span of independent rows."""
    return np.ascontiguousarray(np.linalg.qr(rows.T)[0].T)


def _outside(
    rows: Float[np.ndarray, "k g"], basis: Float[np.ndarray, "d g"]
) -> Float[np.ndarray, "k g"]:
    """Part of each row outside the span of orthonormal rows."""
    return rows - rows @ basis.T @ basis


def _slopes(rows: Float[np.ndarray, "d g"]) -> Float[np.ndarray, "d g g"]:
    """First-order move out of the span for every change E_pq of coordinates.

    Axes generator, entry, pq.
    """
    n = math.isqrt(rows.shape[1])
    matrices, one = rows.reshape(-1, n, n), np.eye(n)
    moves = np.einsum("ip,kqj->kijpq", one, matrices) - np.einsum("kip,jq->kijpq", matrices, one)
    moves = moves.reshape(len(rows), n * n, n * n)
    return moves - rows.T @ (rows @ moves)


def orbit_moves(rows: Float[np.ndarray, "d g"]) -> Float[np.ndarray, "g p"]:
    """Moves of the span, one per row, by the changes of coordinates E_pq; first-order moves out of it."""
    return np.ascontiguousarray(_slopes(rows).reshape(rows.size, rows.shape[1]).T)


def orbit_values(rows: Float[np.ndarray, "d g"]) -> Float[np.ndarray, " k"]:
    """Singular values of the map from changes of coordinates to moves of the span, descending."""
    return np.linalg.svd(orbit_moves(rows), compute_uv=False)
