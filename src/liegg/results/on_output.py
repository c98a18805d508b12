"""What the symmetries of an equivariant model do to its output, in words."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.linalg import orthonormal_rows
from liegg.actions import Action, MatrixAction
from liegg.algebra.identification import Identification
from liegg.algebra.words.readable import word_tolerance
from liegg.results.naming import name_symmetries

STILL = 1e-9
"""Size of a unit generator's partner on the output up to which the output does not move."""


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
    tolerance = max(STILL, word_tolerance(output_action.ambient, uncertainty))
    moving = partners[partners.norm(dim=1) > tolerance]
    if not len(moving):
        return Diagnosis.OUTPUT_STAYS()
    same = _same_matrices(action, output_action, coefficients, partners, tolerance)
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
