"""The part of a span that is closed under the bracket: what remains of symmetries of which some are none.

Symmetries of a function form an algebra. If the bracket of two directions is a candidate and leaves the span of all that look
like symmetries, at least one of the two is none.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.bracket import bracket
from liegg.algebra.subspace import orthonormal

EQUALLY_OPEN = 0.75
"""Share of the largest squared size of brackets outside the span from which on a direction is as much to blame as the worst one."""


class ClosedPart(NamedTuple):
    """A span as its closed part and the rest.

    Attributes:
        closed: orthonormal matrices whose brackets stay in their span, as far as these are candidates.
        rest: orthonormal matrices of the rest of the span.
        residual: largest part of a bracket of unit matrices of the span that is a candidate outside it.
    """

    closed: Float[Tensor, "c n n"]
    rest: Float[Tensor, "r n n"]
    residual: float


def closed_part(
    generators: Float[Tensor, "d n n"], family: Float[Tensor, "g n n"], *, tolerance: float
) -> ClosedPart:
    """Leave the directions out that take most brackets out of the span, until it is closed.

    Directions that are equally to blame are left out together, so that the part does not depend on the basis: nothing tells
    which of two directions that do not close is none.

    Args:
        generators: matrices of the span.
        family: matrices of all candidates; parts of brackets outside their span say nothing.
        tolerance: part of a bracket of unit matrices outside the span up to which it is closed.

    Examples:
        >>> from liegg.algebra import gl, so
        >>> span = torch.cat([so(3), torch.diag(torch.tensor([1.0, 2.0, 3.0]))[None].double()])
        >>> part = closed_part(span, gl(3), tolerance=0.1)
        >>> len(part.closed), len(part.rest)
        (3, 1)
        >>> len(closed_part(so(3)[:2], gl(3), tolerance=0.1).closed)
        0
    """
    span = orthonormal(generators)
    n = span.shape[1]
    candidates = None if len(family) == n * n else orthonormal(family).flatten(1)
    axes = torch.eye(len(span), dtype=span.dtype)  # rows: the part in the basis of the span
    residual = None
    while True:
        outside = _outside(torch.einsum("kd,dij->kij", axes, span), candidates)
        largest = float(outside.norm(dim=2).max()) if len(axes) else 0.0
        residual = largest if residual is None else residual
        if largest <= tolerance:
            break
        squares = torch.einsum("ijm,kjm->ik", outside, outside)
        sizes, directions = torch.linalg.eigh(squares)
        axes = directions[:, sizes < EQUALLY_OPEN * sizes[-1]].mT @ axes
    rest = torch.linalg.svd(axes, full_matrices=True).Vh[len(axes) :]
    closed, left = (torch.einsum("kd,dij->kij", rows, span) for rows in (axes, rest))
    return ClosedPart(closed, left, residual)


def _outside(
    basis: Float[Tensor, "d n n"], candidates: Float[Tensor, "g m"] | None
) -> Float[Tensor, "d d m"]:
    """Parts of the brackets of orthonormal matrices outside their span, inside that of the candidates."""
    pairs = bracket(basis[:, None], basis[None]).flatten(2)
    if candidates is not None:
        pairs = pairs @ candidates.mT @ candidates
    rows = basis.flatten(1)
    return pairs - pairs @ rows.mT @ rows
