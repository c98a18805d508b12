"""Stage 7', certainty: intervals for the defects, the number of symmetries and the angle of their span, from the blocks."""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action, Displacement
from liegg.decision.block_statistics import Pairs, pairs_of
from liegg.decision.bootstrap import (
    DRAWS,
    REPLICATES,
    SOLVED,
    Moments,
    Replicates,
    drawn,
    interval,
    replicate,
    turning,
)
from liegg.decision.grades import Evidence, Thresholds, counts
from liegg.polarization.sample_blocks import FEWEST, Parts
from liegg.spectrum.defects import Defects


@dataclass(frozen=True, eq=False)
class Certainty:
    """How sure the answer is, as far as the samples tell.

    Attributes:
        nullity: interval of the number of symmetries.
        support: share of the draws that find the same number.
        angle: in radians, what the found directions turn by at most, in a share `level` of the draws; if none was found, what the
            direction of smallest defect does.
        level: nominal coverage.
        blocks: number of blocks of samples.
        draws: number of draws of them.
    """

    nullity: tuple[int, int]
    support: float
    angle: float
    level: float
    blocks: int
    draws: int


@dataclass(frozen=True, eq=False)
class Resampled:
    """Draws of blocks with the solution that they belong to.

    Attributes:
        pairs: what the blocks say of any direction.
        moments: what they say of the directions that lie above the floor.
        lengths: mean squared change of the output per squared motion along each of these.
        sensitivity: mean sensitivity κ.
        weights: how often each block was drawn.
        first: number of directions at the floor, which have no sampling error.
        directions: coefficients of the solved directions, of unit motion.
    """

    pairs: Pairs
    moments: Moments
    lengths: Float[Tensor, " r"]
    sensitivity: float
    weights: Float[Tensor, "d p"]
    first: int
    directions: Float[Tensor, "k g"]

    def bounds(self, *, level: float) -> Float[Tensor, "r 2"]:
        """Interval of every defect; of those at the floor NaN."""
        above = interval(self.moments, self.lengths, self.sensitivity, self.weights, level=level)
        return torch.cat(
            [
                above.new_full((self.first, 2), torch.nan),
                above * (self.lengths / self.sensitivity)[:, None],
            ]
        )

    def along(
        self, h: Float[Tensor, "d g"], values: Float[Tensor, " d"], *, floor: float, level: float
    ) -> Float[Tensor, "d 2"]:
        """Interval of the defects of directions that were not chosen from this data: a ratio of means over the blocks.

        Args:
            h: coefficients of the directions.
            values: their defects.
            floor: defect below which a direction is exact, and has no interval: NaN.
            level: nominal coverage.
        """
        ends = values.new_full((len(h), 2), torch.nan)
        above = values > floor
        if not bool(above.any()):
            return ends
        h, values = h[above], values[above]
        change, none = self.pairs.change(h, slice(0))
        fixed = Moments(
            none, none, change, self.pairs.motion(h), self.pairs.total, self.pairs.samples
        )
        relative = interval(
            fixed, values * self.sensitivity, self.sensitivity, self.weights, level=level
        )
        ends[above] = relative * values[:, None]
        return ends

    @cached_property
    def replicates(self) -> Replicates:
        """The problem solved again for every draw."""
        return replicate(self.moments, self.lengths, self.sensitivity, self.weights[:REPLICATES])


def resampled(
    parts: Parts,
    solved: Defects,
    action: Action,
    partner: Float[Tensor, "m g"] | None,
    whole: tuple[Action, Displacement],
    *,
    floor: float,
    trivial_tolerance: float,
    seed: int,
) -> Resampled | None:
    """Solve the problem again for draws of the blocks; None where there are too few blocks, or nothing to solve.

    Args:
        parts: rows and moments of the blocks, of the wide action, after the columns of the output action.
        solved: the solution for all the data.
        action: the candidate generators.
        partner: output coefficients that go with each input coefficient, held fixed; None for invariance.
        whole: the action whose rows were taken, whose mean sensitivity is the unit; and its displacement.
        floor: defect below which a direction is exact.
        trivial_tolerance: as for `liegg.spectrum.defects.defects`.
        seed: of the draws.
    """
    if (
        len(parts.samples) < FEWEST
        or solved.sensitivity <= 0
        or not bool((solved.values > floor).any())
    ):
        return None
    return redrawn(
        pairs_of(parts, action, partner, whole, trivial_tolerance=trivial_tolerance),
        solved,
        floor=floor,
        seed=seed,
    )


def redrawn(pairs: Pairs, solved: Defects, *, floor: float, seed: int) -> Resampled:
    """Draws of given blocks: the same for the same seed, so that a stored result has them again from its blocks alone.

    Args:
        pairs: what the blocks say.
        solved: the solution for all the data, with some direction above the floor.
        floor: defect below which a direction is exact.
        seed: of the draws.
    """
    first = int((solved.values <= floor).sum())
    directions = solved.directions[first:]
    directions = (
        directions / pairs.motion(directions).sum(0).div(pairs.samples.sum()).sqrt()[:, None]
    )
    some = slice(SOLVED)
    change, changes = pairs.change(directions, some)
    motions = pairs.motion_between(directions[some])
    moments = Moments(
        changes, motions, change, pairs.motion(directions), pairs.total, pairs.samples
    )
    lengths, weights = (
        solved.values[first:] * solved.sensitivity,
        drawn(len(pairs.samples), DRAWS, seed),
    )
    return Resampled(pairs, moments, lengths, solved.sensitivity, weights, first, directions[some])


def certainty(found: Resampled, case: Evidence, nullity: int, thresholds: Thresholds) -> Certainty:
    """Intervals of the number of symmetries and of the angle of their span.

    Args:
        found: the draws.
        case: the defects found.
        nullity: number of symmetries found.
        thresholds: what counts as one.
    """
    logs = found.replicates.logs
    shifted = (
        case.values[found.first :] * (-logs).exp()
    )  # a draw errs from what was found as that does from the truth
    at_floor = case.values[: found.first].expand(len(logs), -1)
    spectra = torch.cat([at_floor, shifted.sort(dim=1).values], dim=1)
    numbers = counts(spectra, spectra, spectra, case.floor, thresholds).double()
    ends = numbers.quantile(
        torch.tensor([0.5 - thresholds.level / 2, 0.5 + thresholds.level / 2], dtype=torch.float64)
    )
    last = min(max(max(nullity, 1) - found.first, 0), len(found.directions))
    return Certainty(
        (min(int(ends[0].floor()), nullity), max(int(ends[1].ceil()), nullity)),
        float((numbers == nullity).double().mean()),
        turning(found.replicates, found.directions, 0, last, level=thresholds.level),
        thresholds.level,
        found.replicates.blocks,
        len(logs),
    )
