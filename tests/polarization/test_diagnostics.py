"""Degenerate models are named, ordinary ones are not, and the sums do not depend on how the samples came."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import NotDifferentiableError
from liegg.inputs.model import Model
from liegg.polarization.diagnostics import (
    Diagnostics,
    DiagnosticSums,
    diagnose,
    init_sums,
    update_sums,
)
from liegg.polarization.output_sketch import Outputs
from liegg.polarization.plan import Plan
from liegg.polarization.rows import polarize

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


def sums_of(
    rows: Tensor, y: Tensor, *, each: bool = True, size: int | None = None
) -> DiagnosticSums:
    size = size or len(y)
    sums = init_sums(y[:size], each=each)
    for some, outputs in zip(rows.split(size), y.split(size), strict=True):
        sums = update_sums(sums, some, outputs)
    return sums


def diagnosed(function: Function, x: Tensor, outputs: Outputs = "each") -> Diagnostics:
    rows, y = rows_of(function, x, outputs)
    return diagnose(
        sums_of(rows, y, each=outputs == "each", size=300), dtype=x.dtype, outputs=outputs
    )


def effective(function: Function, x: Tensor) -> float:
    """Number of samples that carry the sensitivity."""
    squares = rows_of(function, x)[0].square().sum((1, 2))
    return float(squares.sum() ** 2 / squares.square().sum())


def diagnoses(found: Diagnostics) -> list[Diagnosis]:
    return [remark.diagnosis for remark in found.remarks]


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


def assert_well(found: Diagnostics) -> None:
    assert (found.kind, found.remarks) == ("ok", ())


@pytest.mark.parametrize("kind", [nn.Tanh, nn.ReLU, nn.SiLU])
def test_random_networks_are_well(kind):
    for scale, c in ((1.0, 10), (2.5, 1)):
        for dtype in (torch.float64, torch.float32):
            net: Any = network(4, c, kind=kind, scale=scale)
            assert_well(diagnosed(net.to(dtype), X.to(dtype)))
            assert effective(net, X.to(dtype)) > 0.2 * len(X)


def test_few_samples_of_a_random_network_are_well():
    for seed in range(20):
        assert_well(diagnosed(network(4, 3, seed=seed), normal(20, 4, seed=seed)))


@pytest.mark.parametrize("data", [*TAILS, "normal"])
def test_heavy_tails_are_well(data):
    for polynomial in POLYNOMIALS.values():
        assert_well(diagnosed(polynomial, TAILS.get(data, X)))


@pytest.mark.parametrize("rate", [3.0, 5.0])
def test_an_output_with_heavy_tails_of_its_own_is_well(rate):
    """Few samples carry the sensitivity, but the same few carry the output's variance."""
    assert_well(diagnosed(lambda x: (rate * x[:, :1]).exp(), X))
    assert effective(lambda x: (rate * x[:, :1]).exp(), X) < 0.1 * len(X)
    assert_well(diagnosed(lambda x: (-20 * x[:, :2].square().sum(1, keepdim=True)).exp(), X))


@pytest.mark.parametrize("outputs", ["each", 2])
def test_softmax_of_ordinary_logits_is_well(outputs):
    assert_well(diagnosed(lambda x: network(4, 5, scale=1.0)(x).softmax(1), X, outputs))


def test_a_summed_softmax_is_constant():
    found = diagnosed(lambda x: network(4, 5, scale=1.0)(x).softmax(1), X, "sum")
    assert found.kind == "constant"
    assert diagnoses(found) == [Diagnosis.CONSTANT_SUM]


def test_data_on_one_orbit_leaves_the_output_constant_but_not_still():
    sphere = X / X.norm(dim=1, keepdim=True)
    assert_well(diagnosed(lambda x: x.square().sum(1, keepdim=True), sphere))
    assert_well(diagnosed(network(4, 2), X[:1].expand(200, -1)))


def test_an_invariant_model_is_well():
    """All rows at rounding level, but the output varies and they are not zero: perfectly symmetric is no disease."""
    rows, y = normal(500, 1, 4) * 1e-16, normal(500, 1, seed=1)
    assert_well(diagnose(sums_of(rows, y), dtype=torch.float64))


# Models that are not


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
def test_a_constant_model(function):
    cases: list[tuple[Outputs, torch.dtype]] = [
        ("each", torch.float32),
        ("sum", torch.float64),
        (1, torch.float32),
    ]
    for outputs, dtype in cases:
        found = diagnosed(function, X.to(dtype), outputs)
        assert found.kind == "constant"
        assert diagnoses(found) == [Diagnosis.CONSTANT_OUTPUT]


@pytest.mark.parametrize("c", [3, 1000])
def test_a_sum_is_constant_within_the_rounding_of_what_is_summed(c):
    """Large numbers that cancel, and very many small ones."""
    y = torch.softmax(0.1 * normal(1000, c).float(), 1)
    if c == 3:
        y = torch.cat([1000 * X.float(), 1 - 1000 * X.float().sum(1, keepdim=True)], 1)
        assert float(y.sum(1).std()) > 100 * torch.finfo(torch.float32).eps
    assert (
        diagnose(
            sums_of(torch.zeros(1000, 1, 4), y, each=False), dtype=torch.float32, outputs="sum"
        ).kind
        == "constant"
    )


@pytest.mark.parametrize("outputs", ["each", "sum"])
def test_a_first_batch_unlike_the_rest_changes_nothing(outputs):
    y, rows = torch.full((100, 2), 3.0), torch.zeros(100, 2 if outputs == "each" else 1, 4)
    sums = update_sums(init_sums(torch.zeros(9, 2), each=outputs == "each"), rows, y)
    assert diagnose(sums, dtype=torch.float64, outputs=outputs).kind == "constant"


def test_one_sample_without_derivative():
    found = diagnosed(lambda x: 0 * x[:, :1] + 1, X[:1])
    assert diagnoses(found) == [Diagnosis.CONSTANT_OUTPUT]
    assert_well(diagnosed(network(4, 1), X[:1]))


@pytest.mark.parametrize(
    "function", [lambda x: x[:, :2].sign(), lambda x: (x[:, :3] * 4).round()], ids=["sign", "round"]
)
def test_a_piecewise_constant_model(function):
    for outputs in ("each", "sum", 1):
        found = diagnosed(function, X, outputs)
        assert found.kind == "flat"
        assert diagnoses(found) == [Diagnosis.PIECEWISE_CONSTANT]


def test_steps_that_show_at_once_are_refused_before():
    """What reaches this stage is the rest: steps that the first batch does not show."""
    x = X.sort(0).values
    with pytest.raises(NotDifferentiableError, match="carries no derivative"):
        liegg.discover(lambda x: x[:, 0].sign(), X, liegg.Linear(4))
    assert (
        liegg.discover(
            lambda x: x[:, 0].sign(), x, liegg.Linear(4), run=liegg.Run(batch_size=100)
        ).samples
        == 1000
    )


def test_dead_outputs():
    def function(x: Tensor) -> Tensor:
        moving = network(4, 10)(x)
        return torch.where(torch.tensor([k in (1, 4, 9) for k in range(10)]), moving, 0.5)

    found = diagnosed(function, X)
    assert found.kind == "ok"
    assert diagnoses(found) == [Diagnosis.DEAD_OUTPUTS]
    assert found.remarks[0].values == {
        "n": 7,
        "total": 10,
        "outputs": "0, 2, 3, 5, 6, 7, 8",
        "rest": 3,
    }
    assert diagnosed(function, X, 4) == found  # from the outputs alone


@pytest.mark.parametrize(
    ("n", "rest", "text"),
    [
        (
            1,
            1,
            "1 of 2 outputs never moves on this data (output 0): the verdict rests on the other one.",
        ),
        (
            2,
            3,
            "2 of 5 outputs never move on this data (outputs 0, 1): the verdict rests on the other 3.",
        ),
    ],
)
def test_dead_outputs_are_counted_in_plain_english(n, rest, text):
    names = ", ".join(map(str, range(n)))
    assert Diagnosis.DEAD_OUTPUTS(n=n, total=n + rest, outputs=names, rest=rest) == text


def test_outputs_dead_within_rounding_or_without_derivative():
    def function(x: Tensor) -> Tensor:
        unit = (x / x.norm(dim=1, keepdim=True)).square().sum(1)
        return torch.stack([unit, x[:, 0].sign(), x[:, 1] ** 2, 1000 + 1e-3 * x[:, 2]], 1)

    assert diagnosed(function, X).remarks[0].values["outputs"] == "0, 1"


def test_only_the_first_dead_outputs_are_named():
    y = torch.cat([normal(50, 1), torch.zeros(50, 20)], 1)
    rows = torch.cat([normal(50, 1, 4), torch.zeros(50, 20, 4)], 1)
    found = diagnose(sums_of(rows, y), dtype=torch.float64)
    assert found.remarks[0].values["n"] == 20
    assert found.remarks[0].values["outputs"] == "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …"
    assert found.remarks[0].values["rest"] == 1


@pytest.mark.parametrize(("seed", "c"), [(0, 2), (1, 10)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_saturated_softmax(seed, c, dtype):
    net: Any = network(4, c, seed=seed)
    net = net.to(dtype)

    def function(x: Tensor) -> Tensor:
        return (50 * net(x)).softmax(1)

    found = diagnosed(function, X.to(dtype))
    assert found.kind == "ok"
    assert 1 <= effective(function, X.to(dtype)) < 0.1 * len(X)
    assert found.remarks[-1].diagnosis is Diagnosis.SATURATED
    n = round(effective(function, X.to(dtype)))
    assert found.remarks[-1].values == {"n": n, "total": 1000}
    assert_well(diagnosed(net, X.to(dtype)))


def test_a_steep_step_is_saturated_even_where_its_derivative_underflows():
    def function(x: Tensor) -> Tensor:
        return (1e4 * x[:, :1]).sigmoid()

    assert float((rows_of(function, X.float())[0] == 0).all(2).double().mean()) > 0.5
    found = diagnosed(function, X.float())
    assert diagnoses(found) == [Diagnosis.SATURATED]


def test_samples_without_derivative(monkeypatch):
    found = diagnosed(lambda x: (x[:, :1] - 1.5).relu(), X)
    active = int((X[:, 0] > 1.5).sum())
    assert found.kind == "ok"
    assert diagnoses(found) == [Diagnosis.ZERO_DERIVATIVES]
    assert found.remarks[0].values == {"n": 1000 - active, "total": 1000, "rest": active}
    monkeypatch.setattr("liegg.polarization.diagnostics.IDLE", 0.99)
    assert diagnosed(lambda x: (x[:, :1] - 1.5).relu(), X).remarks == ()


def test_the_effective_number_of_equal_samples_is_their_number():
    rows = torch.zeros(200, 1, 4)
    rows[:7] = torch.tensor([0.01, -0.01, 0.01, 0.01])
    found = diagnose(sums_of(rows, normal(200, 1)), dtype=torch.float64)
    assert diagnoses(found) == [Diagnosis.SATURATED]
    assert found.remarks[0].values == {"n": 7, "total": 200}


@pytest.mark.parametrize("scale", [1e-120, 1e120])
def test_squares_out_of_range_do_not_break_it(scale):
    found = diagnose(sums_of(normal(50, 1, 4) * scale, normal(50, 1, seed=1)), dtype=torch.float64)
    assert found.kind == "ok"
    assert Diagnosis.SATURATED not in diagnoses(found)


def test_coarse_outputs():
    """In bfloat16 a spread of 10 % of the size is a spread, one of rounding is none."""
    rows = normal(400, 1, 4)
    y = 1 + 0.1 * normal(400, 1, seed=1)
    assert_well(diagnose(sums_of(rows * 0.1, y.bfloat16()), dtype=torch.bfloat16))
    assert (
        diagnose(sums_of(rows * 0.001, (1 + 0.004 * y).bfloat16()), dtype=torch.bfloat16).kind
        == "constant"
    )


@pytest.mark.parametrize("threshold", ["CARRIED", "EVENNESS", "STEEPNESS"])
def test_every_threshold_can_be_closed(monkeypatch, threshold):
    def function(x: Tensor) -> Tensor:
        return (50 * network(4, 10)(x)).softmax(1)

    assert Diagnosis.SATURATED in diagnoses(diagnosed(function, X))
    monkeypatch.setattr(f"liegg.polarization.diagnostics.{threshold}", 0.0)
    assert Diagnosis.SATURATED not in diagnoses(diagnosed(function, X))


def test_rounding_can_be_widened(monkeypatch):
    rows, y = 1e-6 * normal(50, 1, 4), 1 + 1e-6 * normal(50, 1, seed=1)
    assert diagnose(sums_of(rows, y), dtype=torch.float64).kind == "ok"
    monkeypatch.setattr("liegg.polarization.diagnostics.STILL_UNITS", 1e11)
    assert diagnose(sums_of(rows, y), dtype=torch.float64).kind == "constant"


def test_batches_do_not_change_the_diagnosis():
    rows, y = rows_of(lambda x: (50 * network(4, 10)(x)).softmax(1), X)
    found = [diagnose(sums_of(rows, y, size=size), dtype=torch.float64) for size in (10, 64, 1000)]
    assert found[0].remarks
    assert len(set(found)) == 1
