"""Degenerate models are named, ordinary ones are not, and the sums do not depend on how the samples came."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

import liegg
from cases import normal
from liegg._utils.errors import ArgumentError, NotDifferentiableError
from liegg.inputs.model import Model
from liegg.polarization.diagnostics import (
    NAMED,
    Health,
    Pulse,
    diagnose,
    pulse_add,
    pulse_init,
    pulse_merge,
)
from liegg.polarization.output_sketch import Outputs
from liegg.polarization.rows import Plan, polarize

Function = Callable[[Tensor], Tensor]


def network(
    n: int, c: int, *, kind: type[nn.Module] = nn.Tanh, scale: float = 2.5, seed: int = 0
) -> Function:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = (
            nn.Sequential(nn.Linear(n, 32), kind(), nn.Linear(32, 32), kind(), nn.Linear(32, c))
            .double()
            .requires_grad_(False)
        )
    for weight in net.parameters():
        weight *= scale
    return net


def rows_of(function: Function, x: Tensor, outputs: Outputs = "each") -> tuple[Tensor, Tensor]:
    """Rows as the analysis takes them, by plain autograd."""
    model = Model(function, "f", x.dtype, output_shape=tuple(function(x[:1]).shape[1:]))
    return polarize(model, liegg.Linear(x.shape[1]), x, Plan(outputs, "autograd"))


def pulse_of(rows: Tensor, y: Tensor, *, each: bool = True, size: int | None = None) -> Pulse:
    size = size or len(y)
    pulse = pulse_init(y[:size], each=each)
    for some, outputs in zip(rows.split(size), y.split(size), strict=True):
        pulse = pulse_add(pulse, some, outputs)
    return pulse


def health(function: Function, x: Tensor, outputs: Outputs = "each", **knobs: Any) -> Health:
    rows, y = rows_of(function, x, outputs)
    return diagnose(
        pulse_of(rows, y, each=outputs == "each", size=300), dtype=x.dtype, outputs=outputs, **knobs
    )


# The sums


def dense(rows: Tensor, y: Tensor, shift: Tensor) -> dict[str, Tensor]:
    """Every sum written out over all samples at once."""
    s = torch.stack([(row.double() ** 2).sum() for row in rows])
    away = y.double() - shift
    return {
        "outputs": away.sum(0),
        "squares": (away**2).sum(0),
        "total": (away.sum(1) ** 2).sum(),
        "spread": ((away**2).sum(1) ** 2).sum(),
        "motions": (rows.double() ** 2).sum((0, 2)),
        "motion": s.sum(),
        "concentration": (s**2).sum(),
        "logarithm": s[s > 0].log().sum(),
        "still": (s == 0).double().sum(),
    }


def assert_close(pulse: Pulse, wanted: dict[str, Tensor]) -> None:
    for name, value in wanted.items():
        torch.testing.assert_close(
            getattr(pulse, name),
            value,
            rtol=1e-12,
            atol=1e-12,
            msg=lambda text, name=name: f"{name}: {text}",
        )


@pytest.mark.parametrize("size", [1, 7, 40])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_sums_are_those_of_all_samples(size, dtype):
    rows, y = normal(40, 3, 5).to(dtype), (100 + normal(40, 3, seed=1)).to(dtype)
    rows[::4] = 0
    pulse = pulse_of(rows, y, size=size)
    torch.testing.assert_close(pulse.shift, y[:size].double().mean(0))
    assert_close(pulse, dense(rows, y, pulse.shift))
    assert (pulse.samples, {value.dtype for value in pulse if isinstance(value, Tensor)}) == (
        40,
        {torch.float64},
    )


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=6),
    st.integers(0, 5),
    st.integers(1, 3),
    st.booleans(),
)
@settings(max_examples=30, deadline=None)
def test_sums_do_not_depend_on_how_they_were_parted(sizes, place, c, each):
    n = sum(sizes)
    rows, y = normal(n, c if each else 2, 4), normal(n, c, seed=1)
    start = pulse_init(y, each=each)
    parts = [
        pulse_add(start, some, outputs)
        for some, outputs in zip(rows.split(sizes), y.split(sizes), strict=True)
    ]
    merged = start
    for part in parts[place:] + parts[:place]:
        merged = pulse_merge(merged, part)
    wanted = dense(rows, y, start.shift)
    if not each:
        assert merged.motions is None
        del wanted["motions"]
    assert merged.samples == n
    assert_close(merged, wanted)


def test_what_is_added_to_stays_as_it_was():
    y = normal(6, 2)
    start = pulse_init(y)
    one = pulse_add(start, normal(6, 2, 3), y)
    again = pulse_add(start, normal(6, 2, 3), y)
    assert all(
        torch.equal(a, b)
        for a, b in zip(one, again, strict=True)
        if isinstance(a, Tensor) and isinstance(b, Tensor)
    )
    assert (start.samples, float(start.motion), start.outputs.tolist()) == (0, 0.0, [0.0, 0.0])


def test_rows_in_two_factors():
    left, right, y = normal(20, 3, 4), normal(20, 3, 5, seed=1), normal(20, 3, seed=2)
    whole = torch.einsum("bkp,bkq->bkpq", left, right).flatten(2)
    start = pulse_init(y)
    assert_close(
        pulse_add(start, torch.cat([left, right], 2), y, split=4), dense(whole, y, start.shift)
    )


def test_nothing_is_read_back_from_the_device():
    """On the meta device there are no numbers: whatever looks at one fails."""
    y = torch.empty(5, 3, device="meta")
    pulse = pulse_add(pulse_init(y), torch.empty(5, 3, 4, device="meta"), y)
    assert pulse.samples == 5


def test_pulses_of_different_starts_do_not_mix():
    y = normal(5, 2)
    for other in (pulse_init(y + 1), pulse_init(y, each=False)):
        with pytest.raises(
            ArgumentError, match="started from different outputs; start both from one pulse_init"
        ):
            pulse_merge(pulse_init(y), other)


def test_rows_must_be_of_each_output_if_promised():
    y = normal(5, 2)
    with pytest.raises(
        ArgumentError,
        match=r"1 rows to a sample for 2 outputs: expected pulse_init\(y, each=False\)",
    ):
        pulse_add(pulse_init(y), normal(5, 1, 4), y)


def test_no_samples():
    with pytest.raises(ArgumentError, match="no samples were added"):
        diagnose(pulse_init(normal(5, 2)), dtype=torch.float64)


# Models that are well

X = normal(1000, 4)
TAILS = {
    "Cauchy": (normal(3000, 4) / normal(3000, 4, seed=1)),
    "t with 2 degrees": normal(3000, 4)
    / (normal(3000, 4, seed=1) ** 2 + normal(3000, 4, seed=2) ** 2).sqrt(),
}
POLYNOMIALS: dict[str, Function] = {
    "degree 2": lambda x: x[:, :1] ** 2 + x[:, 1:2],
    "degree 3": lambda x: torch.stack([x[:, 0] ** 3 + x[:, 1], x[:, 2] * x[:, 3]], 1),
    "degree 4, far from 0": lambda x: 1e6 + x.pow(4).sum(1, keepdim=True),
    "ratio": lambda x: x[:, :1] / x[:, 1:2],
    "bounded": lambda x: x[:, :1].sin() + x[:, 1:2].cos(),
}


def assert_well(found: Health) -> None:
    assert (found.kind, found.dead, found.dead_outputs, found.saturated, found.sentences) == (
        "ok",
        0,
        (),
        False,
        (),
    )


@pytest.mark.parametrize("kind", [nn.Tanh, nn.ReLU, nn.SiLU])
@pytest.mark.parametrize("scale", [1.0, 2.5])
@pytest.mark.parametrize("c", [1, 10])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_random_networks_are_well(kind, scale, c, dtype):
    net: Any = network(4, c, kind=kind, scale=scale)
    found = health(net.to(dtype), X.to(dtype))
    assert_well(found)
    assert found.effective > 0.2 * len(X)


@pytest.mark.parametrize("seed", range(20))
def test_few_samples_of_a_random_network_are_well(seed):
    assert_well(health(network(4, 3, seed=seed), normal(20, 4, seed=seed)))


@pytest.mark.parametrize("data", [*TAILS, "normal"])
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_heavy_tails_are_well(name, data):
    assert_well(health(POLYNOMIALS[name], TAILS.get(data, X)))


@pytest.mark.parametrize("rate", [3.0, 5.0])
def test_an_output_with_heavy_tails_of_its_own_is_well(rate):
    """Few samples carry the sensitivity, but the same few carry the output's variance."""
    found = health(lambda x: (rate * x[:, :1]).exp(), X)
    assert_well(found)
    assert found.effective < 0.1 * len(X)
    assert_well(health(lambda x: (-20 * x[:, :2].square().sum(1, keepdim=True)).exp(), X))


@pytest.mark.parametrize("outputs", ["each", 2])
def test_softmax_of_ordinary_logits_is_well(outputs):
    assert_well(health(lambda x: network(4, 5, scale=1.0)(x).softmax(1), X, outputs))


def test_a_summed_softmax_is_constant():
    found = health(lambda x: network(4, 5, scale=1.0)(x).softmax(1), X, "sum")
    assert (found.kind, found.dead) == ("constant", 0)
    assert found.sentences == (
        "the sum of the outputs is the same for all 1000 samples although each varies (a softmax head?). Use outputs='each'.",
    )


def test_data_on_one_orbit_leaves_the_output_constant_but_not_still():
    sphere = X / X.norm(dim=1, keepdim=True)
    assert_well(health(lambda x: x.square().sum(1, keepdim=True), sphere))
    assert_well(health(network(4, 2), X[:1].expand(200, -1)))


def test_an_invariant_model_is_well():
    """All rows at rounding level, but the output varies and they are not zero: perfectly symmetric is no disease."""
    rows, y = normal(500, 1, 4) * 1e-16, normal(500, 1, seed=1)
    assert_well(diagnose(pulse_of(rows, y), dtype=torch.float64))


# Models that are not


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("outputs", ["each", "sum", 1])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.full((len(x), 2), 3.7, dtype=x.dtype),
        lambda x: 0 * x[:, :2] + 0.1,
        lambda x: 0 * x[:, :2],
        lambda x: (
            (x / x.norm(dim=1, keepdim=True)).square().sum(1, keepdim=True)
            * torch.ones(1, 2, dtype=x.dtype)
        ),
    ],
    ids=["no graph", "zero weights", "zero", "unit length"],
)
def test_a_constant_model(function, outputs, dtype):
    found = health(function, X.to(dtype), outputs)
    assert (found.kind, found.dead, found.dead_outputs, found.saturated) == (
        "constant",
        2,
        (0, 1),
        False,
    )
    assert found.sentences == (
        "the output is the same for all 1000 samples, and nothing moves it: nothing can be said about its symmetries. "
        "Check the model's weights and the scale of the data.",
    )


@pytest.mark.parametrize("c", [3, 1000])
def test_a_sum_is_constant_within_the_rounding_of_what_is_summed(c):
    """Large numbers that cancel, and very many small ones."""
    y = torch.softmax(0.1 * normal(1000, c).float(), 1)
    if c == 3:
        y = torch.cat([1000 * X.float(), 1 - 1000 * X.float().sum(1, keepdim=True)], 1)
        assert float(y.sum(1).std()) > 100 * torch.finfo(torch.float32).eps
    assert (
        diagnose(
            pulse_of(torch.zeros(1000, 1, 4), y, each=False), dtype=torch.float32, outputs="sum"
        ).kind
        == "constant"
    )


@pytest.mark.parametrize("outputs", ["each", "sum"])
def test_a_first_batch_unlike_the_rest_changes_nothing(outputs):
    y, rows = torch.full((100, 2), 3.0), torch.zeros(100, 2 if outputs == "each" else 1, 4)
    pulse = pulse_add(pulse_init(torch.zeros(9, 2), each=outputs == "each"), rows, y)
    assert diagnose(pulse, dtype=torch.float64, outputs=outputs).kind == "constant"


def test_one_sample_without_derivative():
    found = health(lambda x: 0 * x[:, :1] + 1, X[:1])
    assert found.sentences[0].startswith("the output is the same for the only sample")
    assert_well(health(network(4, 1), X[:1]))


@pytest.mark.parametrize("outputs", ["each", "sum", 1])
@pytest.mark.parametrize(
    "function", [lambda x: x[:, :2].sign(), lambda x: (x[:, :3] * 4).round()], ids=["sign", "round"]
)
def test_a_piecewise_constant_model(function, outputs):
    found = health(function, X, outputs)
    assert (found.kind, found.still, found.effective, found.saturated) == ("flat", 1.0, 0.0, False)
    assert len(found.sentences) == 1
    assert "derivative is zero at every sample in every candidate direction" in found.sentences[0]
    assert "piecewise constant (rounding, argmax, step)" in found.sentences[0]


def test_steps_that_show_at_once_are_refused_before():
    """What reaches this stage is the rest: steps that the first batch does not show."""
    x = X.sort(0).values
    with pytest.raises(NotDifferentiableError, match="carries no derivative"):
        liegg.discover(lambda x: x[:, 0].sign(), X, liegg.Linear(4))
    assert (
        liegg.discover(lambda x: x[:, 0].sign(), x, liegg.Linear(4), batch_size=100).samples == 1000
    )


def test_dead_outputs():
    def function(x: Tensor) -> Tensor:
        moving = network(4, 10)(x)
        return torch.where(torch.tensor([k in (1, 4, 9) for k in range(10)]), moving, 0.5)

    found = health(function, X)
    assert (found.kind, found.dead, found.dead_outputs) == ("ok", 7, (0, 2, 3, 5, 6, 7, 8))
    assert found.sentences == (
        "7 of 10 outputs never move on this data (0, 2, 3, 5, 6, 7, 8): the verdict rests on the other 3.",
    )
    assert health(function, X, 4).dead_outputs == found.dead_outputs  # told from the outputs alone


def test_outputs_dead_within_rounding_or_without_derivative():
    def function(x: Tensor) -> Tensor:
        unit = (x / x.norm(dim=1, keepdim=True)).square().sum(1)
        return torch.stack([unit, x[:, 0].sign(), x[:, 1] ** 2, 1000 + 1e-3 * x[:, 2]], 1)

    assert health(function, X).dead_outputs == (0, 1)


def test_only_the_first_dead_outputs_are_named():
    y = torch.cat([normal(50, 1), torch.zeros(50, 20)], 1)
    rows = torch.cat([normal(50, 1, 4), torch.zeros(50, 20, 4)], 1)
    found = diagnose(pulse_of(rows, y), dtype=torch.float64)
    assert (found.dead, found.dead_outputs) == (20, tuple(range(1, NAMED + 1)))
    assert (
        "(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …): the verdict rests on the other 1."
        in found.sentences[0]
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("c", [2, 10])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_saturated_softmax(seed, c, dtype):
    net: Any = network(4, c, seed=seed)
    net = net.to(dtype)
    found = health(lambda x: (50 * net(x)).softmax(1), X.to(dtype))
    assert (found.kind, found.saturated) == ("ok", True)
    assert 1 <= found.effective < 0.1 * len(X)
    said = f"the sensitivity rests on {round(found.effective)} of 1000 samples; at the others next to nothing moves the output"
    assert found.sentences[-1].startswith(said)
    assert_well(health(net, X.to(dtype)))


def test_a_steep_step_is_saturated_even_where_its_derivative_underflows():
    found = health(lambda x: (1e4 * x[:, :1]).sigmoid(), X.float())
    assert found.still > 0.5
    assert found.saturated
    assert len(found.sentences) == 1


def test_samples_without_derivative():
    found = health(lambda x: (x[:, :1] - 1.5).relu(), X)
    active = int((X[:, 0] > 1.5).sum())
    assert (found.kind, found.saturated) == ("ok", False)
    assert found.still == pytest.approx(1 - active / 1000)
    assert found.sentences == (
        f"the derivative is exactly zero at {1000 - active} of 1000 samples (dead units, or rounding): the verdict rests on the "
        f"other {active}.",
    )
    assert health(lambda x: (x[:, :1] - 1.5).relu(), X, idle=0.99).sentences == ()


def test_the_effective_number_of_equal_samples_is_their_number():
    rows = torch.zeros(100, 1, 4)
    rows[:7] = torch.tensor([1.0, -1.0, 1.0, 1.0])
    y = normal(100, 1)
    found = diagnose(pulse_of(rows, y), dtype=torch.float64)
    assert (found.effective, found.still) == (7.0, 0.93)


@pytest.mark.parametrize("scale", [1e-120, 1e120])
def test_squares_out_of_range_do_not_break_it(scale):
    found = diagnose(pulse_of(normal(50, 1, 4) * scale, normal(50, 1, seed=1)), dtype=torch.float64)
    assert (found.kind, found.effective) == ("ok", 50.0)


def test_coarse_outputs():
    """In bfloat16 a spread of 10 % of the size is a spread, one of rounding is none."""
    rows = normal(400, 1, 4)
    y = 1 + 0.1 * normal(400, 1, seed=1)
    assert_well(diagnose(pulse_of(rows * 0.1, y.bfloat16()), dtype=torch.bfloat16))
    assert (
        diagnose(pulse_of(rows * 0.001, (1 + 0.004 * y).bfloat16()), dtype=torch.bfloat16).kind
        == "constant"
    )


@pytest.mark.parametrize("knob", ["carried", "evenness", "steepness"])
def test_every_threshold_can_be_closed(knob):
    def function(x: Tensor) -> Tensor:
        return (50 * network(4, 10)(x)).softmax(1)

    assert health(function, X).saturated
    assert not health(function, X, "each", **{knob: 0.0}).saturated


def test_rounding_can_be_widened():
    rows, y = 1e-6 * normal(50, 1, 4), 1 + 1e-6 * normal(50, 1, seed=1)
    assert diagnose(pulse_of(rows, y), dtype=torch.float64).kind == "ok"
    assert diagnose(pulse_of(rows, y), dtype=torch.float64, rounding=1e11).kind == "constant"


def test_batches_do_not_change_the_diagnosis():
    rows, y = rows_of(lambda x: (50 * network(4, 10)(x)).softmax(1), X)
    found = [diagnose(pulse_of(rows, y, size=size), dtype=torch.float64) for size in (10, 64, 1000)]
    assert (
        len({(one.kind, one.dead, one.still, one.saturated, one.sentences) for one in found}) == 1
    )
    assert all(math.isclose(one.effective, found[0].effective, rel_tol=1e-12) for one in found)
