r"""How far is a span from an algebra of a given kind, when the coordinates of that algebra are free?

A known algebra $\mathfrak h$, in any basis of $\mathbb{R}^n$, is $S \mathfrak h S^{-1}$. Its distance to a span is the root of
the summed squared sines of their principal angles, and `fit` makes it as small as it can by changing $S$ (Gauss–Newton with
damping). With unit generators off by $\eta$, entries by $\eta/n$, the smallest sum is $\eta^2/n^2$ times a $\chi^2$ variable
with as many degrees of freedom as there are ways to leave the span that no $S$ can follow.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import torch
from jaxtyping import Float
from torch import Tensor

STEPS = 25
"""Gauss–Newton steps at most; a good start needs three or four."""

DENSE_ENTRIES = 2e8
"""Entries of the Jacobian above which the coordinates are taken as they are: refining them would take gigabytes."""

CHANCE = 1e-4
"""Chance with which noise of the stated size is allowed to refuse the right algebra."""


@dataclass(frozen=True, eq=False)
class Fit:
    """An algebra of a known kind, moved as near to a span as a change of coordinates can.

    Attributes:
        generators: its orthonormal generators, exactly an algebra.
        distance: root of the summed squared sines of the principal angles to the span.
        angle: largest principal angle, radians.
        orbit: dimension of the family of all algebras of this kind: the smaller, the more special.
        stretch: condition number of the change of coordinates.
        freedom: ways in which a span can leave the family; with none, every span of this dimension near it belongs to it.
    """

    generators: Float[Tensor, "d n n"]
    distance: float
    angle: float
    orbit: int
    freedom: int
    stretch: float

    def needs(self, chance: float = CHANCE) -> float:
        """Smallest uncertainty (radians, of a unit generator) under which this distance is no surprise."""
        if self.freedom == 0:
            return 0.0
        return (
            self.generators.shape[1] * self.distance / chi_square(self.freedom, 1 - chance) ** 0.5
        )

    def at_most(self, chance: float = CHANCE) -> float:
        """Largest uncertainty under which this distance is not surprisingly small; what the data say of their own noise."""
        if self.freedom == 0:
            return float("inf")
        return self.generators.shape[1] * self.distance / chi_square(self.freedom, chance) ** 0.5

    def misfit(self, noise: float) -> float:
        """Squared distance over that of a single noisy number: a χ² variable for the right kind of algebra."""
        return (self.generators.shape[1] * self.distance / noise) ** 2

    @property
    def luck(self) -> float:
        """Chance, roughly, that a span of this dimension that is no algebra lies as near to some algebra of this kind."""
        return min(self.distance, 1.0) ** self.freedom if self.freedom else 0.0


def chi_square(freedom: int, chance: float) -> float:
    """Value that a χ² variable stays below with a given chance, to a tenth at worst.

    Wilson and Hilferty's cube root; in the far lower tail, where that fails, the first term of the series.

    >>> round(chi_square(10, 0.95), 1)
    18.3
    """
    spread = 2 / (9 * freedom)
    root = 1 - spread + NormalDist().inv_cdf(chance) * spread**0.5
    series = (
        2 * math.exp(2 / freedom * (math.log(chance) + math.lgamma(freedom / 2 + 1)))
        if chance < 0.5
        else 0.0
    )
    return max(freedom * max(root, 0.0) ** 3, series)


def fit(model: Float[Tensor, "d n n"], span: Float[Tensor, "d n n"], *, steps: int = STEPS) -> Fit:
    """Move an algebra as near to a span as a change of coordinates can.

    Args:
        model: generators of the algebra, already near the span.
        span: orthonormal generators of the span, as many.
        steps: Gauss–Newton steps at most.

    Returns:
        The algebra moved. Where the matrices are too large for that, the algebra as it came.
    """
    n, target = span.shape[1], span.flatten(1)
    current = _unit(model)
    missed, change = _outside(current, target), torch.eye(n).to(span)
    value, damping = float(missed.square().sum()), 1e-3
    dense = model.shape[0] * n**4 <= DENSE_ENTRIES
    for _ in range(steps if dense and value > 1e-26 else 0):
        slopes = _outside(_slopes(current), target).movedim(1, 2).flatten(0, 1)
        square, pull = slopes.mT @ slopes, slopes.mT @ missed.flatten()
        before = value
        while damping < 1e8:
            step = torch.linalg.solve(
                square + damping * (square.diagonal().max() + 1e-300) * torch.eye(n * n).to(square),
                -pull,
            )
            turn = _turn(step.reshape(n, n))
            moved = _unit(turn @ current.unflatten(1, (n, n)) @ torch.linalg.inv(turn))
            missed_there = _outside(moved, target)
            there = float(missed_there.square().sum())
            if there < value:
                current, missed, value, damping = (
                    moved,
                    missed_there,
                    there,
                    max(damping / 10, 1e-14),
                )
                change = turn @ change
                break
            damping *= 10
        if value > before * (1 - 1e-6) or value < 1e-28:
            break
    orbit = (
        _orbit(_unit(model)) if dense else 0
    )  # of the model as it came: stretched without end it is another, smaller one's
    sines = torch.linalg.svdvals(missed)
    angle = float(torch.asin(sines.max().clamp(max=1.0))) if sines.numel() else 0.0
    freedom = max(len(model) * (n * n - len(model)) - orbit, 0)
    return Fit(
        current.unflatten(1, (n, n)),
        value**0.5,
        angle,
        orbit,
        freedom,
        float(torch.linalg.cond(change)),
    )


def _unit(generators: Float[Tensor, "d n n"]) -> Float[Tensor, "d g"]:
    """Orthonormal rows with the span of independent generators."""
    return torch.linalg.qr(generators.flatten(1).mT)[0].mT.contiguous()


def _outside(rows: Float[Tensor, "*k g"], basis: Float[Tensor, "d g"]) -> Float[Tensor, "*k g"]:
    """Part of each row outside the span of orthonormal rows."""
    return rows - rows @ basis.mT @ basis


def _turn(step: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    """Change of coordinates exp(step), with long steps cut."""
    return torch.linalg.matrix_exp(step * min(1.0, 1.0 / (float(step.norm()) + 1e-300)))


def _slopes(rows: Float[Tensor, "d g"]) -> Float[Tensor, "d g g"]:
    """First-order motion out of the span for every change E_pq of the coordinates; axes generator, pq, entry."""
    n = round(rows.shape[1] ** 0.5)
    matrices, one = rows.unflatten(1, (n, n)), torch.eye(n).to(rows)
    moves = torch.einsum("pi,kqj->kpqij", one, matrices) - torch.einsum(
        "kip,qj->kpqij", matrices, one
    )
    return _outside(moves.flatten(3).flatten(1, 2), rows)


def _orbit(rows: Float[Tensor, "d g"]) -> int:
    """Dimension of the family: how many changes of the coordinates, to first order, move the span."""
    values = (
        torch.linalg.svdvals(_slopes(rows).movedim(1, 2).flatten(0, 1))
        if len(rows)
        else torch.zeros(1)
    )
    return int((values > 1e-7).sum())
