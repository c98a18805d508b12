"""Frames in which preserved forms are standard: metrics diag(±1), canonical area forms."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Num
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.algebra.families.classical import darboux
from liegg.algebra.families.record import usable
from liegg.algebra.forms.commutant import invariant_subspaces
from liegg.algebra.forms.forms import preserved_forms
from liegg.algebra.subspace import checked_matrix, orthonormal
from liegg.algebra.words.sparse import pivots


def frame_of(form: Num[Tensor, "..."]) -> Float[Tensor, "n n"]:
    r"""Frame $S$ with $S^\top Q S = \mathrm{diag}(\pm 1)$, as near to the axes as possible.

    $S = |Q|^{-1/2} R$: the first factor makes the form an involution $P_+ - P_-$ with two
    orthogonal projectors. $R$ takes each coordinate axis to the range that it is nearer to, and
    there to the nearest orthonormal basis (polar factor). So signs are in the order of the axes;
    $S$ is $Q^{-1/2}$ for a definite form, and the identity if the form is diag(±1) already. Signs
    and order of eigenvectors do not matter.

    Args:
        form: symmetric, non-degenerate.

    Returns:
        The frame, float64.

    Raises:
        ArgumentError: the form is not symmetric or degenerate.

    Examples:
        >>> frame_of(torch.diag(torch.tensor([-4.0, 1.0])))
        tensor([[0.5000, 0.0000],
                [0.0000, 1.0000]], dtype=torch.float64)
    """
    form = checked_matrix(form, "form")
    size = float(form.abs().max()) if form.numel() else 0.0
    if not torch.allclose(form, form.mT, rtol=0, atol=1e-6 * size):
        raise ArgumentError("the form is not symmetric; expected Q = Qᵀ, for example (Q + Qᵀ) / 2.")
    values, vectors = torch.linalg.eigh((form + form.mT) / 2)
    if size == 0 or float(values.abs().min()) <= 1e-12 * float(values.abs().max()):
        raise ArgumentError(
            f"the form is degenerate, with eigenvalues {values.tolist()}; "
            "expected all of them nonzero."
        )
    positive = values > 0
    plus = vectors[:, positive] @ vectors[:, positive].mT
    axes = pivots(plus.numpy(), int(positive.sum()))
    others = [i for i in range(len(form)) if i not in axes]
    rotation = torch.zeros_like(form)
    for columns, projector in ((axes, plus), (others, torch.eye(len(form)).to(plus) - plus)):
        left, _, right = torch.linalg.svd(projector[:, columns], full_matrices=False)
        rotation[:, columns] = left @ right
    return (vectors / values.abs().sqrt()) @ vectors.mT @ rotation + 0.0


FIXED_ENTRY = 1e-9
"""Entries of unit generators on a subspace up to which the subspace is fixed."""


class Standard(NamedTuple):
    """Axes as columns, and the metric that is diag(±1) along them.

    None if only an area form is preserved.
    """

    frame: Float[Tensor, "n n"]
    form: Float[Tensor, "n n"] | None


def standard_frame(
    generators: Float[Tensor, "d n n"], *, uncertainty: float = 0.0
) -> Standard | None:
    """The standard frame of an algebra, assembled from its invariant subspaces.

    Args:
        generators: matrices that span it.
        uncertainty: relative error of each unit generator.

    Returns:
        Frame and metric; None if it preserves no form on some subspace that it moves.

    Examples:
        >>> from liegg.algebra import so
        >>> stretch = torch.diag(torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64))
        >>> frame = standard_frame(stretch @ so(3) @ torch.linalg.inv(stretch)).frame
        >>> frame.diag().round(decimals=6)
        tensor([0.5000, 1.0000, 2.0000], dtype=torch.float64)
    """
    if not len(generators):
        return None
    span = orthonormal(generators)
    frames, metrics = [], []
    for basis in invariant_subspaces(span, uncertainty=uncertainty):
        inside = torch.linalg.pinv(basis) @ span @ basis
        axes = metric = torch.eye(basis.shape[1]).to(basis)
        if float(inside.abs().max()) > FIXED_ENTRY:
            forms = preserved_forms(inside, uncertainty=uncertainty)
            if forms.metric is not None:
                axes = frame_of(forms.metric)
                metric = axes.mT @ forms.metric @ axes
            elif len(forms.antisymmetric) == 1 and usable(forms.antisymmetric[0]):
                axes, metric = darboux(forms.antisymmetric[0]), None
            else:
                return None
        frames.append(basis @ axes)
        metrics.append(metric)
    frame = torch.cat(frames, 1)
    if any(metric is None for metric in metrics):
        return Standard(frame, None)
    inverse = torch.linalg.inv(frame)
    return Standard(frame, inverse.mT @ torch.block_diag(*metrics) @ inverse)
