"""Spans of generators: orthonormal bases, projections, principal angles."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._errors import ArgumentError
from liegg._linalg import orthonormal_rows


def orthonormal(generators: Float[Tensor, "d ..."]) -> Float[Tensor, "r n n"]:
    """Generators `[d, n, n]` with the same span, orthonormal in the Frobenius inner product; dependent ones are reduced."""
    side = _square(generators)
    return orthonormal_rows(generators.to(torch.float64).flatten(1)).unflatten(1, (side, side))


def distance_to_span(vectors: Float[Tensor, "k g"], span: Float[Tensor, "d g"]) -> Float[Tensor, " k"]:
    """Euclidean distance of each row to the span of the rows of `span`.

    >>> distance_to_span(torch.tensor([[3.0, 4.0]]), torch.tensor([[1.0, 0.0]]))
    tensor([4.], dtype=torch.float64)
    """
    vectors = vectors.to(torch.float64)
    basis = orthonormal_rows(span.to(vectors))
    return (vectors - vectors @ basis.mT @ basis).norm(dim=1)


def principal_angles(one: Float[Tensor, "d g"], other: Float[Tensor, "e g"]) -> Float[Tensor, " k"]:
    r"""Principal angles between two row spans in radians, ascending, `min(d, e)` of them.

    Cosines lose angles below 1e-8 and sines those near 90°, so each angle comes from `atan2` of both: with $V$, $W$
    orthonormal, the cosines are the singular values of $VW^\top$ and the sines those of the part of $V$ outside $W$.

    Args:
        one: rows that span the first space.
        other: rows that span the second.

    Returns:
        Angles, right to about 1e-15.

    Examples:
        >>> principal_angles(torch.eye(3)[:2], torch.eye(3)[1:]).rad2deg()
        tensor([ 0., 90.], dtype=torch.float64)
    """
    v, w = orthonormal_rows(one.to(torch.float64)), orthonormal_rows(other.to(torch.float64))
    if v.shape[0] > w.shape[0]:
        v, w = w, v
    inside = v @ w.mT
    return torch.atan2(torch.linalg.svdvals(v - inside @ w).flip(0), torch.linalg.svdvals(inside))


def _square(generators: Tensor) -> int:
    if generators.ndim != 3 or generators.shape[1] != generators.shape[2]:
        raise ArgumentError(f"generators have shape {tuple(generators.shape)}; expected matrices [d, n, n].")
    return generators.shape[1]
