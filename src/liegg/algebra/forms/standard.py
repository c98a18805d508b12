"""Coordinates in which preserved forms are standard: metrics diag(±1), canonical area forms."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.families.classical import darboux
from liegg.algebra.forms.commutant import invariant_subspaces
from liegg.algebra.forms.forms import preserved_forms
from liegg.algebra.forms.frame import frame_of
from liegg.algebra.subspace import orthonormal

ROUNDING = 1e-9
"""Entries of unit generators on a subspace up to which the subspace is fixed."""


class Standard(NamedTuple):
    """Axes as columns, and the metric that is diag(±1) along them.

    None if only an area form is preserved.
    """

    frame: Float[Tensor, "n n"]
    form: Float[Tensor, "n n"] | None


def standard_frame(generators: Float[Tensor, "d n n"]) -> Standard | None:
    """The standard frame of an exact algebra, assembled from its invariant subspaces.

    Args:
        generators: matrices that span it.

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
    for basis in invariant_subspaces(span):
        inside = torch.linalg.pinv(basis) @ span @ basis
        axes = metric = torch.eye(basis.shape[1]).to(basis)
        if float(inside.abs().max()) > ROUNDING:
            forms = preserved_forms(inside)
            if forms.metric is not None:
                axes = frame_of(forms.metric)
                metric = axes.mT @ forms.metric @ axes
            elif len(forms.antisymmetric) == 1 and _regular(forms.antisymmetric[0]):
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


def _regular(form: Float[Tensor, "n n"]) -> bool:
    values = torch.linalg.svdvals(form)
    return float(values[-1]) > 1e-6 * float(values[0])
