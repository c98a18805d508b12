"""Whether symmetries that lead out of the subspace in which the data lies hold at finite size: a few samples are moved along them.

To first order the data cannot tell what follows outside: of a feature that is always 0 a model may read nothing, or its square.
"""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.linalg import orthonormal_rows
from liegg.actions import Action, MatrixAction
from liegg.discovery.exact_motions import (
    LONGEST_MOTION,
    REFUTING_CHANGE,
    changes_along,
    motions_within,
    rounding_change,
)
from liegg.discovery.verification.measure import Question
from liegg.inputs.model import Model
from liegg.results.account import account_of
from liegg.results.naming import UP_TO_STILL, coefficients_within, name_symmetries, questioned
from liegg.results.symmetries import Symmetries
from liegg.results.tower import tower_of

ALLOWED_FACTOR = 10.0
"""Factor by which finite motions out of the subspace may change the output more than their defects tell to first order."""


def outside_tried(
    function: Model, x: Float[Tensor, "n ..."], sym: Symmetries, output_action: Action | None
) -> Symmetries:
    """The result, with a warning if finite motions out of the subspace of the data change the output; then no class has the name.

    Args:
        function: the probed model.
        x: samples, evenly spaced in the data.
        sym: the result, whose symmetries leave the subspace in which the data lies.
        output_action: the action on the outputs, fitted to their shape; None for invariance.
    """
    action, question = sym.action, Question(function, sym.action, output_action, x)
    if question.resamples or question.variance <= 0:
        return sym
    span, of_class = sym.coefficients, UP_TO_STILL in sym.name
    if of_class and isinstance(action, MatrixAction):
        named = coefficients_within(action, sym.identification.generators)
        span = span if named is None else orthonormal_rows(named.to(span))
    change = float(changes_along(question, sym, motions_within(question, span)).max())
    allowed = max(REFUTING_CHANGE, rounding_change(function, question))
    if sym.decision.exact < sym.nullity:
        first_order = sym.decision.response * float(sym.defects[sym.nullity - 1])
        allowed = max(allowed, ALLOWED_FACTOR * LONGEST_MOTION**2 * first_order)
    if not allowed < change < torch.inf:
        return sym
    numbers = {"samples": len(x), "percent": 100 * change**0.5}
    if of_class:
        return _renamed(sym, Diagnosis.CLASS_REFUTED(name=sym.name.partition(",")[0], **numbers))
    warning = Diagnosis.CHANGES_OUTSIDE(**numbers)
    decision = replace(sym.decision, warnings=(*sym.decision.warnings, warning))
    return replace(sym, decision=decision)


def _renamed(sym: Symmetries, warning: Remark) -> Symmetries:
    """The result with the warning, and with the name of the directions found themselves, which is not sure."""
    decision = replace(sym.decision, warnings=(*sym.decision.warnings, warning))
    identification = name_symmetries(
        sym.action,
        sym.coefficients,
        uncertainty=decision.uncertainty,
        exact=decision.exact == decision.nullity,
        is_lower_bound=decision.is_lower_bound,
    )
    identification = questioned(identification, sym.action, sym.accumulated, decision)
    account = account_of(
        sym.action,
        sym.accumulated,
        decision,
        output_action=sym.output_action,
        coefficients=sym.coefficients,
        intervals=sym.intervals,
        spectrum=sym._spectrum,
        identification=identification,
    )
    tower = tower_of(sym.action, sym.accumulated, decision, identification)
    return replace(
        sym, decision=decision, identification=identification, account=account, tower=tower
    )
