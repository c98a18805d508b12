"""The directions of the symmetries: an orthonormal basis that depends on their span alone where they tie."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import canonical_basis, fix_signs, orthonormal_rows
from liegg.decision.decide import Decision
from liegg.spectrum.defects import Defects

CANONICAL_PRODUCTS = 2**31
"""Largest number of products d²g for a canonical basis, which takes seconds; with more directions the solver's basis is kept."""


def symmetry_directions(solution: Defects, decision: Decision) -> Float[Tensor, "d g"]:
    """Orthonormal coefficients of the symmetries, smallest defect first, with deterministic signs.

    Directions that tie at the numerical floor have no order of their own; they get the basis of `canonical_basis`, which depends
    only on their span.
    """
    chosen = solution.directions[: decision.nullity]
    exact = _tied_basis(chosen[: decision.exact])
    if decision.exact == decision.nullity:
        return exact
    q, r = torch.linalg.qr(torch.cat([exact, chosen[decision.exact :]]).mT)
    return fix_signs((q * torch.where(r.diagonal() < 0, -1.0, 1.0)).mT.contiguous())


def _tied_basis(rows: Float[Tensor, "e g"]) -> Float[Tensor, "e g"]:
    """Orthonormal basis of directions that tie; it depends only on their span where that is cheap enough."""
    if len(rows) == rows.shape[1]:
        return torch.eye(len(rows), dtype=rows.dtype)
    if len(rows) * rows.numel() > CANONICAL_PRODUCTS:
        return fix_signs(torch.linalg.qr(rows.mT).Q.mT.contiguous())
    return canonical_basis(orthonormal_rows(rows))
