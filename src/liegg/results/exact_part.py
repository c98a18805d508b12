"""Exact directions that cannot all be symmetries, because their brackets leave their span."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action, MatrixAction
from liegg.algebra.bracket import bracket
from liegg.algebra.closed_part import closed_part
from liegg.algebra.closure import closure
from liegg.algebra.identify import too_large
from liegg.decision.decide import Decision
from liegg.decision.gap import mixing_angle
from liegg.results.accumulated import Accumulated
from liegg.results.naming import OPEN_RESIDUAL, coefficients_within, open_residual


class ExactPart(NamedTuple):
    """The exact directions as a closed part and the rest.

    Attributes:
        closed: coefficients of directions that form an algebra.
        rest: coefficients of the others, some of which are no symmetries.
        residual: largest part of a bracket that leaves the span of all of them.
    """

    closed: Float[Tensor, "c g"]
    rest: Float[Tensor, "r g"]
    residual: float


def exact_part(
    action: Action,
    output_action: Action | None,
    accumulated: Accumulated,
    decision: Decision,
    *,
    span: Float[Tensor, "e g"] | None = None,
) -> ExactPart | None:
    """What remains of the exact directions; None if they are closed, or if brackets are no evidence.

    They are none without matrices, if not all directions were solved for, if some do not move the data (which may hide what closes
    the span), and if brackets of what the directions do to the output are no candidates there.

    Args:
        action: the candidate generators.
        output_action: the action on the outputs; None for invariance.
        accumulated: what the pass left.
        decision: which directions are exact.
        span: coefficients of other directions that were counted.
    """
    uncertainty = decision.uncertainty
    if span is None:
        span = accumulated.solution.directions[: decision.exact]
        uncertainty = mixing_angle(accumulated.solution.values, decision.exact, decision.floor)
    incomplete = decision.unsolved > 0 or len(accumulated.solution.trivial) > 0
    if len(span) < 2 or incomplete or not isinstance(action, MatrixAction):
        return None
    if too_large(len(span), action.ambient):
        return None
    generators = action.matrices(span).to(torch.float64)
    family = action.matrices(torch.eye(action.size, dtype=span.dtype)).to(torch.float64)
    part = closed_part(generators, family, tolerance=OPEN_RESIDUAL)
    if not len(part.rest) or not _outputs_close(output_action, accumulated.partners(span)):
        return None
    if (
        open_residual(closure(generators, uncertainty=uncertainty, affine=action.homogeneous))
        is None
    ):
        return None
    closed, rest = (coefficients_within(action, one) for one in (part.closed, part.rest))
    if closed is None or rest is None:
        return None
    return ExactPart(closed.to(span), rest.to(span), part.residual)


def _outputs_close(output_action: Action | None, partners: Float[Tensor, "e m"]) -> bool:
    """Whether brackets of what the directions do to the output are candidates on the output."""
    if output_action is None:
        return True
    if not isinstance(output_action, MatrixAction):
        return False
    matrices = output_action.matrices(partners)
    pairs = bracket(matrices[:, None], matrices[None]).flatten(0, 1)
    return coefficients_within(output_action, pairs) is not None
