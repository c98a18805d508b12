"""Probe a model: it must be a deterministic, differentiable function of one sample."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.checks import first_nonfinite
from liegg._utils.device import call_within_memory, layout, to_device
from liegg._utils.errors import (
    BatchMixingError,
    DataError,
    DtypeError,
    LieggError,
    ModelError,
    NonFiniteError,
    NotDifferentiableError,
    RandomModelError,
    ShapeError,
)
from liegg._utils.precision import coarsest, record_dtypes
from liegg.inputs.batches import evenly_spaced
from liegg.inputs.counter import Counted
from liegg.inputs.foreign.bridge import Bridge
from liegg.inputs.foreign.recognise import call_for_one_sample
from liegg.inputs.model import Model, arithmetic_note
from liegg.inputs.output_field import with_field

PROBE_SAMPLES = 3
"""Samples on which a model is probed: one of them has neighbours on both sides."""

LARGEST_INPUT = 1e75
"""Numbers up to this, and down to its inverse, have fourth powers in float64."""

RANDOM_UNITS, MIXING_UNITS, LARGEST_CHANGE = 100, 1000, 0.1
"""Most rounding units by which two calls, or a sample in and out of a batch, may differ, and most of
the output's size, which half precision would exceed."""

MIXING_NOISES = 10.0
"""Differences between two calls by which a sample of a noisy model may differ in and out of a batch."""

NOISY_MIXING = 1e-6
"""Share of the output's size by which it may do so without derivatives: sums of large terms that cancel, as of kernel methods."""

RANDOM_ADVICE = (
    "Pass the nn.Module itself (it is analysed in eval mode), or call .eval() on what your function "
    "uses, or fix its noise."
)

NOISE_ADVICE = (
    "Finite differences take noise of up to 10 %. Fix the seed inside the model, or return the mean of "
    "several calls."
)

MIXING_ADVICE = (
    "Make each output depend on its own sample; in a function, call .eval() on the modules it uses."
)

SLOPE_SAMPLES = 64
"""Samples at which the slope is measured; a rectified network may be flat at a few."""


class Gradients(NamedTuple):
    """What one forward pass with derivatives shows of a model at some samples.

    Attributes:
        slope: mean squared gradient of the outputs' sum, with random signs unless the question is about the sum; None
            without derivatives.
        centre: mean outputs.
        squares: mean squared gradient of the outputs' sum with random signs, for every number of a sample; None without
            derivatives.
    """

    slope: float | None
    centre: Float[Tensor, " c"]
    squares: Float[Tensor, "..."] | None


SATURATED = ", or it is saturated everywhere (a tanh or softmax of large numbers; rescale them)"
"""What else can be wrong with a model that has a derivative, which is zero."""


def probe(model: Model, x: Float[Tensor, "b ..."], *, summed: bool = False) -> Model:
    """Check that the model is a deterministic, differentiable function of one sample.

    Args:
        model: the model.
        x: the first batch; a few of its samples are used.
        summed: whether the question is about the sum of the outputs.

    Returns:
        The model with its output shape, its slope and its arithmetic.

    Raises:
        ShapeError: the output does not have one entry per sample.
        DtypeError: the output is not real floating point.
        NonFiniteError: an output is NaN or infinite.
        RandomModelError: two calls differ.
        BatchMixingError: a sample's output depends on the other samples.
        NotDifferentiableError: the output changes with the input but carries no derivative.
        DataError: the numbers are too large or too small to be squared.
    """
    largest = float(x.abs().max()) if x.numel() else 0.0
    if largest > 0 and not 1 / LARGEST_INPUT < largest < LARGEST_INPUT:
        raise DataError(
            f"the largest number of the data is {largest:.0e}: its square overflows or underflows. "
            "Rescale the data, and undo it at the beginning of the model."
        )
    places = evenly_spaced(x, PROBE_SAMPLES)
    batch, x = x, x[places]
    with torch.set_grad_enabled(not model.finite), record_dtypes() as dtypes:
        leaf = x.clone().requires_grad_(not model.finite)
        model, raw = with_field(model, call(model.function, leaf), samples=len(x))
    y = _checked_output(raw, x, model, places)
    arithmetic = coarsest(x.dtype, y.dtype, *dtypes())
    noise, in_place = _check_repeatable(model, x, y, arithmetic)
    shape = tuple(raw.shape[1:])
    model = replace(model, output_shape=shape, in_place=in_place, arithmetic=arithmetic)
    if model.finite:
        return replace(model, noise=noise)
    slope, centre, squares = (
        _gradients_of_batch(model, batch, summed=summed) if raw.requires_grad else (0.0, None, None)
    )
    if slope is not None and slope * largest**2 <= torch.finfo(arithmetic).tiny ** 2:
        slope = 0.0  # what it does to the output is too small to be a number of this precision
    if slope == 0 and _varies(model, batch, summed=summed):
        raise NotDifferentiableError(
            f"the output of {model.name} changes with the input but carries no derivative: "
            "something inside detaches it (torch.no_grad, .detach(), .numpy(), argmax, rounding)"
            f"{SATURATED if raw.requires_grad else ''}. Return the differentiable quantity, such as "
            "logits. Or pass run=liegg.Run(route='finite') for finite differences."
        )
    notes = (*model.notes, *arithmetic_note(arithmetic, model.input_dtype or x.dtype))
    return replace(model, slope=slope, centre=centre, squares=squares, notes=notes)


def _check_repeatable(
    model: Model, x: Float[Tensor, "b ..."], y: Float[Tensor, "b c"], arithmetic: torch.dtype
) -> tuple[float, bool]:
    """Check that samples have the same outputs when called again, and alone.

    Args:
        model: the model.
        x: a few samples.
        y: their outputs.
        arithmetic: coarsest floating point type between input and output.

    Returns:
        The noise of a model without derivatives, 0 if it is rounding; and whether the model writes into its input.

    Raises:
        RandomModelError: two calls differ.
        BatchMixingError: a sample's output depends on the other samples.
    """
    with torch.no_grad():
        again, in_place = _call_again(model.function, x)
        single = [call(model.function, x[i : i + 1]).reshape(1, -1) for i in range(len(x))]
    if any(one.shape[1] != y.shape[1] for one in single):
        raise BatchMixingError(
            f"the output of {model.name} has {y.shape[1]} numbers per sample in a batch of {len(x)}, and "
            f"{single[0].shape[1]} for one sample alone. {MIXING_ADVICE}"
        )
    scale = float(y.abs().max()) + torch.finfo(y.dtype).tiny
    noise, mixing = (float((other - y).abs().max()) / scale for other in (again, torch.cat(single)))
    eps = torch.finfo(arithmetic).eps
    if noise > (LARGEST_CHANGE if model.finite else min(RANDOM_UNITS * eps, LARGEST_CHANGE)):
        raise RandomModelError(
            f"two calls of {model.name} on the same {len(x)} samples differ by {noise:.1e} of the "
            f"output's size: the model draws random numbers. {NOISE_ADVICE if model.finite else RANDOM_ADVICE}"
        )
    tolerance = max(MIXING_NOISES * noise, NOISY_MIXING) if model.finite else MIXING_UNITS * eps
    if mixing > min(tolerance, LARGEST_CHANGE):
        raise BatchMixingError(
            f"the output of {model.name} for a sample changes by {mixing:.1e} of its size when the "
            "other samples of the batch are left out: it mixes samples (batch statistics, a quantised "
            f"layer that scales by the batch, or an operation along axis 0). {MIXING_ADVICE}"
        )
    noise = max(noise, mixing)
    return noise if noise > MIXING_UNITS * eps else 0.0, in_place


def _gradients_of_batch(model: Model, batch: Float[Tensor, "b ..."], *, summed: bool) -> Gradients:
    """`gradients` at a few samples; the slope at all of them where these are flat, as a rectified layer may be."""
    measure = partial(gradients, model, summed=summed)
    samples = batch[evenly_spaced(batch, SLOPE_SAMPLES)]
    found = call_within_memory(measure, samples.to(memory_format=layout(batch)))
    if found.slope == 0 and len(samples) < len(batch):
        return found._replace(slope=call_within_memory(measure, batch).slope)
    return found


def _call_again(
    function: Callable[[Tensor], Tensor], x: Float[Tensor, "b ..."]
) -> tuple[Float[Tensor, "b c"], bool]:
    """Outputs, and whether the model writes into its input, by torch's count of writes."""
    batch = x.clone()
    version = batch._version
    y = call(function, batch, copy=False).reshape(len(x), -1)
    return y, batch._version != version or not torch.equal(batch, x)


def gradients(model: Model, x: Float[Tensor, "b ..."], *, summed: bool) -> Gradients:
    """Gradients and mean outputs of a model at some samples.

    Args:
        model: the model.
        x: the samples.
        summed: whether the question is about the sum of the outputs.
    """
    leaf = x.clone().requires_grad_()
    with torch.enable_grad():
        try:
            y = model(leaf)
        except (torch.OutOfMemoryError, LieggError):
            raise
        except Exception as error:
            raise ModelError(
                f"{model.name} failed on a batch of shape {tuple(leaf.shape)} and dtype "
                f"{leaf.dtype} with gradients on: {type(error).__name__}: {error}. Check that model(data).sum().backward() works in "
                "this dtype on this device, or pass model.float()."
            ) from error
        centre = y.detach().double().mean(0)
        drawn = torch.randint(0, 2, y.shape, generator=torch.Generator().manual_seed(0))
        signs = to_device(2 * drawn - 1, y.device, y.dtype)
        # Of a single output the signs change no square.
        plain = torch.ones_like(y) if summed and y.shape[1] > 1 else None
        take = partial(torch.autograd.grad, y, leaf, materialize_grads=True)
        try:
            each = take(signs, retain_graph=plain is not None)[0].double().square()
            of_sum = each if plain is None else take(plain)[0].double().square()
        except torch.OutOfMemoryError:
            raise
        except RuntimeError:
            return Gradients(None, centre, None)  # no derivative at all, which `rows.plan` reports
    return Gradients(float(of_sum.sum()) / len(leaf), centre, each.mean(0))


def _varies(model: Model, batch: Float[Tensor, "b ..."], *, summed: bool) -> bool:
    """Whether two samples of a batch have different outputs."""
    with torch.no_grad():
        y = call_within_memory(model, batch)
        y = y.sum(1, keepdim=True) if summed else y
    return bool((y != y[:1]).any())


def call(function: Callable[[Tensor], Any], x: Tensor, *, copy: bool = True) -> Any:
    """What a model returns for a batch; raise `ModelError` if it fails."""
    try:
        return function(x.clone() if copy else x)
    except (torch.OutOfMemoryError, LieggError):
        raise  # explained by `explain_out_of_memory`, or already
    except Exception as error:
        advice = (
            "It must accept a batch of any length; an exported program needs a dynamic batch axis (dynamic_shapes="
            "{'x': {0: torch.export.Dim('batch')}})."
        )
        inside = function.function if isinstance(function, Counted) else function
        if isinstance(inside, Bridge):
            advice = inside.model.no_batch
        elif one := call_for_one_sample(function, x):
            advice = f"It takes one sample of shape {tuple(x.shape[1:])}, and no batch: pass {one}."
        raise ModelError(
            f"the model failed on a batch of shape {tuple(x.shape)}, dtype {x.dtype}: "
            f"{type(error).__name__}: {str(error).rstrip('.')}. {advice}"
        ) from error


def check_output(y: Tensor, x: Tensor, model: Model) -> None:
    """Check that an output has real numbers for every sample.

    Args:
        y: the output.
        x: the samples.
        model: the model.

    Raises:
        ShapeError: the output does not have one entry per sample, or no number.
        DtypeError: the output is not real floating point.
    """
    name = model.name
    if y.layout is not torch.strided or y.is_meta:
        raise DtypeError(
            f"{name} returned a tensor without plain values ({y.layout}, on {y.device}); expected a "
            "dense one. Return y.to_dense()."
        )
    if y.ndim == 0 or y.shape[0] != x.shape[0]:
        raise ShapeError(
            f"{name} returned shape {tuple(y.shape)} for a batch of {x.shape[0]} samples; expected "
            f"{x.shape[0]} along the first axis. {model.no_batch}"
        )
    if not y.dtype.is_floating_point:
        raise DtypeError(
            f"{name} returned {y.dtype}; symmetries need real floating point outputs. Return "
            "logits, not classes."
        )
    if y.numel() == 0:
        raise ShapeError(
            f"{name} returned shape {tuple(y.shape)}: no output at all. Return at least one "
            "number per sample."
        )


def _checked_output(y: Tensor, x: Tensor, model: Model, places: Tensor) -> Float[Tensor, "b c"]:
    check_output(y, x, model)
    y = y.detach().reshape(x.shape[0], -1)
    if (bad := first_nonfinite(y)) is not None:
        raise NonFiniteError(
            f"{model.name} returned NaN or infinity for sample {int(places[bad])}. Check it there."
        )
    return y
