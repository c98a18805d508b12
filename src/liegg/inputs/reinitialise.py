"""Re-initialised models: the same architecture untrained, as a control for what was learned."""

import copy
import hashlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.utils import parametrize

from liegg._utils.checks import check_seed
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError
from liegg._utils.random import seeded
from liegg._utils.unwrap_compiled import original, unwrap
from liegg.inputs.batches import Data, as_batches
from liegg.inputs.model import check_not_lazy, with_input_dtype, with_weights_of

RESETS = ("reset_parameters", "_reset_parameters", "reset_running_stats")
"""Methods that reset a module; the first is called. Torch's attention has only the second."""

POWER_ITERATIONS = 50
"""Most evaluations until an iterative parametrization (spectral norm) converges for new weights."""

CALIBRATION_BATCHES = 8
"""Batches for the statistics of normalisation layers, which are then accurate to a few per cent."""

LISTED_PARAMETERS = 5
"""Most parameter names in a note; `Reinitialised.unchanged` has all."""

REMEDY = "build control models yourself and analyse them likewise"
"""What to do if a model cannot be re-initialised."""


@dataclass(frozen=True, eq=False)
class Reinitialised:
    """A model with re-initialised weights.

    Attributes:
        module: the copy, with the modes, dtype and device of the original.
        notes: what could not be reset; empty if everything was.
        unchanged: names of the parameters that no reset writes: they keep their trained values.
    """

    module: nn.Module
    notes: tuple[Remark, ...]
    unchanged: tuple[str, ...]


def draw_seed(seed: int, draw: int) -> int:
    """Seed of one of several re-initialised models: a hash, so that different seeds share no model.

    >>> draw_seed(0, 1) == draw_seed(1, 0)
    False
    """
    digest = hashlib.sha256(f"{seed} {draw}".encode()).digest()
    return int.from_bytes(digest[:7], "big")


def reinitialise(model: Any, *, seed: int) -> Reinitialised:
    """Copy a model and re-initialise it, each module by its own `reset_parameters`.

    Modules are reset from the inside out, as they were constructed: what a parent does to the
    weights of its children comes last, and tied weights follow the module that was registered
    first. Tied weights stay tied, frozen ones frozen. Parametrized weights (weight norm,
    orthogonal, spectral norm) are reset as plain weights and then parametrized again. Buffers keep
    their values, except those that a reset writes: normalisation layers go back to mean 0 and
    variance 1, which in a deep network does not match the data; see `calibrate`.

    If the model is on one device, weights are drawn on the CPU, so a seed means the same weights
    everywhere.

    Args:
        model: `nn.Module`, compiled or not; it is left as it was.
        seed: seed of the weights; the caller's random number generators are left as they were.

    Returns:
        The copy, with the names of the parameters that no reset writes.

    Raises:
        ArgumentError: it is not a module, cannot be copied, or has no weights that can be reset.
        ModelError: its parameters do not exist yet.

    Examples:
        >>> net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
        >>> control = reinitialise(net, seed=0)
        >>> (
        ...     bool((control.module[0].weight == net[0].weight).any()),
        ...     control.unchanged,
        ...     control.notes,
        ... )
        (False, (), ())
    """
    check_seed(seed)
    with torch.inference_mode(False), torch.no_grad():
        module = _copy(original(model))
        devices = {tensor.device for tensor in (*module.parameters(), *module.buffers())}
        if len(devices) == 1:
            module.cpu()
        with seeded(seed):
            unchanged, notes = _reset(module)
        if len(devices) == 1:
            module.to(next(iter(devices)))
    if _norm_layers(module):
        notes.append(Diagnosis.UNCALIBRATED())
    return Reinitialised(module, tuple(notes), unchanged)


def calibrate(
    module: nn.Module,
    data: Data,
    *,
    batches: int = CALIBRATION_BATCHES,
    batch_size: int | None = None,
) -> nn.Module:
    """Copy a model and compute the statistics of its normalisation layers from data.

    These layers run in training mode and average over the batches, as torch does with
    `momentum=None`; everything else runs in eval mode. The copy has the weights, modes and momenta
    of the model.

    Args:
        module: the model, such as `Reinitialised.module`; it is left as it was.
        data: as for `liegg.discover`.
        batches: most batches to read.
        batch_size: samples per batch, if the data does not come in batches.

    Returns:
        The copy; a plain one if no layer keeps statistics.

    Raises:
        ArgumentError: it cannot be copied, or fails on the data.

    Examples:
        >>> x = torch.arange(6.0)[:, None]
        >>> calibrate(nn.BatchNorm1d(1), x).running_mean
        tensor([2.5000])
    """
    if batches < 1:
        raise ArgumentError(
            f"batches={batches}: expected a positive number, for example {CALIBRATION_BATCHES}."
        )
    with torch.inference_mode(False), torch.no_grad(), seeded(0):
        module = _copy(module)
        modes = [(part, part.training) for part in module.modules()]
        momenta = [(layer, layer.momentum) for layer in _norm_layers(module)]
        module.eval()
        for layer, _ in momenta:
            layer.reset_running_stats()
            layer.training, layer.momentum = True, None
        source = as_batches(data, batch_size=batch_size)
        model = with_weights_of(module, type(module).__name__, module)
        model = with_input_dtype(model, source)
        with closing(iter(source.prepared(model.dtype, model.device))) as iterator:
            for x in islice(iterator, batches if momenta else 0):
                _run(module, x)
        for layer, momentum in momenta:
            layer.momentum = momentum
        for part, mode in modes:
            part.training = mode
    return module


def _run(module: nn.Module, x: Tensor) -> None:
    try:
        module(x.clone())
    except Exception as error:
        raise ArgumentError(
            f"the model failed on a batch of shape {tuple(x.shape)}, dtype {x.dtype}: "
            f"{type(error).__name__}: {error}. Statistics need batches of several samples that the "
            "model accepts; set batch_size."
        ) from error


def _norm_layers(module: nn.Module) -> list[Any]:
    """Layers that keep running statistics."""
    return [
        part
        for part in module.modules()
        if isinstance(part, _NormBase) and part.running_mean is not None
    ]


def _copy(model: Any) -> nn.Module:
    """Deep copy of a module; `ArgumentError` if it is not a module or cannot be copied."""
    name = getattr(model, "__name__", type(model).__name__)
    if not isinstance(model, nn.Module):
        raise ArgumentError(
            f"{name} is not an nn.Module (a {type(model).__name__}). Pass the module itself, or "
            f"{REMEDY}."
        )
    check_not_lazy(model, name)
    try:
        twin = unwrap(copy.deepcopy(model))
    except Exception as error:
        raise ArgumentError(f"{name} cannot be copied ({error}). Fix that, or {REMEDY}.") from error
    if {id(weight) for weight in twin.parameters()} & {id(weight) for weight in model.parameters()}:
        raise ArgumentError(
            f"a copy of {name} shares weights with it, so they cannot be reset. Fix that, or "
            f"{REMEDY}."
        )
    return twin


def _reset(module: nn.Module) -> tuple[tuple[str, ...], list[Remark]]:
    """Reset every submodule in place; names of the parameters that were not written, and notes."""
    notes: list[Remark] = []
    hidden = {
        id(tensor)
        for _, _, parts in _parametrized(module)
        for tensor in parts.parameters(recurse=False)
    }
    with _plain(module):
        before = {
            name: (w, w._version, w.clone())
            for name, w in module.named_parameters()
            if id(w) not in hidden
        }
        for name, part in reversed(list(module.named_modules())):
            # Of the class: a method on the instance may be bound to the original module.
            reset = next(
                (method for key in RESETS if callable(method := getattr(type(part), key, None))),
                None,
            )
            if reset is not None:
                notes += _call(reset, part, name)
        unchanged = tuple(
            name for name, (w, version, old) in before.items() if not _is_written(w, version, old)
        )
    if len(unchanged) == len(before):
        reason = (
            "no module has a reset_parameters method that can be called"
            if before
            else "it has no parameters"
        )
        remedy = f"Give the modules that own weights a reset_parameters() method, or {REMEDY}."
        raise ArgumentError(f"{type(module).__name__} cannot be re-initialised: {reason}. {remedy}")
    if unchanged:
        names = ", ".join(unchanged[:LISTED_PARAMETERS])
        names += ", …" if len(unchanged) > LISTED_PARAMETERS else ""
        counts = {"n": len(unchanged), "total": len(before)}
        notes.append(Diagnosis.PARAMETERS_NOT_RESET(**counts, names=names))
    return unchanged, notes


def _call(reset: Callable[..., object], part: nn.Module, name: str) -> list[Remark]:
    """Reset one module, or note why not.

    A parameter that the reset replaced is kept and gets the new values, because others may share
    it.
    """
    try:
        inspect.signature(reset).bind(part)
    except TypeError as error:
        module = name or "the model"
        return [Diagnosis.RESET_NOT_CALLED(method=reset.__name__, module=module, error=str(error))]
    before = [
        (inner, key, weight)
        for inner in part.modules()
        for key, weight in inner._parameters.items()
        if weight is not None
    ]
    try:
        reset(part)
        for inner, key, weight in before:
            if (new := inner._parameters.get(key)) is not None and new is not weight:
                weight.copy_(new)
                inner._parameters[key] = weight
    except Exception as error:
        raise ArgumentError(
            f"the reset of {name or 'the model'} ({type(part).__name__}) failed: "
            f"{type(error).__name__}: {error}. Fix its {reset.__name__} method."
        ) from error
    return []


def _is_written(weight: Tensor, version: int, old: Tensor) -> bool:
    """Whether a parameter was written: by torch's count of writes, or by its values."""
    return weight._version != version or not torch.equal(weight, old)


# Parametrized weights


def _parametrized(module: nn.Module) -> list[tuple[nn.Module, str, Any]]:
    """Every parametrized tensor: its module, its name, and the list of its parametrizations."""
    modules = [
        (part, part.parametrizations)
        for part in module.modules()
        if parametrize.is_parametrized(part)
    ]
    return [
        (part, name, parts)
        for part, lists in modules
        if isinstance(lists, nn.ModuleDict)
        for name, parts in lists.items()
    ]


@contextmanager
def _plain(module: nn.Module) -> Iterator[None]:
    """Replace parametrized tensors by plain parameters; parametrize written ones again."""
    tensors = [
        (part, name, parts, nn.Parameter(getattr(part, name).clone(), False))
        for part, name, parts in _parametrized(module)
    ]
    kinds = {part: type(part) for part, _, _, _ in tensors}
    before = [(weight._version, weight.clone()) for _, _, _, weight in tensors]
    for part in kinds:  # the class with the property belongs to the caller too, and stays as it is
        part.__class__ = parametrize.type_before_parametrizations(part)
    for part, name, _, weight in tensors:
        part._parameters[name] = weight
    yield
    for part, kind in kinds.items():
        part.__class__ = kind
    for (part, name, parts, weight), (version, old) in zip(tensors, before, strict=True):
        del part._parameters[name]
        if _is_written(weight, version, old):
            _parametrize(parts, weight.detach())


def _parametrize(parts: Any, value: Any) -> None:
    """Store a value behind its parametrizations, as registering them does."""
    for part in reversed(parts):
        with suppress(NotImplementedError):
            value = (
                part.right_inverse(value)
                if callable(getattr(part, "right_inverse", None))
                else value
            )
    originals = [*parts.parameters(recurse=False), *parts.buffers(recurse=False)]
    for old, new in zip(originals, [value] if parts.is_tensor else value, strict=True):
        old.copy_(new)
    modes = [(part, part.training) for part in parts.modules()]
    parts.train()
    for _ in range(POWER_ITERATIONS):
        before = [buffer.clone() for buffer in parts.buffers()]
        parts()
        if all(torch.equal(old, new) for old, new in zip(before, parts.buffers(), strict=True)):
            break
    for part, mode in modes:
        part.training = mode
