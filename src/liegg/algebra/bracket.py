"""The Lie bracket of matrices, and how far a span is from closed under it."""

from jaxtyping import Float
from torch import Tensor

from liegg.algebra.subspace import distance_to_span, orthonormal


def bracket(a: Float[Tensor, "*d n n"], b: Float[Tensor, "*d n n"]) -> Float[Tensor, "*d n n"]:
    """Commutator `ab - ba`."""
    return a @ b - b @ a


def closure_residual(generators: Float[Tensor, "d n n"]) -> float:
    """Largest distance of a bracket of orthonormal generators to their span; 0 for a Lie algebra.

    >>> e12, e21 = torch.zeros(2, 2, 2).index_put_((torch.arange(2), torch.arange(2), 1 - torch.arange(2)), torch.ones(2))
    >>> closure_residual(torch.stack([e12, e21]))  # their bracket is diagonal: sl(2) is missing a generator
    1.414...
    """
    basis = orthonormal(generators)
    pairs = bracket(basis[:, None], basis[None]).flatten(0, 1).flatten(1)
    return float(distance_to_span(pairs, basis.flatten(1)).max()) if len(basis) else 0.0
