"""One curve: the change of the output along a motion and along its controls, and its curvature at the start."""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.discovery.verification.measure import (
    OUTPUT_UNITS,
    Directions,
    Question,
    changes,
    there_and_back,
)
from liegg.discovery.verification.orbits import Orbit, grid
from liegg.discovery.verification.selected_times import Followed, Profile, follow_selected
from liegg.results.verification import Curvature, Curve

FIRST_STEP = 0.4
"""Largest step of a difference, as motion in multiples of the data's spread."""

STEP_RATIO = 4.0
"""Each step over the next."""

SIGNIFICANT = 3.0
"""Standard errors beyond which two values differ, and a slope is not zero."""


def curve(
    question: Question,
    motions: Directions,
    controls: Directions | Profile,
    orbit: Orbit,
    *,
    points: int,
    fraction: float,
    curvature: Curvature | None = None,
) -> Curve:
    """Follow motions and controls over the same times; several motions are averaged.

    Args:
        question: the model and its samples.
        motions: the motions in question, of one speed.
        controls: random motions of the same speed; if they were measured before, the motions are
            followed at selected times too.
        orbit: how far to go.
        points: number of times.
        fraction: `r` up to which a motion holds.
        curvature: stored with the curve.
    """
    times, ways = grid(orbit.longest, points), orbit.both_ways
    if isinstance(controls, Profile):
        found = follow_selected(question, motions, times, both_ways=ways, fraction=fraction)
    else:
        found = _follow_all_times(question, motions, times, both_ways=ways)
        controls = Profile(times, follow(question, controls, times, both_ways=ways))
    change, classes = found.values
    other, other_classes = controls.at(found.times)
    radii = torch.tensor(
        [min(radius(controls.times, each, fraction), orbit.longest) for each in controls.values[0]],
        dtype=torch.float64,
    )
    return Curve(
        times=found.times,
        change=change,
        control_mean=other.mean(0),
        control_low=other.amin(0),
        control_high=other.amax(0),
        class_changes=classes if question.has_classes else None,
        control_class_changes=other_classes.mean(0) if question.has_classes else None,
        resampling=found.resampling,
        period=orbit.period,
        both_ways=ways,
        speed=orbit.speed / question.spread,
        radius=radius(found.times, change, fraction),
        control_radius=float(radii.quantile(0.5)),
        curvature=curvature,
    )


def _follow_all_times(
    question: Question, motions: Directions, times: Float[Tensor, " t"], *, both_ways: bool
) -> Followed:
    """Follow motions at all times; several are averaged."""
    resampling = None
    if question.resamples:
        error = there_and_back(question, motions.along(_signed(times, both_ways=both_ways)))
        error = error.cpu() / question.variance
        resampling = error.reshape(len(motions.h), -1, len(times)).amax(1).mean(0)
    values = follow(question, motions, times, both_ways=both_ways)
    return Followed(times, values.mean(1), resampling)


def follow(
    question: Question, motions: Directions, times: Float[Tensor, " t"], *, both_ways: bool
) -> Float[Tensor, "2 m t"]:
    """`changes` under every motion at every time; of both senses the larger."""
    values = changes(question, motions.along(_signed(times, both_ways=both_ways)))
    return values.reshape(2, len(motions.h), -1, len(times)).amax(2)


def radius(times: Float[Tensor, " t"], change: Float[Tensor, " t"], fraction: float) -> float:
    """Time up to which a change stays at or below a fraction; the last time if it does throughout.

    Between two times the root of the change is interpolated linearly, which is exact at the start.

    >>> t = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    >>> radius(t, 0.04 * t**2, 0.25)
    2.5
    >>> radius(t, 0.01 * t**2, 0.25)
    3.0
    """
    above = (change > fraction).nonzero()
    if not len(above):
        return float(times[-1])
    first = int(above[0])
    start, low = (float(times[first - 1]), float(change[first - 1])) if first else (0.0, 0.0)
    end, high = float(times[first]), float(change[first])
    if high == torch.inf:
        return start
    return start + (end - start) * (fraction**0.5 - low**0.5) / (high**0.5 - low**0.5)


def _signed(times: Float[Tensor, " t"], *, both_ways: bool) -> Float[Tensor, " s"]:
    return torch.cat([times, -times]) if both_ways else times


def curvature(
    question: Question,
    direction: Directions,
    time: float,
    *,
    predicted: float | None = None,
    predicted_floor: float = 0.0,
    analysed: int | None = None,
) -> Curvature:
    r"""Curvature of $r(t)$ at 0, $\mathrm{mean}\,|g'(0)|^2/\mathrm{var} f$ for $g(t) = f(e^{th}x) - e^{tk}f(x)$, by differences.

    Central differences are taken for a row of steps, each a quarter of the one before, and two
    neighbours are combined to fourth order (Richardson). Large steps suffer from higher orders,
    small ones from rounding: the combination that differs least from the one before is used, and
    that difference is the numerical error.

    Args:
        question: the model and its samples.
        direction: one motion.
        time: time in which the samples, at their initial speed, move as far as they are spread.
        predicted: $h^\top A h$ of the analysis; None if there is none to compare.
        predicted_floor: part of it that may be rounding.
        analysed: number of samples of the analysis.

    Returns:
        Measured and predicted curvature, over the variance of the output.
    """
    eps = question.eps
    steps = [
        time * FIRST_STEP / STEP_RATIO**i
        for i in range(16)
        if i < 3 or FIRST_STEP / STEP_RATIO**i >= eps ** (1 / 3)
    ]
    slopes, gaps = _squares(question, direction, torch.tensor(steps, dtype=torch.float64))
    best = int(gaps.mean(1).nan_to_num(nan=torch.inf).argmin())
    squares = slopes[best + 1]
    measured, gap = float(squares.mean()), float(gaps[best].mean().sqrt())
    numerical = 2 * measured**0.5 * gap + gap**2
    rounding = (OUTPUT_UNITS * eps / steps[best + 2]) ** 2 * question.output_square
    # Steps that agree better than the bound on rounding are the better measure of it.
    floor = min(rounding, (SIGNIFICANT * gap) ** 2)
    share = 1 / len(squares) + (1 / analysed if analysed else 0.0)
    scatter = float(squares.std()) * share**0.5
    over = question.variance
    found = Curvature(measured / over, scatter / over, numerical / over, floor / over)
    if predicted is None:
        return found
    allowed = SIGNIFICANT * scatter + numerical + floor + predicted_floor
    distinct = measured > floor and predicted > predicted_floor
    return replace(
        found,
        predicted=predicted / over,
        ratio=measured / predicted if distinct else None,
        agrees=abs(measured - predicted) <= allowed,
    )


def _squares(
    question: Question, direction: Directions, steps: Float[Tensor, " s"]
) -> tuple[Float[Tensor, "p n"], Float[Tensor, "q n"]]:
    """Squared slopes per sample for each pair of steps, and squared differences between pairs."""
    there = direction.along(torch.cat([steps, -steps]))
    slopes, gaps = [], []
    for part in question.parts:
        off = question.outputs(there.h, part) - question.targets(there.k, part)
        forth, back = off.chunk(2)
        plain = (forth - back) / (2 * steps.to(off)[:, None, None])
        better = (STEP_RATIO**2 * plain[1:] - plain[:-1]) / (STEP_RATIO**2 - 1)
        slopes.append(better.square().sum(2))
        gaps.append(better.diff(dim=0).square().sum(2))
    return torch.cat(slopes, dim=1).cpu(), torch.cat(gaps, dim=1).cpu()
