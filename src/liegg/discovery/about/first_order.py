"""The defect of a named motion: from the sums over all the data, or from small motions of a few samples."""

import math
from dataclasses import replace
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action, Motion
from liegg.decision.bootstrap import student_quantile
from liegg.decision.derivative_error import widened
from liegg.decision.intervals import bootstrap, span_interval
from liegg.decision.rank import rule, scale
from liegg.discovery.verification.measure import Question
from liegg.results.accumulated import MOVING_SHARE
from liegg.results.answer import NO_DERIVATIVE
from liegg.results.symmetries import Symmetries

SLOPE_STEP = 1 / 16
"""Share of a motion's longest size by which samples are moved to see its slope, if its action takes no differences itself."""


class FirstOrder(NamedTuple):
    """What the derivative says of a motion; see `liegg.results.answer.Answer`."""

    defect: float
    interval: tuple[float, float]
    effect: float
    grade: str


NOT_MEASURED = FirstOrder(math.nan, (math.nan, math.nan), math.nan, "undecided")


def from_the_analysis(sym: Symmetries, coefficients: Float[Tensor, "k g"]) -> FirstOrder:
    """The mean defect over the span of generators of the candidates, with its interval.

    Args:
        sym: the analysis.
        coefficients: generators that were fixed before the data was seen.
    """
    total, decision = sym.accumulated, sym.decision
    if sym.settings.get("finite", {}).get("piecewise"):
        return NOT_MEASURED._replace(grade=NO_DERIVATIVE)
    basis = unit_motions(sym, coefficients)
    if not len(basis):
        return NOT_MEASURED._replace(grade="trivial")
    values = total.defect(basis, trivial_tolerance=decision.thresholds.trivial_tolerance)
    if bool(values.isnan().any()):
        return NOT_MEASURED._replace(grade="trivial")
    defect, low, high = float(values.mean()), math.nan, math.nan
    level = decision.thresholds.level
    if total.means is not None:
        return _graded(
            sym, defect, total.means_interval(basis, level=level), largest=float(values.max())
        )
    order = values.argsort()
    fixed = replace(total.solution, directions=basis[order], values=values[order])
    draws = bootstrap(total.blocks, fixed, floor=decision.floor, seed=total.seed, solved=0)
    if draws is not None:
        # Directions at the floor are rounding, and are left out of the interval.
        low, high = span_interval(draws, len(basis), level=level)[1:]
    if total.error > 0 and defect > decision.floor:
        one = torch.tensor([[low, high]], dtype=torch.float64)
        error = torch.tensor([total.error], dtype=torch.float64)
        low, high = widened(values.mean()[None].cpu(), one, error)[0].tolist()
    return _graded(sym, defect, (low, high), largest=float(values.max()))


def from_small_motions(
    sym: Symmetries, question: Question, motions: dict[str, Motion]
) -> dict[str, FirstOrder]:
    """The same for generators of other actions, from small motions of the samples.

    The squared change of the output per squared motion of the samples, relative to the mean
    sensitivity of the analysis.

    Args:
        sym: the analysis.
        question: the model and its samples.
        motions: the motions, each with its action.
    """
    if isinstance(sym.settings["outputs"], int) or sym.accumulated.solution.sensitivity <= 0:
        return dict.fromkeys(motions, NOT_MEASURED)
    found = {}
    for some in _at_once(question, motions):
        parts = [_changes(question, some, part) for part in question.parts]
        for name, *pairs in zip(some, *parts, strict=True):
            change, moved = (torch.cat(each) for each in zip(*pairs, strict=True))
            found[name] = _of_changes(sym, change, moved)
    return found


def _at_once(question: Question, motions: dict[str, Motion]) -> list[dict[str, Motion]]:
    """The motions in groups whose moved samples fit into one call of the model."""
    most = question.x[question.parts[0]].numel() if motions else 1
    groups: list[dict[str, Motion]] = []
    used = room = question.capacity // most
    for name, motion in motions.items():
        size = 2 * len(motion.generators)
        if used + size > room:
            groups.append({})
            used = 0
        groups[-1][name] = motion
        used += size
    return groups


def _changes(
    question: Question, motions: dict[str, Motion], part: slice
) -> list[tuple[Float[Tensor, "n k k"], Float[Tensor, "n k k"]]]:
    """Products of the changes of the outputs of some samples, and of their motions, between generators; one call for all."""
    x, ends = question.x[part].double(), []
    for motion in motions.values():
        action = motion.action or question.action
        there = _small(action, motion, tuple(x.shape[1:]))
        ends.append(action.act_all(torch.cat([there, -there]), x))
    replies = question.reply(torch.cat([end.flatten(0, 1) for end in ends]))
    found = []
    for end, reply in zip(ends, replies.split([len(end) * len(x) for end in ends]), strict=True):
        outputs = question.taken(reply.unflatten(0, end.shape[:2]), part)
        change, moved = (torch.sub(*each.chunk(2)).flatten(2) for each in (outputs, end))
        products = (torch.einsum("inp,jnp->nij", each, each).cpu() for each in (change, moved))
        found.append(tuple(products))
    return found


def _of_changes(
    sym: Symmetries, change: Float[Tensor, "n k k"], moved: Float[Tensor, "n k k"]
) -> FirstOrder:
    """The defect with its interval, from the products of every sample."""
    sensitivity = sym.accumulated.solution.sensitivity
    inverse = torch.linalg.pinv(moved.mean(0), rtol=MOVING_SHARE, hermitian=True)
    rank = round(float((inverse @ moved.mean(0)).trace()))
    if not rank or not bool(change.isfinite().all()):
        return NOT_MEASURED
    mean = inverse @ change.mean(0)
    defect = float(mean.trace()) / rank / sensitivity
    # What each sample adds, to first order; the interval is that of the logarithm.
    each = torch.einsum("ij,nji->n", inverse, change) - torch.einsum(
        "ij,njk,ki->n", inverse, moved, mean
    )
    errors = each / mean.trace().clamp_min(1e-300)
    quantile = student_quantile(sym.decision.thresholds.level, max(1.0, len(errors) - 1.0))
    spread = math.exp(quantile * float(errors.std()) / math.sqrt(len(errors)))
    return _graded(sym, defect, (defect / spread, defect * spread), largest=defect)


def _small(action: Action, motion: Motion, shape: tuple[int, ...]) -> Float[Tensor, "k g"]:
    """Small finite motions by every generator: as large as the action's own differences, where it takes some."""
    h, steps = motion.generators, action.steps(shape)
    shares = torch.where(h != 0, h / steps, 0.0).norm(dim=1, keepdim=True)
    return torch.where(shares.isfinite(), h / shares, SLOPE_STEP * (motion.longest or 1.0) * h)


def unit_motions(sym: Symmetries, h: Float[Tensor, "k g"]) -> Float[Tensor, "s g"]:
    """Directions of unit motion that span the same motions of the data."""
    displacement = sym.accumulated.displacement
    h = h.to(displacement.block)
    parts = h.unflatten(1, (-1, len(displacement.block)))
    between = (parts @ displacement.block).flatten(1) @ h.mT
    squares, axes = torch.linalg.eigh(between)
    moving = squares > max(MOVING_SHARE * float(squares[-1]), displacement.noise)
    if len(h) == 1:
        return h / squares.sqrt() if bool(moving.all()) else h[:0]
    return (axes[:, moving] / squares[moving].sqrt()).mT @ h


def _graded(
    sym: Symmetries, defect: float, interval: tuple[float, float], *, largest: float
) -> FirstOrder:
    """With its effect and its grade: those of the decision, without the need of a gap.

    Args:
        sym: the analysis.
        defect: mean over the span.
        interval: of the mean.
        largest: defect in the basis that was taken.
    """
    decision, thresholds = sym.decision, sym.decision.thresholds
    factor = float(scale(decision.response, rule(decision.floor, thresholds)))
    high = defect if math.isnan(interval[1]) else interval[1]
    limits = {
        "strong": thresholds.strong,
        "approximate": thresholds.threshold,
        "weak": thresholds.weak,
    }
    grade = next((name for name, limit in limits.items() if high * factor <= limit), "none")
    if largest <= decision.floor:
        grade = "undecided" if decision.undecided else "exact"
    effect = math.sqrt(decision.response * defect) if decision.response > 0 else math.nan
    return FirstOrder(defect, interval, effect, grade)
