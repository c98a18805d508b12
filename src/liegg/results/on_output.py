"""What the symmetries of an equivariant model do to its output, in words."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.linalg import orthonormal_rows
from liegg.actions import Action, MatrixAction
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
) -> Remark | None:
    """The algebra that acts on the output, and whether each generator acts there by its own matrix.

    Args:
        action: the candidate generators.
        output_action: the action on the outputs; None for invariance.
        coefficients: unit coefficients of the symmetries.
        partners: what they do to the output.
        uncertainty: angle in radians by which a unit generator may be off.

    Returns:
        The remark; None for invariance, without symmetries, and for outputs without matrices.
    """
    if not isinstance(output_action, MatrixAction) or not len(partners):
        return None
    tolerance = word_tolerance(output_action.ambient, uncertainty)
    moving = partners[partners.norm(dim=1) > max(STILL, tolerance)]
    if not len(moving):
        return Diagnosis.OUTPUT_STAYS()
    span = orthonormal_rows(moving.to(torch.float64))
    found = name_symmetries(output_action, span, uncertainty=uncertainty)
    name = (
        found.name if found.known else f"an algebra of dimension {len(span)} without a known name"
    )
    name += "" if found.confident or not found.known else " (name not sure)"
    same = _same_matrices(action, output_action, coefficients, partners, tolerance)
    return (Diagnosis.OUTPUT_SAME_MATRICES if same else Diagnosis.OUTPUT_ALGEBRA)(name=name)


def _same_matrices(
    action: Action,
    output_action: MatrixAction,
    coefficients: Float[Tensor, "d g"],
    partners: Float[Tensor, "d m"],
    tolerance: float,
) -> bool:
    """Whether every output generator is the matrix of its input generator, without its translation."""
    if not isinstance(action, MatrixAction):
        return False
    sides = [one.ambient - one.homogeneous for one in (action, output_action)]
    if sides[0] != sides[1]:
        return False
    n = sides[0]
    own = action.matrices(coefficients)[:, :n, :n]
    other = output_action.matrices(partners)[:, :n, :n]
    return bool((own - other.to(own)).abs().max() <= max(STILL, tolerance))
