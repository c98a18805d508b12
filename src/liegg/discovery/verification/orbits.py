"""How far a motion is followed: over one period if it has one, else as far as the data is wide."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Complex, Float
from torch import Tensor

from liegg.actions import MatrixAction
from liegg.discovery.verification.measure import Question

CLOSED = 0.01
"""Distance from the start, in multiples of the data's spread, below which a motion is closed."""

NEARLY_CLOSED = 0.25
"""The same for a motion that nearly closes, such as a learned rotation that also grows a little."""

MAX_TURNS = 12
"""Turns of the fastest rotation after which several rotations may first return together.

A grid of times does not resolve more."""

MAX_NEAR_TURNS = 4
"""The same for motions that nearly close: after many turns some motion nearly always does."""

MIN_FREQUENCY = 1e-3
"""Share of a generator's size below which a frequency is rounding, as nilpotent matrices have."""

STEP = 1e-4
"""Motion that measures the speed, per size of the generator: its square is negligible."""


@dataclass(frozen=True)
class Orbit:
    """How far to follow a motion.

    Attributes:
        speed: root mean square motion of the samples per unit of time at the start; 0 if they stay.
        longest: the last time.
        period: time after which the samples are back, or nearly; None if they do not return.
        both_ways: whether to follow `-t` too; a closed motion needs only one sense.
        gap: distance from the start after one period, in multiples of the data's spread.
        slow: whether it was followed for one turn of the slowest of several rotations.
    """

    speed: float
    longest: float
    period: float | None = None
    both_ways: bool = True
    gap: float = 0.0
    slow: bool = False


def orbit(question: Question, h: Float[Tensor, " g"], *, longest: float | None = None) -> Orbit:
    r"""How far to follow the motion $e^{th}$ of the samples.

    A period is a multiple of $2\pi/\omega$ for the fastest frequency $\omega$ of the generator's
    matrix: the first that brings the samples back. Rotations of incommensurable frequencies are
    followed for one turn of the slowest. Any other motion, and any motion without a matrix, is
    followed until the samples, at their initial speed, have moved as far as they are spread.

    Args:
        question: the samples.
        h: coefficients of the generator.
        longest: last time instead, in multiples of the data's spread at the initial speed.
    """
    action = question.action
    matrix = action.matrices(h[None])[0].double() if isinstance(action, MatrixAction) else None
    size = float((h if matrix is None else matrix).norm())
    speed = (
        question.distance(STEP / size * h, -STEP / size * h) * size / (2 * STEP) if size else 0.0
    )
    if not speed > 0:
        return Orbit(0.0, 0.0)
    rates = None if matrix is None else torch.linalg.eigvals(matrix)
    fast = rates is not None and float(rates.imag.abs().max()) > MIN_FREQUENCY * size
    period, gap = _period(question, h, rates) if rates is not None and fast else (None, 0.0)
    both_ways = period is None or gap > CLOSED
    spread = question.spread / speed
    if longest is not None or period is not None:
        end = longest * spread if longest is not None else period or 0.0
        return Orbit(speed, end, period, both_ways=both_ways, gap=gap)
    turn = _slow_turn(question, h, rates, size) if rates is not None and fast else None
    return Orbit(speed, spread if turn is None else turn, slow=turn is not None)


def grid(longest: float, points: int) -> Float[Tensor, " t"]:
    """Times up to the longest: a third in a small geometric row to resolve the start, then even.

    >>> [round(t, 4) for t in grid(1.0, 6).tolist()]
    [0.001, 0.0158, 0.25, 0.5, 0.75, 1.0]
    """
    small = (points + 2) // 3
    even = points - small
    row = torch.linspace(math.log(1e-3), -math.log(even), small + 1, dtype=torch.float64)[:-1].exp()
    return longest * torch.cat([row, torch.arange(1, even + 1, dtype=torch.float64) / even])


def _period(
    question: Question, h: Float[Tensor, " g"], rates: Complex[Tensor, " n"]
) -> tuple[float | None, float]:
    """First time at which the samples are back, or nearly, and how far from the start they are."""
    nearly: tuple[float | None, float] = (None, 0.0)
    for turns in range(1, MAX_TURNS + 1):
        time = 2 * math.pi * turns / float(rates.imag.abs().max())
        if float(((rates * time).exp() - 1).abs().max()) > 2 * NEARLY_CLOSED:
            continue  # cheaper than moving the samples
        gap = question.distance(time * h) / question.spread
        if gap <= CLOSED:
            return time, gap
        if gap <= NEARLY_CLOSED and turns <= MAX_NEAR_TURNS and nearly[0] is None:
            nearly = time, gap
    return nearly


def _slow_turn(
    question: Question, h: Float[Tensor, " g"], rates: Complex[Tensor, " n"], size: float
) -> float | None:
    """One turn of the slowest of several rotations; None for motions that also drift."""
    speeds = rates.imag.abs()[rates.imag.abs() > MIN_FREQUENCY * size]
    if float(rates.real.abs().max()) > CLOSED * float(speeds.max()):
        return None
    time = 2 * math.pi * min(1 / float(speeds.min()), MAX_TURNS / float(speeds.max()))
    data_size = float(question.x.double().flatten(1).square().sum(1).mean().sqrt())
    return time if question.distance(time * h) <= 2 * data_size else None
