"""One motion in two models: its defect in each with an interval, and which is clearly smaller."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import orthonormal_rows
from liegg.decision.grades import evidence
from liegg.results.symmetries import Symmetries

NEAREST = 3
"""Candidates that are held against each other where neither model has a symmetry."""


@dataclass(frozen=True)
class Measured:
    """Defect δ² in one model: of a direction, or the mean over several.

    Attributes:
        value: the defect; NaN where the model's data says nothing.
        low: lower end of its interval; NaN where none was made.
        high: upper end.
        exact: at the numerical floor, which is then the interval's upper end.
    """

    value: float
    low: float
    high: float
    exact: bool


@dataclass(frozen=True, eq=False)
class Contrast:
    """The same motion in both models.

    Attributes:
        found: `"both"`, `"a"` or `"b"`; `"neither"` for candidates of the same rank, where neither has a symmetry.
        words: what the motion is.
        generator: its matrix; None for several together, and for candidates of the same rank, which differ.
        a: its defect in the first model.
        b: its defect in the second.
    """

    found: str
    words: str
    generator: Float[Tensor, "n n"] | None
    a: Measured
    b: Measured

    @property
    def smaller(self) -> str:
        """`"a"` or `"b"` if its defect is clearly smaller: the intervals do not meet; else empty."""
        for name, one, other in (("a", self.a, self.b), ("b", self.b, self.a)):
            low = other.value if one.exact and math.isnan(other.low) else other.low
            if one.high < low:
                return name
        return ""

    @property
    def ratio(self) -> tuple[float, float, float] | None:
        """Defect in b over that in a with its interval, the two taken as independent; None if one is exact or not known."""
        if (
            self.a.exact
            or self.b.exact
            or not min(self.a.value, self.b.value) > 0
            or 0 in (self.a.low, self.b.low)
        ):
            return None
        middle = math.log(self.b.value / self.a.value)
        down = math.hypot(math.log(self.b.value / self.b.low), math.log(self.a.high / self.a.value))
        up = math.hypot(math.log(self.b.high / self.b.value), math.log(self.a.value / self.a.low))
        return math.exp(middle), math.exp(middle - down), math.exp(middle + up)


def within(sym: Symmetries, h: Float[Tensor, "s g"]) -> Measured:
    r"""Mean defect over a space of found directions, with the interval that allows for their choice.

    In the solution's basis of unit motion, $A$ is diagonal and $M$ the identity: the mean is one of the solution's defects with
    the diagonal of the projector as weights, and its ends are at most as far out as theirs, weighted alike.

    Args:
        sym: the result that found them.
        h: coefficients of independent directions in the span of those found.
    """
    found = sym.solution.directions[: sym.nullity]
    parted = found.unflatten(1, (-1, sym.displacement.block.shape[0]))
    unit = (
        found
        / torch.einsum("drs,st,drt->d", parted, sym.displacement.block, parted).sqrt()[:, None]
    )
    weights = orthonormal_rows(h @ torch.linalg.pinv(unit)).square().sum(0) / len(h)
    floor, values = sym.decision.floor, sym.defects[: sym.nullity]
    value = float(weights @ values)
    case = evidence(values, None if sym.bounds is None else sym.bounds[: sym.nullity], floor=floor)
    return _measured(
        value,
        float(weights @ case.low),
        float(weights @ case.high),
        floor,
        known=sym.bounds is not None,
    )


def along(sym: Symmetries, h: Float[Tensor, "1 g"]) -> Measured:
    """Defect of a direction that was found in other data."""
    generator = sym.action.matrices(h)
    value, (low, high) = float(sym.defect(generator)), sym.defect_interval(generator)[0].tolist()
    if sym.decision.undecided and value <= sym.decision.floor:
        value = math.nan  # no sample says anything about it
    return _measured(value, low, high, sym.decision.floor)


def _measured(
    value: float, low: float, high: float, floor: float, *, known: bool = True
) -> Measured:
    if value <= floor:
        return Measured(value, 0.0, floor, exact=True)
    return (
        Measured(value, low, high, exact=False)
        if known
        else Measured(value, math.nan, math.nan, exact=False)
    )


def by_rank(a: Symmetries, b: Symmetries) -> list[Contrast]:
    """The candidates of smallest defect, where there is no symmetry; each model's are its own."""
    if a.decision.undecided or b.decision.undecided:
        return []
    first = range(min(NEAREST, len(a.defects), len(b.defects)))
    return [
        Contrast(
            "neither", f"candidate {i + 1} of each, two motions", None, of_rank(a, i), of_rank(b, i)
        )
        for i in first
    ]


def of_rank(sym: Symmetries, number: int) -> Measured:
    """Defect of one of a result's own directions."""
    low, high = sym.intervals[number].tolist()
    return _measured(float(sym.defects[number]), low, high, sym.decision.floor)
