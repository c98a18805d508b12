"""Names of small solvable Lie algebras that are no direct sums: Heisenberg, filiform, triangular, affine line, Bianchi's list."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.structure.series import (
    Constants,
    Rows,
    brackets,
    centre,
    checked,
    null_rows,
    outside,
    scale,
)

EQUAL = 1e-6
"""Share of the size of a 2 × 2 matrix below which a trace, a difference of eigenvalues or a part besides the scalar one is zero."""


def nilpotent_name(constants: Constants, *, tolerance: float = 1e-8) -> tuple[tuple[str, ...], str]:
    """Names of a nilpotent algebra that is no direct sum, and why; no names if it is not one of those known here.

    Known are the Heisenberg algebras, the filiform algebra of dimension four, and the strictly upper triangular 4 × 4 matrices.

    >>> from liegg.algebra.catalog import shear
    >>> from liegg.algebra.bracket import structure_constants
    >>> nilpotent_name(structure_constants(shear(3)))
    (('heis(3)', 'n(3)', 'Bianchi II'), 'All brackets lie in the centre, which is one-dimensional: a Heisenberg algebra.')
    """
    constants = checked(constants)
    whole = torch.eye(len(constants), dtype=torch.float64)
    derived = brackets(constants, whole, whole, tolerance=tolerance)
    third = brackets(constants, whole, derived, tolerance=tolerance)
    middle = centre(constants, tolerance=tolerance)
    if len(derived) == len(middle) == 1 and len(third) == 0:
        names = ("heis(3)", "n(3)", "Bianchi II") if len(whole) == 3 else (f"heis({len(whole)})",)
        return (
            names,
            "All brackets lie in the centre, which is one-dimensional: a Heisenberg algebra.",
        )
    if (len(whole), len(derived), len(third)) == (4, 2, 1):
        return (
            ("filiform(4)",),
            "In dimension four only the filiform algebra has a lower central series of dimensions 4, 2, 1, 0.",
        )
    if (len(whole), len(derived), len(third), len(middle)) == (6, 3, 1, 1) and _triangular(
        constants, derived, middle, tolerance
    ):
        return ("n(4)",), (
            "Its lower central series has dimensions 6, 3, 1, 0, and the form [u, [b, v]], with b the direction that commutes with "
            "all brackets, has signature (1,1): the strictly upper triangular 4 × 4 matrices."
        )
    return (), ""


def _triangular(constants: Constants, derived: Rows, middle: Rows, tolerance: float) -> bool:
    """Whether an algebra with the series 6, 3, 1, 0 is n(4); the only other one with a regular form has a definite one."""
    threshold = tolerance * scale(constants)
    if len(brackets(constants, derived, derived, tolerance=tolerance)):
        return False
    top = outside(torch.eye(len(constants), dtype=torch.float64), derived)
    pairing = torch.einsum("ai,bj,ijk,k->ab", top, outside(derived, middle), constants, middle[0])
    idle = null_rows(pairing.mT, threshold)
    if len(idle) != 1:
        return False
    others = outside(top, idle @ top)
    stepped = torch.einsum("i,bj,ijk->bk", (idle @ top)[0], others, constants)
    form = torch.einsum("ai,bj,ijk,k->ab", others, stepped, constants, middle[0])
    return float(torch.linalg.det(form)) < -threshold * float(form.abs().max())


def plane_name(constants: Constants, *, tolerance: float = 1e-8) -> tuple[tuple[str, ...], str]:
    r"""Names of a solvable algebra of dimension three whose brackets span a plane, in Bianchi's classification, and why.

    It is one element acting on that plane. What counts is the $2 \times 2$ matrix up to scale and conjugation, so the type and
    $h = \operatorname{tr}^2 / (4\det - \operatorname{tr}^2)$. That is $-((\lambda_1 + \lambda_2)/(\lambda_1 - \lambda_2))^2$ for
    real eigenvalues (VI), $(a/b)^2$ for $a \pm bi$ (VII).

    >>> from liegg.algebra.catalog import se
    >>> from liegg.algebra.bracket import structure_constants
    >>> plane_name(structure_constants(se(2)))[0]
    ('se(2)', 'e(2)', 'Bianchi VII₀')
    """
    constants = checked(constants)
    whole = torch.eye(len(constants), dtype=torch.float64)
    plane = brackets(constants, whole, whole, tolerance=tolerance)
    if len(whole) != 3 or len(plane) != 2:
        return (), ""
    action = torch.einsum("i,bj,ijk,ck->cb", outside(whole, plane)[0], plane, constants, plane)
    return _bianchi(action)


def _bianchi(action: Float[Tensor, "two two"]) -> tuple[tuple[str, ...], str]:
    size = float(action.norm())
    trace, determinant = float(action.trace()) / size, float(torch.linalg.det(action)) / size**2
    turning = 4 * determinant - trace**2
    if abs(turning) < EQUAL:
        rest = action / size - trace / 2 * torch.eye(2, dtype=action.dtype)
        if float(rest.norm()) < EQUAL:
            return ("Bianchi V",), "One element acts on the plane of brackets as a scaling."
        return ("Bianchi IV",), "One element acts on the plane of brackets as a Jordan block."
    if abs(trace) < EQUAL:
        if turning > 0:
            return (
                "se(2)",
                "e(2)",
                "Bianchi VII₀",
            ), "One element acts on the plane of brackets as a rotation."
        return (
            "e(1,1)",
            "Bianchi VI₀",
        ), "One element acts on the plane of brackets as a hyperbolic rotation."
    parameter = trace**2 / turning
    kind = "VI" if turning < 0 else "VII"
    how = (
        "scales two directions by different factors" if turning < 0 else "turns and scales at once"
    )
    return (
        f"Bianchi {kind} (h = {parameter:.4g})",
    ), f"One element acts on the plane of brackets: it {how}."
