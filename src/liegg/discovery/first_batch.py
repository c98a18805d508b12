"""What is measured on the first batch, before the pass: hidden changes, nonlinearity, real motions."""

import torch
from torch import Tensor

from liegg._utils.diagnoses import Remark
from liegg.actions import Action
from liegg.discovery.request import Request
from liegg.inputs.batches import evenly_spaced
from liegg.inputs.hidden_derivatives import HiddenChange, hidden_change, refuse
from liegg.inputs.model import Model
from liegg.inputs.nonlinearity import nonlinearity
from liegg.polarization.finite_motions import finite_motions
from liegg.polarization.plan import Plan

MOTIONS = 8
"""Samples at which it is seen which numbers of a sample the candidates move."""


def hidden_from(function: Model, first: Tensor, request: Request) -> HiddenChange | None:
    """Change of the output that the derivative does not show, in the numbers that candidates move.

    Args:
        function: the probed model.
        first: the first batch.
        request: the question.

    Returns:
        The change; None if it cannot be measured or was not requested.

    Raises:
        HiddenDerivativeError: there is one, and the request is to refuse it.
    """
    if request.run.hidden == "ignore":
        return None
    drawn = torch.Generator().manual_seed(0)
    h = torch.randn(request.action.size, generator=drawn, dtype=torch.float64)
    some = first[evenly_spaced(first, MOTIONS)]
    moved = (request.action.field(h.to(some), some) != 0).any(0)
    hidden = hidden_change(
        function,
        first,
        moved=moved,
        movable=request.action.movable(first),
        summed=request.outputs == "sum",
    )
    if hidden is not None and hidden.found and request.run.hidden == "refuse":
        refuse(function, hidden)
    return hidden


def nonlinearity_of(function: Model, first: Tensor, action: Action) -> float | None:
    """Nonlinearity of the model; None if it fails between two samples, which need not be valid samples."""
    try:
        return nonlinearity(function, first, movable=action.movable(first))
    except Exception:  # whatever a model does there must not break the analysis
        return None


def doubts(function: Model, first: Tensor, request: Request, how: Plan) -> tuple[Remark, ...]:
    """That images which are really moved change the output otherwise; none if the model fails on them."""
    try:
        found = finite_motions(function, request.action.row_action, first, how)
    except Exception:  # whatever a model does there must not break the analysis
        return ()
    return () if found is None else (found,)
