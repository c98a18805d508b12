"""A named algebra with concrete matrices near a span, and where to start the search for one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Inexact
from torch import Tensor

from liegg.algebra.bracket import intertwiner_gram
from liegg.algebra.forms.forms import form_map, symmetric_units


@dataclass(frozen=True, eq=False)
class Member:
    """An exact algebra that a span may be: a member of the family of all algebras of its name.

    Attributes:
        name: name of the algebra, by the way it acts.
        generators: its matrices, in the coordinates of the span.
        blocks: names and dimensions of the parts that act on separate subspaces; empty if it is not
            a sum.
        stretch: condition number of the coordinates in which it is standard; the larger, the nearer
            to a simpler algebra.
        copies: number of subspaces on which it acts in the same way.
        dual: whether it acts as on covectors.
        whole: whether it acts as its name says on the complete space, not on a part of it, in
            copies or in a sum.
    """

    name: str
    generators: Float[Tensor, "d n n"]
    blocks: tuple[tuple[str, int], ...] = ()
    stretch: float = 1.0
    copies: int = 1
    dual: bool = False
    whole: bool = True


Proposer = Callable[[Float[Tensor, "d n n"], float], Iterator[Member]]
"""From a span and its noise, algebras of one kind near it: few, good, and exactly closed."""


def conjugate(
    generators: Float[Tensor, "d m m"], frame: Float[Tensor, "m m"]
) -> Float[Tensor, "d m m"]:
    """Matrices that act on the columns of a frame as `generators` do on the axes."""
    return torch.linalg.solve(frame.mT, (frame @ generators).mT).mT


def usable(frame: Float[Tensor, "m m"]) -> bool:
    """Whether the columns of a frame are independent, to six digits."""
    return bool(frame.isfinite().all()) and float(torch.linalg.cond(frame)) < 1e6


def lowest(square: Float[Tensor, "k k"], count: int) -> Float[Tensor, "c k"]:
    """Eigenvectors of the smallest eigenvalues of a symmetric matrix, as rows."""
    return torch.linalg.eigh(square)[1][:, :count].mT


def traceless(matrices: Inexact[Tensor, "d n n"]) -> Inexact[Tensor, "d n n"]:
    """The matrices without their multiples of the identity."""
    n = matrices.shape[1]
    trace = matrices.diagonal(dim1=1, dim2=2).sum(1)
    return matrices - trace[:, None, None] / n * torch.eye(n).to(matrices)


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
