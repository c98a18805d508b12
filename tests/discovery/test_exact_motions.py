"""Exact symmetries are tried at finite size: what a derivative hides is not called exact."""

import pytest
import torch

import liegg
from cases import normal, square
from liegg._utils.diagnoses import Diagnosis
from liegg.results.sentence import certainty_of

X = normal(500, 3)
SORTED = normal(4000, 3)[normal(4000, 3)[:, 0].argsort()]

BROKEN = {
    "hidden in later batches": (lambda x: square(x) + 5 * (x[:, 0] - 0.3).relu().detach(), SORTED),
    "half precision": (lambda x: square(x) + 3 * x[:, 0].detach(), X.bfloat16()),
    "a small step": (lambda x: square(x) + 0.1 * (x[:, 0] > 0), X),
    "a step beyond most samples": (lambda x: square(x) + 2 * (x[:, 0] > 2.6), normal(1000, 3)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_fails_at_finite_size_is_not_exact(name):
    function, x = BROKEN[name]
    sym = liegg.discover(function, x, liegg.Linear(3))
    assert Diagnosis.EXACT_REFUTED in [one.diagnosis for one in sym.decision.warnings]
    assert Diagnosis.SURE not in [one.diagnosis for one in certainty_of(sym)]
    assert sym.decision.exact < 3
    assert sym.nullity == sym.decision.exact or not sym.identification.confident
    for level in sym.tower:
        assert level.dimension <= sym.decision.exact or not level.confident


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_does_not_keep_what_is_refuted(dtype):
    """The hidden part is 4 % of the output's variance; rounding changes the output by less than a thousandth of it."""
    sym = liegg.discover(lambda x: square(x) + 0.6 * x[:, 0].detach(), X.to(dtype), liegg.Linear(3))
    assert Diagnosis.EXACT_REFUTED in [one.diagnosis for one in sym.decision.warnings]
    assert sym.decision.exact == 1
    assert sym.tower[0].name == "so(2)"


def turning(x):
    return x * x.norm(dim=1, keepdim=True)


@pytest.mark.parametrize(
    ("function", "x", "action", "output_action", "count"),
    [
        (square, X, liegg.Linear(3), None, 3),
        (square, (X + 1).float(), liegg.Linear(3), None, 3),
        (lambda x: (x[:, 0] * x[:, 1] / x[:, 2]).log(), X.exp(), liegg.Linear(3), None, 2),
        (
            lambda x: (x[:, 0] - x[:, 1]).norm(dim=1),
            normal(300, 2, 3),
            liegg.Affine(3, copies=2),
            None,
            6,
        ),
        (turning, X, liegg.Linear(3), liegg.Linear(3), 4),
        (square, X.bfloat16(), liegg.Linear(3), None, 3),
        # Motions out of the plane change the output, as its derivative off the plane says.
        (
            lambda x: square(x) + x[:, 2].square(),
            X * torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64),
            liegg.Linear(3),
            None,
            3,
        ),
    ],
    ids=[
        *("float64", "offset in float32", "positive numbers", "rigid", "equivariance", "bfloat16"),
        "samples in a plane",
    ],
)
def test_what_holds_stays_exact(function, x, action, output_action, count):
    sym = liegg.discover(function, x, action, output_action=output_action)
    assert (sym.nullity, sym.decision.exact) == (count, count)
    warned = {one.diagnosis for one in sym.decision.warnings}
    assert warned.isdisjoint({Diagnosis.EXACT_REFUTED, Diagnosis.EXACT_AT_SAMPLES})


def test_a_model_that_fails_on_moved_samples_is_analysed():
    def function(x):
        if len(x) and bool((x[:, 0] > 5).any()):
            raise ValueError("outside")
        return square(x)

    sym = liegg.discover(function, X, liegg.Linear(3), run=liegg.Run(hidden="ignore"))
    assert sym.nullity == 3


def bent(x):
    """Round but for one side in 400 samples, which 100 samples often do not show."""
    return square(x) + 50 * (x[:, 0] - 2.8).relu().square()


@pytest.mark.parametrize("seed", [500, 501])
def test_what_ends_where_motions_lead_is_exact_at_the_samples_only(seed):
    x = normal(100, 3, seed=seed)
    assert float(x[:, 0].max()) < 2.8
    sym = liegg.discover(bent, x, liegg.Linear(3))
    assert sym.decision.exact == 3
    assert Diagnosis.EXACT_AT_SAMPLES in [one.diagnosis for one in sym.decision.warnings]
    assert not sym.identification.confident
    assert not any(level.confident for level in sym.tower)
    assert sym.decision.nullity_interval is None


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_what_a_derivative_hides_is_not_taken_for_something_else(name):
    function, x = BROKEN[name]
    sym = liegg.discover(function, x, liegg.Linear(3))
    assert Diagnosis.EXACT_AT_SAMPLES not in [one.diagnosis for one in sym.decision.warnings]


KNOWN = {tuple(row) for row in X.tolist()}


def raising(x):
    if not all(tuple(row) in KNOWN for row in x.detach().tolist()):
        raise ValueError("no such sample")
    return square(x) + 0.3 * x[:, 0].detach()


def not_a_number(x):
    known = torch.tensor([tuple(row) in KNOWN for row in x.detach().tolist()])
    return torch.where(known, square(x) + 0.3 * x[:, 0].detach(), torch.nan)


@pytest.mark.parametrize("function", [raising, not_a_number])
def test_a_model_that_fails_on_moved_samples_is_not_sure(function):
    """It hides a part of its output, which only moved samples show."""

    sym = liegg.discover(function, X, liegg.Linear(3))
    assert sym.nullity == 3
    assert Diagnosis.EXACT_UNTRIED in [one.diagnosis for one in sym.decision.warnings]
    assert Diagnosis.SURE not in [one.diagnosis for one in certainty_of(sym)]
