"""Intervals for the defects, the number of symmetries and the angle of their span, from a block bootstrap."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
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
from liegg.decision.rank import Evidence, count, rule, scale
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
        above: of all the directions, those above the floor; rounding has no sampling error.
        directions: coefficients of the directions that are solved again for every draw, of unit motion.
    """

    moments: Moments
    lengths: Float[Tensor, " r"]
    sensitivity: float
    weights: Float[Tensor, "d p"]
    above: Bool[Tensor, " n"]
    directions: Float[Tensor, "k g"]

    def bounds(self, *, level: float) -> Float[Tensor, "n 2"]:
        """Interval of every defect; NaN for those at the floor."""
        ends = self.lengths.new_full((len(self.above), 2), torch.nan)
        relative = relative_interval(
            self.moments, self.lengths, self.sensitivity, self.weights, level=level
        )
        ends[self.above] = relative * (self.lengths / self.sensitivity)[:, None]
        return ends


def bootstrap(
    blocks: BlockStatistics | None,
    solution: Defects,
    *,
    floor: float,
    seed: int,
    solved: int = RESOLVED_DIRECTIONS,
) -> Bootstrap | None:
    """Draw blocks with replacement; None without blocks, or if no direction lies above the floor.

    Args:
        blocks: what the blocks say of any direction.
        solution: the solution for all the data.
        floor: defect below which a direction is exact.
        seed: of the draws.
        solved: directions that are solved again for every draw; 0 for directions that were not chosen from this data, whose
            defect is a ratio of means over the blocks.
    """
    above = solution.values > floor
    if blocks is None or solution.sensitivity <= 0 or not bool(above.any()):
        return None
    directions = solution.directions[above]
    motion = blocks.motion(directions).sum(0).div(blocks.samples.sum()).sqrt()
    directions = directions / motion[:, None]
    change, changes = blocks.change(directions, slice(solved))
    moments = Moments(
        changes=changes,
        motions=blocks.motion_between(directions[:solved]),
        change=change,
        motion=blocks.motion(directions),
        total=blocks.total,
        samples=blocks.samples,
    )
    return Bootstrap(
        moments=moments,
        lengths=solution.values[above] * solution.sensitivity,
        sensitivity=solution.sensitivity,
        weights=draw_blocks(len(blocks.samples), BOOTSTRAP_DRAWS, seed),
        above=above,
        directions=directions[:solved],
    )


def certainty(draws: Bootstrap, case: Evidence, nullity: int, thresholds: Thresholds) -> Certainty:
    """Intervals of the number of symmetries and of the angle of their span.

    Args:
        draws: the bootstrap.
        case: the defects.
        nullity: number of symmetries.
        thresholds: what counts as one.
    """
    weights = draws.weights[:RESOLVED_DRAWS]
    exact = case.values[~draws.above]
    last = min(max(max(nullity, 1) - len(exact), 0), len(draws.directions))
    logs, mixing = resolve(
        draws.moments, draws.lengths, draws.sensitivity, weights, directions=last > 0
    )
    # A draw errs from the result as the result does from the truth.
    shifted = case.values[draws.above] * (-logs).exp()
    spectra = torch.cat([exact.expand(len(logs), -1), shifted.sort(dim=1).values], dim=1)
    drawn = Evidence(spectra, spectra, spectra, case.floor, response=case.response)
    numbers = rule(case.floor, thresholds)
    counts = count(drawn, numbers).double()
    tail = (1 - thresholds.level) / 2
    low, high = counts.quantile(torch.tensor([tail, 1 - tail], dtype=torch.float64)).tolist()
    # Without a gap it is open how many of those below the threshold are symmetries.
    open_end = int((case.low * scale(case, numbers) <= thresholds.threshold).sum())
    return Certainty(
        nullity=(min(int(low // 1), nullity), max(int(-(-high // 1)), nullity, open_end)),
        support=float((counts == nullity).double().mean()),
        angle=span_angle(mixing, draws.directions, last, level=thresholds.level),
        level=thresholds.level,
        blocks=weights.shape[1],
        draws=len(logs),
    )
