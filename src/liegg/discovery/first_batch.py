"""What is measured on the first batch, before the pass: hidden changes, nonlinearity, real motions."""

from typing import NamedTuple

import torch
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.discovery.request import Request
from liegg.inputs.batches import evenly_spaced
from liegg.inputs.hidden_derivatives import HiddenChange, hidden_change, refuse
from liegg.inputs.model import Model
from liegg.inputs.nonlinearity import nonlinearity
from liegg.inputs.read_share import read_share
from liegg.polarization.finite_motions import finite_motions
from liegg.polarization.plan import Plan

FIELD_SAMPLES = 8
"""Samples whose fields show which numbers of a sample the candidates move."""


class FirstLook(NamedTuple):
    """What the first batch showed of a model.

    Attributes:
        hidden: change of its output that its derivative does not show; None if not known.
        nonlinearity: of the model between samples; None if not known.
        read: share of the spread of the samples in numbers on which the output depends.
        notes: what could not be checked.
        warnings: what was found wrong.
    """

    hidden: HiddenChange | None = None
    nonlinearity: float | None = None
    notes: tuple[Remark, ...] = ()
    warnings: tuple[Remark, ...] = ()
    read: float = 1.0


def look(function: Model, first: Tensor, request: Request, how: Plan) -> FirstLook:
    """Measure what the pass over the data does not show.

    A model need not accept what is between two samples, or moved images: if it fails there, nothing is known.

    Args:
        function: the probed model.
        first: the first batch.
        request: the question.
        how: how rows are computed.

    Raises:
        HiddenDerivativeError: the derivative hides a change of the output, and the request is to refuse that.
    """
    hidden, notes, warnings, curved = None, (), (), None
    if not function.piecewise:
        hidden = hidden_from(function, first, request)
        if hidden is None and request.run.hidden != "ignore":
            notes = (Diagnosis.HIDDEN_UNCHECKED(),)
    try:
        curved = nonlinearity(function, first, movable=request.action.movable(first))
    except Exception:  # whatever a model does there must not break the analysis
        curved = None
    try:
        doubt = finite_motions(function, request.action.row_action, first, how)
        warnings = () if doubt is None else (doubt,)
    except Exception:  # whatever a model does there must not break the analysis
        warnings = ()
    return FirstLook(hidden, curved, notes, warnings, read_from(function, first, request))


def read_from(function: Model, first: Tensor, request: Request) -> float:
    """Share of the spread in numbers on which the output depends; 1 if the model has no gradient."""
    try:
        return read_share(function, first, movable=request.action.movable(first))
    except Exception:  # whatever a model does there must not break the analysis
        return 1.0


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
    some = first[evenly_spaced(first, FIELD_SAMPLES)]
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
