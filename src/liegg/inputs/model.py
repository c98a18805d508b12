"""Stage 1', model: a module, an exported program or a callable becomes a pure function of a batch, the caller's left alone."""

import copy
import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from types import CellType, CodeType, FunctionType
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg._utils.device import fitted
from liegg._utils.errors import (
    ArgumentError,
    BatchMixingError,
    DtypeError,
    ModelError,
    NonFiniteError,
    NotDifferentiableError,
    RandomModelError,
    ShapeError,
)
from liegg._utils.precision import coarsest, convolves, watched
from liegg._utils.unwrap_compiled import NOTE, is_compiled, original, uncompiled, unwrap

PROBE_SAMPLES = 3
"""Samples on which a model is probed: enough for one to have neighbours on both sides."""

SLOPE_SAMPLES = 64
"""Samples on which a model must show a slope somewhere; a rectified network may be flat at a few."""

SEARCH_DEPTH = 5
"""Links followed from a callable to the modules it uses: a lambda, on a function, on an object, on its list of modules."""


@dataclass(frozen=True)
class Model:
    """A differentiable function of a batch, each sample on its own.

    Attributes:
        function: `[b, *x] -> [b, c]`; outputs of any shape are flattened.
        name: class or function name, for messages and reports.
        dtype: floating point type of the parameters; None for a callable without any.
        device: device of the parameters; None for a callable without any.
        output_shape: shape of one output before flattening; known after `probe`.
        in_place: the model writes into its input, so each call gets a copy; found out by `probe`.
        slope: squared length of the gradient, summed over the outputs, mean over a few samples; None if not known.
        arithmetic: coarsest floating point type between input and output; found by `probe`.
        dtypes: all floating point types of the parameters and buffers, in their order; see `liegg.inputs.input_dtype`.
        convolves: whether it has convolutions or recurrent layers, which some GPUs compute with fewer digits.
        notes: what the user should know about how the model was opened.
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
    notes: tuple[str, ...] = ()

    def __call__(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b c"]:
        """Outputs of a batch, one row to a sample."""
        y = self.function(x.clone() if self.in_place else x)
        return y.reshape(x.shape[0], -1)


@contextmanager
def eval_view(model: Any) -> Iterator[Model]:
    """Open the user's model for analysis in eval mode; afterwards it is exactly as it was.

    A module is viewed through a copy that shares its weights (what lies under a `train` or `eval` method of the user's own,
    which may rewrite weights, gets real copies) and owns its buffers. Where a module cannot be copied, or a plain callable
    holds modules, those modules are switched to eval mode in place and put back.

    Args:
        model: `nn.Module`, `torch.export.ExportedProgram`, or a callable from batches to batches.

    Yields:
        The function with its dtype and device.

    Raises:
        ArgumentError: the model cannot be called.
        ModelError: its parameters do not exist yet.
    """
    exported = isinstance(model, torch.export.ExportedProgram)
    model = model.module() if exported else model
    if not callable(model):
        raise ArgumentError(
            f"model is a {type(model).__name__}; expected an nn.Module, an exported program or a function."
        )
    compiled = is_compiled(model)
    model = original(model)
    name = getattr(model, "__name__", type(model).__name__)
    function, kept = model, modules_inside(model)
    notes = (NOTE,) if compiled or any(map(is_compiled, kept)) else ()
    lazy = (nn.UninitializedParameter, nn.UninitializedBuffer)
    if any(isinstance(t, lazy) for m in kept for t in (*m.parameters(), *m.buffers())):
        raise ModelError(
            f"{name} has lazy parameters that do not exist yet. Call the model once on a batch before."
        )
    if (
        isinstance(model, nn.Module) and not exported
    ):  # a program's module is new, but its buffers are the program's own
        try:
            function, kept = _eval_view(model), []
        except Exception as error:
            notes = (
                *notes,
                f"the model could not be copied ({error}), so it was analysed in place and put back afterwards",
            )
    tensors = [
        t
        for m in (model, *kept)
        if isinstance(m, nn.Module)
        for t in (*m.parameters(), *m.buffers())
    ]
    first = next((t for t in tensors if t.dtype.is_floating_point), None)
    with uncompiled(), _eval_in_place(kept):
        yield Model(
            function,
            name,
            first.dtype if first is not None else None,
            first.device if first is not None else None,
            dtypes=tuple(dict.fromkeys(t.dtype for t in tensors if t.dtype.is_floating_point)),
            convolves=convolves(*(m for m in (model, *kept) if isinstance(m, nn.Module))),
            notes=notes,
        )


def probe(model: Model, x: Float[Tensor, "b ..."], *, summed: bool = False) -> Model:
    """Check on a few samples that the model is a deterministic, differentiable function of one sample.

    Args:
        model: the opened model.
        x: the first batch; its first `PROBE_SAMPLES` samples are used.
        summed: the sum of the outputs is what is asked about.

    Returns:
        The model with its output shape, its slope and its arithmetic.

    Raises:
        ShapeError: the output does not have one entry per sample.
        DtypeError: the output is not real floating point.
        NonFiniteError: an output is NaN or infinite.
        RandomModelError: two calls differ.
        BatchMixingError: a sample's output depends on its neighbours.
        NotDifferentiableError: the output changes with the input but carries no derivative.
    """
    spread = torch.linspace(
        0, len(x) - 1, min(PROBE_SAMPLES, len(x))
    ).long()  # neighbours may be equal in sorted data
    batch, x = x, x[spread.to(x.device)]
    with torch.enable_grad(), watched() as seen:
        raw = _call(model.function, x.clone().requires_grad_())
    y = _checked_output(raw, x, model.name, spread)
    with torch.no_grad():
        again = _call(model.function, x).reshape(len(x), -1)
        alone = torch.cat(
            [_call(model.function, x[i : i + 1]).reshape(1, -1) for i in range(len(x))]
        )
    scale = float(y.abs().max()) + torch.finfo(y.dtype).tiny
    arithmetic = coarsest(x.dtype, y.dtype, *seen())
    eps = torch.finfo(arithmetic).eps
    if (change := float((again - y).abs().max()) / scale) > min(100 * eps, 0.1):
        raise RandomModelError(
            f"two calls of {model.name} on the same {len(x)} samples differ by {change:.1e} of the output's size: the model "
            "draws random numbers. Pass the nn.Module itself (it is analysed in eval mode), or call .eval() on what your "
            "function uses, or fix its noise."
        )
    if (change := float((alone - y).abs().max()) / scale) > min(1000 * eps, 0.1):
        raise BatchMixingError(
            f"the output of {model.name} for a sample changes by {change:.1e} of its size when the other samples of the batch "
            "are left out: it mixes samples (batch statistics, or an operation along axis 0). Make each output depend on its "
            "own sample; in a function, call .eval() on the modules it uses."
        )
    slope = _slope(model, batch, summed=summed) if raw.requires_grad else 0.0
    if slope == 0 and _varies(model, batch, summed=summed):
        raise NotDifferentiableError(
            f"the output of {model.name} changes with the input but carries no derivative: something inside detaches it "
            "(torch.no_grad, .detach(), .numpy(), argmax, rounding). Return the differentiable quantity, such as logits."
        )
    notes = (*model.notes, *about(arithmetic, x.dtype))
    return replace(
        model,
        output_shape=tuple(raw.shape[1:]),
        in_place=_writes(model, x),
        slope=slope,
        arithmetic=arithmetic,
        notes=notes,
    )


def about(arithmetic: torch.dtype, given: torch.dtype) -> tuple[str, ...]:
    """That a model computes with fewer digits than its samples have, where it does."""
    if torch.finfo(arithmetic).eps <= torch.finfo(given).eps:
        return ()
    one, other = (str(dtype).removeprefix("torch.") for dtype in (arithmetic, given))
    return (
        f"it computes in {one} on the way from {other} samples: differences within the rounding of {one} count as none",
    )


def _writes(model: Model, x: Float[Tensor, "b ..."]) -> bool:
    """Whether the model writes into the batch it is given, by torch's own count of writes: the values may not show it."""
    given = x.clone()
    before = given._version
    with torch.no_grad():
        model.function(given)
    return given._version != before or not torch.equal(given, x)


def _slope(model: Model, batch: Float[Tensor, "b ..."], *, summed: bool) -> float | None:
    """Mean squared gradient at the first samples of the batch, of the outputs' sum (under random signs, if they stand alone).

    None if it cannot be taken.
    """
    places = torch.linspace(
        0, len(batch) - 1, min(SLOPE_SAMPLES, len(batch))
    ).long()  # sorted data may be flat at one end
    return fitted(partial(_slope_at, model, summed=summed), batch[places.to(batch.device)])


def _slope_at(model: Model, x: Float[Tensor, "b ..."], *, summed: bool) -> float | None:
    """Mean squared gradient at these samples."""
    leaf = x.clone().requires_grad_()
    with torch.enable_grad():
        try:
            y = model(leaf)
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            raise ModelError(
                f"{model.name} failed on a batch of shape {tuple(leaf.shape)} and dtype {leaf.dtype} with gradients on: {error}. "
                "Check that model(data).sum().backward() works in this dtype on this device, or pass model.float()."
            ) from error
        signs = (
            torch.randint(0, 2, y.shape, generator=torch.Generator().manual_seed(0)).to(y) * 2 - 1
        )
        try:
            signs = torch.ones_like(y) if summed else signs
            slope = torch.autograd.grad(y, leaf, signs, materialize_grads=True)[0]
        except torch.OutOfMemoryError:
            raise
        except RuntimeError:
            return None  # no derivative can be taken at all, which the choice of a route reports
    return float(slope.double().square().sum()) / len(leaf)


def _varies(model: Model, batch: Float[Tensor, "b ..."], *, summed: bool) -> bool:
    """Whether two samples of a whole batch have different outputs; three samples of one class would not tell."""
    with torch.no_grad():
        y = fitted(model, batch)
        y = y.sum(1, keepdim=True) if summed else y
    return bool((y != y[:1]).any())


def _call(function: Callable[[Tensor], Any], x: Tensor) -> Any:
    try:
        return function(x.clone())
    except Exception as error:
        raise ModelError(
            f"the model failed on a batch of shape {tuple(x.shape)}, dtype {x.dtype}: {type(error).__name__}: {error}. "
            "It must accept a batch of any length; an exported program needs a dynamic batch axis "
            "(dynamic_shapes={'x': {0: torch.export.Dim('batch')}}), a function of one sample torch.func.vmap(f)."
        ) from error


def _checked_output(y: Any, x: Tensor, name: str, places: Tensor) -> Float[Tensor, "b c"]:
    if not isinstance(y, Tensor):
        raise DtypeError(
            f"{name} returned a {type(y).__name__}; expected one tensor. Wrap it: lambda x: model(x)[0], or ['logits']."
        )
    if y.ndim == 0 or y.shape[0] != x.shape[0]:
        raise ShapeError(
            f"{name} returned shape {tuple(y.shape)} for a batch of {x.shape[0]} samples; expected {x.shape[0]} along the "
            "first axis. If it takes one sample, pass torch.func.vmap(model)."
        )
    if not y.dtype.is_floating_point:
        raise DtypeError(
            f"{name} returned {y.dtype}; symmetries need real floating point outputs. Return logits, not classes."
        )
    y = y.detach().reshape(x.shape[0], -1)
    if y.shape[1] == 0:
        raise ShapeError(
            f"{name} returned shape {(x.shape[0], 0)}: no output at all. Return at least one number per sample."
        )
    finite = torch.isfinite(y).all(1)
    if not bool(finite.all()):
        raise NonFiniteError(
            f"{name} returned NaN or infinity for sample {int(places[int(finite.to(torch.int8).argmin())])}. Check it there."
        )
    return y


def _eval_view(module: nn.Module) -> nn.Module:
    """Copy of a module in eval mode that shares the weights' storage and owns everything else."""
    plain = (nn.Module.train, nn.Module.eval)
    rewritten = {
        id(w)
        for part in module.modules()
        if (type(part).train, type(part).eval) != plain
        for w in part.parameters()
    }
    memo: dict[int, Any] = {
        id(weight): nn.Parameter(
            weight.clone() if weight.is_inference() else weight.detach(), requires_grad=False
        )
        for weight in module.parameters()
        if id(weight) not in rewritten
    }
    view = unwrap(copy.deepcopy(module, memo)).eval()
    return view.requires_grad_(False) if not isinstance(view, torch.jit.ScriptModule) else view


@contextmanager
def _eval_in_place(modules: list[nn.Module]) -> Iterator[None]:
    """Hold modules in eval mode, then put back every mode flag and buffer."""
    parts = list({id(p): p for m in modules for p in m.modules()}.values())
    flags = [(part, part.training) for part in parts]
    buffers = [
        (part, name, b, b.detach().clone())
        for part in parts
        for name, b in part._buffers.items()
        if b is not None
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


def modules_inside(function: Any) -> list[nn.Module]:
    """Modules a callable can reach through closures, globals, defaults, attributes, containers and partials, nearest first."""
    found: list[nn.Module] = []
    seen: set[int] = set()
    level: list[Any] = [function]
    for _ in range(SEARCH_DEPTH):
        level = list({id(part): part for part in level if id(part) not in seen}.values())
        seen.update(map(id, level))
        found += [part for part in level if isinstance(part, nn.Module)]
        level = [
            inner for part in level if not isinstance(part, nn.Module) for inner in _held(part)
        ]
    return found


def _held(part: Any) -> list[Any]:
    """What an object holds directly and might call."""
    if isinstance(part, functools.partial):
        return [part.func, *part.args, *part.keywords.values()]
    if inspect.ismethod(part):
        return [part.__self__, part.__func__]
    if inspect.isfunction(part):
        cells = [
            cell.cell_contents for cell in part.__closure__ or () if cell != CellType()
        ]  # an empty one has no contents
        named = (
            [part.__globals__.get(name) for name in _names(part.__code__)]
            if not _is_library(part)
            else []
        )
        return [*cells, *(part.__defaults__ or ()), *(part.__kwdefaults__ or {}).values(), *named]
    if isinstance(part, dict):
        return list(part.values())
    if isinstance(part, list | tuple | set):
        return list(part)
    if inspect.isclass(part) or inspect.ismodule(part) or isinstance(part, Tensor):
        return []
    return list(getattr(part, "__dict__", {}).values())


def _names(code: CodeType) -> list[str]:
    """Names that a function's code, and the code of its inner functions and comprehensions, looks up."""
    return [
        *code.co_names,
        *(name for inner in code.co_consts if inspect.iscode(inner) for name in _names(inner)),
    ]


def _is_library(function: FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] in ("torch", "numpy")
