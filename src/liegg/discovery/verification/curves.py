"""One curve: the change of the output along a motion and along its controls."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.discovery.verification.measure import Directions, Question, changes, there_and_back
from liegg.discovery.verification.orbits import Orbit, grid
from liegg.results.verification import Curvature, Curve


class MeanChanges(NamedTuple):
    """Mean change of the output along motions, over a grid of times.

    Attributes:
        change: `r(t)` of every motion.
        classes: share of samples in another class; None if there are no classes.
    """

    change: Float[Tensor, "m t"]
    classes: Float[Tensor, "m t"] | None


def curve(
    question: Question,
    motions: Directions,
    controls: Directions,
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
        controls: random motions of the same speed.
        orbit: how far to go.
        points: number of times.
        fraction: `r` up to which a motion holds.
        curvature: stored with the curve.
    """
    times = grid(orbit.longest, points)
    own, other = (
        follow(question, some, times, both_ways=orbit.both_ways) for some in (motions, controls)
    )
    change = own.change.mean(0)
    radii = torch.tensor(
        [radius(times, each, fraction) for each in other.change], dtype=torch.float64
    )
    return Curve(
        times=times,
        change=change,
        control_mean=other.change.mean(0),
        control_low=other.change.amin(0),
        control_high=other.change.amax(0),
        class_changes=None if own.classes is None else own.classes.mean(0),
        control_class_changes=None if other.classes is None else other.classes.mean(0),
        resampling=_resampling(question, motions, times, both_ways=orbit.both_ways),
        period=orbit.period,
        both_ways=orbit.both_ways,
        speed=orbit.speed / question.spread,
        radius=radius(times, change, fraction),
        control_radius=float(radii.quantile(0.5)),
        curvature=curvature,
    )


def follow(
    question: Question, motions: Directions, times: Float[Tensor, " t"], *, both_ways: bool
) -> MeanChanges:
    """Change of the output under every motion at every time; the larger of both senses."""
    found = changes(question, motions.along(_signed(times, both_ways=both_ways)))
    shape = (len(motions.h), 2 if both_ways else 1, len(times))
    mean = (found.squared.mean(1) / question.variance).cpu().reshape(shape).amax(1)
    if found.classes is None:
        return MeanChanges(mean, None)
    return MeanChanges(mean, found.classes.double().mean(1).cpu().reshape(shape).amax(1))


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


def _resampling(
    question: Question, motions: Directions, times: Float[Tensor, " t"], *, both_ways: bool
) -> Float[Tensor, " t"] | None:
    if not question.resamples:
        return None
    signed = _signed(times, both_ways=both_ways)
    error = there_and_back(question, motions.along(signed)).cpu() / question.variance
    return error.reshape(len(motions.h), -1, len(times)).amax(1).mean(0)


def _signed(times: Float[Tensor, " t"], *, both_ways: bool) -> Float[Tensor, " s"]:
    return torch.cat([times, -times]) if both_ways else times
