"""The model: a module, an exported program or a callable as a pure function of a batch.

The caller's model is left as it was.
"""

import copy
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError, ModelError
from liegg._utils.precision import convolves
from liegg._utils.unwrap_compiled import is_compiled, original, uncompiled, unwrap
from liegg.inputs.batches import Batches
from liegg.inputs.counter import Counted, Counter
from liegg.inputs.foreign.bridge import Bridge
from liegg.inputs.foreign.protocol import ForeignModel
from liegg.inputs.foreign.recognise import advice_for, as_foreign
from liegg.inputs.reachable import modules_inside
from liegg.inputs.structure.entry import Convention


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
        centre: mean outputs of the same samples in float64; None if unknown.
        squares: mean squared gradient of the outputs with random signs, for every number of these samples; None if unknown.
        convolves: whether it has convolutions or recurrent layers, which some GPUs compute with
            fewer digits.
        arithmetic: coarsest floating point type between input and output; known after `probe`.
        dtypes: all floating point types of the parameters and buffers; see `with_input_dtype`.
        input_dtype: floating point type in which structured samples are passed to it; None for that of the samples.
        weights: numbers in the parameters and buffers; None for a callable without any.
        notes: remarks on how the model is analysed.
        output_field: field of what the model returns that is analysed; None if it returns a tensor.
        whole: `[b, *x] -> [b, ...]`, the complete output; None if that is the function itself.
        target: the function's outputs, from the complete ones `[..., b, k]` and the classes `[b]` of
            the unmoved samples; None if there is no `whole`.
        counter: counts evaluations; None if the model has derivatives of its own, otherwise they are
            finite differences.
        noise: noise of the outputs relative to their size, as far as two calls or finite differences
            show it.
        step: length of a step of finite differences along any direction; 0 if not known.
        piecewise: whether it is piecewise constant, so that it has no derivatives at all.
        no_batch: what to do if it takes no batch of samples.
    """

    function: Callable[[Tensor], Tensor]
    name: str
    dtype: torch.dtype | None = None
    device: torch.device | None = None
    output_shape: tuple[int, ...] = ()
    in_place: bool = True
    slope: float | None = None
    centre: Float[Tensor, " c"] | None = field(default=None, compare=False)
    squares: Float[Tensor, "..."] | None = field(default=None, compare=False)
    convolves: bool = False
    arithmetic: torch.dtype | None = None
    dtypes: tuple[torch.dtype, ...] = ()
    input_dtype: torch.dtype | None = None
    weights: int | None = None
    notes: tuple[Remark, ...] = ()
    output_field: Any = None
    whole: Callable[[Tensor], Tensor] | None = None
    target: Callable[[Tensor, Tensor], Tensor] | None = None
    counter: Counter | None = None
    noise: float = 0.0
    step: float = 0.0
    piecewise: bool = False
    no_batch: str = "If it takes one sample, pass torch.func.vmap(model)."

    @property
    def finite(self) -> bool:
        """Whether derivatives are finite differences."""
        return self.counter is not None

    def __call__(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b c"]:
        """Outputs of a batch, one row per sample."""
        y = self.function(x.clone() if self.in_place else x)
        return y.reshape(x.shape[0], -1)

    def complete(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b k"]:
        """Complete outputs of a batch, of which the function may be a target."""
        return self(x) if self.whole is None else replace(self, function=self.whole)(x)

    def classes(self, x: Float[Tensor, "b ..."]) -> Int[Tensor, " b"]:
        """Class of every sample: the place of the largest of its complete outputs."""
        return self.complete(x).argmax(1)


@contextmanager
def eval_view(model: Any) -> Iterator[Model]:
    """Analyse the user's model in eval mode; afterwards it is exactly as it was.

    A module is copied with shared weights and its own buffers; modules with their own `train` or
    `eval` method, which may rewrite weights, get copies of their weights. If a module cannot be
    copied, or a callable uses modules, these are switched to eval mode in place and restored.

    Args:
        model: `nn.Module`, `torch.export.ExportedProgram`, a callable from batches to batches, or a
            model of another framework, see `liegg.foreign`.

    Yields:
        The function with its dtype and device.

    Raises:
        ArgumentError: the model is not callable.
        ModelError: its parameters do not exist yet.
    """
    foreign = as_foreign(model)
    if foreign is not None:
        yield foreign_model(foreign)
        return
    exported = isinstance(model, torch.export.ExportedProgram)
    model = model.module() if exported else model
    if not callable(model):
        raise ArgumentError(
            f"model is a {type(model).__name__}; expected an nn.Module, an exported program, a "
            f"function, an estimator with fit and predict, or a session of onnxruntime.{advice_for(model)}"
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
    convention = getattr(model, "convention", None)  # of structured samples
    dtype = None
    if isinstance(convention, Convention):
        notes, dtype = (*notes, *convention.notes), convention.input_dtype
    with uncompiled(), _eval_in_place(modules):
        yield replace(with_weights_of(function, name, *owners), notes=notes, input_dtype=dtype)


def foreign_model(foreign: ForeignModel) -> Model:
    """A model of another framework as a function of tensors."""
    convention = getattr(foreign, "convention", None)  # of structured samples
    model = Model(
        Bridge(foreign),
        foreign.name,
        dtype=foreign.precision,
        device=torch.device("cpu"),
        notes=foreign.notes,
        input_dtype=convention.input_dtype if isinstance(convention, Convention) else None,
        no_batch=foreign.no_batch,
    )
    return model if foreign.differentiable else with_finite_differences(model)


def with_finite_differences(model: Model) -> Model:
    """The model as one whose derivatives are finite differences; its evaluations are counted."""
    if model.finite:
        return model
    counter = Counter()
    return replace(model, function=Counted(model.function, counter), counter=counter)


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
    if len(model.dtypes) < 2 or batches.packed:
        return model
    with closing(iter(batches.prepared(None, model.device))) as iterator:
        x = next(iterator)[:1]
    dtype = next((dtype for dtype in model.dtypes if _accepts(model, x.to(dtype))), model.dtype)
    types = ", ".join(map(_dtype_name, model.dtypes))
    note = Diagnosis.SEVERAL_WEIGHT_TYPES(types=types, dtype=_dtype_name(dtype))
    return replace(model, dtype=dtype, notes=(*model.notes, note))


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
