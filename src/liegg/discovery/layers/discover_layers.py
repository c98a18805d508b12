"""The assembly: a network and data in, the symmetries of every layer out."""

import math
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from typing import Any, Unpack, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg._utils.errors import ArgumentError, ModelError, ShapeError
from liegg._utils.forward_mode import differentiable_attention
from liegg._utils.precision import coarsest, convolves, full_products, rounding_unit
from liegg._utils.random import seeded
from liegg.actions import Action
from liegg.decision.grades import LimitOptions, Thresholds
from liegg.discovery.discover import check_request, discover
from liegg.discovery.layers.hooks import Layer, Network, network_of, one_line, until
from liegg.discovery.layers.select import Layers, choose, wanted
from liegg.discovery.layers.streaming import LayerStreamed, stream_layers
from liegg.discovery.layers.tangents import course
from liegg.discovery.layers.trace import survey, with_arithmetic
from liegg.discovery.solve_and_decide import ModelInfo, about_memory, row_action, solve_and_decide
from liegg.inputs.batches import Data, as_batches
from liegg.inputs.input_dtype import with_input_dtype
from liegg.inputs.model import Model, about, eval_view, probe
from liegg.polarization.output_sketch import Outputs
from liegg.polarization.rounding_noise import scatter
from liegg.polarization.rows import Plan, rows_per_sample
from liegg.polarization.streaming import Streamed
from liegg.results.layers import LayerResult, LayerSymmetries
from liegg.results.symmetries import Symmetries

WIDE = 256
"""Outputs above which a layer that needs reverse mode is read by random combinations: each would cost a reverse pass."""

COMBINATIONS = 64
"""Random combinations in place of so many outputs."""


def discover_layers(
    model: Any,
    data: Data,
    action: Action,
    *,
    layers: Layers = None,
    output_action: Action | None = None,
    outputs: Outputs = "each",
    batch_size: int | None = None,
    seed: int = 0,
    progress: Callable[[int], object] | None = None,
    **thresholds: Unpack[LimitOptions],
) -> LayerSymmetries:
    r"""Find where in a network its symmetries arise: `liegg.discover` for the output of every layer, in one pass.

    The tangents of all generators are carried through the network in forward mode, once per batch, and every layer's rows are taken
    from them on their way. Each layer's result is what `discover` finds for the network truncated there.

    Args:
        model: `nn.Module`, analysed in eval mode; hooks are set on a view of it, and it is left as it was.
        data: as for `discover`.
        action: the candidate generators.
        layers: None for every module that computes something: those that call no other module, and blocks whose output is not
            already that of a layer inside them (the whole network's output is called `"output"`). Or names, also as patterns
            (`["conv1", "block*"]`); or types (`nn.Conv2d`); or a mapping from names to the entry of their output that is meant
            (`{"rnn": 0}`), where they have several; by default the first tensor. A module's second call is named `"block#2"`.
        output_action: action on the outputs of those layers whose shape it accepts, such as `liegg.Image("affine")` for feature
            maps; they are then also asked for equivariance.
        outputs: `"each"` output of a layer constrains alone; `"sum"` is the paper's reading; a number `k` takes k random
            combinations.
        batch_size: samples to a batch, where the data does not come in batches; they are split further to bound the memory.
        seed: for random combinations and for whatever a loader draws.
        progress: called with the number of samples after each part of a batch.
        **thresholds: what counts as a symmetry, as for `discover`. Intervals and controls are not made for layers.

    Returns:
        The layers with the symmetries of their outputs, of their outputs scaled to unit length and, where asked for, the
        equivariance.

    Raises:
        LieggError: bad data, a layer that does not exist or is no function of one sample, or arguments that make no sense.

    Examples:
        >>> import liegg
        >>> class Norm(torch.nn.Module):
        ...     def forward(self, x):
        ...         return x.norm(dim=1, keepdim=True)
        >>> turn = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(3, 3, bias=False))
        >>> model = torch.nn.Sequential(turn, Norm(), torch.nn.Linear(1, 4), torch.nn.Tanh())
        >>> found = discover_layers(model, torch.randn(200, 3), liegg.Linear(3))
        >>> [(layer.kind, layer.invariance.nullity) for layer in found]
        [('ParametrizedLinear', 0), ('Norm', 3), ('Linear', 3), ('Tanh', 3)]
    """
    if not isinstance(model, nn.Module):
        raise ArgumentError(
            f"model is a {type(model).__name__}; discover_layers looks into an nn.Module. For a function or an exported program, "
            "use liegg.discover."
        )
    bounds = Thresholds.of(thresholds)
    check_request(action, output_action, seed)
    names = wanted(layers)
    if output_action is not None and outputs == "sum":
        raise ArgumentError(
            "outputs='sum' has no meaning with output_action: equivariance compares the outputs one by one."
        )
    batches = as_batches(data, batch_size=batch_size)
    with (
        seeded(seed),
        torch.inference_mode(False),
        torch.no_grad(),
        differentiable_attention(),
        eval_view(model) as function,
    ):
        network = network_of(cast(nn.Module, function.function), function.name)
        function = with_input_dtype(function, batches)
        batches = batches.prepared(function.dtype, function.device)
        asked = Request(data, action, output_action, outputs, batches.size, seed, bounds)
        with closing(iter(batches)) as batches_left:
            first = next(batches_left)
            action.check(tuple(first.shape[1:]))
            network = with_arithmetic(network, first)
            with full_products():
                calls, writes = survey(
                    network, first, lambda call, module: names.pick(call, module, network)
                )
                chosen, notes = choose(calls, names, network)
                how = {layer.name: _plan(layer, outputs, seed) for layer in chosen}
                n_output_generators = _fitting(chosen, output_action)
                way = course(
                    network,
                    row_action(action),
                    first,
                    [layer for layer in chosen if not layer.same],
                    writes=writes,
                )
            widest = max(
                math.prod(shape)
                for shape in (tuple(first.shape[1:]), *(call.shape for call in calls))
            )
            seen = (
                stream_layers(
                    network,
                    row_action(action),
                    first,
                    batches_left,
                    way,
                    how,
                    widest,
                    output_actions=n_output_generators,
                    progress=progress,
                )
                if way.layers
                else {}
            )
        found: dict[str, LayerResult] = {}
        for layer in chosen:
            try:
                if layer.same:
                    found |= _shared(layer, found)
                elif layer.name in seen:
                    found[layer.name] = _concluded(
                        layer,
                        seen[layer.name],
                        asked,
                        replace(how[layer.name], notes=way.notes),
                        network,
                        first,
                    )
                else:
                    found[layer.name] = _alone(
                        layer,
                        way.stopped[layer.name],
                        asked,
                        n_output_generators[layer.name],
                        network,
                    )
            except ModelError as error:
                if layer.named:
                    raise
                notes.append(f"left out: {layer.name} ({one_line(error)})")
    if not found:
        raise ModelError(f"no layer of {network.name} is left to analyse: {'; '.join(notes)}.")
    samples = next(iter(found.values())).invariance.samples
    fits = max((streamed.invariance.fits for streamed in seen.values()), default=0)
    whole = (
        *function.notes,
        *about(network.arithmetic or first.dtype, first.dtype),
        *(way.notes if seen else ()),
        *about_memory(fits, first.device.type),
        *notes,
    )
    return LayerSymmetries(
        tuple(found.values()), function.name, action, output_action, samples, whole
    )


@dataclass(frozen=True, eq=False)
class Request:
    """What the user asked, for those layers that need more than the one pass."""

    data: Data
    action: Action
    output_action: Action | None
    outputs: Outputs
    batch_size: int | None
    seed: int
    thresholds: Thresholds


def _plan(layer: Layer, outputs: Outputs, seed: int) -> Plan:
    """Which outputs of a layer get rows, as `liegg.polarization.rows.plan` has it."""
    count = math.prod(layer.shape)
    rows = rows_per_sample(outputs, Model(lambda x: x, layer.name, output_shape=layer.shape))
    return Plan("each" if rows == count and outputs != "sum" else outputs, "jvp", seed)


def _fitting(layers: list[Layer], output_action: Action | None) -> dict[str, Action | None]:
    """The action on the outputs, for those layers that it fits."""
    fitting: dict[str, Action | None] = dict.fromkeys((layer.name for layer in layers), None)
    if output_action is None:
        return fitting
    trouble = ""
    for layer in layers:
        try:
            output_action.check(layer.shape)
            fitting[layer.name] = output_action
        except ShapeError as error:
            trouble = f"the output of {layer.name!r}: {error}"
    if not any(fitting.values()):
        raise ShapeError(
            f"output_action={output_action} fits no chosen layer, for example not {trouble}"
        )
    return fitting


def _concluded(
    layer: Layer, seen: LayerStreamed, asked: Request, how: Plan, network: Network, first: Tensor
) -> LayerResult:
    """Result of a layer that the pass went through."""
    truncated, name = until(network, layer), f"{network.name}.{layer.name}"
    unit = rounding_unit(
        coarsest(first.dtype, network.arithmetic), first.device, convolves=convolves(network.root)
    )
    ran = ModelInfo(
        first.dtype,
        first.device.type,
        name,
        asked.batch_size,
        unit,
        numbers=first[0].numel(),
        shape=tuple(first.shape[1:]),
    )

    def symmetries(
        problem: Streamed, function: Callable[[Tensor], Tensor], output_action: Action | None = None
    ) -> Symmetries:
        model = Model(function, name, output_shape=layer.shape)
        measure = cache(
            partial(
                scatter,
                model,
                row_action(asked.action),
                first,
                how,
                unit=unit,
                output_action=output_action,
            )
        )
        found = solve_and_decide(
            problem,
            asked.action,
            how,
            asked.thresholds,
            ran,
            output_action=output_action,
            measure=measure,
        )
        if found.solution.sensitivity > 0 or not len(found.defects):
            return found
        slope = probe(
            Model(function, name), first, summed=how.outputs == "sum"
        ).slope  # constant, a step, or invariant under all
        ran_so = replace(ran, slope=slope)
        return solve_and_decide(
            problem,
            asked.action,
            how,
            asked.thresholds,
            ran_so,
            output_action=output_action,
            measure=measure,
        )

    notes = ()
    if seen.zeros:
        notes = (
            f"{seen.zeros} of {seen.invariance.samples} samples have an output of exactly 0, which has no unit length",
        )
    pair = (
        None
        if seen.equivariance is None
        else symmetries(seen.equivariance, truncated, asked.output_action)
    )
    whole, direction = (
        symmetries(seen.invariance, truncated),
        symmetries(seen.unit, _unit_of(truncated)),
    )
    return LayerResult(layer.name, layer.kind, layer.shape, whole, direction, pair, notes=notes)


def _shared(layer: Layer, found: Mapping[str, LayerResult]) -> dict[str, LayerResult]:
    """Result of a layer that only hands on what another one put out; none if that was left out."""
    if layer.same not in found:
        return {}
    return {
        layer.name: replace(found[layer.same], name=layer.name, kind=layer.kind, same=layer.same)
    }


def _alone(
    layer: Layer, reason: str, asked: Request, output_action: Action | None, network: Network
) -> LayerResult:
    """Result of a layer that forward mode does not reach: `discover` on the network truncated there."""
    outputs, notes = (
        asked.outputs,
        [f"forward derivatives do not reach it ({reason}): it was read by itself"],
    )
    if outputs == "each" and math.prod(layer.shape) > WIDE:
        outputs = COMBINATIONS
        notes.append(
            f"its {math.prod(layer.shape)} outputs were read by {COMBINATIONS} random combinations"
        )
    truncated = until(network, layer)

    def symmetries(
        function: Callable[[Tensor], Tensor], output_action: Action | None = None
    ) -> Symmetries:
        return discover(
            function,
            asked.data,
            asked.action,
            output_action=output_action,
            outputs=outputs,
            batch_size=asked.batch_size,
            seed=asked.seed,
            controls=False,
            **asdict(asked.thresholds),
        )

    pair = None if output_action is None else symmetries(truncated, output_action)
    return LayerResult(
        layer.name,
        layer.kind,
        layer.shape,
        symmetries(truncated),
        symmetries(_unit_of(truncated)),
        pair,
        notes=tuple(notes),
    )


def _unit_of(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """A function with its outputs scaled to unit length."""

    def unit(x: Tensor) -> Tensor:
        return _unit(function(x).reshape(len(x), -1))

    unit.__name__ = function.__name__
    return unit


def _unit(y: Float[Tensor, "b c"]) -> Float[Tensor, "b c"]:
    """Outputs scaled to unit length; 0, with no derivative, where they have none. Of a single output a sign is left: 1."""
    if y.shape[1] == 1:
        return torch.ones_like(y)
    squares = y.double().square().sum(1, keepdim=True)
    return y * torch.where(squares > 0, torch.where(squares > 0, squares, 1.0).rsqrt(), 0.0).to(
        y.dtype
    )
