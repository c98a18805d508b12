"""What an analysis by finite differences adds: its budget, its error, and what it says about both."""

import math
from dataclasses import replace
from typing import Any

import torch

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError
from liegg.actions import Action
from liegg.discovery.about.questions import About
from liegg.discovery.request import Request
from liegg.inputs.batches import Batches
from liegg.inputs.model import Model
from liegg.polarization.finite.errors import difference_errors
from liegg.polarization.finite.evaluations import affordable, expected
from liegg.polarization.plan import Plan
from liegg.polarization.rounding_noise import Scatter
from liegg.polarization.rows import rows_per_sample
from liegg.polarization.streaming import PassPlan
from liegg.results.symmetries import Symmetries

FEWEST_SAMPLES = 2
"""Samples that a budget must allow at least, in multiples of the candidates."""

CANDIDATES = 8
"""Candidates that are moved if a piecewise constant model is asked about nothing else."""

NOTED_NOISE = 1e-9
"""Noise, relative to the size of the output, from which on it is mentioned."""


def with_steps(model: Model, how: Plan) -> Model:
    """The model with its noise, its slope and the length of its steps; unchanged if it has derivatives."""
    if how.steps is None:
        return model
    noise = max(model.noise, how.steps.noise)
    numbers = {"noise": noise, "step": how.steps.length, "slope": how.steps.slope}
    return replace(model, piecewise=how.steps.piecewise, **numbers)


def within_budget(
    batches: Batches, request: Request, how: Plan, *, labels: bool
) -> tuple[Batches, tuple[Remark, ...]]:
    """Fewer samples if all of them would take more evaluations than the budget.

    Args:
        batches: all the data.
        request: the question.
        how: how the rows are taken; only finite differences have a budget.
        labels: whether samples have labels of groups.

    Raises:
        ArgumentError: the budget allows too few samples, or the data cannot be taken in part.
    """
    action, budget = request.action, request.run.budget
    if budget is None or how.steps is None:
        return batches, ()
    count, most = batches.count, affordable(action, budget)
    if count is not None and count <= most:
        return batches, ()
    least = min(FEWEST_SAMPLES * action.row_action.size, count or math.inf)
    if most < least:
        needed = expected(action, samples=int(least)).total
        raise ArgumentError(
            f"budget={budget}: {action.row_action.size} candidates need at least {needed} evaluations for "
            f"{least} samples. Allow more, or choose an action with fewer candidates."
        )
    if count is None or labels:
        why = "groups= labels all samples" if labels else "data that is read in order has no length"
        raise ArgumentError(
            f"budget={budget} does not allow all samples, and {why}. Pass fewer samples: {most} are "
            "affordable."
        )
    note = Diagnosis.BUDGET(budget=budget, samples=most, total=count)
    return batches.thinned(most), (note,)


def measured_error(steps: PassPlan) -> Scatter:
    """The error of the rows of a pass by finite differences."""
    how = steps.row_plan
    if how.steps is None:
        raise ArgumentError("the pass took no finite differences.")
    return difference_errors(
        steps.model,
        steps.action,
        steps.first,
        how.steps.steps,
        outputs=how.outputs,
        seed=how.seed,
        n_output_generators=steps.n_output_generators,
        rows=rows_per_sample(how.outputs, steps.model),
        noise=how.steps.deviation,
    )


def notes_of(model: Model, how: Plan, action: Action) -> tuple[Remark, ...]:
    """How the differences were taken."""
    if how.steps is None or how.steps.piecewise:
        return ()
    count = action.row_action.size
    notes: tuple[Remark, ...] = (
        Diagnosis.FINITE_DIFFERENCES(candidates=count, each=2 * count + 1),
    )
    if model.noise > NOTED_NOISE:
        notes = (*notes, Diagnosis.NOISY_MODEL(percent=100 * model.noise))
    return notes


def step_function(model: Model) -> tuple[Remark, ...]:
    """The warning that a model is piecewise constant, if it is."""
    return (Diagnosis.STEP_FUNCTION(),) if model.piecewise else ()


def recorded(sym: Symmetries, model: Model, how: Plan) -> Symmetries:
    """The result with the numbers of the finite differences among its settings."""
    if how.steps is None or model.counter is None:
        return sym
    numbers: dict[str, Any] = {
        "calls": model.counter.calls,
        "evaluations": model.counter.samples,
        "noise": model.noise,
        "shortest_step": float(how.steps.steps.min()),
        "longest_step": float(how.steps.steps.max()),
        "piecewise": how.steps.piecewise,
    }
    return replace(sym, settings=sym.settings | {"finite": numbers})


def finite_questions(action: Action, shape: tuple[int, ...]) -> About:
    """Motions to measure where nothing was asked and there are no derivatives: named ones, or the first candidates.

    Args:
        action: the candidates.
        shape: shape of a sample.
    """
    if named := tuple(action.motions(shape)):
        return named
    units = torch.eye(action.size, dtype=torch.float64)[:CANDIDATES]
    return {action.words[place]: unit[None] for place, unit in enumerate(units)}
