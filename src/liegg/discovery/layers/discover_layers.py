"""Symmetries of every layer of a network, in one pass over the data."""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError, ModelError, ShapeError, one_line
from liegg._utils.one_at_a_time import one_at_a_time
from liegg._utils.precision import convolves, full_precision_products
from liegg.actions import Action
from liegg.decision.thresholds import Thresholds
from liegg.discovery.analyse import analyse, conclude, reading
from liegg.discovery.discover import ADVICE
from liegg.discovery.first_batch import FirstLook, hidden_from, read_from
from liegg.discovery.layers.hooks import Layer, Network, network_of, truncate
from liegg.discovery.layers.select import Layers, Selection, parse_selection, select_layers
from liegg.discovery.layers.streaming import LayerPass, stream_layers
from liegg.discovery.layers.tangents import plan_tangents
from liegg.discovery.layers.trace import trace, with_arithmetic
from liegg.discovery.request import Request
from liegg.discovery.run import Run
from liegg.discovery.solve_and_decide import memory_notes, with_blocks
from liegg.discovery.structured import Inputs, with_inputs
from liegg.inputs.batches import Data
from liegg.inputs.model import Model, arithmetic_note
from liegg.inputs.output_field import Field
from liegg.inputs.own_gradient import takes_gradient
from liegg.inputs.probe import probe
from liegg.polarization.output_fit import fitted_output_action
from liegg.polarization.output_sketch import Outputs
from liegg.polarization.plan import Plan
from liegg.polarization.rows import rows_per_sample
from liegg.polarization.streaming import PassPlan, PassSums
from liegg.results.layers import LayerResult, LayerSymmetries, Problem
from liegg.results.symmetries import Symmetries

WIDE_OUTPUTS = 256
"""Outputs above which a layer in reverse mode uses random combinations."""

WIDE_COMBINATIONS = 64
"""Random combinations for such a layer."""


@checked(
    ADVICE
    | {
        "about": "Ask afterwards: found.about('rotation') has the numbers, found.table(about='rotation') a column.",
        "target": "A target is a part of the last output: liegg.discover(..., target=).",
        "at": "A motion of the input is followed through the layers; liegg.discover(..., at=) begins behind one of them.",
    }
)
@one_at_a_time
def discover_layers(
    model: Any,
    data: Data,
    action: Action | Mapping[Any, Any],
    *,
    layers: Layers = None,
    output_action: Action | None = None,
    outputs: Outputs = "each",
    output: Field = None,
    call: Callable[..., Any] | None = None,
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
        action: the candidate generators; for structured samples a mapping from paths to actions, as for `discover`.
        layers: None for every module that computes something: modules that call no other module,
            and blocks whose output is not that of a layer inside them (the output of the complete
            network is called `"output"`). Or names and patterns (`["conv1", "block*"]`; `*` stops at
            dots, `**` crosses them, as in `"**.conv*"`); or types (`nn.Conv2d`); or a mapping from
            names to an entry of their output (`{"rnn": 0}`), if they have several; by default
            `logits`, or the first tensor. A module's second call is `"block#2"`.
        output_action: action on the outputs of those layers whose shape it accepts, such as
            `liegg.Image("affine")` for feature maps; these are also tested for equivariance.
        outputs: `"each"` output of a layer is a separate constraint; `"sum"` is what the paper does;
            a number `k` takes k random combinations.
        output: the field of what the complete network returns, as for `discover`; for the layers inside see `layers`.
        call: how the model takes structured samples, as for `discover`.
        thresholds: what counts as a symmetry, as for `discover`. What is found in a layer has no
            intervals and no controls; directions that you name have intervals, see
            `LayerSymmetries.defect_interval`.
        run: `batch_size`, `progress` and `hidden` are used, see `liegg.Run`; batches are split further to bound the memory.

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
    thresholds, run = thresholds or Thresholds(), run or Run()
    if run.checkpoint is not None or run.bottom is not None:
        raise ArgumentError(
            "checkpoint= and bottom= are for liegg.discover; discover_layers takes liegg.Run(seed=, batch_size=, progress=)."
        )
    if output_action is not None and outputs == "sum":
        raise ArgumentError(
            "outputs='sum' has no meaning with output_action: equivariance compares the outputs "
            "one by one."
        )
    selection = parse_selection(layers)._replace(output=output)

    def analysed(given: Inputs) -> LayerSymmetries:
        request = Request(
            data=given.data,
            action=given.action,
            output_action=output_action,
            outputs=outputs,
            thresholds=thresholds,
            run=run,
        )
        return _analyse_layers(given.model, request, selection)

    return with_inputs(analysed, model, data, action, call=call, seed=run.seed)


def _analyse_layers(model: nn.Module, request: Request, selection: Selection) -> LayerSymmetries:
    """Plan the pass, make it, and solve every layer."""
    with reading(model, request) as (function, batches, head, rest):
        first = head[1]
        request = replace(request, run=replace(request.run, batch_size=batches.size))
        network = network_of(cast(nn.Module, function.function), function.name)
        with _explain_own_gradient(function, first):
            network = with_arithmetic(network, first)
            chosen, plan, notes = _plan_layers(network, first, request, selection)
        problems: dict[str, dict[Problem, PassSums]] = {}
        if plan.tangents.layers:
            problems = stream_layers(plan, chain([head], rest), progress=request.run.progress)
        rest.close()  # the loader's generator is restored, so that other passes draw the same again
        results, more = _results(chosen, problems, plan, request)
    if not results:
        reasons = "; ".join([*notes, *more])
        raise ModelError(f"no layer of {network.name} is left to analyse: {reasons}.")
    fits = max((each["invariance"].fits for each in problems.values()), default=0)
    given = function.input_dtype or first.dtype
    every_note = (
        *function.notes,
        *arithmetic_note(network.arithmetic or given, given),
        *(plan.tangents.notes if problems else ()),
        *memory_notes(fits, first.device.type),
        *notes,
        *more,
    )
    samples = next(iter(results.values())).invariance.samples
    return LayerSymmetries(
        layers=tuple(results.values()),
        model=function.name,
        action=request.action,
        output_action=request.output_action,
        samples=samples,
        notes=every_note,
    )


@contextmanager
def _explain_own_gradient(function: Model, first: Float[Tensor, "b ..."]) -> Iterator[None]:
    """Say what to do if a model fails because it takes a gradient of its own, through which no tangents are followed."""
    try:
        yield
    except ModelError as error:
        if not takes_gradient(function.function, first[:1]):
            raise
        raise ModelError(
            f"{function.name} takes a gradient of its own, through which its layers cannot be followed. Pass the module "
            "that it differentiates, for example discover_layers(model.energy, ...); the complete model is analysed by "
            "liegg.discover."
        ) from error


def _plan_layers(
    network: Network, first: Float[Tensor, "b ..."], request: Request, selection: Selection
) -> tuple[list[Layer], LayerPass, list[Remark]]:
    """Select the layers and plan the pass: the layers, the plan, and notes."""
    action = request.action.row_action
    outputs = "each" if request.outputs == "whitened" else request.outputs
    with full_precision_products():
        calls, writes = trace(
            network, first, lambda call, module: selection.pick(call, module, network)
        )
        layers, notes = select_layers(calls, selection, network)
        plans = {layer.name: _row_plan(layer, outputs, request.run.seed) for layer in layers}
        output_actions = _output_actions(layers, request.output_action, request.action)
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


def _output_actions(
    layers: list[Layer], output_action: Action | None, action: Action
) -> dict[str, Action | None]:
    """The action on the outputs, for those layers that it fits."""
    actions: dict[str, Action | None] = dict.fromkeys((layer.name for layer in layers), None)
    if output_action is None:
        return actions
    problem = ""
    for layer in layers:
        try:
            shaped = Model(lambda x: x, layer.name, output_shape=layer.shape)
            actions[layer.name] = fitted_output_action(output_action, action, shaped)
        except ShapeError as error:
            problem = f"the output of {layer.name!r}: {error}"
    if not any(actions.values()):
        raise ShapeError(
            f"output_action={output_action} fits no chosen layer, for example not {problem}"
        )
    return actions


def _results(
    layers: list[Layer],
    problems: Mapping[str, Mapping[Problem, PassSums]],
    plan: LayerPass,
    request: Request,
) -> tuple[dict[str, LayerResult], list[Remark]]:
    """Results of all layers, and notes on those that are left out."""
    results: dict[str, LayerResult] = {}
    notes: list[Remark] = []
    for layer in layers:
        name = layer.name
        if layer.same:
            if layer.same in results:  # else the other layer was left out, and so is this one
                other = results[layer.same]
                results[name] = replace(other, name=name, kind=layer.kind, same=layer.same)
            continue
        try:
            if name in problems:
                results[name] = _solve_layer(layer, problems[name], plan, request)
            else:
                results[name] = _analyse_alone(layer, plan, request)
        except ModelError as error:
            if layer.named:
                raise
            notes.append(Diagnosis.LAYER_LEFT_OUT(reason=f"{name} ({one_line(error)})"))
    return results, notes


def _solve_layer(
    layer: Layer, problems: Mapping[Problem, PassSums], plan: LayerPass, request: Request
) -> LayerResult:
    """Result of a layer that forward mode reaches."""
    network, first = plan.network, plan.first
    row_plan = replace(plan.plans[layer.name], notes=plan.tangents.notes)
    model = Model(
        truncate(network, layer),
        f"{network.name}.{layer.name}",
        output_shape=layer.shape,
        arithmetic=network.arithmetic,
        convolves=convolves(network.root),
        weights=sum(weight.numel() for weight in network.root.parameters()),
    )
    seen = FirstLook(
        hidden=hidden_from(model, first, request), read=read_from(model, first, request)
    )

    def symmetries(
        problem: Problem, function: Callable[[Tensor], Tensor], output_action: Action | None
    ) -> Symmetries:
        steps = PassPlan(
            replace(model, function=function),
            plan.action,
            row_plan,
            output_action,
            None,
            first,
            None,
        )
        sums = problems[problem]
        solve = partial(
            conclude,
            sums=sums._replace(parts=None),  # what is found is decided without intervals
            request=request,
            batch_size=size,
            seen=seen,
        )
        result = solve(steps)
        if result.accumulated.solution.sensitivity > 0 or not len(result.defects):
            return result if sums.parts is None else with_blocks(result, sums)
        # Constant, a step function, or invariant under everything: the slope decides.
        slope = probe(Model(function, model.name), first, summed=row_plan.outputs == "sum").slope
        return solve(steps._replace(model=replace(steps.model, slope=slope)))

    size = request.run.batch_size
    lengths = problems["unit"]
    zeros = lengths.samples - round(lengths.output_square * lengths.samples)
    notes = ()
    if zeros:
        notes = (Diagnosis.LAYER_ZERO_OUTPUTS(n=zeros, total=lengths.samples),)
    return _layer_result(layer, plan, symmetries, notes)


def _analyse_alone(layer: Layer, plan: LayerPass, request: Request) -> LayerResult:
    """Result of a layer that forward mode does not reach: one pass for the truncated network alone."""
    outputs, width = request.outputs, math.prod(layer.shape)
    notes = [Diagnosis.LAYER_ANALYSED_ALONE(reason=plan.tangents.unreached[layer.name])]
    if outputs == "each" and width > WIDE_OUTPUTS:
        outputs = WIDE_COMBINATIONS
        notes.append(Diagnosis.LAYER_COMBINATIONS(n=width, combinations=WIDE_COMBINATIONS))

    def symmetries(
        _problem: Problem, function: Callable[[Tensor], Tensor], output_action: Action | None
    ) -> Symmetries:
        run = Run(batch_size=request.run.batch_size, hidden=request.run.hidden)
        own = replace(request, output_action=output_action, outputs=outputs, run=run)
        return analyse(function, own)

    return _layer_result(layer, plan, symmetries, tuple(notes))


def _layer_result(
    layer: Layer,
    plan: LayerPass,
    symmetries: Callable[[Problem, Callable[[Tensor], Tensor], Action | None], Symmetries],
    notes: tuple[Remark, ...],
) -> LayerResult:
    """The result of a layer from the symmetries of the network truncated there."""
    function, output_action = truncate(plan.network, layer), plan.output_actions[layer.name]
    equivariance = None
    if output_action is not None:
        equivariance = symmetries("equivariance", function, output_action)
    return LayerResult(
        name=layer.name,
        kind=layer.kind,
        shape=layer.shape,
        invariance=symmetries("invariance", function, None),
        unit=symmetries("unit", _unit_function(function), None),
        equivariance=equivariance,
        notes=notes,
    )


def _unit_function(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """A function with its outputs scaled to unit length; 0 if they are 0; 1 for a single output."""

    def unit(x: Tensor) -> Tensor:
        y = function(x).reshape(len(x), -1)
        if y.shape[1] == 1:
            return torch.ones_like(y)
        squares = y.double().square().sum(1, keepdim=True)
        inverse = torch.where(squares > 0, squares, 1.0).rsqrt()
        return y * torch.where(squares > 0, inverse, 0.0).to(y.dtype)

    unit.__name__ = function.__name__
    return unit
