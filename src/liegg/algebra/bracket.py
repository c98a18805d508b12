"""The Lie bracket of matrices, and how far a span is from closed under it."""

from jaxtyping import Float
from torch import Tensor

from liegg.algebra.subspace import distance_to_span, orthonormal


def bracket(a: Float[Tensor, "... n n"], b: Float[Tensor, "... n n"]) -> Float[Tensor, "... n n"]:
    """Commutator `ab - ba`; leading axes broadcast."""
    return a @ b - b @ a


def closure_residual(generators: Float[Tensor, "d n n"]) -> float:
    """Largest distance of a bracket of orthonormal generators to their span; 0 for a Lie algebra.

    >>> from liegg.algebra import sl
    >>> closure_residual(sl(2)[:2])  # E12 and E21 without their bracket, which is diagonal
    1.414...
    """
    basis = orthonormal(generators)
    pairs = bracket(basis[:, None], basis[None]).flatten(0, 1).flatten(1)
    return float(distance_to_span(pairs, basis.flatten(1)).max()) if len(basis) else 0.0
