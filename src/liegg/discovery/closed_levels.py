"""Levels that are algebras: of the symmetries, the largest level that is closed under the bracket is counted and named."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.actions import Action
from liegg.algebra.identification import Identification
from liegg.decision.decide import Decision
from liegg.decision.directions import symmetry_directions
from liegg.decision.unclosed import lowered_beyond, undecided_beyond
from liegg.discovery.verdict import Verdict
from liegg.results.accumulated import Accumulated
from liegg.results.exact_part import ExactPart, exact_part
from liegg.results.naming import left_open, name_symmetries, questioned

FAR = 0.17
"""Angle in radians: a span without a sure name that is farther than this from every algebra is not an algebra."""


@dataclass(frozen=True, eq=False)
class Named:
    """A verdict with its generators and their name.

    Attributes:
        verdict: the verdict.
        accumulated: what the pass left, with the directions in the verdict's order.
        coefficients: the generators.
        identification: their name, with what speaks against it.
    """

    verdict: Verdict
    accumulated: Accumulated
    coefficients: torch.Tensor
    identification: Identification


def named(
    action: Action, output_action: Action | None, accumulated: Accumulated, verdict: Verdict
) -> Named:
    """The verdict, its generators and their name; of the levels, the largest that is closed under the bracket.

    Symmetries of a function form an algebra. Where the span of all of them is not closed, some are none; if a smaller level is
    closed, only that is counted, of the exact level if need be a part, and otherwise a warning says so. The same where the span of
    all is far from any algebra and a smaller level has a sure name. Exact directions that are closed only with others have the
    grade of these.

    Args:
        action: the candidate generators.
        output_action: the action on the outputs; None for invariance.
        accumulated: what the pass left.
        verdict: which directions are symmetries.
    """
    everything = verdict.decision
    first = _named(action, accumulated, verdict)
    residual = left_open(first.identification)
    far = residual is None and _far_from_its_name(first.identification)
    part = exact_part(action, output_action, accumulated, everything)
    if residual is None and not far:
        if part is None or everything.exact == everything.nullity:
            return first
        return _with_part(action, accumulated, verdict, part, change=lowered_beyond)
    for number in sorted({end for end in everything.levels[:2] if end > 0}, reverse=True):
        if number >= everything.nullity:
            continue
        why = _why_fewer(everything.nullity - number, residual, first.identification)
        fewer = _named(action, accumulated, verdict.fewer(number, why))
        if left_open(fewer.identification) is None and (
            _sure_of_the_algebra(fewer.identification) or not far
        ):
            if part is not None and number > everything.exact:
                return _with_part(action, accumulated, fewer.verdict, part, change=lowered_beyond)
            return fewer
    if residual is None:
        return first
    if part is not None:
        return _with_part(action, accumulated, verdict, part, change=undecided_beyond)
    warning = Diagnosis.SPAN_NOT_CLOSED(directions=everything.nullity, residual=residual)
    warned = replace(everything, warnings=(*everything.warnings, warning))
    return replace(first, verdict=replace(verdict, decision=warned))


def _with_part(
    action: Action,
    accumulated: Accumulated,
    verdict: Verdict,
    part: ExactPart,
    *,
    change: Callable[..., Decision],
) -> Named:
    """The verdict with another decision about the exact directions, of which the closed part comes first."""
    solution, exact = verdict.solution, verdict.decision.exact
    directions = torch.cat([part.closed, part.rest, solution.directions[exact:]])
    solution = replace(solution, directions=directions)
    decision = change(
        verdict.decision, solution.values, verdict.facts, len(part.closed), residual=part.residual
    )
    verdict = replace(verdict, solution=solution, decision=decision)
    return _named(action, replace(accumulated, solution=solution), verdict)


def _named(action: Action, accumulated: Accumulated, verdict: Verdict) -> Named:
    """Generators of the symmetries, and their name with what speaks against it."""
    decision = verdict.decision
    coefficients = symmetry_directions(accumulated.solution, decision)
    identification = name_symmetries(
        action,
        coefficients,
        uncertainty=decision.uncertainty,
        exact=decision.exact == decision.nullity,
        is_lower_bound=decision.is_lower_bound,
    )
    identification = questioned(identification, action, accumulated, decision)
    return Named(verdict, accumulated, coefficients, identification)


def _why_fewer(left: int, residual: float | None, name: Identification) -> Remark:
    """Why the last directions are not counted: brackets leave the span of all, or it is far from any algebra."""
    if residual is not None:
        return Diagnosis.LEVEL_NOT_CLOSED(directions=left, residual=residual)
    return Diagnosis.LEVEL_FAR(directions=left, degrees=math.degrees(name.angle), name=name.name)


def _far_from_its_name(identification: Identification) -> bool:
    """Whether the nearest algebra is not sure, and far from the span."""
    return (
        identification.known
        and not _sure_of_the_algebra(identification)
        and identification.angle > FAR
    )


def _sure_of_the_algebra(identification: Identification) -> bool:
    """Whether the name is sure, or in doubt only because the same algebra can act otherwise, as a rotation that also scales."""
    doubts = {reason.diagnosis for reason in identification.reasons}
    acts = Diagnosis.OTHER_ACTION in doubts and Diagnosis.SIMPLER_WITHIN_NOISE not in doubts
    return identification.confident or acts
