"""Open a model for a question: its part, the probe, and arrays where it does not take tensors."""

import warnings
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import DtypeError, ModelError, NotDifferentiableError
from liegg.inputs.foreign.bridge import Bridge, as_array
from liegg.inputs.foreign.jax_function import JaxFunction
from liegg.inputs.foreign.jax_tree import JaxTree
from liegg.inputs.foreign.recognise import array_function, takes_tensors
from liegg.inputs.model import Model, foreign_model, with_finite_differences
from liegg.inputs.own_gradient import OwnGradient, takes_gradient
from liegg.inputs.part import Part, with_part
from liegg.inputs.probe import probe


def probed(
    model: Model,
    x: Float[Tensor, "b ..."],
    part: Part,
    *,
    summed: bool = False,
    finite: bool = False,
) -> Model:
    """The probed model, restricted to a part of what it returns.

    A function that fails on tensors is tried on arrays. If it takes those, its derivatives are finite
    differences, or those of JAX; a note says so. A model that takes a gradient of its own is called with autograd on;
    if its output has no derivative even so, finite differences are used, and a note says so.

    Args:
        model: the model in eval mode.
        x: the first batch.
        part: of what the model returns.
        summed: whether the question is about the sum of the outputs.
        finite: whether derivatives are to be finite differences.

    Raises:
        LieggError: as for `with_part` and `probe`.
    """
    found = _on_arrays(model, x) if finite else None
    if found is None:
        try:
            with warnings.catch_warnings():
                # A function of numpy that is given tensors; it is tried on arrays below.
                warnings.filterwarnings("ignore", "__array_wrap__ must accept", DeprecationWarning)
                return _probed(model, x, part, summed=summed, finite=finite)
        except (ModelError, DtypeError) as error:
            other = type(error) in (ModelError, DtypeError)
            own = other or type(error) is NotDifferentiableError
            if own and not model.finite and takes_gradient(model.function, x[:1]):
                return _with_own_gradient(model, x, part, summed=summed, finite=finite)
            if other and not takes_tensors(model.function, x[:1]):
                found = _on_arrays(model, x)
            if found is None:
                raise
    return _probed(found, x.to(found.dtype), part, summed=summed, finite=finite)


def _on_arrays(model: Model, x: Float[Tensor, "b ..."]) -> Model | None:
    """A function of tensors or arrays as one of arrays; None if it does not take them, or is a model of torch."""
    if model.weights is not None or model.finite or isinstance(model.function, Bridge | nn.Module):
        return None
    found = array_function(model.function, model.name, as_array(x[:1].double()))
    if found is None:
        return None
    other = foreign_model(found)
    if isinstance(found, JaxFunction) and found.trees:
        other = replace(other, function=JaxTree(found.function, found))
    notes = (*model.notes, *other.notes)
    return replace(
        other, notes=notes if found.differentiable else (*notes, Diagnosis.ARRAY_FUNCTION())
    )


def _with_own_gradient(model: Model, x: Tensor, part: Part, *, summed: bool, finite: bool) -> Model:
    """A model that takes a gradient of its own, probed; by finite differences if its output has no derivative."""
    model = replace(model, function=OwnGradient(model.function))
    try:
        return _probed(model, x, part, summed=summed, finite=finite)
    except NotDifferentiableError:
        model = replace(model, notes=(*model.notes, Diagnosis.DETACHED_GRADIENT()))
        return _probed(model, x, part, summed=summed, finite=True)


def _probed(model: Model, x: Tensor, part: Part, *, summed: bool, finite: bool) -> Model:
    """The model with its part, probed."""
    model = with_finite_differences(model) if finite else model
    with torch.set_grad_enabled(torch.is_grad_enabled() and not model.finite):
        return probe(with_part(model, x, part), x, summed=summed)


def in_dtype_of(x: Float[Tensor, "b ..."], model: Model, before: torch.dtype | None) -> Tensor:
    """Samples in the dtype of a model, if probing it changed that.

    Args:
        x: samples.
        model: the probed model.
        before: dtype of the model before it was probed.
    """
    return x if model.dtype is None or model.dtype == before else x.to(model.dtype)
