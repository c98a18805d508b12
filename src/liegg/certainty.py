"""Stage 7', certainty: intervals for the defects, the number of symmetries and the angle of their span, from the blocks."""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action, Displacement
from liegg.blocks import FEWEST, Parts
from liegg.defect import Defects, whitening
from liegg.grades import Evidence, Limits, counts
from liegg.gram import Gram
from liegg.resample import APART, DRAWS, REPLICATES, SOLVED, Moments, Replicates, drawn, interval, replicate, turning


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
        moments: what the blocks say of the directions that lie above the floor.
        lengths: mean squared change of the output per squared motion along each of these.
        sensitivity: mean sensitivity κ.
        weights: how often each block was drawn.
        first: number of directions at the floor, which have no sampling error.
        directions: coefficients of the solved directions, of unit motion.
    """

    moments: Moments
    lengths: Float[Tensor, " r"]
    sensitivity: float
    weights: Float[Tensor, "d p"]
    first: int
    directions: Float[Tensor, "k g"]

    def bounds(self, *, level: float) -> Float[Tensor, "r 2"]:
        """Interval of every defect; of those at the floor NaN."""
        above = interval(self.moments, self.lengths, self.sensitivity, self.weights, level=level)
        return torch.cat([above.new_full((self.first, 2), torch.nan), above * (self.lengths / self.sensitivity)[:, None]])

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
    draws: int = DRAWS,
) -> Resampled | None:
    """Solve the problem again for draws of the blocks; None where there are too few blocks, or nothing to solve.

    Args:
        parts: rows and moments of the blocks, of the wide action, after the columns of the output action.
        solved: the solution for all the data.
        action: the candidate generators.
        partner: output coefficients that go with each input coefficient, held fixed: they are the best, so to first order they
            make no difference; None for invariance.
        whole: the action whose rows were taken, whose mean sensitivity is the unit; and its displacement.
        floor: defect below which a direction is exact.
        trivial_tolerance: as for `liegg.defect.defects`.
        seed: of the draws.
        draws: number of draws.
    """
    first = int((solved.values <= floor).sum())
    if len(parts.samples) < FEWEST or solved.sensitivity <= 0 or first == len(solved.values):
        return None
    moments, directions = block_moments(parts, solved, first, action, partner, whole, trivial_tolerance=trivial_tolerance)
    lengths = solved.values[first:] * solved.sensitivity
    weights = drawn(len(parts.samples), draws, seed)
    return Resampled(moments, lengths, solved.sensitivity, weights, first, directions[moments.solved])


def block_moments(
    parts: Parts,
    solved: Defects,
    first: int,
    action: Action,
    partner: Float[Tensor, "m g"] | None,
    whole: tuple[Action, Displacement],
    *,
    trivial_tolerance: float,
) -> tuple[Moments, Float[Tensor, "r g"]]:
    """What the blocks say of the directions from `first` on; and those directions, scaled to unit motion."""
    samples = torch.tensor(parts.samples, dtype=torch.float64)
    wide, displacement = whole
    inner = torch.stack([action.displacement(moment, 1).block for moment in parts.moments])
    directions = solved.directions[first:]
    directions = directions / _motion(inner, directions).sum(0).div(samples.sum()).sqrt()[:, None]
    basis = directions if wide is action else directions @ action.basis.to(directions)  # pyright: ignore[reportAttributeAccessIssue]
    columns = basis.mT if partner is None else torch.cat([partner @ directions.mT, basis.mT])
    skip = int((solved.values[first:] <= APART).sum())
    some = slice(skip, skip + SOLVED)
    changes, change = _changes(parts, columns, some)
    parted = directions[some].unflatten(1, (-1, inner.shape[1]))
    moved = torch.einsum("krs,pst->pkrt", parted, inner).flatten(2)
    return Moments(
        changes, moved @ directions[some].mT, change, _motion(inner, directions),
        _sensitivities(parts, wide, displacement, 0 if partner is None else len(partner), trivial_tolerance), samples, skip,
    ), directions  # fmt: skip


def _changes(parts: Parts, columns: Float[Tensor, "q r"], some: slice) -> tuple[Float[Tensor, "p k k"], Float[Tensor, "p r"]]:
    """Squared change between some directions, and along each, summed over every block."""
    if isinstance(parts.rows[0], Gram):
        applied = _full(parts) @ columns
        return columns[:, some].mT @ applied[:, :, some], (columns * applied).sum(1).clamp_min(0)
    moved = torch.stack([rows.r for rows in parts.rows]) @ columns
    return moved[:, :, some].mT @ moved[:, :, some], moved.square().sum(1)


def _full(parts: Parts) -> Float[Tensor, "p g g"]:
    """Gram matrices of all blocks; both their triangles are true."""
    return torch.stack([rows.matrix for rows in parts.rows if isinstance(rows, Gram)])


def _motion(inner: Float[Tensor, "p s s"], h: Float[Tensor, "r g"]) -> Float[Tensor, "p r"]:
    """Squared motion along directions, summed over every block."""
    parted = h.reshape(len(h), -1, inner.shape[1])
    products = torch.einsum("krs,krt->kst", parted, parted).flatten(1)
    return inner.flatten(1) @ products.mT


def _sensitivities(
    parts: Parts, wide: Action, displacement: Displacement, replies: int, trivial_tolerance: float
) -> Float[Tensor, " p"]:
    r"""What each block adds to $\kappa = \mathrm{tr}(M^+ A) / \mathrm{rank}\, M$, to first order in its weight; times its samples.

    $\kappa(w) \approx \mathrm{tr}(M^+ A_w) - \mathrm{tr}(M^+ M_w M^+ A) + \mathrm{tr}(M^+ A)$, over the rank.
    """
    whiten, _ = whitening(displacement, trivial_tolerance)
    copies, (side, kept) = displacement.repeat, whiten.shape
    if isinstance(parts.rows[0], Gram):
        blocks = _full(parts).reshape(-1, copies, side, copies, side).diagonal(dim1=1, dim2=3).sum(-1)
        changes = whiten.mT @ blocks @ whiten
    else:
        factors = torch.stack([rows.r for rows in parts.rows])[:, :, replies:]
        moved = factors.reshape(len(factors), -1, side) @ whiten
        changes = moved.mT @ moved
    mean = changes.sum(0) / sum(parts.samples)
    inner = torch.stack([wide.displacement(moment, 1).block for moment in parts.moments])
    motions = whiten.mT @ inner @ whiten
    samples = torch.tensor(parts.samples, dtype=torch.float64)
    each = changes.diagonal(dim1=1, dim2=2).sum(1) - (motions * mean).sum((1, 2)) + samples * float(mean.trace())
    return each / (copies * kept)


def certainty(found: Resampled, case: Evidence, nullity: int, limits: Limits) -> Certainty:
    """Intervals of the number of symmetries and of the angle of their span.

    Args:
        found: the draws.
        case: the defects found.
        nullity: number of symmetries found.
        limits: what counts as one.
    """
    logs = found.replicates.logs
    shifted = case.values[found.first :] * (-logs).exp()  # a draw errs from what was found as that does from the truth
    at_floor = case.values[: found.first].expand(len(logs), -1)
    spectra = torch.cat([at_floor, shifted.sort(dim=1).values], dim=1)
    numbers = counts(spectra, spectra, spectra, case.floor, limits).double()
    ends = numbers.quantile(torch.tensor([0.5 - limits.level / 2, 0.5 + limits.level / 2], dtype=torch.float64))
    last = min(max(max(nullity, 1) - found.first - found.moments.skip, 0), len(found.directions))
    return Certainty(
        (min(int(ends[0].floor()), nullity), max(int(ends[1].ceil()), nullity)), float((numbers == nullity).double().mean()),
        turning(found.replicates, found.directions, 0, last, level=limits.level), limits.level, found.replicates.blocks, len(logs),
    )  # fmt: skip
