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

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.subspace import qr_rows

GAUSS_NEWTON_STEPS = 25
"""Largest number of steps; a good start needs three or four."""

DENSE_ENTRIES = 2e8
"""Entries of the Jacobian above which the coordinates are not refined."""

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

    Args:
        algebra: generators of the algebra, already near the span.
        span: orthonormal generators of the span, as many.
        steps: largest number of Gauss–Newton steps.

    Returns:
        The moved algebra. Where the matrices are too large for that, the algebra as given.
    """
    n, target = span.shape[1], span.flatten(1)
    one = torch.eye(n * n).to(span)
    current = start = qr_rows(algebra.flatten(1))
    residual, change = _outside(current, target), torch.eye(n).to(span)
    value, damping = float(residual.square().sum()), 1e-3
    dense = len(algebra) * n**4 <= DENSE_ENTRIES
    for _ in range(steps if dense and value > 1e-26 else 0):
        slopes = _outside(_slopes(current), target).movedim(1, 2).flatten(0, 1)
        square, pull = slopes.mT @ slopes, slopes.mT @ residual.flatten()
        scale, before = square.diagonal().max() + 1e-300, value
        while damping < 1e8:
            step = torch.linalg.solve(square + damping * scale * one, -pull)
            frame = _short_exponential(step.reshape(n, n))
            moved = frame @ current.unflatten(1, (n, n)) @ torch.linalg.inv(frame)
            there = qr_rows(moved.flatten(1))
            residual_there = _outside(there, target)
            value_there = float(residual_there.square().sum())
            if value_there < value:
                current, residual, value = there, residual_there, value_there
                damping, change = max(damping / 10, 1e-14), frame @ change
                break
            damping *= 10
        if value > before * (1 - 1e-6) or value < 1e-28:
            break
    # Of the algebra as given: stretched without end it turns into another one, of a smaller family.
    orbit = _orbit(start) if dense else 0
    sines = torch.linalg.svdvals(residual)
    return Fit(
        generators=current.unflatten(1, (n, n)),
        distance=math.sqrt(value),
        angle=float(torch.asin(sines.max().clamp(max=1.0))) if sines.numel() else 0.0,
        orbit=orbit,
        freedom=max(len(algebra) * (n * n - len(algebra)) - orbit, 0),
        stretch=float(torch.linalg.cond(change)),
    )


def _outside(rows: Float[Tensor, "*k g"], basis: Float[Tensor, "d g"]) -> Float[Tensor, "*k g"]:
    """Part of each row outside the span of orthonormal rows."""
    return rows - rows @ basis.mT @ basis


def _short_exponential(step: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    """Change of coordinates exp(step), with long steps cut to unit length."""
    return torch.linalg.matrix_exp(step * min(1.0, 1.0 / (float(step.norm()) + 1e-300)))


def _slopes(rows: Float[Tensor, "d g"]) -> Float[Tensor, "d g g"]:
    """First-order move out of the span for every change E_pq of coordinates.

    Axes generator, pq, entry.
    """
    n = math.isqrt(rows.shape[1])
    matrices, one = rows.unflatten(1, (n, n)), torch.eye(n).to(rows)
    moves = torch.einsum("pi,kqj->kpqij", one, matrices)
    moves = moves - torch.einsum("kip,qj->kpqij", matrices, one)
    return _outside(moves.flatten(3).flatten(1, 2), rows)


def _orbit(rows: Float[Tensor, "d g"]) -> int:
    """Dimension of the family: number of changes of coordinates that move the span."""
    if not len(rows):
        return 0
    values = torch.linalg.svdvals(_slopes(rows).movedim(1, 2).flatten(0, 1))
    return int((values > 1e-7).sum())
