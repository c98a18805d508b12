"""One model: one pass over the data, and what follows from it."""

from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from liegg._utils.device import explain_out_of_memory
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.forward_mode import differentiable_attention
from liegg._utils.precision import coarsest, full_precision_products, rounding_unit
from liegg._utils.random import seeded
from liegg.actions import Action
from liegg.decision.thresholds import Thresholds
from liegg.discovery.run import Run
from liegg.discovery.solve_and_decide import ModelInfo, solve_and_decide
from liegg.inputs.batches import Data, as_batches
from liegg.inputs.model import Model, eval_view, probe, with_input_dtype
from liegg.inputs.nonlinearity import nonlinearity
from liegg.polarization import memory
from liegg.polarization.distributed import PassOptions, accumulate
from liegg.polarization.output_sketch import Outputs
from liegg.polarization.rounding_noise import scatter
from liegg.polarization.rows import Plan, check_output_action, plan, rows_per_sample
from liegg.polarization.sample_blocks import BlockAssigner
from liegg.polarization.streaming import PassPlan, finalise, init, plan_pass, update
from liegg.results.symmetries import Symmetries

ONE_READING = PassOptions()
"""One process reads all of the data, once."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """What the user asks, of one model or of several.

    Attributes:
        data: the samples.
        action: the candidate generators.
        output_action: action on the outputs; None for invariance.
        outputs: how outputs are combined.
        seed: of random combinations and of whatever a loader draws.
        thresholds: what counts as a symmetry.
        run: how the analysis runs.
    """

    data: Data
    action: Action
    output_action: Action | None
    outputs: Outputs
    seed: int
    thresholds: Thresholds
    run: Run

    def settings(self) -> dict[str, Any]:
        """The question as JSON values; it must be the same in all processes, and when a pass resumes."""
        output = None if self.output_action is None else self.output_action.settings()
        return {
            "action": self.action.settings(),
            "output_action": output,
            "outputs": self.outputs,
            "seed": self.seed,
        }


def analyse(
    model: Any,
    request: Request,
    assigner: BlockAssigner | None = None,
    options: PassOptions = ONE_READING,
    *,
    buffers: bool = True,
) -> Symmetries:
    """Analyse one model.

    Args:
        model: as for `discover`.
        request: the question.
        assigner: assigns samples to blocks; None for no intervals.
        options: how the pass is shared and stored.
        buffers: whether the model's buffers must be equal to the bit in all processes.
    """
    batches = as_batches(request.data, batch_size=request.run.batch_size)
    with (
        explain_out_of_memory(),
        seeded(request.seed),
        torch.inference_mode(False),
        torch.no_grad(),
        differentiable_attention(),
        eval_view(model) as function,
    ):
        # A loader draws the same numbers whenever it is read from its beginning.
        with seeded(request.seed):
            function = with_input_dtype(function, batches)
        batches = batches.prepared(function.dtype, function.device)
        notes: tuple[Remark, ...] = ()
        with closing(batches.numbered()) as numbered:
            start, first = next(numbered)
            function, how = _planned(function, first, request)
            _check_memory(function, first, how, request, intervals=assigner is not None)
            nonlinearity = _nonlinearity(function, first)
            steps = plan_pass(
                function,
                request.action.row_action,
                first,
                how,
                output_action=request.output_action,
                assigner=assigner,
            )
            if options.plain:
                both = chain([(start, first)], numbered)
                state = update(steps, init(steps), both, progress=options.progress)
            else:
                numbered.close()  # the loader's generator is restored, so that it draws the same again
                state, notes = accumulate(
                    steps,
                    batches,
                    request.settings(),
                    options,
                    seed=request.seed,
                    check_buffers=buffers,
                )
        info = ModelInfo(
            dtype=first.dtype,
            device=first.device.type,
            model=function.name,
            batch_size=batches.size,
            unit=_unit(function, first),
            slope=function.slope,
            numbers=first[0].numel(),
            nonlinearity=nonlinearity,
            notes=(*function.notes, *_block_notes(assigner, request), *notes),
            shape=tuple(first.shape[1:]),
        )
        return solve_and_decide(
            finalise(steps, state),
            request.action,
            how,
            request.thresholds,
            info,
            output_action=request.output_action,
            smallest=request.run.bottom,
            measure=cache(partial(_scatter, steps, info.rounding_unit)),
        )


def _planned(function: Model, first: Tensor, request: Request) -> tuple[Model, Plan]:
    """The probed model, and how its rows are taken."""
    request.action.check(tuple(first.shape[1:]))
    with full_precision_products():
        function = probe(function, first, summed=request.outputs == "sum")
        if request.output_action is not None:
            check_output_action(request.output_action, function)
        how = plan(
            function,
            request.action.row_action,
            first,
            outputs=request.outputs,
            route=request.run.route,
            output_action=request.output_action,
            seed=request.seed,
        )
    return function, how


def _check_memory(
    function: Model, first: Tensor, how: Plan, request: Request, *, intervals: bool
) -> None:
    """Raise `ArgumentError` if there is less memory than the candidates need."""
    need = memory.expected(
        request.action,
        output_action=request.output_action,
        dtype=first.dtype,
        rows=rows_per_sample(how.outputs, function),
        controls=intervals,
        bottom=request.run.bottom,
    )
    memory.check(need, device=first.device)


def _unit(function: Model, first: Tensor) -> float:
    """Rounding unit of the model's arithmetic."""
    coarse = coarsest(first.dtype, function.arithmetic)
    return rounding_unit(coarse, first.device, convolves=function.convolves)


def _scatter(steps: PassPlan, unit: float) -> Any:
    """How the rows of the model scatter by rounding."""
    return scatter(
        steps.model,
        steps.action,
        steps.first,
        steps.row_plan,
        unit=unit,
        output_action=steps.output_action,
    )


def _nonlinearity(function: Model, first: Tensor) -> float | None:
    """Nonlinearity of the model; None if it fails between two samples, which need not be valid samples."""
    try:
        return nonlinearity(function, first)
    except (RuntimeError, ValueError, ArithmeticError):
        return None


def _block_notes(assigner: BlockAssigner | None, request: Request) -> tuple[Remark, ...]:
    """That there are too many candidates for intervals, if they were requested."""
    if assigner is None or assigner.count > 1:
        return ()
    return (Diagnosis.MANY_CANDIDATES(candidates=request.action.row_action.size),)
