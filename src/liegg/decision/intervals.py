"""Intervals for the defects, the number of symmetries and the angle of their span, from a block bootstrap."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.decision.block_statistics import BlockStatistics
from liegg.decision.bootstrap import (
    BOOTSTRAP_DRAWS,
    RESOLVED_DIRECTIONS,
    RESOLVED_DRAWS,
    Moments,
    direction_freedoms,
    draw_blocks,
    relative_interval,
    relative_span_interval,
    resolve,
    span_angle,
    student_quantile,
    student_quantiles,
)
from liegg.decision.rank import Evidence, count, rule, scale
from liegg.decision.thresholds import Thresholds
from liegg.polarization.evidence import SampleEvidence
from liegg.spectrum.defects import Defects

LEAST_FREEDOM = 1.25
"""Degrees of freedom below which no interval is given, because it would be too wide to be useful."""

NOTED_FREEDOM = 2.0
"""Degrees of freedom below which a note says so: intervals are then at least twice as wide as usual."""

NOTED_SHARE = 0.2
"""Effective share of the samples below which that is due to their tails, and not to their number."""


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
        limit: degrees of freedom that the samples allow in any direction.
    """

    moments: Moments
    lengths: Float[Tensor, " r"]
    sensitivity: float
    weights: Float[Tensor, "d p"]
    above: Bool[Tensor, " n"]
    directions: Float[Tensor, "k g"]
    limit: float

    def widening(self, *, level: float) -> Float[Tensor, " r"]:
        """Factor from the spread of the draws to that of each interval: they scatter less than independent data would."""
        blocks, normal = self.weights.shape[1], student_quantile(level, math.inf)
        freedoms = direction_freedoms(self.moments, self.sensitivity, limit=self.limit)
        return student_quantiles(level, freedoms) * math.sqrt(blocks / (blocks - 1)) / normal

    def bounds(self, *, level: float) -> Float[Tensor, "n 2"]:
        """Interval of every defect; NaN for those at the floor."""
        ends = self.lengths.new_full((len(self.above), 2), torch.nan)
        relative = relative_interval(
            self.moments,
            self.lengths,
            self.sensitivity,
            self.weights,
            level=level,
            limit=self.limit,
        )
        ends[self.above] = relative * (self.lengths / self.sensitivity)[:, None]
        return ends.minimum(self._bound()[:, None])

    def _bound(self) -> Float[Tensor, " n"]:
        """What no data can exceed: ascending defects with mean 1 are at most n/n, n/(n - 1), ..., n; infinite with another unit."""
        number = len(self.above)
        if not math.isclose(float(self.lengths.sum()), number * self.sensitivity, rel_tol=1e-6):
            return torch.full((number,), math.inf, dtype=torch.float64)
        return number / torch.arange(number, 0, -1, dtype=torch.float64)


class SpanInterval(NamedTuple):
    """Mean defect of the span of some directions; it does not depend on their order, nor on how ties are mixed.

    Attributes:
        mean: mean of their defects.
        low: lower end of its interval; NaN if all of them are at the floor.
        high: upper end.
    """

    mean: float
    low: float
    high: float


def span_interval(draws: Bootstrap, number: int, *, level: float) -> SpanInterval:
    """Mean defect of the span of the first directions, with its interval.

    Directions at the floor count as 0.

    Args:
        draws: the bootstrap.
        number: how many directions span it, those at the floor included; at least one.
        level: nominal coverage.
    """
    above = int(draws.above[:number].sum())
    if not above:
        return SpanInterval(0.0, math.nan, math.nan)
    mean = float(draws.lengths[:above].sum()) / draws.sensitivity / number
    relative = relative_span_interval(
        draws.moments,
        draws.lengths,
        draws.sensitivity,
        draws.weights,
        number=above,
        level=level,
        limit=draws.limit,
    )
    low, high = (mean * relative).tolist()
    return SpanInterval(mean, low, high)


def bootstrap(
    blocks: BlockStatistics | None,
    solution: Defects,
    *,
    floor: float,
    seed: int,
    solved: int = RESOLVED_DIRECTIONS,
) -> Bootstrap | None:
    """Draw blocks with replacement; None without blocks, if a few samples decide, or if no direction lies above the floor.

    Args:
        blocks: what the blocks say of any direction.
        solution: the solution for all the data.
        floor: defect below which a direction is exact.
        seed: of the draws.
        solved: directions that are solved again for every draw; 0 for directions that were not chosen from this data, whose
            defect is a ratio of means over the blocks.
    """
    above = solution.values > floor
    if blocks is None or blocks.limit < LEAST_FREEDOM:
        return None
    if solution.sensitivity <= 0 or not bool(above.any()):
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
        limit=blocks.freedom,
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
        draws.moments, draws.lengths, draws.sensitivity, weights, directions=last
    )
    # A draw errs from the result as the result does from the truth.
    wider = draws.widening(level=thresholds.level)
    shifted = case.values[draws.above] * (-wider * logs).exp()
    spectra = torch.cat([exact.expand(len(logs), -1), shifted.sort(dim=1).values], dim=1)
    drawn = Evidence(spectra, spectra, spectra, case.floor, response=case.response)
    numbers = rule(case.floor, thresholds)
    counts = count(drawn, numbers).double()
    tail = (1 - thresholds.level) / 2
    low, high = counts.quantile(torch.tensor([tail, 1 - tail], dtype=torch.float64)).tolist()
    # Without a gap it is open how many of those below the threshold are symmetries.
    open_end = int((case.low * scale(case.response, numbers) <= thresholds.threshold).sum())
    return Certainty(
        nullity=(min(int(low // 1), nullity), max(int(-(-high // 1)), nullity, open_end)),
        support=float((counts == nullity).double().mean()),
        angle=min(
            float(wider[: max(last, 1)].max())
            * span_angle(mixing, draws.directions, last, level=thresholds.level),
            math.pi / 2,
        ),
        level=thresholds.level,
        blocks=weights.shape[1],
        draws=len(logs),
    )


def residual_freedom(found: SampleEvidence, *, rows_per_sample: float, fitted: int) -> float:
    """Degrees of freedom that the samples leave after directions were fitted to them.

    The directions of smallest defect are chosen for these very samples. Where the rows of the samples that carry the sensitivity are
    hardly more than the fitted directions, they show little of what other samples would. Intervals get wider, but are still given.

    Args:
        found: how the evidence is distributed over the samples.
        rows_per_sample: rows of one sample.
        fitted: directions that the rows decide about.
    """
    if not math.isfinite(found.freedom):
        return found.freedom
    left = 1 - fitted / max(found.effective * rows_per_sample, fitted)
    return max(min(found.freedom, LEAST_FREEDOM), found.freedom * left)


def evidence_notes(found: SampleEvidence, samples: int, *, limit: float = math.inf) -> list[Remark]:
    """Why intervals are wide, or cannot be given, although there are enough blocks.

    Args:
        found: how the evidence is distributed over the samples.
        samples: number of samples.
        limit: degrees of freedom that the samples allow, with the share of each in the motion of the data.
    """
    if found.clusters:
        return [Diagnosis.CLUSTERED(clusters=found.clusters)]
    values = {"samples": samples, "effective": found.effective}
    if found.freedom < LEAST_FREEDOM:
        return [Diagnosis.DOMINATED(**values)]
    if limit < LEAST_FREEDOM:
        return [Diagnosis.FEW_MOVE(samples=samples)]
    heavy = found.freedom < NOTED_FREEDOM and found.effective < NOTED_SHARE * samples
    return [Diagnosis.HEAVY_TAILS(**values)] if heavy else []
