"""Trace the modules that a network calls, and check their outputs."""

import math
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.device import call_within_memory
from liegg._utils.errors import ArgumentError, LieggError, ModelError, one_line
from liegg._utils.precision import coarsest, record_dtypes
from liegg.discovery.layers.hooks import Network, Passage, hooked, kind_of, per_sample, pick_tensor
from liegg.inputs.batches import FEWEST_SPACED, SPACED_NUMBERS, affordable
from liegg.inputs.output_field import Field
from liegg.inputs.probe import LARGEST_CHANGE, MIXING_UNITS, PROBE_SAMPLES, RANDOM_UNITS
from liegg.inputs.spot_check import LENIENCE, MOST_THOROUGH


class Call(NamedTuple):
    """One call of a module, and what is known of its output.

    Attributes:
        name: name of the call, as `Layer.name`.
        module: name of the module.
        kind: its class.
        leaf: whether it called no other module.
        new: whether its output is a tensor that no call inside it returned.
        same: earlier call that returned the same tensor; empty if there is none.
        problem: why it cannot be analysed; empty if it can.
        shape: shape of one sample's output; during a run that of the complete output.
        random: relative change between two runs on the same samples, if more than rounding; else 0.
        marks: a projection and the length of every sample's output; None if it has no samples.
        eps: rounding unit of the output.
    """

    name: str
    module: str
    kind: str
    leaf: bool
    new: bool = True
    same: str = ""
    problem: str = ""
    shape: tuple[int, ...] = ()
    random: float = 0.0
    marks: Float[Tensor, "2 n"] | None = None
    eps: float = 0.0


def trace(
    network: Network, x: Float[Tensor, "b ..."], pick: Callable[[str, str], Field]
) -> tuple[list[Call], bool]:
    """Run a network on a few samples and list its calls in the order in which they end.

    Outputs are compared by a projection, so none is stored.

    Args:
        network: the network.
        x: the first batch; a few of its samples are used.
        pick: returns the entry of an output to use, from the names of the call and of its module.

    Returns:
        The calls, and whether the network writes into its input.

    Raises:
        ModelError: the network fails.
        ArgumentError: a selected entry of an output does not exist.
    """
    batch, count = x, PROBE_SAMPLES if len(x) > 1 else 2  # a single sample is used twice
    x = x[torch.linspace(0, len(x) - 1, count).long().to(x.device)]
    (calls, writes), (again, _) = (_record_calls(network, x, pick) for _ in range(2))
    second = {call.name: call for call in again}
    singles = [
        {call.name: call for call in _record_calls(network, x[i : i + 1], pick)[0]}
        for i in range(len(x))
    ]
    checked = []
    for call in calls:
        random = 0.0
        if call.marks is not None and call.name in second:
            change = _change(call, second[call.name].marks)
            random = change if change > min(RANDOM_UNITS * call.eps, LARGEST_CHANGE) else 0.0
        alone = [single[call.name] for single in singles if call.name in single]
        problem = call.problem or _mixing(call, alone, len(x))
        shape = _sample_shape(call.shape, len(x))
        checked.append(call._replace(shape=shape, random=random, problem=problem))
    repeated = partial(_checked_in_halves, network, calls=checked, pick=pick)
    return call_within_memory(repeated, batch), writes


def _checked_in_halves(
    network: Network,
    x: Float[Tensor, "b ..."],
    calls: list[Call],
    pick: Callable[[str, str], Field],
) -> list[Call]:
    """The calls, with what is wrong beyond the first samples: many samples are run together and in two random halves."""
    widest = max((math.prod(call.shape) for call in calls), default=1)
    most = max(FEWEST_SPACED, SPACED_NUMBERS // max(1, widest))
    x = x[: min(affordable(x, MOST_THOROUGH), most)]
    if len(x) <= PROBE_SAMPLES:
        return calls
    halves = torch.randperm(len(x), generator=torch.Generator().manual_seed(0)).tensor_split(2)
    places = torch.cat(halves)
    try:
        together = _by_name(network, x, pick)
        apart = [_by_name(network, x[half.to(x.device)], pick) for half in halves]
    except ModelError:  # the pass says why
        return calls
    checked, again = [], None
    for call in calls:
        whole, parts = together.get(call.name), [half.get(call.name) for half in apart]
        marks = [part.marks for part in parts if part is not None and part.marks is not None]
        if call.problem or call.random or whole is None or whole.marks is None or len(marks) < 2:
            checked.append(call)
            continue
        ordered = whole._replace(marks=whole.marks[:, places])
        change = _change(ordered, torch.cat(marks, dim=1))
        if change > min(LENIENCE * MIXING_UNITS * call.eps, LARGEST_CHANGE):
            again = again or _by_name(network, x, pick)
            repeated = _change(whole, again[call.name].marks) if call.name in again else 0.0
            if repeated > min(LENIENCE * RANDOM_UNITS * call.eps, LARGEST_CHANGE):
                call = call._replace(random=repeated)
            else:
                call = call._replace(problem=_mixes(call.name, change))
        checked.append(call)
    return checked


def _by_name(
    network: Network, x: Float[Tensor, "n ..."], pick: Callable[[str, str], Field]
) -> dict[str, Call]:
    """The calls of one run by name."""
    return {call.name: call for call in _record_calls(network, x, pick)[0]}


def with_arithmetic(network: Network, x: Float[Tensor, "b ..."]) -> Network:
    """The network with the coarsest floating point type that it computes in."""
    try:
        with torch.enable_grad(), record_dtypes() as dtypes:
            network.root(x[:1].clone().requires_grad_())
    except Exception:  # which `trace` reports
        return network
    return replace(network, arithmetic=coarsest(x.dtype, *dtypes()))


def projection(size: int, like: Tensor) -> Float[Tensor, " c"]:
    """A fixed vector without structure, onto which outputs are projected: a chirp."""
    place = torch.arange(1, size + 1, dtype=torch.float64, device=like.device)
    return (place.square() * math.sqrt(2)).cos()


def _record_calls(
    network: Network, x: Float[Tensor, "n ..."], pick: Callable[[str, str], Field]
) -> tuple[list[Call], bool]:
    """All calls of one run, and whether it wrote into its input."""
    batch = x.clone()
    version = batch._version  # torch's count of writes: values may not show it
    calls: list[Call] = []
    origins: dict[int, tuple[weakref.ref[Tensor], int, str]] = {}
    inside: list[set[str]] = [set()]  # per running module, the names of the calls that ended in it

    def after(passage: Passage) -> None:
        name, module, nested = passage.name, passage.part, inside.pop()
        inside[-1] |= {name, *nested}
        call = Call(name, module, kind_of(passage.module), leaf=not nested)
        choice = pick(name, module)
        try:
            tensor = pick_tensor(passage.output, choice, name)
        except ArgumentError as error:
            if choice is not None:
                raise
            calls.append(call._replace(problem=str(error)))
            return
        folded = per_sample(network, x, tensor)
        origin, same = origins.get(id(tensor)), ""
        if origin is not None and origin[0]() is tensor and origin[1] == tensor._version:
            same = origin[2]
        origins[id(tensor)] = (weakref.ref(tensor), tensor._version, same or name)
        eps = torch.finfo(coarsest(tensor.dtype, x.dtype, network.arithmetic)).eps
        call = call._replace(new=same not in nested, same=same, shape=tuple(folded.shape), eps=eps)
        try:
            calls.append(call._replace(marks=_marks(folded, len(x))))
        except RuntimeError as error:  # inside a transform of the network's own
            problem = f"the output of layer {name!r} cannot be read ({one_line(error)})"
            calls.append(call._replace(problem=problem))

    with hooked(network.parts, after, lambda *_: inside.append(set())), torch.no_grad():
        try:
            network.root(batch)
        except (LieggError, torch.OutOfMemoryError):
            raise
        except Exception as error:
            raise ModelError(
                f"{network.name} failed on a batch of shape {tuple(x.shape)}, dtype {x.dtype}: "
                f"{type(error).__name__}: {error}. It must accept a batch of any length."
            ) from error
    return calls, batch._version != version


def _marks(output: Tensor, samples: int) -> Float[Tensor, "2 n"] | None:
    """Projection and length of each sample's output; None if axis 0 is not the samples."""
    if output.ndim == 0 or output.shape[0] % samples or output.numel() == 0:
        return None
    flat = output.reshape(samples, -1).double()
    return torch.tensor(
        [(flat @ projection(flat.shape[1], flat)).tolist(), flat.norm(dim=1).tolist()],
        dtype=torch.float64,
    )


def _sample_shape(output: tuple[int, ...], samples: int) -> tuple[int, ...]:
    """Shape of one sample's output; several entries per sample along axis 0 stay an axis."""
    if not output or output[0] % samples:
        return ()
    several = output[0] // samples
    return output[1:] if several == 1 else (several, *output[1:])


def _mixing(call: Call, alone: list[Call], samples: int) -> str:
    """Why an output is not one entry per sample; empty if it is."""
    output = f"the output of layer {call.name!r}"
    shape = f"{output} has shape {call.shape} for {samples} samples"
    if call.marks is None or any(
        single.shape != (call.shape[0] // samples, *call.shape[1:]) for single in alone
    ):
        return f"{shape}: its first axis is not that of the samples"
    if len(alone) < samples:
        return f"{shape}, but it is not called for every sample alone"
    marks = torch.cat([single.marks for single in alone if single.marks is not None], dim=1)
    if (change := _change(call, marks)) > min(MIXING_UNITS * call.eps, LARGEST_CHANGE):
        return _mixes(call.name, change)
    return ""


def _mixes(name: str, change: float) -> str:
    """What is wrong with an output that depends on the other samples."""
    return (
        f"the output of layer {name!r} for a sample changes by {change:.1e} of its size with the other samples of "
        "a batch"
    )


def _change(call: Call, marks: Float[Tensor, "2 n"] | None) -> float:
    """Largest change of a projection, relative to the largest output."""
    if call.marks is None or marks is None or marks.shape != call.marks.shape:
        return 1.0
    size = float(call.marks[1].max()) + torch.finfo(torch.float64).tiny
    return float((marks[0] - call.marks[0]).abs().max()) / size
