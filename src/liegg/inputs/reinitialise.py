"""Fresh weights: the same architecture before training, as a control for what training has put into a model."""

import copy
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

from liegg._utils.errors import ArgumentError, ModelError
from liegg._utils.random import seeded
from liegg._utils.unwrap_compiled import original, unwrap
from liegg.inputs.batches import Batches, Data, as_batches
from liegg.inputs.input_dtype import with_input_dtype
from liegg.inputs.model import Model

RESETS = ("reset_parameters", "_reset_parameters", "reset_running_stats")
"""Methods by which a module draws its weights anew, of which the first is called; torch's attention has the second alone."""

SETTLING = 50
"""Evaluations, at most, in which a parametrization that iterates (spectral norm) finds the estimates that fit new weights."""

UNCALIBRATED = "normalisation layers have mean 0 and variance 1 after the reset; liegg.inputs.reinitialise.calibrate takes them from data"
"""What is noted of models with such layers."""

CALIBRATION_BATCHES = 8
"""Batches from which normalisation layers take their statistics: enough for means and variances good to a few per cent."""

SHOWN = 5
"""Names written out in a note; `Fresh.kept` holds them all."""

REMEDY = "build control models yourself and analyse them likewise"
"""What to do where no fresh weights can be had."""


@dataclass(frozen=True, eq=False)
class Fresh:
    """A model with weights drawn anew.

    Attributes:
        module: the copy, in the modes, dtype and device of the model it was made from.
        notes: what is not as fresh as it should be, in sentences; empty if all is.
        kept: names of the parameters that nothing resets: they hold their trained values still.
    """

    module: nn.Module
    notes: tuple[str, ...]
    kept: tuple[str, ...]


def reinitialised(model: Any, *, seed: int) -> Fresh:
    """Copy a model and draw its weights anew, each module by its own `reset_parameters`.

    Modules are reset from the inside out, as they were made: what a parent does to its children's weights comes last, and of
    tied weights the module that was registered first decides. Tied weights stay tied, frozen ones frozen. Parametrized weights
    (weight norm, orthogonal, spectral norm) are reset as the plain weights they stand for and then parametrized as they were
    when the parametrization was registered. Buffers keep their values, except those that a reset writes: normalisation layers
    go back to mean 0 and variance 1, which in a deep network is not what the data has; see `calibrate`.

    Weights are drawn on the CPU where the model lies on one device, so that a seed means the same weights everywhere.

    Args:
        model: `nn.Module`, also one that `torch.compile` has wrapped; it is left as it was.
        seed: of the weights; the caller's random number generators are left as they were.

    Returns:
        The fresh copy, with the names of the parameters that nothing resets.

    Raises:
        ArgumentError: it is no module, cannot be copied, has no weights, or has none that can be reset.
        ModelError: its parameters do not exist yet.

    Examples:
        >>> net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
        >>> fresh = reinitialised(net, seed=0)
        >>> bool((fresh.module[0].weight == net[0].weight).any()), fresh.kept, fresh.notes
        (False, (), ())
    """
    if not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise ArgumentError(f"seed={seed}: expected a whole number from 0 to 2^63 - 1.")
    with torch.inference_mode(False), torch.no_grad():
        module = _copied(original(model))
        devices = {tensor.device for tensor in (*module.parameters(), *module.buffers())}
        if len(devices) == 1:
            module.cpu()
        with seeded(seed):
            kept, notes = _reset(module)
        if len(devices) == 1:
            module.to(next(iter(devices)))
    if _normalising(module):
        notes.append(UNCALIBRATED)
    return Fresh(module, tuple(notes), kept)


def calibrate(
    module: nn.Module,
    data: Data,
    *,
    batches: int = CALIBRATION_BATCHES,
    batch_size: int | None = None,
) -> nn.Module:
    """Copy a model and give its normalisation layers the statistics that the data has under its weights.

    The layers run in training mode and average over the batches (each batch counts the same, as torch does it with
    `momentum=None`); all else runs in eval mode. Weights, modes and momenta of the copy are those of the model.

    Args:
        module: the model, such as `Fresh.module`; it is left as it was.
        data: as for `liegg.discover`.
        batches: how many batches to read, at most.
        batch_size: samples to a batch, where the data does not come in batches.

    Returns:
        The copy; with no layer that keeps statistics, a plain one.

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
        module = _copied(module)
        modes = [(part, part.training) for part in module.modules()]
        momenta = [(layer, layer.momentum) for layer in _normalising(module)]
        module.eval()
        for layer, _ in momenta:
            layer.reset_running_stats()
            layer.training, layer.momentum = True, None
        given = as_batches(data, batch_size=batch_size)
        floats = [
            t for t in (*module.parameters(), *module.buffers()) if t.is_floating_point()
        ] or [torch.empty(0)]
        types = tuple(dict.fromkeys(tensor.dtype for tensor in floats))
        taking = with_input_dtype(
            Model(module, type(module).__name__, types[0], floats[0].device, dtypes=types), given
        )
        with closing(iter(Batches(given.source, given.size, taking.dtype, taking.device))) as left:
            for x in islice(left, batches if momenta else 0):
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
            f"the model failed on a batch of shape {tuple(x.shape)}, dtype {x.dtype}: {type(error).__name__}: {error}. "
            "Statistics need batches of several samples that the model accepts; set batch_size."
        ) from error


def _normalising(module: nn.Module) -> list[Any]:
    """Layers that keep running statistics."""
    return [
        part
        for part in module.modules()
        if isinstance(part, _NormBase) and part.running_mean is not None
    ]


def _copied(model: Any) -> nn.Module:
    """Deep copy of a module; `ArgumentError` for what is none, or cannot be copied."""
    name = getattr(model, "__name__", type(model).__name__)
    if not isinstance(model, nn.Module):
        raise ArgumentError(
            f"{name} is no nn.Module (a {type(model).__name__}). Pass the module itself, or {REMEDY}."
        )
    lazy = (nn.UninitializedParameter, nn.UninitializedBuffer)
    if any(isinstance(tensor, lazy) for tensor in (*model.parameters(), *model.buffers())):
        raise ModelError(
            f"{name} has lazy parameters that do not exist yet. Call the model once on a batch before."
        )
    try:
        twin = unwrap(copy.deepcopy(model))
    except Exception as error:
        raise ArgumentError(
            f"{name} cannot be copied ({error}). Mend that, or {REMEDY}."
        ) from error
    if {id(weight) for weight in twin.parameters()} & {id(weight) for weight in model.parameters()}:
        raise ArgumentError(
            f"a copy of {name} shares weights with it, so they cannot be drawn anew. Mend that, or {REMEDY}."
        )
    return twin


def _reset(module: nn.Module) -> tuple[tuple[str, ...], list[str]]:
    """Reset every submodule in place; the names of the parameters that nothing wrote, and notes."""
    notes: list[str] = []
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
            # of the class: a method that hangs on the instance may hold on to the module that was copied
            reset = next(
                (method for key in RESETS if callable(method := getattr(type(part), key, None))),
                None,
            )
            if reset is not None:
                notes += _call(reset, part, name)
        kept = tuple(
            name for name, (w, version, old) in before.items() if not _is_written(w, version, old)
        )
    if len(kept) == len(before):
        what = (
            "no module has a reset_parameters method that can be called"
            if before
            else "it has no parameters"
        )
        remedy = f"Give the modules that own weights a reset_parameters() method, or {REMEDY}."
        raise ArgumentError(
            f"{type(module).__name__} cannot be given fresh weights: {what}. {remedy}"
        )
    if kept:
        names = ", ".join(kept[:SHOWN]) + (", …" if len(kept) > SHOWN else "")
        notes.append(
            f"{len(kept)} of {len(before)} parameters keep their trained values, because no reset writes them: {names}"
        )
    return kept, notes


def _call(reset: Callable[..., object], part: nn.Module, name: str) -> list[str]:
    """Reset one module, or note why not; a parameter that was replaced gets its new values where it was, which others may share."""
    try:
        inspect.signature(reset).bind(part)
    except TypeError as error:
        return [f"{reset.__name__} of {name or 'the model'} was not called: {error}"]
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
        what = f"the reset of {name or 'the model'} ({type(part).__name__}) failed"
        raise ArgumentError(
            f"{what}: {type(error).__name__}: {error}. Mend its {reset.__name__} method."
        ) from error
    return []


def _is_written(weight: Tensor, version: int, old: Tensor) -> bool:
    """Whether a parameter was written: by torch's count of writes, or behind its back (`.data`) by its values."""
    return weight._version != version or not torch.equal(weight, old)


# Parametrized weights


def _parametrized(module: nn.Module) -> list[tuple[nn.Module, str, Any]]:
    """Every parametrized tensor: its module, its name, and the list of its parametrizations."""
    found = [
        (part, part.parametrizations)
        for part in module.modules()
        if parametrize.is_parametrized(part)
    ]
    return [
        (part, name, parts)
        for part, lists in found
        if isinstance(lists, nn.ModuleDict)
        for name, parts in lists.items()
    ]


@contextmanager
def _plain(module: nn.Module) -> Iterator[None]:
    """Show parametrized tensors as the plain parameters they stand for; those written meanwhile are parametrized anew."""
    found = [
        (part, name, parts, nn.Parameter(getattr(part, name).clone(), False))
        for part, name, parts in _parametrized(module)
    ]
    kinds = {part: type(part) for part, _, _, _ in found}
    before = [(weight._version, weight.clone()) for _, _, _, weight in found]
    for part in kinds:  # the class that has the property is the caller's also, and stays as it is
        part.__class__ = parametrize.type_before_parametrizations(part)
    for part, name, _, weight in found:
        part._parameters[name] = weight
    yield
    for part, kind in kinds.items():
        part.__class__ = kind
    for (part, name, parts, weight), (version, old) in zip(found, before, strict=True):
        del part._parameters[name]
        if _is_written(weight, version, old):
            _parametrize(parts, weight.detach())


def _parametrize(parts: Any, value: Any) -> None:
    """Store a value behind its parametrizations as registering them does: where one has no inverse, the value itself."""
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
    for _ in range(SETTLING):
        before = [buffer.clone() for buffer in parts.buffers()]
        parts()
        if all(torch.equal(old, new) for old, new in zip(before, parts.buffers(), strict=True)):
            break
    for part, mode in modes:
        part.training = mode
