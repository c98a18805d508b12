# pyright: reportIncompatibleMethodOverride=false, reportOptionalMemberAccess=false
"""Whether a derivative is that of the output: families of functions that hide something, and of honest ones."""

import math

import pytest
import torch
from torch import nn

import liegg
from cases import normal
from hidden_functions import HIDDEN, HONEST, PLAIN, RELU, TABLE, TANH, network, square
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import HiddenDerivativeError, ModelError
from liegg.inputs.hidden_derivatives import (
    FEWEST_PAIRS,
    HIDDEN_PAIRS,
    affordable_pairs,
    hidden_change,
    smooth_limit,
)
from liegg.inputs.model import Model
from liegg.inputs.probe import probe
from liegg.studies.error_rates.cases import Trap
from liegg.studies.error_rates.traps_catalog import Key, make

DTYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16}


def looked_at(function, x, **rest):
    return hidden_change(probe(Model(function, "model"), x), x, **rest)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_hidden_parts_are_found(dtype):
    changes = {name: looked_at(f, PLAIN.to(DTYPES[dtype])) for name, f in HIDDEN.items()}
    assert [name for name, change in changes.items() if change is None or not change.found] == []


@pytest.mark.parametrize(
    "dtype",
    [name if name == "float64" else pytest.param(name, marks=pytest.mark.slow) for name in DTYPES],
)
@pytest.mark.parametrize("pairs", [None, FEWEST_PAIRS])
def test_honest_functions_are_not_refused(dtype, pairs):
    changes = {
        name: looked_at(function, x.to(DTYPES[dtype]), pairs=pairs)
        for name, (function, x) in HONEST.items()
    }
    assert [name for name, change in changes.items() if change is not None and change.found] == []


@pytest.mark.parametrize("name", ["floor", "step", "argmax look-up", "quantised"])
def test_jumps_are_found_in_half_precision(name):
    for dtype in (torch.bfloat16, torch.float16):
        found = looked_at(HIDDEN[name], PLAIN.to(dtype))
        assert found is not None
        assert found.found


@pytest.mark.parametrize(("share", "expected"), [(1e-2, True), (3e-3, True), (1e-6, False)])
def test_small_smooth_parts_are_measured_in_float64(share, expected):
    """Along the steps the detached part has `share` of the derivative of x: half the derivative is x's, half share·x's."""
    found = looked_at(lambda x: x + share * x.detach(), PLAIN[:, :1])
    assert found is not None
    assert found.found is expected
    assert found.smooth == pytest.approx(share, rel=0.01)


def test_everything_hidden_is_a_share_of_one():
    wave = lambda x: x[:, 0].round() + 1e-9 * x[:, 1]  # noqa: E731
    found = looked_at(wave, PLAIN)
    assert found is not None
    assert found.jumps == pytest.approx(1.0)


def test_what_candidates_do_not_move_may_be_hidden():
    """Atomic numbers are read by a look-up; no rotation of the positions moves them."""
    atoms = torch.cat([3 * normal(200, 1, seed=1).abs(), PLAIN], 1)
    function = lambda x: TABLE.to(x)[x[:, 0].long().clamp(0, 49), 0] * x[:, 1:].norm(dim=1)  # noqa: E731
    assert looked_at(function, atoms).found
    moved = torch.tensor([False, True, True, True])
    assert not looked_at(function, atoms, moved=moved).found
    rotations = torch.zeros(3, 4, 4, dtype=torch.float64)
    rotations[:, 1:, 1:] = liegg.so(3)
    action = liegg.Linear(4)
    with pytest.raises(HiddenDerivativeError):
        liegg.discover(function, atoms, action)
    assert liegg.discover(function, atoms, action.restrict(rotations)).nullity == 3


def test_the_sum_of_the_outputs_may_be_whole_although_each_output_is_not():
    parts = lambda x: torch.stack([x[:, 0] ** 2 + x[:, 1].floor(), -x[:, 1].floor()], 1)  # noqa: E731
    assert looked_at(parts, PLAIN).found
    assert not looked_at(parts, PLAIN, summed=True).found


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (square, PLAIN[:1]),  # a single sample
        (square, PLAIN[:1].expand(20, 3)),  # equal samples
        (lambda x: x.sum(1) * 0, PLAIN),  # nothing changes the output
        (lambda x: torch.zeros(len(x)), PLAIN),  # no derivative at all
        (lambda x: (x.abs() - 1).sqrt().sum(1), 1.1 * PLAIN.sign()),  # NaN between samples
    ],
    ids=["one sample", "equal samples", "still", "no derivative", "nan"],
)
def test_where_it_cannot_be_told(function, x):
    assert hidden_change(Model(function, "model"), x) is None


def test_a_model_that_fails_between_samples_is_analysed():
    def picky(x):
        if not bool((x == x.round()).all()):
            raise IndexError("only whole numbers")
        return square(x)

    x = (3 * PLAIN).round()
    sym = liegg.discover(picky, x, liegg.Linear(3))
    assert sym.settings["hidden"] is None
    assert sym.nullity == 3


def test_the_samples_and_the_mode_of_gradients_are_left_alone():
    x = PLAIN.clone()
    with torch.no_grad():
        hidden_change(Model(lambda x: x.mul_(x).sum(1), "in place"), x)
        assert not torch.is_grad_enabled()
    assert torch.equal(x, PLAIN)


def test_as_many_pairs_as_are_cheap():
    small, x = Model(square, "f", weights=5_000), torch.zeros(1000, 5)
    assert affordable_pairs(small, x) == HIDDEN_PAIRS
    large = Model(square, "f", weights=11_000_000)
    assert affordable_pairs(large, torch.zeros(1).expand(128, 3, 224, 224)) == FEWEST_PAIRS
    assert affordable_pairs(large, torch.zeros(1).expand(2048, 1, 28, 28)) == 32
    assert affordable_pairs(small, x[:7]) == 7


def test_the_limit_follows_the_rounding_unit():
    assert smooth_limit(2**-52) == 1e-4
    assert smooth_limit(2**-23) == pytest.approx(30 * math.sqrt(2**-23))


class TestDiscover:
    PART = staticmethod(HIDDEN["detached term"])

    def test_the_error_says_how_much_and_what_to_type(self):
        with pytest.raises(
            HiddenDerivativeError,
            match=r"(?s)does not show [0-9.]+ % of the change.*detach.*Run\(hidden='warn'\)",
        ) as error:
            liegg.discover(self.PART, PLAIN, liegg.Linear(3))
        assert isinstance(error.value, ModelError)

    def test_a_warning_on_request(self):
        sym = liegg.discover(self.PART, PLAIN, liegg.Linear(3), run=liegg.Run(hidden="warn"))
        warnings = [w for w in sym.decision.warnings if w.diagnosis is Diagnosis.HIDDEN_DERIVATIVE]
        assert len(warnings) == 1
        assert sym.settings["hidden"] == pytest.approx(0.35, abs=0.1)
        assert sym.nullity == 3  # of |x|², whose derivative it is

    def test_nobody_looks_on_request(self):
        sym = liegg.discover(self.PART, PLAIN, liegg.Linear(3), run=liegg.Run(hidden="ignore"))
        assert sym.settings["hidden"] is None
        assert not any(w.diagnosis is Diagnosis.HIDDEN_DERIVATIVE for w in sym.decision.warnings)

    def test_an_honest_model_says_nothing(self):
        for model in (TANH, RELU):
            sym = liegg.discover(model, PLAIN, liegg.Linear(3))
            assert 0 <= sym.settings["hidden"] < 0.03
            assert not any(
                w.diagnosis is Diagnosis.HIDDEN_DERIVATIVE for w in sym.decision.warnings
            )

    def test_controls_are_not_looked_at(self):
        """Re-initialised networks with a step of their own weights are part of an allowed analysis."""

        class Stepped(nn.Sequential):
            def forward(self, x):
                return super().forward(x) + 5 * x[:, :1].floor()

        model = Stepped(*network(nn.Tanh, 3, 8, 1))
        run = liegg.Run(hidden="warn", control_draws=2)
        sym = liegg.discover(model, PLAIN, liegg.Linear(3), controls="reinitialised", run=run)
        assert sym.controls.reinitialised is not None

    def test_layers_after_a_hidden_part_are_left_out(self):
        class Cut(nn.Module):
            def forward(self, x):
                return x + 3 * x[:, :1].detach()

        first, tanh, last = network(nn.Tanh, 3, 8, 2)
        model = nn.Sequential(first, tanh, Cut(), last)
        found = liegg.discover_layers(model, PLAIN, liegg.Linear(3))
        assert found.names == ("0", "1")
        assert "HiddenDerivativeError" in found.notes[0].values["reason"]
        run = liegg.Run(hidden="warn")
        assert liegg.discover_layers(model, PLAIN, liegg.Linear(3), run=run).names[-1] == "3"
        with pytest.raises(HiddenDerivativeError):
            liegg.discover_layers(model, PLAIN, liegg.Linear(3), layers=["3"])


def test_a_small_jump_that_is_not_refused_is_warned_of():
    """The step of series 3 that hides 2.9 % of the change, where 3 % are refused."""
    trap = make(Key("step", 5, 3))
    assert isinstance(trap, Trap)
    sym = liegg.discover(trap.model, trap.data, trap.action)
    assert Diagnosis.JUMPS_NOT_EXCLUDED in [w.diagnosis for w in sym.decision.warnings]
