"""Starts for algebras that preserve something: the forms, and the commuting matrices, that come nearest to it."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.families.record import lowest
from liegg.algebra.forms.forms import symmetric_units


def bilinear(generators: Float[Tensor, "d n n"], sign: int, count: int) -> Float[Tensor, "c n n"]:
    """Symmetric (`sign` 1) or antisymmetric (−1) unit forms Q with the smallest AᵀQ + QA, best first."""
    n = generators.shape[1]
    units = symmetric_units(n, sign)
    moved = torch.einsum("aki,ukj->auij", generators, units) + torch.einsum(
        "uik,akj->auij", units, generators
    )
    square = torch.einsum("auij,avij->uv", moved, moved)
    return torch.einsum("cu,uij->cij", lowest(square, count), units)


def commuting(generators: Float[Tensor, "d n n"], count: int) -> Float[Tensor, "c n n"]:
    """Unit traceless matrices T with the smallest AT − TA, best first."""
    n = generators.shape[1]
    eye = torch.eye(n).to(generators)
    square = torch.zeros(n * n, n * n).to(generators)
    for a in generators:  # T ↦ AT − TA as a matrix on the entries of T
        step = torch.kron(a, eye) - torch.kron(eye, a.mT.contiguous())
        square += step.mT @ step
    square += float(square.diagonal().sum() + 1) * torch.outer(
        eye.flatten(), eye.flatten()
    )  # keeps the identity away
    return lowest(square, count).unflatten(1, (n, n))


def hermitian(matrices: Tensor, count: int) -> Tensor:
    """Hermitian forms H [c, m, m] with the smallest AᴴH + HA for complex matrices A, best first."""
    m = matrices.shape[-1]
    units = torch.cat(
        [symmetric_units(m, 1).to(matrices), 1j * symmetric_units(m, -1).to(matrices)]
    )
    moved = torch.einsum("aki,ukj->auij", matrices.conj(), units) + torch.einsum(
        "uik,akj->auij", units, matrices
    )
    square = torch.einsum("auij,avij->uv", moved.conj(), moved).real
    return torch.einsum("cu,uij->cij", lowest(square, count).to(matrices), units)


def complex_structure(commutant: Float[Tensor, "c n n"]) -> Float[Tensor, "n n"] | None:
    """J with J² = −1 nearest to the span of commuting matrices; None where none of them is like a rotation."""
    square = torch.einsum("aij,bji->ab", commutant, commutant)
    values, vectors = torch.linalg.eigh((square + square.mT) / 2)
    if not len(values) or float(values[0]) >= 0:
        return None
    turn = torch.einsum("a,aij->ij", vectors[:, 0], commutant)
    eigenvalues, frame = torch.linalg.eig(turn.to(torch.complex128))
    if int((eigenvalues.imag > 0).sum()) * 2 != len(turn) or float(torch.linalg.cond(frame)) > 1e8:
        return None
    quarter = torch.where(eigenvalues.imag > 0, 1j, -1j)
    return ((frame * quarter) @ torch.linalg.inv(frame)).real
