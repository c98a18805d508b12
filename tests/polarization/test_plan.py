"""The plan of the rows: the cheapest route that works, and what is said where one does not."""

import re
from typing import Any

import jaxtyping
import pytest
import torch
from torch import Tensor, nn

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, ModelError, ShapeError
from liegg.actions import Action
from liegg.polarization.plan import Plan
from liegg.polarization.rows import TOGETHER_ELEMENTS, plan
from row_functions import ROUTES, curved, dense_rows, draw, ready, rows_of


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
