"""A result together with its verification, which may change the verdict."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import orthonormal_rows
from liegg.decision.controls import reordered
from liegg.decision.verified import FiniteChange, Verified, verified
from liegg.results.account import account_of, direction_error, matrices_of, words_of
from liegg.results.accumulated import Accumulated
from liegg.results.exact_part import exact_part
from liegg.results.naming import left_open, name_symmetries, questioned
from liegg.results.symmetries import Symmetries
from liegg.results.tower import tower_of
from liegg.results.verification import Verification

WITHIN = 0.5
"""Motion up to which a verification decides whether a direction counts, in multiples of the data's spread; what is exact is so as
far as it was followed. Trained networks whose translations and shears hold to 10 % up to 0.5 fail at 1, where there is no data any more."""

SAME_DIRECTION = 1e-6
"""Part of a unit direction outside the closed part of a level up to which it lies in it."""

ROUNDING_CHANGE = 1e-3
"""Largest relative squared change that may be rounding; a jump near the samples makes more."""

ROUNDING_SPREAD = 10.0
"""What rounding does varies along a curve: changes up to this many times the first one may be rounding."""


@checked()
def with_verification(sym: Symmetries, verification: Verification) -> Symmetries:
    """The result with its verification; symmetries that fail under finite transformations are no longer counted.

    Only motions up to half of the data's spread decide, and each direction has to hold only as well as its grade claims; see
    `liegg.decision.verified.verified`. Curves of directions that are no longer counted become `others` of the verification.

    Args:
        sym: the result of `discover`.
        verification: what `liegg.verify` returned for the symmetries of this result.

    Raises:
        ArgumentError: it verifies other generators, or another number of symmetries.
    """
    count = len(verification.curves)
    if count and not verification.of_symmetries:
        raise ArgumentError(
            "the verification is about generators that were given to verify(). Pass "
            "liegg.verify(model, data, sym), without generators."
        )
    if count and count != sym.nullity:
        raise ArgumentError(
            f"the verification has {count} curves; this result has {sym.nullity} symmetries. Pass "
            "what liegg.verify returned for this result."
        )
    if not count:
        return replace(sym, verification=verification)
    equivariance = sym.output_action is not None
    verdict = verified(
        sym.decision,
        finite_changes(sym, verification),
        equivariance=equivariance,
        closed=partial(_closed, sym),
    )
    if verdict.decision is sym.decision:
        return replace(sym, verification=verification)
    return _changed(sym, verification, verdict)


def finite_changes(sym: Symmetries, verification: Verification) -> tuple[FiniteChange, ...]:
    """What the curves of the symmetries show up to `WITHIN`, and as far as they were followed."""
    changes = []
    for curve in verification.curves:
        change, motion = curve.change_within(WITHIN)
        first = float(curve.change[0])
        floor = max(verification.floor, min(ROUNDING_SPREAD * first, ROUNDING_CHANGE))
        farther, _ = curve.change_within(math.inf)
        reference = _reference(sym, verification, motion)
        changes.append(FiniteChange(change, reference, floor, motion, farther))
    return tuple(changes)


def _closed(sym: Symmetries, places: Sequence[int]) -> list[int]:
    """The symmetries that lie in the closed part of their span."""
    span = sym.coefficients[list(places)]
    part = exact_part(sym.action, sym.output_action, sym.accumulated, sym.decision, span=span)
    if part is None:
        return list(places)
    closed = orthonormal_rows(part.closed)
    outside = (span - span @ closed.mT @ closed).norm(dim=1)
    return [i for i, left in zip(places, outside.tolist(), strict=True) if left <= SAME_DIRECTION]


def _reference(sym: Symmetries, verification: Verification, motion: float) -> float:
    """Change of the output along an average direction for a motion, to first order; at most 1."""
    derivatives = {part.settings().get("derivative") for part in sym.action.parts}
    other_units = "paper" in derivatives or sym.settings["outputs"] == "whitened"
    if other_units or not verification.variance or verification.spread is None:
        return 1.0  # slopes in other units than motions
    square = (motion * verification.spread) ** 2
    return min(sym.accumulated.solution.sensitivity * square / verification.variance, 1.0)


def _changed(sym: Symmetries, verification: Verification, verdict: Verified) -> Symmetries:
    """The result in the order of the new decision, with its name, words and curves."""
    decision, order = verdict.decision, torch.tensor(verdict.order)
    accumulated = _ordered(sym, order)
    kept = order[: decision.nullity]
    coefficients = sym.coefficients[kept]
    intervals = sym.intervals[order]
    identification = name_symmetries(
        sym.action,
        coefficients,
        uncertainty=decision.uncertainty,
        exact=decision.exact == decision.nullity,
        is_lower_bound=decision.is_lower_bound,
    )
    identification = questioned(identification, sym.action, accumulated, decision)
    if (residual := left_open(identification)) is not None:
        warning = Diagnosis.SPAN_NOT_CLOSED(directions=decision.nullity, residual=residual)
        decision = replace(decision, warnings=(*decision.warnings, warning))
    account = account_of(
        sym.action,
        accumulated,
        decision,
        output_action=sym.output_action,
        coefficients=coefficients,
        intervals=intervals,
        spectrum=sym._spectrum,
        identification=identification,
    )
    control = sym.controls.reinitialised
    if control is not None:
        floor = max(decision.floor, decision.thresholds.resolution)
        values = accumulated.solution.values
        control = reordered(control, values, order, decision.nullity, floor=floor)
    defects = accumulated.solution.values.tolist()
    sizes = [max(pair) for pair in zip(defects, verdict.shares, strict=True)]
    lost = [i for i in range(sym.nullity) if i not in set(kept.tolist())]
    return replace(
        sym,
        decision=decision,
        coefficients=coefficients,
        intervals=intervals,
        identification=identification,
        tower=tower_of(sym.action, accumulated, decision, identification, sizes=sizes),
        verification=_sorted_curves(sym, verification, kept.tolist(), lost),
        accumulated=accumulated,
        account=account,
        controls=replace(sym.controls, reinitialised=control),
    )


def _ordered(sym: Symmetries, order: Tensor) -> Accumulated:
    """The accumulated sums with their directions in another order.

    Exact directions tie, so that any basis of their span solves the problem: the one that was verified is stored.
    """
    accumulated, exact = sym.accumulated, sym.decision.exact
    solution, bottom = accumulated.solution, accumulated.bottom
    directions = torch.cat([sym.coefficients[:exact], solution.directions[exact:]])
    ordered = replace(solution, values=solution.values[order], directions=directions[order])
    if bottom is not None:
        bottom = replace(bottom, residuals=bottom.residuals[order])
    return replace(accumulated, solution=ordered, bottom=bottom)


def _sorted_curves(
    sym: Symmetries, verification: Verification, kept: list[int], lost: list[int]
) -> Verification:
    """The curves of the symmetries in their order; those of directions that are not counted any more are others."""
    curves = tuple(verification.curves[i] for i in kept)
    if not lost:
        return replace(verification, curves=curves)
    rows = sym.coefficients[lost]
    words = words_of(sym.action, rows, direction_error(sym.decision))
    others = tuple(verification.curves[i] for i in lost) if words else ()
    matrices = matrices_of(sym.action, rows)
    return replace(
        verification,
        curves=curves,
        group=None,
        others=others,
        other_words=words,
        other_generators=(rows if matrices is None else matrices) if others else None,
        notes=(*verification.notes, Diagnosis.CURVES_OF_OTHERS(count=len(lost))),
    )
