"""The defect of a motion in one result, with its interval, to be compared with another result's."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import orthonormal_rows
from liegg.decision.rank import evidence
from liegg.results.comparison import Measured, PairedDefect
from liegg.results.symmetries import Symmetries

NEAREST = 3
"""Candidates that are compared if neither model has a symmetry."""


def within(sym: Symmetries, h: Float[Tensor, "s g"]) -> Measured:
    r"""Mean defect over a space of symmetries, with the interval that allows for their choice.

    In the solution's basis of unit motion, $A$ is diagonal and $M$ the identity: the mean is a
    weighted mean of the solution's defects, with the diagonal of the projector as weights, and its
    ends are at most as far out as theirs, weighted alike.

    Args:
        sym: the result that has these symmetries.
        h: coefficients of independent directions in their span.
    """
    directions, block = (
        sym.accumulated.solution.directions[: sym.nullity],
        sym.accumulated.displacement.block,
    )
    parts = directions.unflatten(1, (-1, block.shape[0]))
    speeds = torch.einsum("drs,st,drt->d", parts, block, parts).sqrt()
    unit = directions / speeds[:, None]
    weights = orthonormal_rows(h @ torch.linalg.pinv(unit)).square().sum(0) / len(h)
    values = sym.defects[: sym.nullity]
    bounds = sym.intervals[: sym.nullity]
    case = evidence(values, bounds, floor=sym.decision.floor)
    low, high = (float(weights @ ends) for ends in (case.low, case.high))
    if bool(sym.intervals.isnan().all()):
        low = high = math.nan
    return _measured(sym, float(weights @ values), low, high)


def along(sym: Symmetries, h: Float[Tensor, "1 g"]) -> Measured:
    """Defect of a direction that was found in other data."""
    value, (low, high) = float(sym.defect(h)), sym.defect_interval(h)[0].tolist()
    if sym.decision.undecided and value <= sym.decision.floor:
        value = math.nan  # no sample determines it
    return _measured(sym, value, low, high)


def of_rank(sym: Symmetries, rank: int) -> Measured:
    """Defect of one of a result's own directions."""
    return _measured(sym, float(sym.defects[rank]), *sym.intervals[rank].tolist())


def by_rank(a: Symmetries, b: Symmetries) -> list[PairedDefect]:
    """The candidates of smallest defect of two models without symmetries; their motions differ."""
    if a.decision.undecided or b.decision.undecided:
        return []
    return [
        PairedDefect(
            "neither", f"candidate {i + 1} of each, two motions", None, of_rank(a, i), of_rank(b, i)
        )
        for i in range(min(NEAREST, len(a.defects), len(b.defects)))
    ]


def _measured(sym: Symmetries, value: float, low: float, high: float) -> Measured:
    """A defect with its interval; from 0 to the numerical floor if it is exact."""
    floor = sym.decision.floor
    if value <= floor:
        return Measured(value, 0.0, floor, exact=True)
    return Measured(value, low, high, exact=False)
