"""One pass over the data for all layers at once: what `liegg.polarization.streaming` keeps of one function, kept of each."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg._utils.device import Later
from liegg._utils.errors import ModelError, NonFiniteError
from liegg._utils.precision import coarsest, convolves, rounding_unit
from liegg.actions import Action
from liegg.discovery.layers.fold import Kept, add, keep, room_for
from liegg.discovery.layers.hooks import Layer, Network
from liegg.discovery.layers.tangents import Course, carry
from liegg.polarization import gram
from liegg.polarization.displacement import moments_of, roundings, square_of
from liegg.polarization.rows import Plan
from liegg.polarization.state import Folded, settled
from liegg.polarization.streaming import Streamed, fewer

NUMBERS = {"cpu": 2**23, "cuda": 2**29}
"""Numbers in the widest output and its tangents, at most: 32 MB and 2 GB in float32. Forward mode holds a few such at a time."""

SHARE = 64
"""Bytes of a GPU's free memory to each such number."""

PIECES = 8
"""Pieces in which the tangents of so many numbers are made."""


class LayerStreamed(NamedTuple):
    """What is kept of the data for one layer, on the CPU.

    Attributes:
        invariance: the problem of the outputs.
        unit: the problem of the outputs scaled to unit length.
        equivariance: the problem of the pair with an action on the outputs; None where there is none.
        zeros: number of samples whose output is exactly 0.
    """

    invariance: Streamed
    unit: Streamed
    equivariance: Streamed | None
    zeros: int


def stream_layers(
    network: Network,
    action: Action,
    first: Float[Tensor, "b ..."],
    rest: Iterator[Float[Tensor, "b ..."]],
    way: Course,
    plans: Mapping[str, Plan],
    widest: int,
    *,
    output_actions: Mapping[str, Action | None],
    progress: Callable[[int], object] | None = None,
) -> dict[str, LayerStreamed]:
    """Carry the tangents of every batch through the network once, and fold the rows of all layers on the way.

    Batches are split so that the widest output of the network and its tangents stay within `NUMBERS`; nothing else grows with
    the data or with the number of layers.

    Args:
        network: the network.
        action: candidate generators.
        first: the first batch.
        rest: the batches after it.
        way: how tangents are carried, and through which layers.
        plans: which outputs get rows, by layer.
        widest: numbers in a sample or in the widest output of one.
        output_actions: action on the outputs, by layer; None where there is none.
        progress: called with the number of samples after each part of a batch.

    Raises:
        NonFiniteError: an output or a derivative is not finite; the message names layer and sample.
        ModelError: the network does not make the same calls on every batch.
        DeviceMemoryError: not even one sample fits into the memory of the device.
    """
    columns = action.size
    kept = {
        layer.name: keep(
            columns, 0 if (eta := output_actions[layer.name]) is None else eta.size, first.device
        )
        for layer in way.layers
    }
    numbers = numbers_on(first.device)
    most = max(1, numbers // ((1 + columns) * widest))
    unit = rounding_unit(
        coarsest(first.dtype, network.arithmetic), first.device, convolves=convolves(network.root)
    )
    wide = room_for(columns, widest, most, first.device)
    tangents = torch.empty(0, dtype=first.dtype, device=first.device)
    moment: Tensor | None = None
    room, precomputed = torch.empty(0), None
    input_square = torch.zeros((), dtype=torch.float64, device=first.device)
    finite: dict[str, Bool[Tensor, " b"]] = {}
    samples, squared = 0, False

    def see(layer: Layer, y: Tensor, slopes: Tensor) -> None:
        name = layer.name
        kept[name], finite[name] = add(
            kept[name],
            y,
            slopes,
            plans[name],
            squared=squared,
            shape=layer.shape,
            output_action=output_actions[name],
            first=samples,
            room=wide,
            unit=unit,
        )

    late, left, fits = Later(), iter(chain([first], rest)), 0
    batch = next(left, None)
    while batch is not None:
        x, before, done = batch[:most], dict(kept), None
        squared = gram.allowed(first.dtype) and samples + len(x) > 2 * columns
        try:
            precomputed = action.precompute(x, precomputed)
            tangents = _tangents(action, x, tangents, numbers // PIECES)
            done = carry(network, x, tangents, way.layers, see, way=way.way, copy=way.writes)
        except torch.OutOfMemoryError as error:
            most = fits = fewer(len(x), first.device, error)
        if done is None:  # now that nothing holds what was made on the way
            kept, precomputed, tangents = before, None, tangents.new_empty(0)
            torch.cuda.empty_cache()
            continue
        if done.missing:
            raise ModelError(
                f"layer {done.missing[0]!r} of {network.name} was reached before, but not at samples {samples} to "
                f"{samples + len(x) - 1} ({done.reason or 'it was not called'}). Every batch must run through the same layers."
            )
        well = torch.stack(
            [flags.all() for flags in finite.values()]
        ).all()  # one question to the device
        late.put(well, partial(_check_finite, dict(finite), network, samples))
        input_square = input_square + square_of(x)
        step, room = moments_of(
            action, x, precomputed, room, torch.zeros(len(x), dtype=torch.int64)
        )
        moment = step[0] if moment is None else moment + step[0]
        samples += len(x)
        if progress is not None:
            progress(len(x))
        batch = batch[len(x) :] if len(batch) > len(x) else next(left, None)
    late.settle()
    whole = torch.zeros(0, 0, dtype=torch.float64) if moment is None else moment.cpu()
    rounding = roundings(action, first, whole, float(input_square) / samples)
    return {name: _settled(state, whole, samples, rounding, fits) for name, state in kept.items()}


def numbers_on(device: torch.device) -> int:
    """Numbers in the widest output and its tangents that a device is asked to hold."""
    if device.type != "cuda":
        return NUMBERS["cpu"]
    return max(NUMBERS["cpu"], min(NUMBERS["cuda"], torch.cuda.mem_get_info(device)[0] // SHARE))


def _tangents(
    action: Action, x: Float[Tensor, "b ..."], room: Float[Tensor, "..."], most: int
) -> Float[Tensor, "g b ..."]:
    """Velocities of all samples under all generators, made piece by piece into memory that is there: new pages cost more."""
    size = action.size * x.numel()
    room = room if room.numel() >= size else torch.empty(size, dtype=x.dtype, device=x.device)
    whole = room.view(-1)[:size].view(action.size, *x.shape)
    generators = torch.eye(action.size, dtype=x.dtype, device=x.device)
    step = max(1, most * len(x) // size)
    for piece, target in zip(x.split(step), whole.split(step, dim=1), strict=True):
        target.copy_(action.tangents(generators, piece))
    return whole


def _settled(
    kept: Kept, moment: Float[Tensor, "s s"], samples: int, rounding: tuple[float, float], fits: int
) -> LayerStreamed:
    """What was kept of one layer, as `liegg.discovery.solve_and_decide.solve_and_decide` takes it."""

    def problem(state: Folded, square: Any) -> Streamed:
        rows, accumulator = settled(state)
        return Streamed(
            rows, moment, samples, float(square) / samples, accumulator, *rounding, fits=fits
        )

    pair = None if kept.equivariance is None else problem(kept.equivariance, kept.square)
    return LayerStreamed(
        problem(kept.invariance, kept.square),
        problem(kept.unit, kept.nonzero),
        pair,
        samples - round(float(kept.nonzero)),
    )


def _check_finite(finite: Mapping[str, Bool[Tensor, " b"]], network: Network, before: int) -> None:
    """Raise `NonFiniteError` naming the first layer and sample with a number that is not finite; `before` samples came earlier."""
    name, flags = next((name, flags) for name, flags in finite.items() if not bool(flags.all()))
    raise NonFiniteError(
        f"the output of layer {name!r} of {network.name}, or its derivative, is NaN, infinite or too large to be squared for "
        f"sample {before + int(flags.to(torch.int8).argmin())}. Check the layer there, or remove the sample."
    )
