"""One model: one pass over the data, and what follows from it."""

import math
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from liegg._utils.device import explain_out_of_memory
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.forward_mode import differentiable_attention
from liegg._utils.precision import coarsest, full_precision_products, rounding_unit
from liegg._utils.random import seeded
from liegg._utils.threads import SMALL_COLUMNS, TINY_PRODUCTS, one_if, threads
from liegg.actions import Action, Motion
from liegg.discovery.about.answer import Asked, answer_all
from liegg.discovery.about.effort import plan_moves
from liegg.discovery.about.questions import motions_asked, spread_of_values
from liegg.discovery.each_output import rows_of_outputs
from liegg.discovery.finite import (
    finite_questions,
    measured_error,
    notes_of,
    recorded,
    step_function,
    with_steps,
    within_budget,
)
from liegg.discovery.first_batch import doubts, hidden_from, nonlinearity_of
from liegg.discovery.output_whitening import Whitening, whitened
from liegg.discovery.request import Request
from liegg.discovery.saturation import halves_of
from liegg.discovery.solve_and_decide import solve_and_decide
from liegg.discovery.verdict import ModelInfo
from liegg.inputs.batches import Batches, as_batches
from liegg.inputs.foreign.recognise import for_data
from liegg.inputs.hidden_derivatives import HiddenChange
from liegg.inputs.model import Model, eval_view, with_input_dtype
from liegg.inputs.probed import in_dtype_of, probed
from liegg.polarization import memory
from liegg.polarization.distributed import PassOptions, accumulate
from liegg.polarization.output_fit import fitted_output_action
from liegg.polarization.plan import Plan
from liegg.polarization.rounding_noise import Scatter, scatter
from liegg.polarization.rows import plan, replanned, rows_per_sample
from liegg.polarization.sample_blocks import BlockAssigner
from liegg.polarization.streaming import PassPlan, PassSums, finalise, init, plan_pass, update
from liegg.results.symmetries import Symmetries


def analyse(
    model: Any,
    request: Request,
    assigner: BlockAssigner | None = None,
    options: PassOptions | None = None,
    *,
    buffers: bool = True,
) -> Symmetries:
    """Analyse one model.

    Args:
        model: as for `discover`.
        request: the question.
        assigner: assigns samples to blocks; None for no intervals.
        options: how the pass is shared and stored; by default one process reads all of the data, once.
        buffers: whether the model's buffers must be equal to the bit in all processes.
    """
    options = options or PassOptions()
    with reading(model, request) as (function, batches, head, rest):
        first = head[1]
        motions = _motions(request, first)
        notes: tuple[Remark, ...] = ()
        with threads(_model_threads(function, first)):
            dtype = function.dtype
            function, how, white, output_action, plain = _planned(
                function, first, request, intervals=assigner is not None
            )
            request = replace(request, output_action=output_action)
            hidden, numbered = None, chain([head], rest)
            if how.steps is not None:
                labels = assigner is not None and assigner.groups is not None
                batches, notes = within_budget(
                    batches, request.action, budget=request.run.budget, labels=labels
                )
            if how.steps is not None or function.dtype != dtype:
                batches = batches.prepared(function.dtype, function.device)
                first, numbered = in_dtype_of(first, function, dtype), batches.numbered()
            if not function.piecewise:
                hidden = hidden_from(function, first, request)
            if hidden is None and request.run.hidden != "ignore" and not function.piecewise:
                notes = (*notes, Diagnosis.HIDDEN_UNCHECKED())
            curved = nonlinearity_of(function, first, request.action)
            remarks = doubts(function, first, request, how)
            steps = plan_pass(
                function,
                request.action.row_action,
                first,
                how,
                output_action=request.output_action,
                assigner=assigner,
            )
            if options.plain:
                state = update(steps, init(steps), numbered, progress=options.progress)
            else:
                rest.close()  # the loader's generator is restored, so that it draws the same again
                state, more = accumulate(
                    steps,
                    batches,
                    request.settings(),
                    options,
                    seed=request.seed,
                    check_buffers=buffers,
                )
                notes = (*notes, *more)
        if isinstance(how.outputs, int):
            outputs = math.prod(function.output_shape)
            few = Diagnosis.RANDOM_COMBINATIONS(combinations=how.outputs, outputs=outputs)
            notes = (few, *notes)
        if assigner is not None and assigner.count == 1:
            notes = (Diagnosis.MANY_CANDIDATES(candidates=steps.action.size), *notes)
        with threads(one_if(steps.columns <= SMALL_COLUMNS)):
            sums = finalise(steps, state)
        sym = conclude(
            steps,
            sums,
            request,
            batch_size=batches.size,
            nonlinearity=curved,
            hidden=hidden,
            notes=notes,
            warnings=remarks,
            white=white,
        )
        sym = recorded(sym, function, how)
        if function.piecewise and request.about is None and not motions:
            questions = finite_questions(request.action, tuple(first.shape[1:]))
            motions = _motions(replace(request, about=questions), first)
        sym = _answered(sym, plain, motions, batches, first, request) if motions else sym
        return recorded(sym, function, how)


def _motions(request: Request, first: Tensor) -> dict[str, Motion]:
    """The named motions in question, checked before the pass."""
    spread = spread_of_values(request.action, first)
    shape = tuple(first.shape[1:])
    return motions_asked(request.about, request.action, shape, spread=spread)


def _answered(
    sym: Symmetries,
    function: Model,
    motions: dict[str, Motion],
    batches: Batches,
    first: Tensor,
    request: Request,
) -> Symmetries:
    """The result with the answers about named motions."""
    standard = request.about is None and not function.piecewise  # derivatives say nothing of steps
    moves = plan_moves(sym, motions, standard=standard)
    x = batches.some(moves.samples, first)
    asked = Asked(motions, moves, request.task, request.part.output, request.data)
    with threads(_model_threads(function, first)):
        found = answer_all(function, x, first, sym, asked, progress=request.run.about_progress)
    notes = found.notes
    if found.answers and sym.samples > len(first) and not batches.spaced:
        notes = (*notes, Diagnosis.FIRST_BATCH_MOVED(moved=len(x)))
    return replace(
        sym,
        answers=found.answers,
        notes=(*sym.notes, *notes),
        settings=sym.settings | {"task": found.task},
    )


@contextmanager
def reading(
    model: Any, request: Request
) -> Iterator[tuple[Model, Batches, tuple[int, Tensor], Generator[tuple[int, Tensor], None, None]]]:
    """Open the model for analysis and the data for reading.

    Yields the model in eval mode, all the data, the first batch with its position, and the batches after it.
    """
    batches = as_batches(request.data, batch_size=request.run.batch_size)
    model = for_data(model, request.data)
    with (
        explain_out_of_memory(),
        seeded(request.seed),
        torch.inference_mode(False),
        torch.no_grad(),
        differentiable_attention(),
        eval_view(model) as function,
    ):
        if len(function.dtypes) > 1:
            # A loader draws the same numbers whenever it is read from its beginning.
            with seeded(request.seed):
                function = with_input_dtype(function, batches)
        batches = batches.prepared(function.dtype, function.device)
        with closing(batches.numbered()) as rest:
            head = next(rest)
            request.action.check(tuple(head[1].shape[1:]))
            yield function, batches, head, rest


def conclude(
    steps: PassPlan,
    sums: PassSums,
    request: Request,
    *,
    batch_size: int | None,
    nonlinearity: float | None = None,
    hidden: HiddenChange | None = None,
    notes: tuple[Remark, ...] = (),
    warnings: tuple[Remark, ...] = (),
    white: Whitening | None = None,
) -> Symmetries:
    """What follows the pass over the data.

    Args:
        steps: how the pass was made.
        sums: what it accumulated.
        request: the question; the output action is that of the pass.
        batch_size: samples per batch.
        nonlinearity: of the model; None if not known.
        hidden: change of its output that its derivative does not show; None if not known.
        notes: on how the data was read.
        warnings: what was found wrong before the pass.
        white: how the outputs were whitened; None if they were not.
    """
    model, first = steps.model, steps.first
    coarse = coarsest(first.dtype, model.arithmetic)
    info = ModelInfo(
        dtype=model.input_dtype or first.dtype,
        device=first.device.type,
        model=model.name,
        unit=max(rounding_unit(coarse, first.device, convolves=model.convolves), model.noise),
        shape=tuple(first.shape[1:]),
        batch_size=batch_size,
        slope=model.slope,
        nonlinearity=nonlinearity,
        hidden=hidden,
        notes=(*model.notes, *notes_of(model, steps.row_plan, request.action), *notes),
        warnings=(*warnings, *step_function(model)),
        finite=model.finite,
    )
    own_threads = _model_threads(model, first)

    @cache
    def measure() -> Scatter:
        with threads(own_threads):
            if steps.row_plan.steps is not None:
                return measured_error(steps)
            return scatter(
                model,
                steps.action,
                first,
                steps.row_plan,
                unit=info.unit,
                output_action=steps.output_action,
            )

    def halves() -> list[Tensor]:
        with threads(own_threads):
            return halves_of(
                model, steps.action, first, steps.row_plan, output_action=steps.output_action
            )

    def single() -> Tensor | None:
        with threads(own_threads):
            return rows_of_outputs(steps)

    with threads(one_if(steps.columns <= SMALL_COLUMNS)):
        sym = solve_and_decide(
            sums,
            request.action,
            steps.row_plan,
            request.thresholds,
            info,
            output_action=steps.output_action,
            smallest=request.run.bottom,
            measure=None if model.piecewise else measure,
            halves=halves,
            single=single,
        )
    settings = sym.settings | request.part.settings() | {"task": request.task}
    if request.outputs == "whitened":
        settings |= {"outputs": "whitened", "whitening": None if white is None else white._asdict()}
    return replace(sym, settings=settings)


def _model_threads(model: Model, batch: Tensor) -> int:
    """Threads of the model's own passes: the caller's, unless its weights and the batch are tiny."""
    places = len(batch) if batch.ndim == 2 else batch.numel()  # where each weight may be used
    return one_if(model.weights is not None and model.weights * places <= TINY_PRODUCTS)


def _planned(
    function: Model, first: Tensor, request: Request, *, intervals: bool
) -> tuple[Model, Plan, Whitening | None, Action | None, Model]:
    """The probed model, how its rows are taken, how it was whitened, the action on its outputs, and the plain model.

    Raises:
        ArgumentError: there is less memory than the candidates need.
    """
    action, output_action = request.action, request.output_action
    with full_precision_products():
        dtype = function.dtype
        function = probed(
            function,
            first,
            request.part,
            summed=request.outputs == "sum",
            finite=request.run.route == "finite",
        )
        first = in_dtype_of(first, function, dtype)
        output_action = fitted_output_action(output_action, action, function)
        how = plan(
            function,
            action.row_action,
            first,
            outputs="each" if request.outputs == "whitened" else request.outputs,
            route=request.run.route,
            output_action=output_action,
            seed=request.seed,
        )
        function, white = with_steps(function, how), None
        plain = function
        if request.outputs == "whitened" and math.prod(function.output_shape) > 1:
            function, white = whitened(function, action.row_action, first, how)
            how = replanned(function, action.row_action, first, how)
            function = with_steps(function, how)
    need = memory.expected(
        action,
        output_action=output_action,
        dtype=first.dtype,
        rows=rows_per_sample(how.outputs, function),
        controls=intervals,
        bottom=request.run.bottom,
    )
    memory.check(need, device=first.device)
    return function, how, white, output_action, plain
