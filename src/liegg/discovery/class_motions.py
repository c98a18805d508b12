"""Whether a name that holds up to motions that do not move the data holds at finite size: a few samples are moved along it.

To first order the data cannot tell algebras of such a class apart. Finite motions lead out of the subspace in which the data lies, where
the output may change: of a feature that is always 0 the model may read nothing, or its square.
"""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.linalg import orthonormal_rows
from liegg.actions import Action, MatrixAction
from liegg.discovery.exact_motions import (
    REFUTING_CHANGE,
    changes_along,
    motions_within,
    rounding_change,
)
from liegg.discovery.verification.measure import Question
from liegg.inputs.model import Model
from liegg.results.account import account_of
from liegg.results.naming import coefficients_within, name_symmetries, questioned
from liegg.results.symmetries import Symmetries
from liegg.results.tower import tower_of

CLASS_FACTOR = 10.0
"""Factor by which motions along the named algebra may change the output more than those along the directions found."""


def class_tried(
    function: Model, x: Float[Tensor, "n ..."], sym: Symmetries, output_action: Action | None
) -> Symmetries:
    """The result, without the name of a class if finite motions along the named algebra change the output.

    Args:
        function: the probed model.
        x: samples, evenly spaced in the data.
        sym: the result, whose name is that of a class.
        output_action: the action on the outputs, fitted to their shape; None for invariance.
    """
    action, question = sym.action, Question(function, sym.action, output_action, x)
    named = None
    if isinstance(action, MatrixAction):
        named = coefficients_within(action, sym.identification.generators)
    if named is None or question.resamples or question.variance <= 0:
        return sym
    found, own = (
        float(changes_along(question, sym, motions_within(question, span)).max())
        for span in (orthonormal_rows(named.to(torch.float64)), sym.coefficients)
    )
    allowed = max(CLASS_FACTOR * own, REFUTING_CHANGE, rounding_change(function, question))
    if not allowed < found < torch.inf:
        return sym
    warning = Diagnosis.CLASS_REFUTED(
        samples=len(x), percent=100 * found**0.5, name=sym.name.partition(",")[0]
    )
    return _renamed(sym, warning)


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
