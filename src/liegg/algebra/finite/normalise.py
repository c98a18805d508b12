r"""Matrices that take one algebra to another by conjugation, $T\,\mathfrak g\,T^{-1} = \mathfrak h$, by Levenberg–Marquardt.

The normaliser of an algebra, $\mathfrak h = \mathfrak g$, holds one component for every outer automorphism that matrices can cause:
reflections of so(2k), complex conjugation of u(n), exchanges of isomorphic ideals.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.finite.levenberg_marquardt import Schedule, descend

TOWARDS_ALGEBRA = Schedule(
    steps=60,
    longest=1.0,
    damping=1e-3,
    less=1 / 4,
    more=8.0,
    stuck=1e12,
    done=1e-28,
    small_gain=1e-3,
    patience=4,
)
"""Steps of the descent; random orthogonal starts reach the normalisers of su(n) always, those of u(n) every third time."""

GENERIC = 4
"""Random elements of an algebra that are taken to the other: two generate a semisimple one. All generators are checked after it."""


def angle_off(
    matrices: Float[Tensor, "s n n"], one: Float[Tensor, "d n n"], other: Float[Tensor, "e n n"]
) -> Float[Tensor, " s"]:
    """Largest sine of the angle between a conjugate generator of one algebra and the other.

    >>> from liegg.algebra import orthonormal, so
    >>> mirror = torch.diag(torch.tensor([1.0, 1.0, 1.0, -1.0], dtype=torch.float64))
    >>> bool(angle_off(mirror[None], orthonormal(so(4)), orthonormal(so(4))) < 1e-12)
    True

    Args:
        matrices: invertible.
        one: generators.
        other: orthonormal generators.
    """
    moved = (matrices[:, None] @ one @ torch.linalg.inv(matrices)[:, None]).flatten(2)
    return (_outside(moved, other).norm(dim=2) / moved.norm(dim=2)).amax(1)


def conjugators(
    one: Float[Tensor, "d n n"], other: Float[Tensor, "e n n"], starts: Float[Tensor, "s n n"]
) -> Float[Tensor, "s n n"]:
    """Where starts arrive on the way to matrices that take one algebra to another.

    Args:
        one: orthonormal generators.
        other: orthonormal generators.
        starts: invertible.
    """
    n = starts.shape[1]
    generator = torch.Generator().manual_seed(0)
    mixed = torch.randn(len(one), len(one), generator=generator, dtype=torch.float64)
    few = torch.einsum("kd,dij->kij", torch.linalg.qr(mixed).Q[:GENERIC], one)
    units = torch.eye(n * n, dtype=torch.float64).unflatten(1, (n, n))
    brackets = units[:, None] @ few - few @ units[:, None]

    def residual(current: Tensor, _: Tensor) -> tuple[Tensor, Tensor]:
        inverse = torch.linalg.inv(current)
        moved = (current[:, None] @ few @ inverse[:, None]).flatten(2)
        # d(T exp(E) A exp(-E) T⁻¹) = T [E, A] T⁻¹
        slopes = (current[:, None, None] @ brackets @ inverse[:, None, None]).flatten(3)
        rows = _outside(slopes, other).permute(0, 2, 3, 1).flatten(1, 2)
        return _outside(moved, other).flatten(1), rows

    def move(current: Tensor, step: Tensor) -> Tensor:
        return current @ torch.linalg.matrix_exp(step.unflatten(1, (n, n)))

    return descend(starts, residual, move, TOWARDS_ALGEBRA)[0]


def _outside(
    matrices: Float[Tensor, "*b m"], span: Float[Tensor, "e n n"]
) -> Float[Tensor, "*b m"]:
    """What is left of flat matrices outside a span."""
    basis = span.flatten(1)
    return matrices - (matrices @ basis.mT) @ basis
