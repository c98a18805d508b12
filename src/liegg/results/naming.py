"""The algebra that the symmetries of a result span: its name, doubts about it, and how it acts on the output."""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import orthonormal_rows
from liegg.actions import Action, MatrixAction
from liegg.algebra.catalog import se, sl, so
from liegg.algebra.closure import Closure
from liegg.algebra.identification import Identification
from liegg.algebra.identify import identified, too_large, unseen
from liegg.algebra.words.readable import word_tolerance
from liegg.decision.decide import Decision
from liegg.decision.rank import rule, scale
from liegg.results.accumulated import Accumulated

LARGEST_UNCERTAINTY = 0.5
"""Angle in radians beyond which an uncertainty says nothing."""

NAMED_DEFECT_FACTOR = 2.0
"""Factor by which the generators of the name may have larger defects than the span itself."""

INSIDE_SPAN = 1e-6
"""Part of a unit generator outside a span up to which it lies in it."""

OPEN_RESIDUAL, SURELY_OPEN = 0.1, 0.3
"""Part of a bracket of unit generators outside their span from which on the span is open unless its uncertainty explains it, and
from which on it is open in any case."""

UP_TO_STILL = "up to motions that do not move this data"
"""Words after the name of a class of algebras that the data cannot tell apart."""

LARGEST_STANDARD = 12
"""Dimension of vectors up to which standard algebras are compared with what the data cannot tell."""

REFUTING = {Diagnosis.EXACT_REFUTED, Diagnosis.EXACT_AT_SAMPLES}
"""Warnings that finite motions along the exact directions change the output."""

STILL_OUTPUT = 1e-9
"""Size of a unit generator's partner on the output up to which the output does not move."""


def name_symmetries(
    action: Action,
    coefficients: Float[Tensor, "d g"],
    *,
    uncertainty: float,
    exact: bool = False,
    is_lower_bound: bool = False,
    brief: bool = False,
) -> Identification:
    """Identify the algebra; "unknown" if there are no matrices, or they are too large, or not all were solved for.

    Args:
        action: the candidate generators.
        coefficients: orthonormal coefficients of the symmetries.
        uncertainty: angle in radians by which a unit generator may be off.
        exact: whether only rounding moves the output.
        is_lower_bound: whether there may be more symmetries than these.
        brief: whether only the name is needed and whether it is sure, without reasons and readable basis.
    """
    count = len(coefficients)
    if not isinstance(action, MatrixAction):
        return unseen(count, 1, Diagnosis.NO_MATRICES())
    n = action.ambient
    if too_large(count, n):
        return unseen(count, n)
    if is_lower_bound:
        return unseen(count, n, Diagnosis.MORE_THAN_SOLVED())
    try:
        identification = identified(
            action.matrices(coefficients),
            uncertainty=min(uncertainty, LARGEST_UNCERTAINTY),
            homogeneous=action.homogeneous,
            coordinates=action.axes,
            exact=exact,
            brief=brief,
        )
        if not brief:
            _ = identification.readable  # computed here, once, so that printing only reads
    except RuntimeError as error:  # a result is not lost for want of a name
        return unseen(count, n, Diagnosis.NAMING_FAILED(error=str(error)))
    return identification


def questioned(
    identification: Identification, action: Action, accumulated: Accumulated, decision: Decision
) -> Identification:
    """The identification, unsure if its own generators fail the test that the span passed, or if the data cannot decide.

    Args:
        identification: the name of the span.
        action: the candidate generators.
        accumulated: what the pass left.
        decision: which directions are symmetries.
    """
    if not identification.known or not decision.nullity or not isinstance(action, MatrixAction):
        return identification
    identification = unless_refuted(identification, decision)
    failing = _does_not_hold(identification, action, accumulated, decision)
    reasons = [] if failing is None else [failing]
    if leaves_the_data(action, accumulated, decision):
        refuted = Diagnosis.CLASS_REFUTED in [one.diagnosis for one in decision.warnings]
        same = _same_on_this_data(identification, action, accumulated, decision)
        if same is not None and not reasons and not refuted:
            return same
        reasons.append(Diagnosis.UP_TO_STILL(count=len(accumulated.solution.trivial)))
    if not reasons:
        return identification
    return replace(identification, confident=False, reasons=(*identification.reasons, *reasons))


def unless_refuted(identification: Identification, decision: Decision) -> Identification:
    """The identification, unsure if finite motions along the exact directions refute them; what a verification left exact is sure.

    Args:
        identification: the name of the span.
        decision: which directions are symmetries.
    """
    warned = {warning.diagnosis for warning in decision.warnings}
    verified = Diagnosis.FAILS_AT_FINITE_SIZE in warned and decision.exact == decision.nullity
    refuted = not REFUTING.isdisjoint(warned)
    if not refuted or verified or not identification.known:
        return identification
    reasons = (*identification.reasons, Diagnosis.NAME_REFUTED())
    return replace(identification, confident=False, reasons=reasons)


def _does_not_hold(
    identification: Identification,
    action: MatrixAction,
    accumulated: Accumulated,
    decision: Decision,
) -> Remark | None:
    """Say that the named generators have larger defects than the grade of the span allows; None if they hold."""
    named = coefficients_within(action, identification.generators)
    if named is None:
        return None
    thresholds, values = decision.thresholds, accumulated.solution.values
    approximate = decision.grades[decision.nullity - 1] == "approximate"
    factor = float(scale(decision.response, rule(decision.floor, thresholds)))
    limit = (thresholds.threshold if approximate else thresholds.strong) / factor
    limit = max(
        limit, NAMED_DEFECT_FACTOR * max(float(values[decision.nullity - 1]), decision.floor)
    )
    defect = accumulated.largest_defect(named)
    if defect <= limit:
        return None
    return Diagnosis.NAME_DOES_NOT_HOLD(name=identification.name, defect=defect, limit=limit)


def coefficients_within(
    action: MatrixAction, matrices: Float[Tensor, "d n n"]
) -> Float[Tensor, "d g"] | None:
    """Coefficients of matrices; None if they lie outside of the candidates."""
    try:
        return action.as_coefficients(matrices)
    except ArgumentError:
        return None


def leaves_the_data(action: Action, accumulated: Accumulated, decision: Decision) -> bool:
    """Whether symmetries move the data out of the subspace that it lies in, where other directions do not move it.

    Inside that subspace the algebra is known; what it does outside is not.
    """
    still = accumulated.solution.trivial
    if not len(still) or not decision.nullity or not isinstance(action, MatrixAction):
        return False
    unseen = torch.linalg.svd(action.matrices(still).flatten(0, 1), full_matrices=False)
    axes = unseen.Vh[unseen.S > INSIDE_SPAN]
    found = action.matrices(accumulated.solution.directions[: decision.nullity])
    return float((axes @ found).norm(dim=(1, 2)).max()) > INSIDE_SPAN


def _same_on_this_data(
    identification: Identification,
    action: MatrixAction,
    accumulated: Accumulated,
    decision: Decision,
) -> Identification | None:
    """The standard algebra that differs from the span only by directions that do not move the data; None if there is none.

    The data cannot tell the two apart, so that the name is that of a class of algebras, the standard one among them.
    """
    n = action.ambient - action.homogeneous
    if n > LARGEST_STANDARD:
        return None
    solution = accumulated.solution
    still = orthonormal_rows(solution.trivial)
    whole = orthonormal_rows(torch.cat([still, solution.directions[: decision.nullity]]))
    for generators in (se(n),) if action.homogeneous else (so(n), sl(n)):
        given = coefficients_within(action, generators)
        if given is None:
            continue
        rows = orthonormal_rows(given.to(whole))
        outside = float((rows - rows @ whole.mT @ whole).norm(dim=1).max())
        moving = torch.linalg.matrix_rank(rows - rows @ still.mT @ still, atol=INSIDE_SPAN)
        if outside <= max(INSIDE_SPAN, decision.uncertainty) and int(moving) == decision.nullity:
            named = name_symmetries(action, rows, uncertainty=decision.uncertainty)
            remark = Diagnosis.SAME_ON_THIS_DATA(name=identification.name, count=len(still))
            return replace(named, name=f"{named.name}, {UP_TO_STILL}", reasons=(remark,))
    return None


def left_open(identification: Identification) -> float | None:
    """How far brackets leave a span that is not closed; None if it is closed within its uncertainty, or that is not known."""
    return None if identification.closure is None else open_residual(identification.closure)


def open_residual(found: Closure) -> float | None:
    """How far brackets leave a span that is not closed; None if it is closed within its uncertainty."""
    allowed = SURELY_OPEN if found.closed else OPEN_RESIDUAL
    return None if found.largest <= allowed else found.largest


def on_output(
    action: Action,
    output_action: Action | None,
    coefficients: Float[Tensor, "d g"],
    partners: Float[Tensor, "d m"],
    *,
    uncertainty: float,
    identification: Identification,
) -> Remark | None:
    """The algebra that acts on the output, and whether each generator acts there by its own matrix.

    Args:
        action: the candidate generators.
        output_action: the action on the outputs; None for invariance.
        coefficients: unit coefficients of the symmetries.
        partners: what they do to the output.
        uncertainty: angle in radians by which a unit generator may be off.
        identification: the algebra of the symmetries.

    Returns:
        The remark; None for invariance, without symmetries, and for outputs without matrices.
    """
    if not isinstance(output_action, MatrixAction) or not len(partners):
        return None
    tolerance = max(STILL_OUTPUT, word_tolerance(output_action.ambient, uncertainty))
    moving = partners[partners.norm(dim=1) > tolerance]
    if not len(moving):
        return Diagnosis.OUTPUT_STAYS()
    same = _same_matrices(action, output_action, coefficients, partners, tolerance=tolerance)
    found, count = identification, len(partners)
    if not (same and found.known and len(moving) == count):
        span = orthonormal_rows(moving.to(torch.float64))
        found, count = name_symmetries(output_action, span, uncertainty=uncertainty), len(span)
    name = found.name + ("" if found.confident else " (name not sure)")
    if not found.known:
        name = f"an algebra of dimension {count} without a known name"
    return (Diagnosis.OUTPUT_SAME_MATRICES if same else Diagnosis.OUTPUT_ALGEBRA)(name=name)


def _same_matrices(
    action: Action,
    output_action: MatrixAction,
    coefficients: Float[Tensor, "d g"],
    partners: Float[Tensor, "d m"],
    *,
    tolerance: float,
) -> bool:
    """Whether every output generator is the matrix of its input generator; without shifts, if only one of them has any."""
    if not isinstance(action, MatrixAction):
        return False
    one, other = action, output_action
    if one.ambient - one.homogeneous != other.ambient - other.homogeneous:
        return False
    n = min(one.ambient, other.ambient)
    own = one.matrices(coefficients)[:, :n, :n]
    its = other.matrices(partners)[:, :n, :n]
    return bool((own - its.to(own)).abs().max() <= tolerance)
