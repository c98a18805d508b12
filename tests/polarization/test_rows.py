"""Stage 3: every route gives the rows of a dense float64 reference, and the cheapest that works is taken."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import jaxtyping
import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, ModelError, ShapeError
from liegg.actions import Action
from liegg.inputs.model import Model, eval_view
from liegg.inputs.probe import probe
from liegg.polarization.output_sketch import Outputs
from liegg.polarization.plan import Plan, Route
from liegg.polarization.rows import TOGETHER_ELEMENTS, plan
from liegg.polarization.rows import polarize as rows_and_outputs

ROUTES: tuple[Route, ...] = ("jvp", "vjp", "autograd")


def polarize(*given: Any, **named: Any) -> Tensor:
    """The rows alone."""
    return rows_and_outputs(*given, **named)[0]


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def curved(outputs: int, features: int) -> Any:
    """A smooth function with `outputs` outputs and no symmetry."""
    inner, outer = draw(features, 7, seed=1), draw(7, outputs, seed=2)
    return lambda x: (x.flatten(1) @ inner).tanh() @ outer


@contextmanager
def ready(function: Any, x: Tensor) -> Iterator[Model]:
    """The model as `discover` has it when it takes rows."""
    with torch.no_grad(), eval_view(function) as model:
        yield probe(model, x)


def rows_of(
    function: Any, action: Action, x: Tensor, outputs: Outputs, route: Route, seed: int = 0
) -> Tensor:
    with ready(function, x) as model:
        how = plan(model, action, x, outputs=outputs, route=route)
        return polarize(model, action, x, replace(how, seed=seed))


def dense_rows(function: Any, action: Action, x: Tensor) -> Tensor:
    """The definition: the Jacobian of one sample after the other, contracted with explicit fields."""
    jacobians = [
        torch.func.jacrev(lambda one: function(one[None])[0].flatten())(sample) for sample in x
    ]
    return torch.einsum(
        "bcx,bgx->bcg", torch.stack(jacobians).flatten(2), action.fields(x).flatten(2)
    )


CASES: dict[str, tuple[Action, tuple[int, ...]]] = {
    "linear": (liegg.Linear(3), (3,)),
    "linear, flat copies": (liegg.Linear(3, copies=2), (6,)),
    "linear, copies": (liegg.Linear(3, copies=2), (2, 3)),
    "linear, vector first": (liegg.Linear(3, copies=2, layout="vector_first"), (3, 2)),
    "affine": (liegg.Affine(3), (3,)),
    "affine, copies": (liegg.Affine(2, copies=2), (2, 2)),
    "linear restricted": (liegg.Linear(3).restrict(liegg.so(3)), (3,)),
    "affine restricted": (liegg.Affine(2, copies=3).restrict(liegg.se(2)), (3, 2)),
}


@pytest.mark.parametrize(("action", "shape"), CASES.values(), ids=CASES)
def test_every_route_gives_the_rows_of_the_definition(action, shape):
    x = draw(5, *shape)
    for outputs in (1, 4):
        function = curved(outputs, x[0].numel())
        known = dense_rows(function, action, x)
        for route in ROUTES:
            rows = rows_of(function, action, x, "each", route)
            assert rows.dtype == torch.float64
            torch.testing.assert_close(rows, known, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("route", ROUTES)
def test_rows_of_a_known_function(route):
    x = torch.tensor([[2.0, 3.0]])
    rows = rows_of(
        lambda x: torch.stack([x[:, 0] * x[:, 1], 5 * x[:, 0]], 1),
        liegg.Linear(2),
        x,
        "each",
        route,
    )
    # f = x0 x1 has gradient (3, 2), f = 5 x0 has (5, 0); the row is gradient ⊗ x.
    assert rows.tolist() == [[[6.0, 9.0, 4.0, 6.0], [10.0, 15.0, 0.0, 0.0]]]


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_rows_are_float64_whatever_the_model_s_dtype(dtype):
    weight, x = draw(3, 2, seed=1).to(dtype), draw(5, 3).to(dtype)
    wide = dense_rows(lambda x: (x @ weight.double()).tanh(), liegg.Linear(3), x.double())
    error = 8 * torch.finfo(dtype).eps * float(wide.abs().max())
    for route in ROUTES:
        rows = rows_of(lambda x: (x @ weight).tanh(), liegg.Linear(3), x, "each", route)
        assert rows.dtype == torch.float64
        torch.testing.assert_close(rows, wide, rtol=0, atol=error)


@pytest.mark.parametrize("route", ROUTES)
def test_sum_is_the_sum_of_the_rows(route):
    x, function, action = draw(6, 3), curved(4, 3), liegg.Affine(3)
    each, total = (
        rows_of(function, action, x, "each", route),
        rows_of(function, action, x, "sum", route),
    )
    assert total.shape == (6, 1, 12)
    torch.testing.assert_close(total, each.sum(1, keepdim=True), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("route", ROUTES)
def test_output_fields_stand_before_the_input_fields(route):
    x, function = draw(6, 3), curved(2, 3)
    with ready(function, x) as model:
        rows = polarize(
            model, liegg.Linear(3), x, Plan("each", route), output_action=liegg.Linear(2)
        )
    eta = liegg.Linear(2).fields(function(x))
    torch.testing.assert_close(rows[:, :, :4], -eta.mT)
    torch.testing.assert_close(
        rows[:, :, 4:], dense_rows(function, liegg.Linear(3), x), rtol=1e-12, atol=1e-12
    )


# Random combinations


@pytest.mark.parametrize("route", ROUTES)
def test_combinations_are_plus_and_minus_one_over_the_square_root_of_k(route):
    x, function, action, k = draw(6, 5), curved(5, 5), liegg.Linear(5), 2
    each, mixed = (
        rows_of(function, action, x, "each", route),
        rows_of(function, action, x, k, route),
    )
    weights = mixed @ torch.linalg.pinv(each)
    torch.testing.assert_close(weights.abs(), torch.full((6, k, 5), k**-0.5, dtype=torch.float64))


def test_combinations_are_the_same_whatever_the_route():
    x, function, action = draw(6, 3), curved(5, 3), liegg.Linear(3)
    jvp, vjp, autograd = (rows_of(function, action, x, 3, route, seed=4) for route in ROUTES)
    torch.testing.assert_close(jvp, vjp, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(autograd, vjp, rtol=1e-12, atol=1e-12)


def test_combinations_are_unbiased():
    """Mean of RᵀR over 400 seeds within five standard errors of the whole, entry by entry; about 1 in 10⁴ to fail by chance."""
    x, function, action = draw(20, 3), curved(5, 3), liegg.Linear(3)
    each = rows_of(function, action, x, "each", "vjp").flatten(0, 1)
    exact = each.mT @ each
    with ready(function, x) as model:
        drawn = [
            polarize(model, action, x, Plan(2, "vjp", seed)).flatten(0, 1) for seed in range(400)
        ]
    grams = torch.stack([rows.mT @ rows for rows in drawn])
    error, standard = grams.mean(0) - exact, grams.std(0) / len(grams) ** 0.5
    assert bool((error.abs() <= 5 * standard).all())
    assert (
        float(standard.max() / exact.diagonal().max()) < 0.04
    )  # tight enough to see a wrong scale


@pytest.mark.parametrize("route", ROUTES)
def test_combinations_do_not_depend_on_the_batching(route):
    x, function, action = draw(12, 4), lambda x: torch.sin(x) * x, liegg.Linear(4)
    whole = rows_of(function, action, x, 3, route)
    with ready(function, x) as model:
        starts = zip((0, 1, 5), x.split([1, 4, 7]), strict=True)
        pieces = [
            polarize(model, action, piece, Plan(3, route), first=start) for start, piece in starts
        ]
    torch.testing.assert_close(torch.cat(pieces), whole, rtol=1e-12, atol=1e-12)


def test_combinations_follow_the_seed_of_discover():
    one, again, other = (
        liegg.discover(curved(5, 3), draw(30, 3), liegg.Linear(3), outputs=2, seed=seed)
        for seed in (0, 0, 1)
    )
    torch.testing.assert_close(again.defects, one.defects, rtol=1e-9, atol=1e-12)
    assert not torch.allclose(other.defects, one.defects)
    assert one.accumulated.rows.rows == 60


# The plan


def plan_for(function: Any, action: Action, x: Tensor, **knobs: Any) -> Plan:
    with ready(function, x) as model:
        return plan(model, action, x, **knobs)


@pytest.mark.parametrize(
    ("count", "outputs", "route", "kept"),
    [
        (6, "each", "jvp", "each"),  # 4 generators, 6 outputs
        (5, "each", "jvp", "each"),
        (4, "each", "vjp", "each"),
        (1, "each", "vjp", "each"),
        (6, "sum", "vjp", "sum"),
        (6, 3, "vjp", 3),
        (6, 5, "jvp", 5),
        (6, 6, "jvp", "each"),
        (6, 100, "jvp", "each"),
        (2, 2, "vjp", "each"),
        (1, "sum", "vjp", "sum"),
    ],
)
def test_the_cheapest_route_is_taken(count, outputs, route, kept):
    how = plan_for(curved(count, 2), liegg.Linear(2), draw(5, 2), outputs=outputs, seed=7)
    assert (how.outputs, how.route, how.seed, how.notes) == (kept, route, 7, ())
    assert (
        how.together
        == {"jvp": 4, "vjp": 1 if kept == "sum" else count if kept == "each" else kept}[route]
    )


@pytest.mark.parametrize("route", ["jvp", "vjp"])
def test_directions_carried_together_or_one_by_one_give_the_same_rows(route, monkeypatch):
    function, action, x = curved(5, 4), liegg.Linear(2, copies=2), draw(6, 4)
    together = rows_of(function, action, x, "each", route)
    monkeypatch.setitem(
        TOGETHER_ELEMENTS, "cpu", 2 * 6 * 5
    )  # two directions of the five outputs of six samples
    assert plan_for(function, action, x, route=route).together == 2
    torch.testing.assert_close(
        rows_of(function, action, x, "each", route), together, rtol=1e-12, atol=1e-14
    )
    monkeypatch.setitem(TOGETHER_ELEMENTS, "cpu", 1)
    assert plan_for(function, action, x, route=route).together == 1
    torch.testing.assert_close(
        rows_of(function, action, x, "each", route), together, rtol=1e-12, atol=1e-14
    )


class Cubed(torch.autograd.Function):
    """Can be transformed, but has no batching rule of its own: vmap refuses it."""

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> Tensor:
        return Square.apply(ctx.saved_tensors[0]) * 3 * slopes[0]


class Square(torch.autograd.Function):
    """What the derivative of `Cubed` needs; refuses to be batched."""

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x**2

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> Tensor:
        return 2 * ctx.saved_tensors[0] * slopes[0]


def test_a_model_that_vmap_cannot_batch_is_taken_one_direction_at_a_time():
    x = draw(5, 3)
    how = plan_for(Cubed.apply, liegg.Linear(3), x)
    assert (how.route, how.together, how.notes) == ("vjp", 1, ())
    reference = dense_rows(lambda x: x**3, liegg.Linear(3), x)
    torch.testing.assert_close(rows_of(Cubed.apply, liegg.Linear(3), x, "each", "vjp"), reference)


class OldStyle(torch.autograd.Function):
    """No `setup_context`: torch.func cannot transform it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        return grads[0] * ctx.saved_tensors[0].cos()


class ReverseOnly(torch.autograd.Function):
    """No `jvp`."""

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x.sin()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        return grads[0] * ctx.saved_tensors[0].cos()


class WrongForward(ReverseOnly):
    """A `jvp` that is twice what it should be."""

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor) -> Tensor:
        return 2 * tangents[0] * ctx.saved_tensors[0].cos()


class Scratch(nn.Module):
    """Writes into a tensor of its own, which functorch refuses."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros((), dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        self.get_buffer("total").add_(x.detach().sum())
        return x.sin()


SINE = dense_rows(torch.sin, liegg.Linear(2), draw(5, 2))


@pytest.mark.parametrize(
    ("model", "reason"),
    [(lambda x: OldStyle.apply(x), "setup_context"), (Scratch(), "would mutate a captured Tensor")],
    ids=["old-style function", "in-place scratch"],
)
def test_plain_autograd_takes_over_with_a_note(model, reason):
    x = draw(5, 2)
    how = plan_for(model, liegg.Linear(2), x)
    assert how.route == "autograd"
    note, last = how.notes
    assert (note.diagnosis, last.diagnosis) == (Diagnosis.ROUTE_NOT_USED, Diagnosis.AUTOGRAD_ROUTE)
    assert note.values["route"] == "vjp"
    assert reason in note.values["reason"]
    torch.testing.assert_close(rows_of(model, liegg.Linear(2), x, "each", "autograd"), SINE)
    sym = liegg.discover(model, x, liegg.Linear(2))
    assert sym.notes[: len(how.notes)] == how.notes
    assert sym.settings["route"] == "autograd"


def steep_average(outputs: int) -> Any:
    """Attention over equal values: constant, up to the rounding of its derivatives."""
    keys, values = 10 * draw(3, 5, 5, seed=1), 3 * draw(outputs, seed=2).expand(5, outputs)
    return lambda x: (torch.einsum("bk,kij->bij", x, keys.to(x)).softmax(2) @ values.to(x)).sum(1)


def lengths(x: Tensor) -> Tensor:
    """Ten functions of the length, which no rotation changes."""
    return torch.sin(x.square().sum(1, keepdim=True) * torch.arange(1, 11, device=x.device).to(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("model", "action"),
    [(steep_average(12), liegg.Linear(3)), (lengths, liegg.Linear(3).restrict(liegg.so(3)))],
    ids=["constant", "invariant"],
)
def test_rows_that_are_rounding_on_every_route_are_no_disagreement(model, action, dtype):
    how = plan_for(model, action, draw(50, 3).to(dtype))
    assert (how.route, how.notes) == ("jvp", ())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_wrong_derivative_is_found_beside_a_large_output(dtype):
    """The output is a hundred times larger than what moves."""
    how = plan_for(
        lambda x: 100 + WrongForward.apply(x).repeat(1, 6), liegg.Linear(2), draw(5, 2).to(dtype)
    )
    assert how.notes[0].diagnosis is Diagnosis.ROUTE_NOT_USED
    assert "disagrees with plain reverse mode" in how.notes[0].values["reason"]


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (ReverseOnly, "NotImplementedError: "),
        (WrongForward, "it disagrees with plain reverse mode by 1.0e+00"),
    ],
    ids=["no jvp", "wrong jvp"],
)
def test_reverse_takes_over_from_forward_with_a_note(function, reason):
    rotation = liegg.Linear(2).restrict(
        liegg.so(2)
    )  # one generator, two outputs: forward would be cheaper
    how = plan_for(lambda x: function.apply(x), rotation, draw(5, 2))
    assert how.route == "vjp"
    (note,) = how.notes
    assert (note.diagnosis, note.values["route"]) == (Diagnosis.ROUTE_NOT_USED, "jvp")
    assert note.values["reason"].startswith(reason)


def test_both_transforms_fail_with_a_note_each():
    how = plan_for(Scratch(), liegg.Linear(2).restrict(liegg.so(2)), draw(5, 2))
    assert [note.values.get("route") for note in how.notes] == ["jvp", "vjp", None]


@pytest.mark.parametrize("route", ["jvp", "vjp"])
def test_a_forced_route_that_fails_says_why(route):
    text = (
        re.escape(f"route='{route}' does not work for Scratch: RuntimeError: ")
        + ".*"
        + re.escape("Use route='auto'.")
    )
    with pytest.raises(ModelError, match=text):
        liegg.discover(Scratch(), draw(5, 2), liegg.Linear(2), run=liegg.Run(route=route))


@pytest.mark.parametrize("route", ROUTES)
def test_a_forced_route_is_taken(route):
    sym = liegg.discover(curved(2, 3), draw(300, 3), liegg.Linear(3), run=liegg.Run(route=route))
    assert sym.settings["route"] == route
    assert sym.notes == ()


def analyse_with(route: Any = "auto", **knobs: Any):
    return liegg.discover(
        curved(2, 3), draw(5, 3), liegg.Linear(3), run=liegg.Run(route=route), **knobs
    )


@pytest.mark.parametrize(
    ("knobs", "text"),
    [
        (
            {"outputs": 0},
            "outputs=0: expected 'each', 'sum' or a positive number of random combinations.",
        ),
        ({"outputs": -2}, "outputs=-2: expected"),
        ({"outputs": True}, "outputs=True: expected"),
        ({"outputs": 1.5}, "outputs=1.5: expected"),
        ({"outputs": "all"}, "outputs='all': expected"),
        (
            {"route": "fast"},
            "route='fast': expected 'auto', 'jvp', 'vjp', 'autograd', 'moved' or 'finite'.",
        ),
        (
            {"outputs": "sum", "output_action": liegg.Linear(2)},
            "outputs='sum' has no meaning with output_action",
        ),
    ],
)
def test_arguments_that_make_no_sense(monkeypatch, knobs, text):
    monkeypatch.setattr(
        jaxtyping.config, "jaxtyping_disable", True
    )  # users run without the type checks
    with pytest.raises(ArgumentError, match=re.escape(text)):
        analyse_with(**knobs)


def test_an_output_action_that_does_not_fit():
    text = re.escape(
        "output_action does not fit the model's output: a sample has shape (2,); Linear(3, copies=1) expects"
    )
    with pytest.raises(ShapeError, match=text):
        liegg.discover(curved(2, 3), draw(5, 3), liegg.Linear(3), output_action=liegg.Linear(3))


# Memory


class Largest(TorchDispatchMode):
    """Remembers the largest tensor that any operation makes."""

    size = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, tuple | list) else [out]:
            if isinstance(tensor, Tensor):
                self.size = max(self.size, tensor.numel())
        return out


@pytest.mark.parametrize("route", ["vjp", "autograd"])
@pytest.mark.parametrize("action", [liegg.Linear(12), liegg.Affine(12)], ids=["linear", "affine"])
def test_the_fields_of_all_generators_are_never_formed(monkeypatch, action, route):
    x, function = draw(32, 12), curved(1, 12)
    expected = dense_rows(function, action, x)

    def refuse(*_: Any) -> Tensor:
        raise RuntimeError("a field was formed")

    for name in ("field", "fields", "act"):
        monkeypatch.setattr(type(action), name, refuse)
    with Largest() as largest:
        rows = rows_of(function, action, x, "each", route)
    torch.testing.assert_close(rows, expected, rtol=1e-12, atol=1e-12)
    assert largest.size == rows.numel()  # [b, 1, g]: far from [b, g, *x]
    run = liegg.Run(route=route, hidden="ignore")  # which looks at one field at a few samples
    sym = liegg.discover(function, x, action, run=run)
    assert sym.accumulated.rows.rows == 32


def test_largest_sees_the_fields():
    with Largest() as largest:
        liegg.Linear(12).fields(draw(32, 12))
    assert largest.size == 32 * 144 * 12
