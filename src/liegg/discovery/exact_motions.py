"""Whether exact symmetries hold at finite size: a few samples are really moved along them.

`discover_group` moves along them farther, with the same functions; see `discovery/group/local.py`.

The check before the pass sees the first batch and few pairs of samples. An exact symmetry leaves the output as it is for finite
motions too. A change that the derivative along the motion does not account for (`.detach()`, rounding, a step) refutes it. If the
derivative accounts for it, the symmetry holds at the samples and ends where the motions lead.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action
from liegg.discovery.verification.measure import LARGEST_ROUNDING, Directions, Question, changes
from liegg.inputs.hidden_derivatives import cheap_evaluations
from liegg.inputs.model import Model
from liegg.polarization.plan import Plan
from liegg.polarization.rows import polarize
from liegg.results.symmetries import Symmetries

FEWEST_MOVED, MOST_MOVED = 64, 512
"""Fewest and most samples that are moved; more than the fewest as far as they cost little."""

SAMPLES_PER_MOVED = 16
"""One moved sample, which costs as many evaluations as there are motions, for as many samples of the pass."""

EXACT_MOTIONS = 4
"""Random elements of the span of the exact directions: what breaks one of them shows in all."""

SHORTEST_MOTION, LONGEST_MOTION = 0.25, 1.0
"""Lengths of the motions in multiples of the data's spread, evenly spaced: several reach a jump along one direction."""

REFUTING_CHANGE = 1e-8
"""Mean squared change of the output over its variance that refutes an exact symmetry: 0.01 % of its spread."""

QUADRATURE_NODES, UNACCOUNTED = 16, 0.25
"""Points of a motion at which the derivative is taken, and the share of the squared change that it must leave unexplained: kinks of
rectified networks leave a few percent, a hidden step nearly all."""

MODEL_UNITS = 1000.0
"""Rounding units of the model, relative to its output and to its slope times the samples, that are not a change."""


class FiniteChange(NamedTuple):
    """What finite motions along the exact directions do to the output.

    Attributes:
        size: mean squared change over the variance of the output; 0 if rounding explains it.
        hidden: whether the derivative along the motion does not account for it.
        unknown: whether the model fails on all moved samples, or has no finite output there.
    """

    size: float = 0.0
    hidden: bool = False
    unknown: bool = False


def change_along_exact(
    function: Model,
    x: Float[Tensor, "n ..."],
    sym: Symmetries,
    how: Plan,
    *,
    output_action: Action | None,
    motions: int = EXACT_MOTIONS,
) -> FiniteChange:
    """Largest change of the output under finite motions along the exact directions.

    Motions that lead out of the model's domain, to outputs which are not finite, say nothing. Where all do, or the model fails even
    for the shortest, the change is not known.

    Args:
        function: the probed model.
        x: samples, evenly spaced in the data.
        sym: the result, whose exact directions are moved along.
        how: how rows are computed, one for each output.
        output_action: the action on the outputs, fitted to their shape; None for invariance.
        motions: number of motions.
    """
    exact, action = sym.coefficients[: sym.decision.exact], sym.action
    question = Question(function, action, output_action, x)
    if not len(exact) or question.resamples or question.variance <= 0:
        return FiniteChange()
    h = motions_within(question, exact, count=motions)
    action.act(h[0], x[:1].double())  # an action without finite motions fails here, not the model
    try:
        found = changes_along(question, sym, h)
    except Exception:  # whatever a model does out of its domain
        h = h[:1]
        try:
            found = changes_along(question, sym, h)
        except Exception:
            return FiniteChange(unknown=True)
    if not bool(found.isfinite().any()):
        return FiniteChange(unknown=True)
    found = found.nan_to_num(posinf=0.0)
    largest = float(found.max())
    if largest <= max(REFUTING_CHANGE, rounding_change(function, question)):
        return FiniteChange()
    unaccounted = _unaccounted(question, h[int(found.argmax())].to(x.device), how)
    return FiniteChange(largest, unaccounted > UNACCOUNTED)


def moved_samples(model: Model, x: Float[Tensor, "b ..."], samples: int) -> int:
    """Samples to be moved: as many as cost a few percent of the pass, or about a millisecond.

    A jump is met by the few samples near it, so that more samples find rarer ones.

    Args:
        model: the probed model.
        x: the first batch.
        samples: number of samples of the pass.
    """
    cheap = cheap_evaluations(model, x) // EXACT_MOTIONS
    return min(MOST_MOVED, max(FEWEST_MOVED, samples // SAMPLES_PER_MOVED, cheap))


def motions_within(
    question: Question, span: Float[Tensor, "d g"], *, count: int = EXACT_MOTIONS
) -> Float[Tensor, "m g"]:
    """Random elements of a span that move the samples by up to their spread."""
    h = random_motions(question, span, count, torch.Generator().manual_seed(0))
    lengths = torch.linspace(SHORTEST_MOTION, LONGEST_MOTION, len(h), dtype=h.dtype)
    return question.spread * lengths[:, None] * h


def rounding_change(function: Model, question: Question) -> float:
    """Mean squared change of the output over its variance that may be rounding of the model."""
    moved = question.action.moving(question.x).double().flatten(1).square().sum(1).mean()
    scale = question.output_square + (function.slope or 0.0) * float(moved)
    rounding = min(MODEL_UNITS * question.eps, LARGEST_ROUNDING)
    return rounding**2 * scale / question.variance


def random_motions(
    question: Question, span: Float[Tensor, "d g"], count: int, generator: torch.Generator
) -> Float[Tensor, "m g"]:
    """Random combinations of directions, scaled so that the samples move at unit speed on average."""
    drawn = torch.randn(count, len(span), generator=generator, dtype=torch.float64)
    h, x = drawn @ span, question.x
    fields = question.action.tangents(h.to(x.device), x.double()).flatten(2)
    speeds = fields.square().sum(2).mean(1).sqrt().cpu()
    return h / speeds.clamp_min(torch.finfo(h.dtype).tiny)[:, None]


def changes_along(
    question: Question, sym: Symmetries, h: Float[Tensor, "m g"]
) -> Float[Tensor, " m"]:
    """Mean squared change of the output over its variance by finite motions; infinite where an output is not finite.

    For equivariance the outputs move with them as the result says.
    """
    k = None if question.output_action is None else sym.accumulated.partners(h)
    device = question.x.device
    return changes(question, Directions(h.to(device), None if k is None else k.to(device)))[0]


def _unaccounted(question: Question, h: Float[Tensor, " g"], how: Plan) -> float:
    """Share of the squared change along a motion that the integral of the derivative does not account for."""
    action, x = question.action, question.x
    nodes, weights = np.polynomial.legendre.leggauss(QUADRATURE_NODES)
    total = torch.zeros_like(question.y)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        moved = action.act(float(node) * h, x.double()).to(x.dtype)
        rows, _ = polarize(question.model, action.row_action, moved, how)
        rows = rows.double()
        if action.row_action is not action:
            rows = action.project(rows.flatten(0, 1)).unflatten(0, rows.shape[:2])
        total += float(weight) * (rows @ h).to(total)
    change = question.outputs(h[None], slice(None))[0] - question.y
    return float((change - total).square().sum() / change.square().sum())
