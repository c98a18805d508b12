"""The start of a curve: its curvature by small finite motions, compared with the derivatives."""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.discovery.verification.measure import ROUNDING, Directions, Question
from liegg.results.verification import Curvature

FIRST_STEP = 0.4
"""Largest step of a difference, as motion in multiples of the data's spread."""

STEP_RATIO = 4.0
"""Each step over the next."""

SIGNIFICANT = 3.0
"""Standard errors beyond which two values differ, and a slope is not zero."""


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
    rounding = (ROUNDING * eps / steps[best + 2]) ** 2 * question.output_square
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
