"""One model: one pass over the data, and what follows from it."""

import math
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from liegg._utils.device import explain_out_of_memory
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.forward_mode import differentiable_attention
from liegg._utils.precision import coarsest, full_precision_products, rounding_unit
from liegg._utils.random import seeded
from liegg._utils.threads import SMALL_COLUMNS, one_if, threads
from liegg.actions import Action, Motion
from liegg.actions.own_motion import check_own_motion
from liegg.discovery.about.answer import Asked, answer_all
from liegg.discovery.about.effort import plan_moves
from liegg.discovery.about.questions import motions_asked, spread_of_values
from liegg.discovery.exact_motions import EXACT_MOTIONS, change_along_exact, moved_samples
from liegg.discovery.finite import (
    finite_questions,
    notes_of,
    recorded,
    step_function,
    with_steps,
    within_budget,
)
from liegg.discovery.first_batch import FirstLook, look
from liegg.discovery.measurements import Measurements, model_threads
from liegg.discovery.output_whitening import Whitening, whitened
from liegg.discovery.outside_motions import outside_tried
from liegg.discovery.request import Request
from liegg.discovery.solve_and_decide import solve_and_decide
from liegg.discovery.verdict import ModelInfo
from liegg.inputs.batches import Batches, as_batches
from liegg.inputs.foreign.recognise import for_data
from liegg.inputs.model import Model, eval_view, with_input_dtype
from liegg.inputs.probed import in_dtype_of, probed
from liegg.polarization import memory
from liegg.polarization.distributed import PassOptions, accumulate
from liegg.polarization.output_fit import fitted_output_action
from liegg.polarization.plan import Plan
from liegg.polarization.rows import plan, replanned, rows_per_sample
from liegg.polarization.sample_blocks import BlockAssigner
from liegg.polarization.streaming import PassPlan, PassSums, finalise, init, plan_pass, update
from liegg.results.naming import leaves_the_data, unless_refuted
from liegg.results.symmetries import Symmetries
from liegg.results.tower import tower_of

NOTHING_SEEN = FirstLook()


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
        first, dtype = head[1], function.dtype
        motions = _motions(request, first)
        with threads(model_threads(function, first)):
            planned = _planned(function, first, request, intervals=assigner is not None)
            function, how = planned.function, planned.how
            request = replace(request, output_action=planned.output_action)
            numbered = chain([head], rest)
            labels = assigner is not None and assigner.groups is not None
            batches, notes = within_budget(batches, request, how, labels=labels)
            if how.steps is not None or function.dtype != dtype:
                batches = batches.prepared(function.dtype, function.device)
                first, numbered = in_dtype_of(first, function, dtype), batches.numbered()
            seen = look(function, first, request, how)
            steps = plan_pass(
                function,
                request.action.row_action,
                first,
                how,
                output_action=request.output_action,
                assigner=assigner,
            )
            if options.plain:
                state, more = update(steps, init(steps), numbered, progress=options.progress), ()
            else:
                rest.close()  # the loader's generator is restored, so that it draws the same again
                asked, seed = request.settings(), request.run.seed
                state, more = accumulate(
                    steps, batches, asked, options, seed=seed, check_buffers=buffers
                )
        with threads(one_if(steps.columns <= SMALL_COLUMNS)):
            sums = finalise(steps, state)
        sym = conclude(
            steps,
            sums,
            request,
            batch_size=batches.size or len(first),
            seen=seen._replace(notes=(*_row_notes(steps), *notes, *seen.notes, *more)),
        )
        sym = replace(sym, settings=sym.settings | planned.settings(request))
        if request.run.hidden == "refuse":
            sym = _moved_outside(
                _moved_along_exact(sym, planned, batches, first), planned, batches, first
            )
        sym = recorded(sym, function, how)
        if function.piecewise and request.about is None and not motions:
            questions = finite_questions(request.action, tuple(first.shape[1:]))
            motions = _motions(replace(request, about=questions), first)
        if motions:
            sym = _answered(sym, planned.plain, motions, batches, first=first, request=request)
        return recorded(sym, function, how)


def _moved_along_exact(
    sym: Symmetries, planned: "_Planned", batches: Batches, first: Tensor
) -> Symmetries:
    """The result with a warning if its exact directions change the output at finite size, or the model fails there."""
    derived = planned.how.outputs == "each" and planned.how.steps is None
    if not (sym.decision.exact and derived) or sym.decision.undecided or planned.whitening:
        return sym
    try:
        number = moved_samples(planned.plain, first, sym.samples)
        x = batches.some(number, first)
        with threads(model_threads(planned.plain, first)):
            change = change_along_exact(
                planned.plain,
                x,
                sym,
                planned.how,
                output_action=planned.output_action,
                motions=EXACT_MOTIONS * max(1, number // len(x)),  # few samples go to more places
            )
    except Exception:  # whatever data or a model do there must not break the analysis
        return sym
    outside = leaves_the_data(sym.action, sym.accumulated, sym.decision)  # moved on their own
    if change.unknown:
        warning = Diagnosis.EXACT_UNTRIED()
        decision = replace(sym.decision, warnings=(*sym.decision.warnings, warning))
        return replace(sym, decision=decision)
    if not change.size or (outside and not change.hidden):
        return sym
    member = Diagnosis.EXACT_REFUTED if change.hidden else Diagnosis.EXACT_AT_SAMPLES
    warning = member(samples=len(x), percent=100 * math.sqrt(change.size))
    certainty = sym.decision.certainty if change.hidden else None
    warnings = (*sym.decision.warnings, warning)
    decision = replace(sym.decision, warnings=warnings, certainty=certainty)
    name = unless_refuted(sym.identification, decision)
    tower = tower_of(sym.action, sym.accumulated, decision, name)
    return replace(sym, decision=decision, identification=name, tower=tower)


def _moved_outside(
    sym: Symmetries, planned: "_Planned", batches: Batches, first: Tensor
) -> Symmetries:
    """The result, with a warning if symmetries out of the subspace of the data do not hold there; unchanged if the model fails there."""
    refuted = Diagnosis.EXACT_REFUTED in [one.diagnosis for one in sym.decision.warnings]
    if refuted or not leaves_the_data(sym.action, sym.accumulated, sym.decision):
        return sym
    try:
        x = batches.some(moved_samples(planned.plain, first, sym.samples), first)
        with threads(model_threads(planned.plain, first)):
            return outside_tried(planned.plain, x, sym, planned.output_action)
    except Exception:  # whatever data or a model do there must not break the analysis
        return sym


def _row_notes(steps: PassPlan) -> tuple[Remark, ...]:
    """Say that the rows are of random combinations of outputs, or too many for intervals."""
    notes: tuple[Remark, ...] = ()
    if steps.assigner is not None and steps.assigner.count == 1:
        notes = (Diagnosis.MANY_CANDIDATES(candidates=steps.action.size),)
    outputs = steps.row_plan.outputs
    if isinstance(outputs, int):
        total = math.prod(steps.model.output_shape)
        notes = (*notes, Diagnosis.RANDOM_COMBINATIONS(combinations=outputs, outputs=total))
    return notes


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
    *,
    first: Tensor,
    request: Request,
) -> Symmetries:
    """The result with the answers about named motions."""
    standard = request.about is None and not function.piecewise  # derivatives say nothing of steps
    moves = plan_moves(sym, motions, standard=standard)
    x = batches.some(moves.samples, first)
    asked = Asked(motions, moves, request.task, request.data)
    with threads(model_threads(function, first)):
        found = answer_all(
            function, x, first, sym, asked=asked, progress=request.run.about_progress
        )
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
        seeded(request.run.seed),
        torch.inference_mode(False),
        torch.no_grad(),
        differentiable_attention(),
        eval_view(model) as function,
    ):
        if len(function.dtypes) > 1:
            # A loader draws the same numbers whenever it is read from its beginning.
            with seeded(request.run.seed):
                function = with_input_dtype(function, batches)
        batches = batches.prepared(function.dtype, function.device)
        with closing(batches.numbered()) as rest:
            head = next(rest)
            request.action.check(tuple(head[1].shape[1:]))
            check_own_motion(request.action, head[1])
            yield function, batches, head, rest


def conclude(
    steps: PassPlan,
    sums: PassSums,
    request: Request,
    *,
    batch_size: int | None,
    seen: FirstLook = NOTHING_SEEN,
) -> Symmetries:
    """What follows the pass over the data.

    Args:
        steps: how the pass was made.
        sums: what it accumulated.
        request: the question; the output action is that of the pass.
        batch_size: samples per batch.
        seen: what the first batch showed.
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
        read=seen.read,
        nonlinearity=seen.nonlinearity,
        hidden=seen.hidden,
        notes=(*model.notes, *notes_of(model, steps.row_plan, request.action), *seen.notes),
        warnings=(*seen.warnings, *step_function(model)),
        finite=model.finite,
    )
    with threads(one_if(steps.columns <= SMALL_COLUMNS)):
        sym = solve_and_decide(
            sums,
            request.action,
            steps.row_plan,
            request.thresholds,
            info=info,
            output_action=steps.output_action,
            smallest=request.run.bottom,
            measurements=Measurements(steps, info.unit),
        )
    return replace(sym, settings=sym.settings | request.part.settings() | {"task": request.task})


@dataclass(frozen=True, eq=False)
class _Planned:
    """A probed model, and how its rows are taken.

    Attributes:
        function: the model, with whitened outputs if these were requested.
        plain: the model with its own outputs.
        how: how the rows are taken.
        output_action: the action on the outputs, fitted to their shape; None for invariance.
        whitening: how the outputs were whitened; None if they were not.
    """

    function: Model
    plain: Model
    how: Plan
    output_action: Action | None
    whitening: Whitening | None

    def settings(self, request: Request) -> dict[str, Any]:
        """How the outputs were whitened, as JSON values; nothing if that was not requested."""
        if request.outputs != "whitened":
            return {}
        used = None if self.whitening is None else self.whitening._asdict()
        return {"outputs": "whitened", "whitening": used}


def _planned(function: Model, first: Tensor, request: Request, *, intervals: bool) -> _Planned:
    """Probe the model and plan how its rows are taken.

    Raises:
        ArgumentError: there is less memory than the candidates need.
    """
    action, output_action = request.action, request.output_action
    # Before the model is called, which would fail for another reason.
    memory.check(memory.least(action, request.run.bottom), device=first.device)
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
            seed=request.run.seed,
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
    return _Planned(function, plain, how, output_action, white)
