"""The model: a module, an exported program or a callable as a pure function of a batch.

The caller's model is left as it was.
"""

import copy
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg._utils.checks import first_nonfinite
from liegg._utils.device import call_within_memory, to_device
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import (
    ArgumentError,
    BatchMixingError,
    DataError,
    DtypeError,
    ModelError,
    NonFiniteError,
    NotDifferentiableError,
    RandomModelError,
    ShapeError,
)
from liegg._utils.precision import coarsest, convolves, record_dtypes
from liegg._utils.unwrap_compiled import is_compiled, original, uncompiled, unwrap
from liegg.inputs.batches import Batches, evenly_spaced
from liegg.inputs.reachable import modules_inside

PROBE_SAMPLES = 3
"""Samples on which a model is probed: one of them has neighbours on both sides."""

LARGEST = 1e75
"""Numbers up to this, and down to its inverse, have fourth powers in float64."""

RANDOM_UNITS, MIXING_UNITS, MOST = 100, 1000, 0.1
"""Most rounding units by which two calls, or a sample in and out of a batch, may differ, and most of
the output's size, which half precision would exceed."""

RANDOM_ADVICE = (
    "Pass the nn.Module itself (it is analysed in eval mode), or call .eval() on what your function "
    "uses, or fix its noise."
)

MIXING_ADVICE = (
    "Make each output depend on its own sample; in a function, call .eval() on the modules it uses."
)

SLOPE_SAMPLES = 64
"""Samples at which the slope is measured; a rectified network may be flat at a few."""


@dataclass(frozen=True)
class Model:
    """A differentiable function of a batch that treats each sample separately.

    Attributes:
        function: `[b, *x] -> [b, c]`; outputs of any shape are flattened.
        name: class or function name, for messages and reports.
        dtype: floating point type of the parameters; None for a callable without any.
        device: device of the parameters; None for a callable without any.
        output_shape: shape of one output before flattening; known after `probe`.
        in_place: whether the model writes into its input, so each call gets a copy; known after
            `probe`.
        slope: squared length of the gradient, summed over the outputs, mean over a few samples;
            None if unknown.
        convolves: whether it has convolutions or recurrent layers, which some GPUs compute with
            fewer digits.
        arithmetic: coarsest floating point type between input and output; known after `probe`.
        dtypes: all floating point types of the parameters and buffers; see `with_input_dtype`.
        weights: numbers in the parameters and buffers; None for a callable without any.
        notes: remarks on how the model is analysed.
    """

    function: Callable[[Tensor], Tensor]
    name: str
    dtype: torch.dtype | None = None
    device: torch.device | None = None
    output_shape: tuple[int, ...] = ()
    in_place: bool = True
    slope: float | None = None
    convolves: bool = False
    arithmetic: torch.dtype | None = None
    dtypes: tuple[torch.dtype, ...] = ()
    weights: int | None = None
    notes: tuple[Remark, ...] = ()

    def __call__(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b c"]:
        """Outputs of a batch, one row per sample."""
        y = self.function(x.clone() if self.in_place else x)
        return y.reshape(x.shape[0], -1)


@contextmanager
def eval_view(model: Any) -> Iterator[Model]:
    """Analyse the user's model in eval mode; afterwards it is exactly as it was.

    A module is copied with shared weights and its own buffers; modules with their own `train` or
    `eval` method, which may rewrite weights, get copies of their weights. If a module cannot be
    copied, or a callable uses modules, these are switched to eval mode in place and restored.

    Args:
        model: `nn.Module`, `torch.export.ExportedProgram`, or a callable from batches to batches.

    Yields:
        The function with its dtype and device.

    Raises:
        ArgumentError: the model is not callable.
        ModelError: its parameters do not exist yet.
    """
    exported = isinstance(model, torch.export.ExportedProgram)
    model = model.module() if exported else model
    if not callable(model):
        raise ArgumentError(
            f"model is a {type(model).__name__}; expected an nn.Module, an exported program or a "
            "function."
        )
    compiled = is_compiled(model)
    model = original(model)
    name = getattr(model, "__name__", type(model).__name__)
    function, modules = model, modules_inside(model)
    notes: tuple[Remark, ...] = ()
    if compiled or any(map(is_compiled, modules)):
        notes = (Diagnosis.COMPILED_MODEL(),)
    for module in modules:
        check_not_lazy(module, name)
    # The module of an exported program is new, but its buffers are the program's own.
    if isinstance(model, nn.Module) and not exported:
        try:
            function, modules = _eval_view(model), []
        except Exception as error:
            notes = (*notes, Diagnosis.MODEL_NOT_COPIED(error=str(error)))
    owners = [module for module in (model, *modules) if isinstance(module, nn.Module)]
    with uncompiled(), _eval_in_place(modules):
        yield replace(with_weights_of(function, name, *owners), notes=notes)


def with_weights_of(function: Callable[[Tensor], Tensor], name: str, *owners: nn.Module) -> Model:
    """A function with the floating point types and the device of the weights of its modules."""
    tensors = [t for module in owners for t in (*module.parameters(), *module.buffers())]
    tensors = [tensor for tensor in tensors if tensor.dtype.is_floating_point]
    return Model(
        function,
        name,
        dtype=tensors[0].dtype if tensors else None,
        device=tensors[0].device if tensors else None,
        dtypes=tuple(dict.fromkeys(tensor.dtype for tensor in tensors)),
        weights=sum(tensor.numel() for tensor in tensors) or None,
        convolves=convolves(*owners),
    )


def with_input_dtype(model: Model, batches: Batches) -> Model:
    """The model with the dtype in which it accepts samples, if its weights have several.

    The types are tried on one sample, that of the first parameter first: it mostly belongs to the
    first layer. If none is accepted the first one stays, and `probe` reports the error.

    Args:
        model: the model.
        batches: the data; one batch is read.

    Returns:
        The model, with a note.
    """
    if len(model.dtypes) < 2:
        return model
    with closing(iter(batches.prepared(None, model.device))) as iterator:
        x = next(iterator)[:1]
    dtype = next((dtype for dtype in model.dtypes if _accepts(model, x.to(dtype))), model.dtype)
    types = ", ".join(map(_dtype_name, model.dtypes))
    note = Diagnosis.SEVERAL_WEIGHT_TYPES(types=types, dtype=_dtype_name(dtype))
    return replace(model, dtype=dtype, notes=(*model.notes, note))


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
    if largest > 0 and not 1 / LARGEST < largest < LARGEST:
        raise DataError(
            f"the largest number of the data is {largest:.0e}: squares of such numbers are lost. "
            "Rescale the data, and undo it at the beginning of the model."
        )
    places = evenly_spaced(x, PROBE_SAMPLES)
    batch, x = x, x[places]
    with torch.enable_grad(), record_dtypes() as dtypes:
        raw = _call(model.function, x.clone().requires_grad_())
    y = _checked_output(raw, x, model.name, places)
    with torch.no_grad():
        again, in_place = _call_again(model.function, x)
        alone = torch.cat(
            [_call(model.function, x[i : i + 1]).reshape(1, -1) for i in range(len(x))]
        )
    scale = float(y.abs().max()) + torch.finfo(y.dtype).tiny
    arithmetic = coarsest(x.dtype, y.dtype, *dtypes())
    eps = torch.finfo(arithmetic).eps
    if (change := float((again - y).abs().max()) / scale) > min(RANDOM_UNITS * eps, MOST):
        raise RandomModelError(
            f"two calls of {model.name} on the same {len(x)} samples differ by {change:.1e} of the "
            f"output's size: the model draws random numbers. {RANDOM_ADVICE}"
        )
    if (change := float((alone - y).abs().max()) / scale) > min(MIXING_UNITS * eps, MOST):
        raise BatchMixingError(
            f"the output of {model.name} for a sample changes by {change:.1e} of its size when the "
            "other samples of the batch are left out: it mixes samples (batch statistics, a quantised "
            f"layer that scales by the batch, or an operation along axis 0). {MIXING_ADVICE}"
        )
    slope = 0.0
    if raw.requires_grad:
        samples = batch[evenly_spaced(batch, SLOPE_SAMPLES)]
        slope = call_within_memory(partial(_slope, model, summed=summed), samples)
    if slope is not None and slope * largest**2 <= torch.finfo(arithmetic).tiny ** 2:
        slope = 0.0  # what it does to the output is too small to be a number of this precision
    if slope == 0 and _varies(model, batch, summed=summed):
        raise NotDifferentiableError(
            f"the output of {model.name} changes with the input but carries no derivative: "
            "something inside detaches it (torch.no_grad, .detach(), .numpy(), argmax, rounding). "
            "Return the differentiable quantity, such as logits."
        )
    return replace(
        model,
        output_shape=tuple(raw.shape[1:]),
        in_place=in_place,
        slope=slope,
        arithmetic=arithmetic,
        notes=(*model.notes, *arithmetic_note(arithmetic, x.dtype)),
    )


def arithmetic_note(arithmetic: torch.dtype, dtype: torch.dtype) -> tuple[Remark, ...]:
    """A note if a model computes with fewer digits than its samples have."""
    if torch.finfo(arithmetic).eps <= torch.finfo(dtype).eps:
        return ()
    names = {"arithmetic": _dtype_name(arithmetic), "dtype": _dtype_name(dtype)}
    return (Diagnosis.COARSE_ARITHMETIC(**names),)


def check_not_lazy(module: nn.Module, name: str) -> None:
    """Raise `ModelError` if a module has parameters that do not exist yet."""
    lazy = (nn.UninitializedParameter, nn.UninitializedBuffer)
    if any(isinstance(tensor, lazy) for tensor in (*module.parameters(), *module.buffers())):
        raise ModelError(
            f"{name} has lazy parameters that do not exist yet. Call it once on a batch before."
        )
    if any(tensor.is_meta for tensor in (*module.parameters(), *module.buffers())):
        raise ModelError(
            f"{name} has parameters without values, on the device 'meta'. Load its weights first."
        )


def _dtype_name(dtype: torch.dtype | None) -> str:
    return str(dtype).removeprefix("torch.")


def _accepts(model: Model, x: Tensor) -> bool:
    """Whether a model runs on a sample."""
    try:
        with torch.no_grad():
            model.function(x.clone())
    except (RuntimeError, TypeError, ValueError):
        return False
    return True


def _call_again(
    function: Callable[[Tensor], Tensor], x: Float[Tensor, "b ..."]
) -> tuple[Float[Tensor, "b c"], bool]:
    """Outputs, and whether the model writes into its input, by torch's count of writes."""
    batch = x.clone()
    version = batch._version
    y = _call(function, batch, copy=False).reshape(len(x), -1)
    return y, batch._version != version or not torch.equal(batch, x)


def _slope(model: Model, x: Float[Tensor, "b ..."], *, summed: bool) -> float | None:
    """Mean squared gradient of the outputs' sum (random signs unless `summed`); None on failure."""
    leaf = x.clone().requires_grad_()
    with torch.enable_grad():
        try:
            y = model(leaf)
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            raise ModelError(
                f"{model.name} failed on a batch of shape {tuple(leaf.shape)} and dtype "
                f"{leaf.dtype} with gradients on: {error}. Check that model(data).sum().backward() works in "
                "this dtype on this device, or pass model.float()."
            ) from error
        drawn = torch.randint(0, 2, y.shape, generator=torch.Generator().manual_seed(0))
        signs = torch.ones_like(y) if summed else to_device(2 * drawn - 1, y.device, y.dtype)
        try:
            slope = torch.autograd.grad(y, leaf, signs, materialize_grads=True)[0]
        except torch.OutOfMemoryError:
            raise
        except RuntimeError:
            return None  # there is no derivative at all, which `rows.plan` reports
    return float(slope.double().square().sum()) / len(leaf)


def _varies(model: Model, batch: Float[Tensor, "b ..."], *, summed: bool) -> bool:
    """Whether two samples of a batch have different outputs."""
    with torch.no_grad():
        y = call_within_memory(model, batch)
        y = y.sum(1, keepdim=True) if summed else y
    return bool((y != y[:1]).any())


def _call(function: Callable[[Tensor], Any], x: Tensor, *, copy: bool = True) -> Any:
    try:
        return function(x.clone() if copy else x)
    except torch.OutOfMemoryError:
        raise  # explained as such by `explain_out_of_memory`
    except Exception as error:
        raise ModelError(
            f"the model failed on a batch of shape {tuple(x.shape)}, dtype {x.dtype}: "
            f"{type(error).__name__}: {error}. It must accept a batch of any length; an exported "
            "program needs a dynamic batch axis (dynamic_shapes="
            "{'x': {0: torch.export.Dim('batch')}}), a function of one sample torch.func.vmap(f)."
        ) from error


def _checked_output(y: Any, x: Tensor, name: str, places: Tensor) -> Float[Tensor, "b c"]:
    if not isinstance(y, Tensor):
        raise DtypeError(
            f"{name} returned a {type(y).__name__}; expected one tensor. Wrap it: "
            "lambda x: model(x)[0], or ['logits']."
        )
    if y.layout is not torch.strided or y.is_meta:
        raise DtypeError(
            f"{name} returned a tensor without plain values ({y.layout}, on {y.device}); expected a "
            "dense one. Return y.to_dense()."
        )
    if y.ndim == 0 or y.shape[0] != x.shape[0]:
        raise ShapeError(
            f"{name} returned shape {tuple(y.shape)} for a batch of {x.shape[0]} samples; expected "
            f"{x.shape[0]} along the first axis. If it takes one sample, pass "
            "torch.func.vmap(model)."
        )
    if not y.dtype.is_floating_point:
        raise DtypeError(
            f"{name} returned {y.dtype}; symmetries need real floating point outputs. Return "
            "logits, not classes."
        )
    y = y.detach().reshape(x.shape[0], -1)
    if y.shape[1] == 0:
        raise ShapeError(
            f"{name} returned shape {(x.shape[0], 0)}: no output at all. Return at least one "
            "number per sample."
        )
    if (bad := first_nonfinite(y)) is not None:
        raise NonFiniteError(
            f"{name} returned NaN or infinity for sample {int(places[bad])}. Check it there."
        )
    return y


def _eval_view(module: nn.Module) -> nn.Module:
    """Copy of a module in eval mode that shares the weights and owns everything else."""
    plain = (nn.Module.train, nn.Module.eval)
    rewritten = {
        id(weight)
        for part in module.modules()
        if (type(part).train, type(part).eval) != plain
        for weight in part.parameters()
    }
    memo: dict[int, Any] = {
        id(weight): nn.Parameter(
            weight.clone() if weight.is_inference() else weight.detach(), requires_grad=False
        )
        for weight in module.parameters()
        if id(weight) not in rewritten
    }
    # A module has a dozen dictionaries of hooks, mostly empty, which `deepcopy` takes long for.
    memo |= {
        id(value): OrderedDict()
        for part in module.modules()
        for value in vars(part).values()
        if type(value) is OrderedDict and not value
    }
    view = unwrap(copy.deepcopy(module, memo)).eval()
    return view.requires_grad_(False) if not isinstance(view, torch.jit.ScriptModule) else view


@contextmanager
def _eval_in_place(modules: list[nn.Module]) -> Iterator[None]:
    """Switch modules to eval mode, then restore every mode and buffer."""
    parts = list({id(part): part for module in modules for part in module.modules()}.values())
    flags = [(part, part.training) for part in parts]
    buffers = [
        (part, name, buffer, buffer.detach().clone())
        for part in parts
        for name, buffer in part._buffers.items()
        if buffer is not None
    ]
    try:
        for part in parts:
            part.training = False
        yield
    finally:
        for part, flag in flags:
            part.training = flag
        with torch.no_grad():
            for part, name, buffer, value in buffers:
                part._buffers[name] = buffer  # the model may have put another tensor there
                if not torch.equal(buffer, value):
                    buffer.copy_(value)
