"""Stage 3, polarization: one row per sample and output, by forward derivatives, reverse derivatives or plain autograd."""

import math
import warnings
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError, ModelError, ShapeError
from liegg._utils.forward_mode import jvp
from liegg._utils.precision import coarsest
from liegg.actions import Action
from liegg.inputs.model import PROBE_SAMPLES, Model
from liegg.polarization.output_sketch import Outputs, combined, cotangents

Route = Literal["jvp", "vjp", "autograd"]

TOGETHER_ELEMENTS = {"cpu": 2**24, "cuda": 2**28}
"""Numbers in the tangents (or gradients) of all directions carried in one pass, at most: 64 MB and 1 GB in float32."""

ROW_ELEMENTS = 2**24
"""Numbers in the rows of one batch, at most: 128 MB in float64. A batch with more outputs times generators is split."""

OUTPUT_COPIES = 4
"""Times that the outputs of a batch are held in float64 while their sums are taken, whatever the rows."""


@dataclass(frozen=True)
class Plan:
    """How the rows of every batch will be taken; fixed once, before the first batch.

    Attributes:
        outputs: `"each"`: one row per output; `"sum"`: the paper's row of the summed outputs; `k`: k random ±1 combinations.
        route: `"jvp"`, `"vjp"` or `"autograd"`.
        seed: seed of the random combinations.
        together: directions carried through the model in one pass.
        notes: why a route other than the cheapest was taken; what would take less memory.
    """

    outputs: Outputs
    route: Route
    seed: int = 0
    together: int = 1
    notes: tuple[str, ...] = ()


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
    """Choose the cheapest route that works for this model and agrees with plain reverse mode on a few samples.

    With `c` outputs (or combinations) and `g` generators the rows cost `c` reverse passes or `g` forward ones.

    Args:
        model: the probed model.
        action: the candidate generators.
        x: the first batch.
        outputs: which outputs get rows of their own; see `Plan`.
        route: force a route, or `"auto"`.
        output_action: action on the outputs, for equivariance.
        seed: seed of the random combinations.

    Returns:
        The plan, with a note where `torch.func` cannot transform the model and plain autograd takes over.

    Raises:
        ArgumentError: `outputs` or `route` make no sense.
        ModelError: a route that was asked for does not work for this model, or no derivative can be taken at all.
    """
    if output_action is not None and outputs == "sum":
        raise ArgumentError(
            "outputs='sum' has no meaning with output_action: equivariance compares the outputs one by one."
        )
    if route not in ("auto", *get_args(Route)):
        raise ArgumentError(f"route={route!r}: expected 'auto', 'jvp', 'vjp' or 'autograd'.")
    passes = rows_per_sample(outputs, model)
    if passes == math.prod(model.output_shape) and outputs != "sum":
        outputs = "each"  # as many combinations as outputs: the outputs themselves are exact and no dearer
    columns = action.size + (0 if output_action is None else output_action.size)
    held = min(len(x), samples_at_once(outputs, model, columns))
    room = together_on(x, held * max(x[0].numel(), math.prod(model.output_shape)))
    x = x[:PROBE_SAMPLES]
    reference = _reference(model, action, x)
    notes = _about_rows(passes, columns)
    cheapest: tuple[Route, ...] = ("jvp", "vjp") if action.size < passes else ("vjp",)
    for candidate in cheapest if route == "auto" else (route,):
        many = {"jvp": min(room, action.size), "vjp": min(room, passes)}.get(candidate, 1)
        reason = ""
        for together in sorted(
            {many, 1}, reverse=True
        ):  # a model that vmap cannot batch is taken one direction at a time
            if not (reason := _why_not(model, action, x, candidate, together, reference)):
                return Plan(outputs, candidate, seed, together, tuple(notes))
        if route != "auto":
            raise ModelError(
                f"route={route!r} does not work for {model.name}: {reason}. Use route='auto'."
            )
        notes.append(f"torch.func.{candidate} cannot transform this model ({reason})")
    return Plan(outputs, "autograd", seed, notes=(*notes, "plain autograd was used instead"))


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
    r"""Rows $\langle \partial f_c(x), \xi_a(x) \rangle$ of one batch, in float64, and the outputs on the way.

    With an output action the columns are $[-\eta \mid \xi]$, so that a vector $(k, h)$ with `rows @ (k, h) = 0` pairs an output
    generator with an input generator.

    Args:
        model: the probed model.
        action: candidate generators on the input.
        x: a batch in the model's dtype.
        plan: what `plan` decided.
        output_action: action on the outputs, for equivariance.
        first: number of the first sample in the data, by which its ±1 combinations are drawn: batching does not change the rows.
        halved: give both factors of `Action.outer_factors` side by side in place of their products.
        precomputed: what `Action.precompute` said of the batch, where that is known already.

    Returns:
        Rows `[b, k, g]`, or `[b, k, m + g]` with an output action of size `m`; and outputs `[b, c]`.
    """
    if plan.route == "jvp":
        y, rows = _forward(model, action, x, plan, first)
    else:
        y, rows = _reverse(model, action, x, plan, first, halved, precomputed)
    if output_action is None:
        return rows, y
    eta = output_action.fields(y.double().reshape(len(x), *model.output_shape)).reshape(
        len(x), output_action.size, -1
    )
    n_output_generators = combined(
        eta.transpose(0, 1), plan.outputs, seed=plan.seed, first=first
    ).permute(1, 2, 0)
    return torch.cat([-n_output_generators, rows], dim=2), y


def together_on(x: Float[Tensor, "b ..."], numbers: int | None = None) -> int:
    """Directions that a batch's device is asked to carry in one pass.

    Args:
        x: the batch.
        numbers: numbers that one direction takes, where that is not the size of the batch.
    """
    most = TOGETHER_ELEMENTS.get(x.device.type, TOGETHER_ELEMENTS["cpu"])
    return max(1, most // max(1, x.numel() if numbers is None else numbers))


def rows_per_sample(outputs: Outputs, model: Model) -> int:
    """Rows that each sample gives, which is also the number of reverse passes they cost.

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
    """Samples whose rows, and whose outputs, are small enough to be held together; at least one.

    Args:
        outputs: which outputs get rows of their own.
        model: the probed model.
        columns: numbers in a row.
    """
    width = math.prod(model.output_shape)
    return max(
        1, ROW_ELEMENTS // max(columns * rows_per_sample(outputs, model), OUTPUT_COPIES * width, 1)
    )


def _about_rows(count: int, columns: int) -> list[str]:
    """What to do about the rows of a single sample, where they are many."""
    if count * columns <= ROW_ELEMENTS:
        return []
    size = f"{count * columns * 8 / 2**30:.1f} GB"
    return [
        f"each sample gives {count} rows of {columns} numbers ({size}); outputs=16 takes random combinations instead"
    ]


def _reference(model: Model, action: Action, x: Tensor) -> Float[Tensor, " b"]:
    """Test rows by plain reverse mode, to which the other routes are held."""
    try:
        return _test_rows(model, action, x, "autograd", 1)
    except Exception as error:
        raise ModelError(
            f"the derivative of {model.name} failed on a batch of shape {tuple(x.shape)}: {type(error).__name__}: {error}. "
            "The output must have a derivative with respect to the input; check that output.sum().backward() works."
        ) from error


def _why_not(
    model: Model, action: Action, x: Tensor, route: Route, together: int, reference: Tensor
) -> str:
    """Why a route cannot be taken for this model; empty if it can."""
    try:
        with (
            warnings.catch_warnings()
        ):  # where torch batches by a slow loop of its own, one direction at a time is faster
            warnings.filterwarnings("error", message="There is a performance drop")
            trial = _test_rows(model, action, x, route, together)
    except Exception as error:  # whatever a transform cannot do, plain autograd is the remedy
        return f"{type(error).__name__}: {(str(error).strip() or 'no message').splitlines()[0].split('. ')[0].rstrip('.')}"
    eps = torch.finfo(coarsest(x.dtype, model.arithmetic)).eps
    apart, size = float((trial - reference).abs().max()), float(reference.abs().max())
    if apart <= 10 * eps**0.5 * size or apart <= _rounding(model, action, x):
        return ""
    return f"it disagrees with plain reverse mode by {apart / max(size, torch.finfo(torch.float64).tiny):.1e}"


def _rounding(model: Model, action: Action, x: Tensor) -> float:
    """What rounding may do to the test rows: to the terms of a gradient that cancels, and of an output as large as it is."""
    eps = torch.finfo(coarsest(x.dtype, model.arithmetic)).eps
    motion = action.field(_test_direction(action).to(x), x).double().flatten(1).norm(dim=1)
    with torch.no_grad():
        size = model(x).double().norm(dim=1) / x.double().flatten(1).norm(dim=1).clamp_min(
            torch.finfo(torch.float64).tiny
        )
    # In half precision a thousand units are more than everything, and nothing would be told apart.
    return float(
        (
            motion
            * (min(1000 * eps, 1e-3) * size + min(1000 * eps, 0.03) * (model.slope or 0.0) ** 0.5)
        ).max()
    )


def check_output_action(action: Action, model: Model) -> None:
    """Raise `ShapeError` unless the output action fits the model's output."""
    try:
        action.check(model.output_shape)
    except ShapeError as error:
        raise ShapeError(f"output_action does not fit the model's output: {error}") from error


def _forward(
    model: Model, action: Action, x: Tensor, plan: Plan, first: int
) -> tuple[Float[Tensor, "b c"], Float[Tensor, "b k g"]]:
    """One forward derivative per generator, `together` of them in one pass; outputs are combined before the next pass."""
    x = x.clone()  # the tangent of a view is made as large as the tensor it looks into, which may be all of the data
    y, columns = None, []
    for some in torch.eye(action.size, dtype=x.dtype, device=x.device).split(plan.together):
        tangents = action.tangents(some, x)
        y, slopes = _push(model, x, tangents, plan.together)
        columns.append(combined(slopes.detach(), plan.outputs, seed=plan.seed, first=first))
    if y is None:
        raise ArgumentError("the action has no generator: give it at least one.")
    return y.detach(), torch.cat(columns).permute(1, 2, 0)


def _push(
    model: Model, x: Tensor, tangents: Tensor, together: int
) -> tuple[Float[Tensor, "b c"], Float[Tensor, "t b c"]]:
    """Output, and its derivative along each tangent: the output is computed once for all of them."""
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
    first: int = 0,
    halved: bool = False,
    precomputed: Any = None,
) -> tuple[Float[Tensor, "b c"], Float[Tensor, "b k g"]]:
    """One reverse derivative per output or combination, contracted with the action at once."""
    if plan.route == "vjp":
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

    # Rows are summed in the model's precision (float32 at least), whose rounding the gradients carry anyway; then float64.
    precise = torch.promote_types(x.dtype, torch.float32)
    rows = []
    for some in cotangents(y.detach(), plan.outputs, plan.together, seed=plan.seed, first=first):
        slopes = torch.func.vmap(pull)(some)[0] if plan.together > 1 else pull(some[0])[0][None]
        slopes = slopes.detach().to(precise).transpose(0, 1)
        outer_factors = action.outer_factors(slopes, x.to(precise)) if halved else None
        if outer_factors is not None:
            rows.append(torch.cat(outer_factors, dim=2).double())
        elif precomputed is None:  # as an action of the user's own may have it
            rows.append(action.contract(slopes, x.to(precise)).double())
        else:
            rows.append(action.contract(slopes, x.to(precise), precomputed=precomputed).double())
    return y.detach(), rows[0] if len(rows) == 1 else torch.cat(rows, dim=1)


def _test_rows(
    model: Model, action: Action, x: Tensor, route: Route, together: int
) -> Float[Tensor, " b"]:
    """Entries in one random direction of the rows of random combinations of the outputs: the same whatever the route."""
    h = _test_direction(action)
    trial = Plan(2, route, together=min(together, 2))
    if route == "jvp":
        tangents = action.field(h.to(x), x).expand(trial.together, *x.shape)
        slopes = _push(model, x, tangents, trial.together)[1]
        rows = combined(slopes[-1:].detach(), trial.outputs, seed=trial.seed)[0]
    else:
        rows = _reverse(model, action, x, trial)[1] @ h.to(device=x.device)
    return rows.flatten()


def _test_direction(action: Action) -> Float[Tensor, " g"]:
    return torch.randn(action.size, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
