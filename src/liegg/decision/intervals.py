"""Intervals for the defects, the number of symmetries and the angle of their span, from a block bootstrap."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.decision.block_statistics import BlockStatistics
from liegg.decision.bootstrap import (
    BOOTSTRAP_DRAWS,
    RESOLVED_DIRECTIONS,
    RESOLVED_DRAWS,
    Moments,
    draw_blocks,
    relative_interval,
    resolve,
    span_angle,
)
from liegg.decision.rank import Evidence, count, rule
from liegg.decision.thresholds import Thresholds
from liegg.spectrum.defects import Defects


@dataclass(frozen=True)
class Certainty:
    """How sure the answer is, as far as the samples tell.

    Attributes:
        nullity: interval of the number of symmetries.
        support: share of the bootstrap draws that find the same number.
        angle: in radians; the span of the found directions moves by at most this in a share `level` of
            the draws. If none was found, that of the direction of smallest defect.
        level: nominal coverage.
        blocks: number of blocks of samples.
        draws: number of draws for which the problem was solved again.
    """

    nullity: tuple[int, int]
    support: float
    angle: float
    level: float
    blocks: int
    draws: int


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Bootstrap draws of blocks of samples, for one solution.

    Attributes:
        moments: what the blocks say of the directions above the floor.
        lengths: mean squared change of the output per squared motion along each of these.
        sensitivity: mean sensitivity κ.
        weights: how often each block was drawn.
        at_floor: number of directions at the floor, which have no sampling error.
        directions: coefficients of the directions that are solved again for every draw, of unit motion.
    """

    moments: Moments
    lengths: Float[Tensor, " r"]
    sensitivity: float
    weights: Float[Tensor, "d p"]
    at_floor: int
    directions: Float[Tensor, "k g"]

    def bounds(self, *, level: float) -> Float[Tensor, "r 2"]:
        """Interval of every defect; NaN for those at the floor."""
        above = relative_interval(
            self.moments, self.lengths, self.sensitivity, self.weights, level=level
        )
        none = above.new_full((self.at_floor, 2), torch.nan)
        return torch.cat([none, above * (self.lengths / self.sensitivity)[:, None]])


def bootstrap(
    blocks: BlockStatistics | None, solution: Defects, *, floor: float, seed: int
) -> Bootstrap | None:
    """Draw blocks with replacement; None without blocks, or if no direction lies above the floor.

    Args:
        blocks: what the blocks say of any direction.
        solution: the solution for all the data.
        floor: defect below which a direction is exact.
        seed: of the draws.
    """
    if blocks is None or solution.sensitivity <= 0 or not bool((solution.values > floor).any()):
        return None
    at_floor = int((solution.values <= floor).sum())
    directions = solution.directions[at_floor:]
    motion = blocks.motion(directions).sum(0).div(blocks.samples.sum()).sqrt()
    directions = directions / motion[:, None]
    some = slice(RESOLVED_DIRECTIONS)
    change, changes = blocks.change(directions, some)
    moments = Moments(
        changes=changes,
        motions=blocks.motion_between(directions[some]),
        change=change,
        motion=blocks.motion(directions),
        total=blocks.total,
        samples=blocks.samples,
    )
    return Bootstrap(
        moments=moments,
        lengths=solution.values[at_floor:] * solution.sensitivity,
        sensitivity=solution.sensitivity,
        weights=draw_blocks(len(blocks.samples), BOOTSTRAP_DRAWS, seed),
        at_floor=at_floor,
        directions=directions[some],
    )


def fixed_interval(
    blocks: BlockStatistics,
    h: Float[Tensor, "d g"],
    values: Float[Tensor, " d"],
    *,
    sensitivity: float,
    floor: float,
    level: float,
    seed: int,
) -> Float[Tensor, "d 2"]:
    """Interval of the defects of directions that were not chosen from this data: a ratio of means over the blocks.

    Args:
        blocks: what the blocks say of any direction.
        h: coefficients of the directions.
        values: their defects.
        sensitivity: mean sensitivity κ.
        floor: defect below which a direction is exact and has no interval: NaN.
        level: nominal coverage.
        seed: of the bootstrap draws.
    """
    ends = values.new_full((len(h), 2), torch.nan)
    above = values > floor
    if not bool(above.any()):
        return ends
    h, values = h[above], values[above]
    change, none = blocks.change(h, slice(0))
    moments = Moments(none, none, change, blocks.motion(h), blocks.total, blocks.samples)
    weights = draw_blocks(len(blocks.samples), BOOTSTRAP_DRAWS, seed)
    ends[above] = (
        relative_interval(moments, values * sensitivity, sensitivity, weights, level=level)
        * values[:, None]
    )
    return ends


def certainty(draws: Bootstrap, case: Evidence, nullity: int, thresholds: Thresholds) -> Certainty:
    """Intervals of the number of symmetries and of the angle of their span.

    Args:
        draws: the bootstrap.
        case: the defects.
        nullity: number of symmetries.
        thresholds: what counts as one.
    """
    weights = draws.weights[:RESOLVED_DRAWS]
    logs, mixing = resolve(draws.moments, draws.lengths, draws.sensitivity, weights)
    # A draw errs from the result as the result does from the truth.
    shifted = case.values[draws.at_floor :] * (-logs).exp()
    exact = case.values[: draws.at_floor].expand(len(logs), -1)
    spectra = torch.cat([exact, shifted.sort(dim=1).values], dim=1)
    counts = count(
        Evidence(spectra, spectra, spectra, case.floor), rule(case.floor, thresholds)
    ).double()
    tail = (1 - thresholds.level) / 2
    low, high = counts.quantile(torch.tensor([tail, 1 - tail], dtype=torch.float64)).tolist()
    last = min(max(max(nullity, 1) - draws.at_floor, 0), len(draws.directions))
    return Certainty(
        nullity=(min(int(low // 1), nullity), max(int(-(-high // 1)), nullity)),
        support=float((counts == nullity).double().mean()),
        angle=span_angle(mixing, draws.directions, last, level=thresholds.level),
        level=thresholds.level,
        blocks=weights.shape[1],
        draws=len(logs),
    )
