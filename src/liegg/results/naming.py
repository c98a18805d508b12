"""The name of the algebra that the symmetries of a result span."""

from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis
from liegg.actions import Action, MatrixAction
from liegg.algebra.identification import Identification
from liegg.algebra.identify import identify, too_large, unseen

LARGEST_UNCERTAINTY = 0.5
"""Angle in radians beyond which an uncertainty says nothing."""


def name_symmetries(
    action: Action,
    coefficients: Float[Tensor, "d g"],
    *,
    uncertainty: float,
    is_lower_bound: bool = False,
) -> Identification:
    """Identify the algebra; "unknown" without a look if there are no matrices, or they are too large or not all known.

    Args:
        action: the candidate generators.
        coefficients: orthonormal coefficients of the symmetries.
        uncertainty: angle in radians by which a unit generator may be off.
        is_lower_bound: whether there may be more symmetries than these.
    """
    count = len(coefficients)
    if not isinstance(action, MatrixAction):
        return unseen(count, 1, Diagnosis.NO_MATRICES())
    n = action.ambient
    if too_large(count, n):
        return unseen(count, n)
    if is_lower_bound:
        return unseen(count, n, Diagnosis.MORE_THAN_SOLVED())
    identification = identify(
        action.matrices(coefficients),
        uncertainty=min(uncertainty, LARGEST_UNCERTAINTY),
        homogeneous=action.homogeneous,
        coordinates=action.axes,
    )
    _ = identification.readable  # computed here, once, so that printing only reads
    return identification
