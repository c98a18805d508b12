"""Candidates along one axis of a grid: the traceless ones, and the one with a trace."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.structured.constructors import algebra_basis


@dataclass(frozen=True, eq=False)
class Axis:
    r"""Candidates along one axis; the identity is separate, as it is the same map along every axis.

    Attributes:
        side: length of the axis.
        basis: orthonormal traceless matrices, flat; None for all of sl(k), whose basis is implicit.
        traced: matrix of the span that is orthogonal to the basis; 0 if all of it is traceless.
    """

    side: int
    basis: Float[Tensor, "r kk"] | None
    traced: Float[Tensor, "k k"]

    @property
    def count(self) -> int:
        """Number of traceless candidates."""
        return self.side**2 - 1 if self.basis is None else len(self.basis)

    def project(self, whole: Float[Tensor, "b k kk"]) -> Float[Tensor, "b k r"]:
        """Inner products with the traceless candidates, from those with the unit matrices."""
        if self.basis is not None:
            return whole @ self.basis.to(whole).mT
        diagonal = whole.unflatten(2, (self.side, self.side)).diagonal(dim1=2, dim2=3)
        return torch.cat(
            [
                whole[..., _beside(self.side).to(whole.device)],
                diagonal @ _helmert(self.side).to(whole),
            ],
            dim=2,
        )

    def trace(self, whole: Float[Tensor, "b k kk"]) -> Float[Tensor, "b k"]:
        """Inner products with the candidate that has a trace."""
        return whole @ self.traced.to(whole).flatten()

    def lift(self, h: Float[Tensor, "t r"], trace: Float[Tensor, " t"]) -> Float[Tensor, "t k k"]:
        """Matrices with these coefficients."""
        if self.basis is not None:
            flat = h @ self.basis.to(h)
        else:
            beside, level = h.split([self.side * (self.side - 1), self.side - 1], dim=1)
            flat = torch.diag_embed(level @ _helmert(self.side).to(h).mT).flatten(1)
            flat = flat.index_add(1, _beside(self.side).to(h.device), beside)
        flat = flat + trace[:, None] * self.traced.to(h).flatten()
        return flat.unflatten(1, (self.side, self.side))


def axis_of(side: int, given: Float[Tensor, "r k k"] | None) -> Axis:
    """Split candidates along an axis into traceless ones and the one with a trace.

    Args:
        side: length of the axis.
        given: matrices that span the candidates; None for all of gl(k).

    Raises:
        ArgumentError: matrices of another size, not finite, or all zero.

    Examples:
        >>> axis_of(3, None).count, axis_of(3, torch.eye(3, dtype=torch.float64)[None]).count
        (8, 0)
    """
    identity = torch.eye(side, dtype=torch.float64)
    if given is None:
        return Axis(side, None, identity)
    basis = algebra_basis(given, side).flatten(1)
    traced = identity.flatten() @ basis.mT
    if float(traced.norm()) <= 1e-10:
        return Axis(side, basis, torch.zeros_like(identity))
    orthogonal = torch.linalg.svd(traced[None], full_matrices=True).Vh[1:]
    return Axis(side, orthogonal @ basis, (traced @ basis).unflatten(0, (side, side)))


def _beside(side: int) -> Tensor:
    """Places beside the diagonal of a flat square matrix."""
    return torch.arange(side * side).reshape(side, side)[~torch.eye(side, dtype=torch.bool)]


def _helmert(side: int) -> Float[Tensor, "k l"]:
    """Orthonormal columns orthogonal to (1, ..., 1): the l-th is l ones, then -l, scaled."""
    from scipy.linalg import helmert

    return torch.from_numpy(helmert(side)).mT
