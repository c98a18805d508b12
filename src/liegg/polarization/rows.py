"""Polarization rows, one per sample and output, by forward mode, reverse mode, plain autograd or finite differences."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError, ModelError, one_line
from liegg._utils.forward_mode import jvp
from liegg._utils.precision import coarsest
from liegg.actions import Action
from liegg.inputs.model import Model
from liegg.inputs.probe import PROBE_SAMPLES
from liegg.polarization.finite.differences import (
    difference_rows,
    group_motions,
    random_direction,
    straight_motions,
)
from liegg.polarization.finite.steps import choose_steps
from liegg.polarization.output_sketch import Outputs, combine, cotangents
from liegg.polarization.plan import Plan, Route

TOGETHER_ELEMENTS = {"cpu": 2**24, "cuda": 2**28}
"""Most numbers in the tangents (or gradients) of one pass: 64 MB and 1 GB in float32."""

ROW_ELEMENTS = 2**24
"""Most numbers in the rows of one batch: 128 MB in float64. Larger batches are split."""

OUTPUT_COPIES = 4
"""Copies of a batch's outputs in float64 while they are summed."""


def plan(
    model: Model,
    action: Action,
    x: Float[Tensor, "b ..."],
    *,
    outputs: Outputs = "each",
    route: Route | Literal["auto"] = "auto",
    output_action: Action | None = None,
    seed: int = 0,
) -> Plan:
    """Choose the cheapest route that works and agrees with plain reverse mode on a few samples.

    With `c` outputs (or combinations) and `g` generators the rows cost `c` reverse passes or `g` forward passes.

    Args:
        model: the probed model.
        action: the candidate generators.
        x: the first batch.
        outputs: which outputs get rows of their own; see `Plan`.
        route: force a route, or `"auto"`.
        output_action: action on the outputs, for equivariance.
        seed: seed of the random combinations.

    Returns:
        The plan, with a note if `torch.func` cannot transform the model and plain autograd is used.

    Raises:
        ArgumentError: `outputs` is invalid.
        ModelError: the requested route does not work, or no derivative can be computed at all.
    """
    if output_action is not None and outputs == "sum":
        raise ArgumentError(
            "outputs='sum' has no meaning with output_action: equivariance compares the outputs one by one."
        )
    passes = rows_per_sample(outputs, model)
    if passes == math.prod(model.output_shape) and outputs != "sum":
        outputs = "each"  # exact, and not more expensive than as many combinations
    columns = action.size + (0 if output_action is None else output_action.size)
    notes: list[Remark] = []
    if passes * columns > ROW_ELEMENTS:
        size = f"{passes * columns * 8 / 2**30:.1f} GB"
        notes.append(Diagnosis.MANY_ROWS(rows=passes, columns=columns, size=size))
    if model.finite:
        if route not in ("auto", "finite"):
            raise ArgumentError(
                f"route={route!r}: {model.name} has no derivatives of its own. Use route='finite', or leave "
                "it out."
            )
        steps = choose_steps(model, action, x, outputs=outputs, seed=seed)
        return Plan(outputs, "finite", seed, notes=tuple(notes), steps=steps)
    samples = min(len(x), samples_at_once(outputs, model, columns))
    room = together_on(x, samples * max(x[0].numel(), math.prod(model.output_shape)))
    x = x[:PROBE_SAMPLES]
    if route == "moved":
        if bool((action.steps(tuple(x.shape[1:])) <= 0).any()):
            raise ArgumentError(
                "route='moved' moves samples by a finite step along every candidate, which images, volumes and sequences have "
                "(Action.steps). Use route='auto' for this action."
            )
        return Plan(outputs, route, seed, max(1, min(room // 2, action.size)), tuple(notes))
    if _is_single(outputs, model) and route in ("auto", "vjp"):
        _reference(model, action, x, 1)
        return Plan(outputs, "vjp", seed, notes=tuple(notes))
    cheapest: tuple[Route, ...] = ("jvp", "vjp") if action.size < passes else ("vjp",)
    routes = cheapest if route == "auto" else (route,)
    most = {"jvp": min(room, action.size), "vjp": min(room, passes)}
    return _first_that_works(
        model,
        action,
        x,
        Plan(outputs, "autograd", seed, notes=tuple(notes)),
        together={one: most.get(one, 1) for one in routes},
        requested=route != "auto",
    )


def _first_that_works(
    model: Model,
    action: Action,
    x: Tensor,
    fallback: Plan,
    *,
    together: Mapping[Route, int],
    requested: bool,
) -> Plan:
    """The plan with the first route that gives the rows of plain autograd: routes with the directions that fit into memory at once.

    If a route was requested, it is the only one.
    """
    references: dict[int, Tensor] = {}
    for route, many in together.items():
        reason = ""
        # A model that vmap cannot batch is differentiated in one direction at a time.
        for number in sorted({many, 1}, reverse=True):
            # Two combinations only where they are batched.
            count = 2 if route == "vjp" and number > 1 else 1
            if count not in references:
                references[count] = _reference(model, action, x, count)
            reference = references[count]
            reason = _why_not(model, action, x, route, together=number, reference=reference)
            if not reason:
                return replace(fallback, route=route, together=number)
        if requested:
            raise ModelError(
                f"route={route!r} does not work for {model.name}: {reason}. Use route='auto'."
            )
        note = Diagnosis.ROUTE_NOT_USED(route=route, reason=reason)
        fallback = replace(fallback, notes=(*fallback.notes, note))
    return replace(fallback, notes=(*fallback.notes, Diagnosis.AUTOGRAD_ROUTE()))


def polarize(
    model: Model,
    action: Action,
    x: Float[Tensor, "b ..."],
    plan: Plan,
    *,
    output_action: Action | None = None,
    first: int = 0,
    halved: bool = False,
    precomputed: Any = None,
) -> tuple[Float[Tensor, "b k g"], Float[Tensor, "b c"]]:
    r"""Rows $\langle \partial f_c(x), \xi_a(x) \rangle$ of one batch in float64, and the outputs.

    With an output action the columns are $[-\eta \mid \xi]$, so that a vector $(k, h)$ with
    `rows @ (k, h) = 0` pairs an output generator with an input generator.

    Args:
        model: the probed model.
        action: candidate generators on the input.
        x: a batch in the model's dtype.
        plan: result of `plan`.
        output_action: action on the outputs, for equivariance.
        first: position of the first sample in the data, which determines its ±1 combinations: batching does not change the rows.
        halved: return both factors of `Action.outer_factors` side by side instead of their products.
        precomputed: result of `Action.precompute` for the batch, if known.

    Returns:
        Rows `[b, k, g]`, or `[b, k, m + g]` with an output action of size `m`; and outputs `[b, c]`.
    """
    if plan.route in ("moved", "finite"):
        y, rows = _differences(model, action, x, plan, first=first)
    elif plan.route == "jvp":
        y, rows = _forward(model, action, x, plan, first=first)
    else:
        y, rows = _reverse(
            model, action, x, plan, first=first, halved=halved, precomputed=precomputed
        )
    if output_action is None:
        return rows, y
    eta = output_action.fields(y.double().reshape(len(x), *model.output_shape)).reshape(
        len(x), output_action.size, -1
    )
    eta = combine(eta.transpose(0, 1), plan.outputs, seed=plan.seed, first=first)
    return torch.cat([-eta.permute(1, 2, 0), rows], dim=2), y


def together_on(x: Float[Tensor, "b ..."], numbers: int | None = None) -> int:
    """Directions per pass that the device of a batch can hold.

    Args:
        x: the batch.
        numbers: numbers per direction, if not the size of the batch.
    """
    most = TOGETHER_ELEMENTS.get(x.device.type, TOGETHER_ELEMENTS["cpu"])
    return max(1, most // max(1, x.numel() if numbers is None else numbers))


def rows_per_sample(outputs: Outputs, model: Model) -> int:
    """Rows per sample, which is also the number of reverse passes they cost.

    Args:
        outputs: `"each"`, `"sum"` or a number of random combinations.
        model: the probed model.

    Raises:
        ArgumentError: `outputs` is none of these.
    """
    count = math.prod(model.output_shape)
    if outputs == "each":
        return count
    if outputs == "sum":
        return 1
    if isinstance(outputs, bool) or not isinstance(outputs, int) or outputs < 1:
        raise ArgumentError(
            f"outputs={outputs!r}: expected 'each', 'sum' or a positive number of random combinations."
        )
    return min(outputs, count)


def samples_at_once(outputs: Outputs, model: Model, columns: int) -> int:
    """Samples whose rows and outputs can be held at once; at least one.

    Args:
        outputs: which outputs get rows of their own.
        model: the probed model.
        columns: numbers per row.
    """
    width = math.prod(model.output_shape)
    return max(
        1, ROW_ELEMENTS // max(columns * rows_per_sample(outputs, model), OUTPUT_COPIES * width, 1)
    )


def _is_single(outputs: Outputs, model: Model) -> bool:
    """Whether rows are those of one number: one reverse pass, which plain autograd makes as well as `torch.func`."""
    return outputs == "sum" or math.prod(model.output_shape) == 1


def _reference(model: Model, action: Action, x: Tensor, count: int) -> Float[Tensor, " b"]:
    """Test rows by plain reverse mode, with which the other routes are compared."""
    try:
        return _test_rows(model, action, x, "autograd", together=1, count=count)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        raise ModelError(
            f"the derivative of {model.name} failed on a batch of shape {tuple(x.shape)}: "
            f"{type(error).__name__}: {error}. The output must have a derivative with respect to "
            "the input; check that output.sum().backward() works."
        ) from error


def _why_not(
    model: Model, action: Action, x: Tensor, route: Route, *, together: int, reference: Tensor
) -> str:
    """Why a route does not work for this model; empty if it does."""
    try:
        with warnings.catch_warnings():
            # Where torch batches by a slow loop of its own, one direction at a time is faster.
            warnings.filterwarnings("error", message="There is a performance drop")
            count = len(reference) // len(x)
            trial = _test_rows(model, action, x, route, together=together, count=count)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # whatever a transform cannot do, plain autograd can
        return one_line(error)
    eps = torch.finfo(coarsest(x.dtype, model.arithmetic)).eps
    distance, size = float((trial - reference).abs().max()), float(reference.abs().max())
    if distance <= 10 * eps**0.5 * size or distance <= _rounding(model, action, x):
        return ""
    relative = distance / max(size, torch.finfo(torch.float64).tiny)
    return f"it disagrees with plain reverse mode by {relative:.1e}"


def _rounding(model: Model, action: Action, x: Tensor) -> float:
    """Rounding of the test rows: of cancelling terms of the gradient, and of large outputs."""
    eps = torch.finfo(coarsest(x.dtype, model.arithmetic)).eps
    motion = action.field(random_direction(action).to(x), x).double().flatten(1).norm(dim=1)
    with torch.no_grad():
        length = action.moving(x).double().flatten(1).norm(dim=1)
        length = length.clamp_min(torch.finfo(torch.float64).tiny)
        size = model(x).double().norm(dim=1) / length
    # In half precision a thousand units exceed everything, and every route would agree.
    slope = min(1000 * eps, 0.03) * (model.slope or 0.0) ** 0.5
    return float((motion * (min(1000 * eps, 1e-3) * size + slope)).max())


def replanned(model: Model, action: Action, x: Float[Tensor, "b ..."], plan: Plan) -> Plan:
    """The plan for other outputs of the same model: finite differences get other steps, nothing else changes."""
    if plan.steps is None:
        return plan
    steps = choose_steps(model, action, x, outputs=plan.outputs, seed=plan.seed)
    return replace(plan, steps=steps)


def _differences(
    model: Model, action: Action, x: Tensor, plan: Plan, *, first: int
) -> tuple[Float[Tensor, "b c"], Float[Tensor, "b k g"]]:
    """Central differences along the candidates; of a piecewise constant model all are 0."""
    with torch.no_grad():
        y = model(x)
    if plan.steps is None:
        motions = group_motions(action, x, action.steps(tuple(x.shape[1:])), plan.together)
    elif plan.steps.piecewise:
        count = rows_per_sample(plan.outputs, model)
        return y, torch.zeros(len(x), count, action.size, dtype=torch.float64, device=x.device)
    else:
        motions = straight_motions(action, x, plan.steps.steps)
    return y, difference_rows(model, x, motions, outputs=plan.outputs, seed=plan.seed, first=first)


def _forward(
    model: Model, action: Action, x: Tensor, plan: Plan, *, first: int
) -> tuple[Float[Tensor, "b c"], Float[Tensor, "b k g"]]:
    """One forward derivative per generator, `together` of them per pass."""
    x = x.clone()  # the tangent of a view is as large as the tensor behind it, maybe all the data
    y, columns = None, []
    for some in torch.eye(action.size, dtype=x.dtype, device=x.device).split(plan.together):
        tangents = action.tangents(some, x)
        y, slopes = _push(model, x, tangents, plan.together)
        columns.append(combine(slopes.detach(), plan.outputs, seed=plan.seed, first=first))
    if y is None:
        raise ArgumentError("the action has no generator: give it at least one.")
    return y.detach(), torch.cat(columns).permute(1, 2, 0)


def _push(
    model: Model, x: Tensor, tangents: Tensor, together: int
) -> tuple[Float[Tensor, "b c"], Float[Tensor, "t b c"]]:
    """Output, computed once, and its derivative along each tangent."""
    if together == 1:
        y, slope = jvp(model, x, tangents[0])
        return y, slope[None]
    y, slopes = torch.func.vmap(lambda tangent: jvp(model, x, tangent))(tangents)
    return y[0], slopes


def _reverse(
    model: Model,
    action: Action,
    x: Tensor,
    plan: Plan,
    *,
    first: int = 0,
    halved: bool = False,
    precomputed: Any = None,
) -> tuple[Float[Tensor, "b c"], Float[Tensor, "b k g"]]:
    """One reverse derivative per output or combination, contracted with the action at once."""
    if plan.route == "vjp" and not _is_single(plan.outputs, model):
        y, pull = torch.func.vjp(model, x)[:2]
    else:
        leaf = x.detach().clone().requires_grad_()
        with torch.enable_grad():
            y = model(leaf)

        def pull(cotangent: Tensor) -> tuple[Tensor, ...]:
            if not y.requires_grad:  # a constant function
                return (torch.zeros_like(leaf),)
            return torch.autograd.grad(
                y, leaf, cotangent, retain_graph=True, materialize_grads=True
            )

    # Rows are contracted in the precision of the gradients, but at least float32.
    precise = torch.promote_types(x.dtype, torch.float32)
    known: dict[str, Any] = {} if precomputed is None else {"precomputed": precomputed}
    rows = []
    for some in cotangents(y.detach(), plan.outputs, plan.together, seed=plan.seed, first=first):
        slopes = torch.func.vmap(pull)(some)[0] if plan.together > 1 else pull(some[0])[0][None]
        slopes = slopes.detach().to(precise).transpose(0, 1)
        outer_factors = action.outer_factors(slopes, x.to(precise)) if halved else None
        if outer_factors is not None:
            rows.append(torch.cat(outer_factors, dim=2).double())
        else:
            rows.append(action.contract(slopes, x.to(precise), **known).double())
    return y.detach(), rows[0] if len(rows) == 1 else torch.cat(rows, dim=1)


def _test_rows(
    model: Model, action: Action, x: Tensor, route: Route, *, together: int, count: int
) -> Float[Tensor, " b"]:
    """Rows of random combinations of the outputs along one random direction, for any route."""
    h = random_direction(action)
    trial = Plan(min(count, math.prod(model.output_shape)), route, together=min(together, 2))
    if route == "jvp":
        tangents = action.field(h.to(x), x).expand(trial.together, *x.shape)
        slopes = _push(model, x, tangents, trial.together)[1]
        rows = combine(slopes[-1:].detach(), trial.outputs, seed=trial.seed)[0]
    else:
        rows = _reverse(model, action, x, trial)[1] @ h.to(device=x.device)
    return rows.flatten()
