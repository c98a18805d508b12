"""Starting points for algebras that preserve something: nearest forms and commuting matrices."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.bracket import intertwiner_gram
from liegg.algebra.families.record import lowest
from liegg.algebra.forms.forms import form_map, symmetric_units


def bilinear(generators: Float[Tensor, "d n n"], sign: int, count: int) -> Float[Tensor, "c n n"]:
    """Symmetric (`sign` 1) or antisymmetric (−1) forms Q with the smallest AᵀQ + QA, best first."""
    return _nearest_forms(generators, symmetric_units(generators.shape[1], sign), count)


def hermitian(matrices: Tensor, count: int) -> Tensor:
    """Hermitian forms H [c, m, m] with the smallest AᴴH + HA for complex matrices A, best first."""
    m = matrices.shape[-1]
    units = [symmetric_units(m, 1).to(matrices), 1j * symmetric_units(m, -1).to(matrices)]
    return _nearest_forms(matrices, torch.cat(units), count)


def _nearest_forms(matrices: Tensor, units: Tensor, count: int) -> Tensor:
    """Combinations of unit forms that the matrices come nearest to preserving, best first."""
    residuals = form_map(matrices, units).flatten(0, 1)
    weights = lowest((residuals.mH @ residuals).real, count)
    return torch.einsum("cu,uij->cij", weights.to(units), units)


def signed_frames(form: Tensor, *, flip: bool) -> Iterator[tuple[Tensor, int]]:
    """Frames in which a form is diag(±1), positive signs first, and the number of these.

    Args:
        form: the form.
        flip: add a second frame, for the form with the sign of its smallest eigenvalue changed.
    """
    values, vectors = torch.linalg.eigh(form)
    flipped = values.clone()
    flipped[values.abs().argmin()] *= -1
    sizes = values.abs().clamp_min(1e-6 * float(values.abs().max())).sqrt()
    for signs in (values, flipped) if flip else (values,):
        order = torch.argsort(signs, descending=True)
        yield vectors[:, order] / sizes[order], int((signs > 0).sum())


def commuting(generators: Float[Tensor, "d n n"], count: int) -> Float[Tensor, "c n n"]:
    """Unit traceless matrices T with the smallest AT − TA, best first."""
    n = generators.shape[1]
    identity = torch.eye(n).to(generators).flatten()
    gram = intertwiner_gram(generators, generators)
    # The weight keeps the identity, which commutes with everything, out of the answers.
    gram = gram + float(gram.diagonal().sum() + 1) * torch.outer(identity, identity)
    return lowest(gram, count).unflatten(1, (n, n))


def complex_structure(commutant: Float[Tensor, "c n n"]) -> Float[Tensor, "n n"] | None:
    """The J with J² = −1 nearest to the span of commuting matrices.

    None if no matrix is like a rotation.
    """
    square = torch.einsum("aij,bji->ab", commutant, commutant)
    values, vectors = torch.linalg.eigh((square + square.mT) / 2)
    if not len(values) or float(values[0]) >= 0:
        return None
    rotation = torch.einsum("a,aij->ij", vectors[:, 0], commutant)
    eigenvalues, frame = torch.linalg.eig(rotation.to(torch.complex128))
    upper = eigenvalues.imag > 0
    if int(upper.sum()) * 2 != len(rotation) or float(torch.linalg.cond(frame)) > 1e8:
        return None
    return ((frame * torch.where(upper, 1j, -1j)) @ torch.linalg.inv(frame)).real
