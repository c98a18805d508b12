"""Stage 1', model: a module, an exported program or a callable becomes a pure function of a batch, the caller's left alone."""

import copy
import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg._errors import (
    ArgumentError,
    BatchMixingError,
    DtypeError,
    ModelError,
    NonFiniteError,
    NotDifferentiableError,
    RandomModelError,
    ShapeError,
)

PROBE_SAMPLES = 3
"""Samples on which a model is probed: enough for one to have neighbours on both sides."""


@dataclass(frozen=True)
class Model:
    """A differentiable function of a batch, each sample on its own.

    Attributes:
        function: `[b, *x] -> [b, c]`; outputs of any shape are flattened.
        name: class or function name, for messages and reports.
        dtype: floating point type of the parameters; None for a callable without any.
        device: device of the parameters; None for a callable without any.
        output_shape: shape of one output before flattening; known after `probe`.
        notes: what the user should know about how the model was opened.
    """

    function: Callable[[Tensor], Tensor]
    name: str
    dtype: torch.dtype | None = None
    device: torch.device | None = None
    output_shape: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    def __call__(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b c"]:
        """Outputs of a batch, one row to a sample."""
        y = self.function(x)
        return y.reshape(x.shape[0], -1)


@contextmanager
def opened(model: Any) -> Iterator[Model]:
    """Open the user's model for analysis in eval mode; afterwards it is exactly as it was.

    A module is viewed through a copy that shares its weights (modules with a `train` method of their own, which may rewrite
    weights, get real copies) and owns its buffers. Where a module cannot be copied, or a plain callable closes over modules,
    those modules are switched to eval mode in place and put back.

    Args:
        model: `nn.Module`, `torch.export.ExportedProgram`, or a callable from batches to batches.

    Yields:
        The function with its dtype and device.

    Raises:
        ArgumentError: the model cannot be called.
    """
    exported = isinstance(model, torch.export.ExportedProgram)
    model = model.module() if exported else model
    if not callable(model):
        raise ArgumentError(f"model is a {type(model).__name__}; expected an nn.Module, an exported program or a function.")
    model = getattr(model, "_orig_mod", model)  # what torch.compile wraps; derivatives are taken of the original
    name = getattr(model, "__name__", type(model).__name__)
    function, kept, notes = model, _modules_inside(model), ()
    if exported:
        kept = []  # unlifted from the program just now, so nobody else holds it
    elif isinstance(model, nn.Module):
        try:
            function, kept = _eval_view(model), []
        except Exception as error:
            notes = (f"the model could not be copied ({error}), so it was analysed in place and put back afterwards",)
    tensors = [t for m in (model, *kept) if isinstance(m, nn.Module) for t in (*m.parameters(), *m.buffers())]
    first = next((t for t in tensors if t.dtype.is_floating_point), None)
    with _eval_in_place(kept):
        yield Model(function, name, first.dtype if first is not None else None, first.device if first is not None else None,
                    notes=notes)  # fmt: skip


def probe(model: Model, x: Float[Tensor, "b ..."]) -> Model:
    """Check on a few samples that the model is a deterministic, differentiable function of one sample.

    Args:
        model: the opened model.
        x: the first batch; its first `PROBE_SAMPLES` samples are used.

    Returns:
        The model with its output shape.

    Raises:
        ShapeError: the output does not have one entry per sample.
        DtypeError: the output is not real floating point.
        NonFiniteError: an output is NaN or infinite.
        RandomModelError: two calls differ.
        BatchMixingError: a sample's output depends on its neighbours.
        NotDifferentiableError: the output changes with the input but carries no derivative.
    """
    x = x[:PROBE_SAMPLES]
    with torch.enable_grad():
        raw = _call(model.function, x.clone().requires_grad_())
    y = _checked_output(raw, x, model.name)
    with torch.no_grad():
        again = _call(model.function, x).reshape(len(x), -1)
        alone = torch.cat([_call(model.function, x[i : i + 1]).reshape(1, -1) for i in range(len(x))])
    scale = float(y.abs().max()) + torch.finfo(y.dtype).tiny
    eps = torch.finfo(y.dtype).eps
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
    if not raw.requires_grad and len(x) > 1 and bool((y != y[:1]).any()):
        raise NotDifferentiableError(
            f"the output of {model.name} changes with the input but carries no derivative: something inside detaches it "
            "(torch.no_grad, .detach(), .numpy(), argmax, rounding). Return the differentiable quantity, such as logits."
        )
    return replace(model, output_shape=tuple(raw.shape[1:]))


def _call(function: Callable[[Tensor], Any], x: Tensor) -> Any:
    try:
        return function(x)
    except Exception as error:
        raise ModelError(
            f"the model failed on a batch of shape {tuple(x.shape)}, dtype {x.dtype}: {type(error).__name__}: {error}. "
            "It must accept a batch of any length; an exported program needs a dynamic batch axis "
            "(dynamic_shapes={'x': {0: torch.export.Dim('batch')}}), a function of one sample torch.func.vmap(f)."
        ) from error


def _checked_output(y: Any, x: Tensor, name: str) -> Float[Tensor, "b c"]:
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
        raise DtypeError(f"{name} returned {y.dtype}; symmetries need real floating point outputs. Return logits, not classes.")
    y = y.detach().reshape(x.shape[0], -1)
    if y.shape[1] == 0:
        raise ShapeError(f"{name} returned shape {(x.shape[0], 0)}: no output at all. Return at least one number per sample.")
    finite = torch.isfinite(y).all(1)
    if not bool(finite.all()):
        raise NonFiniteError(f"{name} returned NaN or infinity for sample {int(finite.to(torch.int8).argmin())}. Check it there.")
    return y


def _eval_view(module: nn.Module) -> nn.Module:
    """Copy of a module in eval mode that shares the weights' storage and owns everything else."""
    memo: dict[int, Any] = {}
    for part in module.modules():
        if type(part).train is nn.Module.train:
            for weight in part._parameters.values():
                if weight is not None:
                    memo[id(weight)] = nn.Parameter(weight.detach(), requires_grad=False)
    view = copy.deepcopy(module, memo).eval()
    return view.requires_grad_(False) if not isinstance(view, torch.jit.ScriptModule) else view


@contextmanager
def _eval_in_place(modules: list[nn.Module]) -> Iterator[None]:
    """Hold modules in eval mode, then put back every mode flag and buffer."""
    parts = list({id(p): p for m in modules for p in m.modules()}.values())
    flags = [(part, part.training) for part in parts]
    buffers = [(b, b.detach().clone()) for part in parts for b in part._buffers.values() if b is not None]
    try:
        for part in parts:
            part.training = False
        yield
    finally:
        for part, flag in flags:
            part.training = flag
        with torch.no_grad():
            for buffer, value in buffers:
                if not torch.equal(buffer, value):
                    buffer.copy_(value)


def _modules_inside(function: Any) -> list[nn.Module]:
    """Modules a callable reaches directly: itself, its `self`, its closure and globals, the parts of a partial."""
    reached: list[Any] = [function, getattr(function, "__self__", None)]
    if isinstance(function, functools.partial):
        reached += [function.func, *function.args, *function.keywords.values()]
    for part in list(reached):
        if inspect.isfunction(part) or inspect.ismethod(part):
            names = inspect.getclosurevars(part)
            reached += [*names.nonlocals.values(), *names.globals.values()]
    return [part for part in reached if isinstance(part, nn.Module)]
