"""What finite elements change on held-out samples, beside random maps of equal displacement."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.decision.bootstrap import student_quantile
from liegg.decision.thresholds import Thresholds
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.setting import LARGE_SAMPLE, Setting
from liegg.discovery.verification.measure import Question

JACKKNIFE_BLOCKS = 32
"""Blocks of held-out samples between which intervals are computed."""

FEWEST_BLOCKS = 8
"""Blocks below which there is no interval."""

FEWEST_FREEDOM = 8.0
"""Degrees of freedom at least, where single samples carry the variance: with fewer, intervals for many elements have no end."""

SHUFFLES, LARGE_SHUFFLES = 4, 2
"""Times that displacements are given to other samples; fewer for large samples."""


class Effects(NamedTuple):
    """What elements do to samples and outputs; m elements, n samples.

    Attributes:
        displacement: root mean square motion of the samples, in multiples of their spread.
        change: squared change of every output over the variance; infinite where an output is not finite.
        shuffled: the same for samples displaced by what the element does to another sample, mean over shuffles.
        changed: share of samples for which another class is predicted; None without classes.
    """

    displacement: Float[Tensor, " m"]
    change: Float[Tensor, "m n"]
    shuffled: Float[Tensor, "m n"]
    changed: list[float | None]


def effects(setting: Setting, candidates: Sequence[Candidate]) -> Effects:
    """Move the held-out samples by every element.

    The control displaces every sample by as much as the element moves another sample: equal displacements, without what makes the
    element a symmetry. An element along which the output hardly responds fails against it.

    Args:
        setting: model and samples.
        candidates: elements with what they do to the output.
    """
    question = setting.held_out
    x, n = question.x.double(), len(question.x)
    generator = torch.Generator().manual_seed(setting.seed)
    shuffles = LARGE_SHUFFLES if x[0].numel() >= LARGE_SAMPLE else SHUFFLES
    orders = [torch.randperm(n, generator=generator).to(x.device) for _ in range(shuffles)]
    displacement, changes, controls, changed = [], [], [], []
    for candidate in candidates:
        moved = candidate.apply(x)
        target = candidate.apply_output(setting.shaped(question.y)).reshape(n, -1)
        complete = _replies(question, moved)
        changes.append(_squares(question, complete, target))
        others = [_replies(question, x + (moved - x)[order]) for order in orders]
        controls.append(sum(_squares(question, other, question.y) / shuffles for other in others))
        displacement.append((moved - x).flatten(1).square().sum(1).mean().sqrt().cpu())
        other_class = complete.argmax(1) != question.complete.argmax(1)
        changed.append(float(other_class.double().mean()) if question.has_classes else None)
    return Effects(
        torch.stack(displacement) / question.spread,
        torch.stack(changes) / question.variance,
        torch.stack(controls) / question.variance,
        changed,
    )


def _replies(question: Question, moved: Tensor) -> Float[Tensor, "n k"]:
    return torch.cat([question.reply(moved[part]) for part in question.parts])


def _squares(question: Question, complete: Tensor, target: Tensor) -> Float[Tensor, " n"]:
    """Squared distance of the outputs from their targets; infinite where an output is not finite."""
    gap = question.taken(complete, slice(None)) - target
    return gap.square().sum(1).nan_to_num(nan=torch.inf, posinf=torch.inf).cpu()


class Interval(NamedTuple):
    """A positive number with its interval."""

    value: float
    low: float
    high: float


def mean_interval(values: Float[Tensor, " n"], level: float) -> Interval:
    """Mean of positive numbers with its interval on a logarithmic scale, from a jackknife over blocks."""
    return ratio_interval(values, torch.ones_like(values), level)


def ratio_interval(
    above: Float[Tensor, " n"], below: Float[Tensor, " n"], level: float
) -> Interval:
    """Ratio of two means over the same samples, with its interval.

    Blocks of samples are left out one at a time, the logarithm of the ratio is compared, and Student's distribution has as many degrees
    of freedom as there are blocks that carry the variance.

    Examples:
        >>> ones = torch.ones(64, dtype=torch.float64)
        >>> ratio_interval(2 * ones, ones, 0.95)
        Interval(value=2.0, low=2.0, high=2.0)
    """
    value = float(above.mean()) / max(float(below.mean()), 1e-300)
    if not math.isfinite(value):
        return Interval(math.inf, math.inf, math.inf)
    count = min(JACKKNIFE_BLOCKS, len(above))
    if count < FEWEST_BLOCKS or value <= 0:
        return Interval(value, 0.0, math.inf) if value > 0 else Interval(0.0, 0.0, 0.0)
    block = torch.arange(len(above)) % count
    sums = torch.zeros(2, count, dtype=torch.float64)
    sums[0].index_add_(0, block, above.double())
    sums[1].index_add_(0, block, below.double())
    rest = (sums.sum(1, keepdim=True) - sums).clamp_min(1e-300)
    logs = rest[0].log() - rest[1].log()
    parts = (logs - logs.mean()).square()
    variance = float((count - 1) / count * parts.sum())
    if variance <= 0:
        return Interval(value, value, value)
    freedom = max(FEWEST_FREEDOM, min(count - 1.0, 1 / float(parts.max() / parts.sum())))
    half = student_quantile(level, freedom) * math.sqrt(variance)
    return Interval(value, value * math.exp(-min(half, 700)), value * math.exp(min(half, 700)))


def grade(effect: float, defect: Interval, floor: float, thresholds: Thresholds) -> str:
    """Grade of an element, by its defect with its complete interval and by its effect.

    Args:
        effect: root mean square change of the output over its spread.
        defect: squared effect over that of random maps of equal displacement.
        floor: effect that rounding alone may cause.
        thresholds: what counts as a symmetry.
    """
    if effect <= floor:
        return "exact"
    for name, most in (
        ("strong", thresholds.strong),
        ("approximate", thresholds.threshold),
        ("weak", thresholds.weak),
    ):
        if defect.high <= most and effect <= largest_effect(most, thresholds):
            return name
    return "none"


def largest_effect(defect: float, thresholds: Thresholds) -> float:
    """Largest effect of a grade, by its largest defect."""
    return thresholds.effect * math.sqrt(defect / thresholds.threshold)
