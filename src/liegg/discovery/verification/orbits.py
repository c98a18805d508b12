"""How far a motion is followed: once around where it comes back, else as far as the data is wide."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.discovery.verification.measure import Question

CLOSED = 0.01
"""Distance from the start, in multiples of the data's spread, below which a motion has come back."""

NEARLY = 0.25
"""The same for a motion that nearly comes back, such as a learned rotation that also grows a little."""

MOST_TURNS = 12
"""Turns of the fastest rotation after which several rotations may first come back together: more, a grid does not resolve."""

FEW_TURNS = 4
"""The same for motions that come back nearly: after many turns something nearly always does."""

SLOWEST = 1e-3
"""Share of a generator's size below which a frequency is taken for rounding; nilpotent matrices show such."""

NUDGE = 1e-4
"""Motion from which the speed is taken, per size of the generator: its square is below what the speed is used for."""


@dataclass(frozen=True)
class Orbit:
    """How far to follow a motion.

    Attributes:
        speed: root mean square motion of the samples per unit of time at the start; 0 for a motion that moves nothing.
        longest: the last time.
        period: time after which the samples are back, or nearly; None if they do not come back.
        both_ways: whether the other sense is something else: it is not for a motion that closes.
        note: what is out of the ordinary; empty if nothing is.
    """

    speed: float
    longest: float
    period: float | None
    both_ways: bool
    note: str = ""


def orbit(question: Question, h: Float[Tensor, " g"], *, longest: float | None = None) -> Orbit:
    r"""How far to follow the motion $e^{th}$ of the samples.

    Periods are sought among the multiples of $2\pi/\omega$ for the fastest frequency $\omega$ of the generator: the first that
    brings the samples back. Rotations of incommensurable frequencies are followed for one turn of the slowest. Any other motion
    is followed until the samples, at the speed they start with, have gone as far as they are spread.

    Args:
        question: the samples.
        h: coefficients of the generator.
        longest: how far to go instead, in multiples of the data's spread at the speed of the start.
    """
    matrix = question.action.matrices(h[None])[0].double()
    size = float(torch.linalg.matrix_norm(matrix))
    if not size > 0:
        return Orbit(0.0, 0.0, None, both_ways=True)
    step = NUDGE / size
    speed = question.distance(step * h, -step * h) / (2 * step)
    if not speed > 0:
        return Orbit(0.0, 0.0, None, both_ways=True)
    period, gap = _period(question, h, matrix, size)
    closed = gap <= CLOSED
    note = (
        f"comes back only nearly, to {gap:.0%} of the data's spread"
        if period is not None and not closed
        else ""
    )
    if longest is not None:
        return Orbit(
            speed, longest * question.spread / speed, period, both_ways=not closed, note=note
        )
    if period is not None:
        return Orbit(speed, period, period, both_ways=not closed, note=note)
    slow = _slow_turn(question, h, matrix, size)
    if slow is not None:
        note = "rotations that never come back together, followed for one turn of the slowest"
        return Orbit(
            speed, slow, None, both_ways=True, note=f"{note}, at most {MOST_TURNS} of the fastest"
        )
    return Orbit(speed, question.spread / speed, None, both_ways=True)


def grid(longest: float, points: int) -> Float[Tensor, " t"]:
    """Times up to the longest: a third of them small, in a geometric row, to resolve the start; the others equally far apart.

    >>> [round(t, 4) for t in grid(1.0, 6).tolist()]
    [0.001, 0.0158, 0.25, 0.5, 0.75, 1.0]
    """
    small = (points + 2) // 3
    even = points - small
    row = torch.linspace(math.log(1e-3), -math.log(even), small + 1, dtype=torch.float64)[:-1].exp()
    return longest * torch.cat([row, torch.arange(1, even + 1, dtype=torch.float64) / even])


def _period(
    question: Question, h: Float[Tensor, " g"], matrix: Float[Tensor, "n n"], size: float
) -> tuple[float | None, float]:
    """First time at which the samples are back, or nearly, and how far from the start they are then."""
    values = torch.linalg.eigvals(matrix)
    fastest = float(values.imag.abs().max())
    nearly: tuple[float | None, float] = (None, math.inf)
    if fastest <= SLOWEST * size:
        return nearly
    for turns in range(1, MOST_TURNS + 1):
        time = 2 * math.pi * turns / fastest
        if (
            float(((values * time).exp() - 1).abs().max()) > 2 * NEARLY
        ):  # cheaper than moving the samples
            continue
        gap = question.distance(time * h) / question.spread
        if gap <= CLOSED:
            return time, gap
        if gap <= NEARLY and turns <= FEW_TURNS and nearly[0] is None:
            nearly = time, gap
    return nearly


def _slow_turn(
    question: Question, h: Float[Tensor, " g"], matrix: Float[Tensor, "n n"], size: float
) -> float | None:
    """One turn of the slowest of several rotations; None for motions that also carry the samples away."""
    values = torch.linalg.eigvals(matrix)
    speeds = values.imag.abs()[values.imag.abs() > SLOWEST * size]
    if not len(speeds) or float(values.real.abs().max()) > CLOSED * float(speeds.max()):
        return None
    time = 2 * math.pi * min(1 / float(speeds.min()), MOST_TURNS / float(speeds.max()))
    size_of_data = float(question.x.double().flatten(1).square().sum(1).mean().sqrt())
    return time if question.distance(time * h) <= 2 * size_of_data else None
