"""Curves of large samples: motions are measured at selected times, random directions once for all curves."""

import math
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg.discovery.verification.measure import Directions, Question, changes, there_and_back

Effort = Literal["auto", "full"]

SELECTED_TIMES_SIZE = 512
"""Numbers per sample from which on motions are measured at selected times: images of 23 x 23 pixels."""

SKIP = 3
"""Every third time of a motion is measured first. It does not divide 16, so that rotations are not
measured at right angles alone, where no pixel is interpolated."""

PROFILE_POINTS, PROFILE_SKIP, PROFILE_START = 13, 4, 0.02
"""Times of random directions, which of them are measured first, and the first as a share of the end
of the shortest curve: before it the change is quadratic."""

PROFILE_EVALUATIONS = PROFILE_POINTS // PROFILE_SKIP + 3
"""Times of a random direction that are measured at most: the first, and two by bisection."""

MIN_SHARE, MAX_SHARES = 16, 8
"""Samples that a random direction moves at least, and shares into which samples are divided at most."""


def at_selected_times(question: Question, effort: Effort) -> bool:
    """Whether motions are measured at selected times: for large or structured samples, unless all were asked for."""
    large = question.x[0].numel() >= SELECTED_TIMES_SIZE or question.action.structure is not None
    return effort == "auto" and large


def shares(samples: int) -> int:
    """Number of shares of the samples: each random direction moves one, all directions together all.

    >>> [shares(count) for count in (10, 16, 256)]
    [1, 1, 8]
    """
    return max(1, min(MAX_SHARES, samples // MIN_SHARE))


class Profile(NamedTuple):
    """Change of the output along random directions, interpolated between measured times.

    They are followed in one sense: the other sense of a random direction is as random.

    Attributes:
        times: ascending.
        values: `changes` of each direction at each time.
    """

    times: Float[Tensor, " t"]
    values: Float[Tensor, "2 m t"]

    def reaches(self, end: float) -> bool:
        """Whether it was measured that far, up to a tenth."""
        return end <= 1.1 * float(self.times[-1])

    def scaled(self, by: float) -> "Profile":
        """The same directions, each times a number."""
        return self._replace(times=self.times / by)

    def at(self, times: Float[Tensor, " t"]) -> Float[Tensor, "2 m t"]:
        """`changes` of each direction at other times."""
        return between(self.times, self.values, times)


def between(
    known: Float[Tensor, " k"], values: Float[Tensor, "*m k"], times: Float[Tensor, " t"]
) -> Float[Tensor, "*m t"]:
    """Values at other times: their root is interpolated linearly, from 0 at the start, constant beyond the end.

    >>> t = torch.tensor([1.0, 3.0], dtype=torch.float64)
    >>> between(t, t[None] ** 2, torch.tensor([0.5, 2.0, 4.0], dtype=torch.float64)).tolist()
    [[0.25, 4.0, 9.0]]
    """
    known = torch.cat([known.new_zeros(1), known])
    roots = torch.nn.functional.pad(values.sqrt(), (1, 0))
    inside = times.clamp(max=float(known[-1])).contiguous()
    right = torch.searchsorted(known, inside).clamp(1, len(known) - 1)
    weight = (inside - known[right - 1]) / (known[right] - known[right - 1])
    low, high = roots[..., right - 1], roots[..., right]
    # Infinite from the first infinite value on, where 0 times infinity is NaN.
    root = torch.where(weight == 1, high, low + weight * (high - low))
    return root.square().nan_to_num(nan=torch.inf, posinf=torch.inf)


def measure_shares(
    question: Question, motions: Directions, owners: list[int], of: int
) -> Float[Tensor, "2 m"]:
    """As `changes`, where each motion moves the share of the samples of its owner."""
    values = torch.zeros(2, len(motions.h), dtype=torch.float64)
    for which in range(of):
        rows = [i for i, owner in enumerate(owners) if owner % of == which]
        if rows:
            values[:, rows] = changes(question.share(which, of), motions.rows(rows))
    return values


def profile(
    question: Question, directions: Directions, ends: tuple[float, float], *, fraction: float
) -> Profile:
    """Follow random directions, each on a share of the samples.

    Every fourth time is measured, then the times around the first at which a direction exceeds the
    fraction, by bisection.

    Args:
        question: the model and its samples.
        directions: the directions.
        ends: times at which the shortest and the longest curve end.
        fraction: `r` up to which a motion holds.
    """
    start, end = math.log(PROFILE_START * ends[0]), math.log(ends[1])
    times = torch.linspace(start, end, PROFILE_POINTS, dtype=torch.float64).exp()
    values = torch.full((2, len(directions.h), PROFILE_POINTS), torch.nan, dtype=torch.float64)
    known = torch.zeros(values.shape[1:], dtype=torch.bool)
    wanted = known.clone()
    wanted[:, (PROFILE_POINTS - 1) % PROFILE_SKIP :: PROFILE_SKIP] = True
    while bool(wanted.any()):
        rows, columns = wanted.nonzero().unbind(1)
        there = directions.rows(rows).along(times[columns][:, None])
        of = shares(len(question.x))
        values[:, rows, columns] = measure_shares(question, there, rows.tolist(), of)
        known = known | wanted
        wanted = _middles(known, values[0], fraction)
    pairs = enumerate(known)
    filled = [between(times[some], values[:, row, some], times) for row, some in pairs]
    return Profile(times, torch.stack(filled, dim=1))


def _middles(
    known: Bool[Tensor, "m t"], change: Float[Tensor, "m t"], fraction: float
) -> Bool[Tensor, "m t"]:
    """Of each motion the time halfway between the first known change above the fraction and the one before."""
    wanted = torch.zeros_like(known)
    for row, (measured, values) in enumerate(zip(known, change, strict=True)):
        columns = measured.nonzero()[:, 0].tolist()
        first = next((i for i, c in enumerate(columns) if float(values[c]) > fraction), None)
        if first is not None:
            before = columns[first - 1] if first else -1
            middle = (before + columns[first]) // 2
            wanted[row, middle] = before < middle < columns[first]
    return wanted


class Followed(NamedTuple):
    """What a motion does to the output, the mean of several motions.

    Attributes:
        times: ascending, all measured.
        values: `changes`, of both senses the larger.
        resampling: half of what moving there and back changes; None if nothing interpolates.
    """

    times: Float[Tensor, " t"]
    values: Float[Tensor, "2 t"]
    resampling: Float[Tensor, " t"] | None


def follow_selected(
    question: Question,
    motions: Directions,
    times: Float[Tensor, " t"],
    *,
    both_ways: bool,
    fraction: float,
) -> Followed:
    """Follow motions up to where they fail, and beyond at every third time.

    All times are measured up to the first change above the fraction, except some of the small ones
    at the start, where the change is quadratic; so radius and verdict are those of all times. Of
    several motions, each moves a share of the samples, such that two motions move every sample.
    """
    count = len(motions.h)
    of = max(1, min(count // 2, len(question.x)))
    signs = torch.tensor([1.0, -1.0] if both_ways else [1.0], dtype=torch.float64)
    small = (len(times) + 2) // 3  # see `grid`
    known = torch.zeros(len(times), dtype=torch.bool)
    wanted = known.clone()
    wanted[(len(times) - 1) % SKIP :: SKIP] = True
    first_columns = wanted
    values = torch.full((2, len(times)), torch.nan, dtype=torch.float64)
    while bool(wanted.any()):
        there = motions.along((signs[:, None] * times[wanted]).flatten())
        owners = [i for i in range(count) for _ in range(len(there.h) // count)]
        found = measure_shares(question, there, owners, of).reshape(2, count, len(signs), -1)
        values[:, wanted] = found.amax(2).mean(1)
        known = known | wanted
        wanted = _before_failure(known, values[0], small, fraction)
    resampling = None
    if question.resamples:
        columns = first_columns & (torch.arange(len(times)) >= small - 1)
        resampling = _resampling(question, motions, times[columns], of)
        resampling = between(times[columns], resampling[None], times[known])[0]
    return Followed(times[known], values[:, known], resampling)


def _before_failure(
    known: Bool[Tensor, " t"], change: Float[Tensor, " t"], small: int, fraction: float
) -> Bool[Tensor, " t"]:
    """Times not yet measured before the first change above the fraction; of the small ones, only its neighbours."""
    columns = torch.arange(len(known))
    failed = (known & (change > fraction)).nonzero()[:, 0]
    end = int(failed[0]) if len(failed) else len(known)
    measured = (known & (columns < end)).nonzero()[:, 0]
    before = int(measured[-1]) if len(measured) else -1
    return ~known & (columns < end) & ((columns >= small) | (columns > before))


def _resampling(
    question: Question, motions: Directions, times: Float[Tensor, " t"], of: int
) -> Float[Tensor, " t"]:
    """What moving there and back changes, mean over one motion per share of the samples.

    In one sense, as both do nearly the same.
    """
    error = torch.zeros(len(times), dtype=torch.float64)
    for i in range(of):
        part = question.share(i, of)
        error += there_and_back(part, motions.rows(slice(i, i + 1)).along(times)).cpu()
    return error / (of * question.variance)
