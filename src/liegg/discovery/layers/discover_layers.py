"""Symmetries of every layer of a network, in one pass over the data."""

import math
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from typing import Any, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError, ModelError, ShapeError, one_line
from liegg._utils.forward_mode import differentiable_attention
from liegg._utils.precision import coarsest, convolves, full_precision_products, rounding_unit
from liegg._utils.random import seeded
from liegg.actions import Action
from liegg.decision.thresholds import Thresholds
from liegg.discovery.discover import ADVICE, check_records, check_request, discover
from liegg.discovery.layers.hooks import Layer, Network, network_of, truncate
from liegg.discovery.layers.select import Layers, Selection, parse_selection, select_layers
from liegg.discovery.layers.streaming import LayerPass, LayerProblems, stream_layers
from liegg.discovery.layers.tangents import plan_tangents
from liegg.discovery.layers.trace import trace, with_arithmetic
from liegg.discovery.run import Run
from liegg.discovery.solve_and_decide import ModelInfo, memory_notes, solve_and_decide
from liegg.inputs.batches import Data, as_batches
from liegg.inputs.model import Model, arithmetic_note, eval_view, probe, with_input_dtype
from liegg.polarization.output_sketch import Outputs
from liegg.polarization.rounding_noise import scatter
from liegg.polarization.rows import Plan, rows_per_sample
from liegg.polarization.streaming import PassSums
from liegg.results.layers import LayerResult, LayerSymmetries
from liegg.results.symmetries import Symmetries

WIDE = 256
"""Outputs above which a layer in reverse mode uses random combinations."""

COMBINATIONS = 64
"""Random combinations for such a layer."""


@checked(ADVICE)
def discover_layers(
    model: Any,
    data: Data,
    action: Action,
    *,
    layers: Layers = None,
    output_action: Action | None = None,
    outputs: Outputs = "each",
    seed: int = 0,
    thresholds: Thresholds | None = None,
    run: Run | None = None,
) -> LayerSymmetries:
    r"""Find where in a network symmetries arise: `liegg.discover` for every layer, in one pass.

    The tangents of all generators are pushed through the network in forward mode, once per batch,
    and the rows of every layer are computed from them. Each layer's result is what `discover` finds
    for the network truncated there.

    Args:
        model: `nn.Module`, analysed in eval mode through a copy with hooks; it is left as it was.
        data: as for `discover`.
        action: the candidate generators.
        layers: None for every module that computes something: modules that call no other module,
            and blocks whose output is not that of a layer inside them (the output of the complete
            network is called `"output"`). Or names and patterns (`["conv1", "block*"]`); or types
            (`nn.Conv2d`); or a mapping from names to an entry of their output (`{"rnn": 0}`), if
            they have several; by default the first tensor. A module's second call is `"block#2"`.
        output_action: action on the outputs of those layers whose shape it accepts, such as
            `liegg.Image("affine")` for feature maps; these are also tested for equivariance.
        outputs: `"each"` output of a layer is a separate constraint; `"sum"` is the paper's reading;
            a number `k` takes k random combinations.
        seed: seed of random combinations and of whatever a loader draws.
        thresholds: what counts as a symmetry, as for `discover`. Layers have no intervals and no controls.
        run: `batch_size` and `progress` are used, see `liegg.Run`; batches are split further to bound the memory.

    Returns:
        The layers with the symmetries of their outputs, of their outputs scaled to unit length and,
        with `output_action`, their equivariance.

    Raises:
        LieggError: invalid data or arguments, or a layer that does not exist or is not a function
            of one sample.

    Examples:
        >>> import liegg
        >>> class Norm(torch.nn.Module):
        ...     def forward(self, x):
        ...         return x.norm(dim=1, keepdim=True)
        >>> rotation = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(3, 3, bias=False))
        >>> model = torch.nn.Sequential(rotation, Norm(), torch.nn.Linear(1, 4), torch.nn.Tanh())
        >>> result = discover_layers(model, torch.randn(200, 3), liegg.Linear(3))
        >>> [(layer.kind, layer.invariance.nullity) for layer in result]
        [('ParametrizedLinear', 0), ('Norm', 3), ('Linear', 3), ('Tanh', 3)]
    """
    if not isinstance(model, nn.Module):
        raise ArgumentError(
            f"model is a {type(model).__name__}; discover_layers needs an nn.Module. For a "
            "function or an exported program, use liegg.discover."
        )
    check_request(action, output_action, seed)
    thresholds, run = check_records(thresholds, run)
    if run.checkpoint is not None or run.bottom is not None:
        raise ArgumentError(
            "checkpoint= and bottom= are for liegg.discover; discover_layers takes liegg.Run(batch_size=, progress=)."
        )
    request = Request(
        data=data,
        action=action,
        output_action=output_action,
        outputs=outputs,
        batch_size=run.batch_size,
        seed=seed,
        thresholds=thresholds,
        selection=parse_selection(layers),
    )
    if output_action is not None and outputs == "sum":
        raise ArgumentError(
            "outputs='sum' has no meaning with output_action: equivariance compares the outputs "
            "one by one."
        )
    batches = as_batches(data, batch_size=run.batch_size)
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
        request = replace(request, batch_size=batches.size)
        with closing(batches.numbered()) as numbered:
            start, first = next(numbered)
            action.check(tuple(first.shape[1:]))
            network = with_arithmetic(network, first)
            chosen, plan, notes = _plan_layers(network, first, request)
            batch_iterator = chain([(start, first)], numbered)
            problems: dict[str, LayerProblems] = {}
            if plan.tangents.layers:
                problems = stream_layers(plan, batch_iterator, progress=run.progress)
        results, more = _results(chosen, problems, plan, request)
    notes += more
    if not results:
        raise ModelError(f"no layer of {network.name} is left to analyse: {'; '.join(notes)}.")
    fits = max((problem.invariance.fits for problem in problems.values()), default=0)
    every_note = (
        *function.notes,
        *arithmetic_note(network.arithmetic or first.dtype, first.dtype),
        *(plan.tangents.notes if problems else ()),
        *memory_notes(fits, first.device.type),
        *notes,
    )
    samples = next(iter(results.values())).invariance.samples
    return LayerSymmetries(
        tuple(results.values()), function.name, action, output_action, samples, every_note
    )


@dataclass(frozen=True, eq=False)
class Request:
    """The user's question, for those layers that need more than the one pass."""

    data: Data
    action: Action
    output_action: Action | None
    outputs: Outputs
    batch_size: int | None
    seed: int
    thresholds: Thresholds
    selection: Selection


def _plan_layers(
    network: Network, first: Float[Tensor, "b ..."], request: Request
) -> tuple[list[Layer], LayerPass, list[Remark]]:
    """Select the layers and plan the pass: the layers, the plan, and notes."""
    selection, action = request.selection, request.action.row_action
    with full_precision_products():
        calls, writes = trace(
            network, first, lambda call, module: selection.pick(call, module, network)
        )
        layers, notes = select_layers(calls, selection, network)
        plans = {layer.name: _row_plan(layer, request.outputs, request.seed) for layer in layers}
        output_actions = _output_actions(layers, request.output_action)
        distinct = [layer for layer in layers if not layer.same]
        tangents = plan_tangents(network, action, first, distinct, writes=writes)
    shapes = (tuple(first.shape[1:]), *(call.shape for call in calls))
    widest = max(math.prod(shape) for shape in shapes)
    plan = LayerPass(network, action, first, tangents, plans, output_actions, widest)
    return layers, plan, notes


def _row_plan(layer: Layer, outputs: Outputs, seed: int) -> Plan:
    """Which outputs of a layer get rows, as in `liegg.polarization.rows.plan`."""
    count = math.prod(layer.shape)
    rows = rows_per_sample(outputs, Model(lambda x: x, layer.name, output_shape=layer.shape))
    return Plan("each" if rows == count and outputs != "sum" else outputs, "jvp", seed)


def _output_actions(layers: list[Layer], output_action: Action | None) -> dict[str, Action | None]:
    """The action on the outputs, for those layers that it fits."""
    actions: dict[str, Action | None] = dict.fromkeys((layer.name for layer in layers), None)
    if output_action is None:
        return actions
    problem = ""
    for layer in layers:
        try:
            output_action.check(layer.shape)
            actions[layer.name] = output_action
        except ShapeError as error:
            problem = f"the output of {layer.name!r}: {error}"
    if not any(actions.values()):
        raise ShapeError(
            f"output_action={output_action} fits no chosen layer, for example not {problem}"
        )
    return actions


def _results(
    layers: list[Layer], problems: Mapping[str, LayerProblems], plan: LayerPass, request: Request
) -> tuple[dict[str, LayerResult], list[Remark]]:
    """Results of all layers, and notes on those that are left out."""
    results: dict[str, LayerResult] = {}
    notes: list[Remark] = []
    for layer in layers:
        name = layer.name
        try:
            if layer.same:
                if layer.same in results:  # else the other layer was left out, and so is this one
                    other = results[layer.same]
                    results[name] = replace(other, name=name, kind=layer.kind, same=layer.same)
            elif name in problems:
                results[name] = _solve_layer(layer, problems[name], plan, request)
            else:
                results[name] = _analyse_alone(layer, plan, request)
        except ModelError as error:
            if layer.named:
                raise
            notes.append(Diagnosis.LAYER_LEFT_OUT(reason=f"{name} ({one_line(error)})"))
    return results, notes


def _solve_layer(
    layer: Layer, problems: LayerProblems, plan: LayerPass, request: Request
) -> LayerResult:
    """Result of a layer that forward mode reaches."""
    network, first = plan.network, plan.first
    function, name = truncate(network, layer), f"{network.name}.{layer.name}"
    row_plan = replace(plan.plans[layer.name], notes=plan.tangents.notes)
    unit = rounding_unit(
        coarsest(first.dtype, network.arithmetic), first.device, convolves=convolves(network.root)
    )
    info = ModelInfo(
        first.dtype,
        first.device.type,
        name,
        request.batch_size,
        unit,
        numbers=first[0].numel(),
        shape=tuple(first.shape[1:]),
    )

    def symmetries(
        problem: PassSums, function: Callable[[Tensor], Tensor], output_action: Action | None = None
    ) -> Symmetries:
        model = Model(function, name, output_shape=layer.shape)
        noise = partial(scatter, unit=unit, output_action=output_action)
        solve = partial(
            solve_and_decide,
            problem,
            request.action,
            row_plan,
            request.thresholds,
            output_action=output_action,
            measure=cache(partial(noise, model, plan.action, first, row_plan)),
        )
        result = solve(info)
        if result.accumulated.solution.sensitivity > 0 or not len(result.defects):
            return result
        # Constant, a step function, or invariant under everything: the slope decides.
        summed = row_plan.outputs == "sum"
        return solve(replace(info, slope=probe(Model(function, name), first, summed=summed).slope))

    notes: tuple[Remark, ...] = ()
    if problems.zeros:
        total = problems.invariance.samples
        notes = (Diagnosis.LAYER_ZERO_OUTPUTS(n=problems.zeros, total=total),)
    equivariance = None
    if problems.equivariance is not None:
        equivariance = symmetries(problems.equivariance, function, request.output_action)
    return LayerResult(
        name=layer.name,
        kind=layer.kind,
        shape=layer.shape,
        invariance=symmetries(problems.invariance, function),
        unit=symmetries(problems.unit, _unit_function(function)),
        equivariance=equivariance,
        notes=notes,
    )


def _analyse_alone(layer: Layer, plan: LayerPass, request: Request) -> LayerResult:
    """Result of a layer that forward mode does not reach: `discover` on the truncated network."""
    outputs, width = request.outputs, math.prod(layer.shape)
    notes = [Diagnosis.LAYER_ANALYSED_ALONE(reason=plan.tangents.unreached[layer.name])]
    if outputs == "each" and width > WIDE:
        outputs = COMBINATIONS
        notes.append(Diagnosis.LAYER_COMBINATIONS(n=width, combinations=COMBINATIONS))
    function, output_action = truncate(plan.network, layer), plan.output_actions[layer.name]

    def symmetries(
        function: Callable[[Tensor], Tensor], output_action: Action | None = None
    ) -> Symmetries:
        return discover(
            function,
            request.data,
            request.action,
            output_action=output_action,
            outputs=outputs,
            seed=request.seed,
            controls="none",
            thresholds=request.thresholds,
            run=Run(batch_size=request.batch_size),
        )

    return LayerResult(
        name=layer.name,
        kind=layer.kind,
        shape=layer.shape,
        invariance=symmetries(function),
        unit=symmetries(_unit_function(function)),
        equivariance=None if output_action is None else symmetries(function, output_action),
        notes=tuple(notes),
    )


def _unit_function(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """A function with its outputs scaled to unit length."""

    def unit(x: Tensor) -> Tensor:
        return _unit(function(x).reshape(len(x), -1))

    unit.__name__ = function.__name__
    return unit


def _unit(y: Float[Tensor, "b c"]) -> Float[Tensor, "b c"]:
    """Outputs scaled to unit length; 0 if they are 0; 1 for a single output."""
    if y.shape[1] == 1:
        return torch.ones_like(y)
    squares = y.double().square().sum(1, keepdim=True)
    inverse = torch.where(squares > 0, squares, 1.0).rsqrt()
    return y * torch.where(squares > 0, inverse, 0.0).to(y.dtype)
