"""What follows the pass is a function of the sums alone: solved, decided, named, with settings and notes."""

from dataclasses import replace

import numpy as np
import torch

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis, as_remark
from liegg.decision.thresholds import Thresholds
from liegg.discovery.solve_and_decide import solve_and_decide
from liegg.discovery.verdict import ModelInfo
from liegg.polarization import r_factor
from liegg.polarization.diagnostics import Diagnostics
from liegg.polarization.plan import Plan
from liegg.polarization.streaming import PassSums

X = normal(200, 3)
ACTION = liegg.Linear(3)
HOW = Plan("each", "vjp", seed=5, notes=(Diagnosis.TEXT(text="a plain note"),))
INFO = ModelInfo(
    dtype=torch.float64,
    device="cpu",
    model="by hand",
    unit=float(np.finfo(np.float64).eps),
    slope=4.0,
    nonlinearity=0.7,
    notes=(Diagnosis.TEXT(text="how it was read"),),
    shape=(3,),
)


def streamed(gradients, **rest):
    rows = ACTION.contract(gradients[:, None], X).flatten(0, 1)
    factor = r_factor.update(r_factor.init(9), rows)
    return PassSums(factor, ACTION.moment(X), 200, 1.0, "qr", **rest)


def decided(gradients, **rest):
    return solve_and_decide(streamed(gradients, **rest), ACTION, HOW, Thresholds(), info=INFO)


def test_sums_alone_decide():
    sym = decided(2 * X)
    assert (sym.nullity, sym.name, sym.model, sym.samples) == (3, "so(3)", "by hand", 200)
    assert sym.angles(liegg.so(3)).max() < 1e-12
    called = liegg.discover(lambda x: x.square().sum(1), X, ACTION, controls="none")
    torch.testing.assert_close(sym.defects, called.defects, rtol=1e-9, atol=1e-25)
    assert sym.controls.random is sym.decision.certainty is sym.accumulated.blocks is None
    assert bool(sym.intervals.isnan().all())


def test_settings_and_notes_say_how():
    sym = decided(2 * X, fits=16)
    expected = {
        "route": "vjp",
        "outputs": "each",
        "seed": 5,
        "accumulator": "qr",
        "nonlinearity": 0.7,
        "controls": "none",
        "blocks": 0,
        "dtype": "float64",
        "device": "cpu",
        "sample": [3],
        "unit": float(np.finfo(np.float64).eps),
        "bottom": None,
    }
    assert expected.items() <= sym.settings.items()
    assert sym.settings["versions"]["torch"] == torch.__version__
    assert [as_remark(note).diagnosis for note in sym.notes] == [
        Diagnosis.TEXT,
        Diagnosis.TEXT,
        Diagnosis.HALVED_BATCHES,
    ]
    assert as_remark(sym.notes[2]).values == {"device": "cpu", "samples": 16}


def test_what_is_wrong_with_the_model_comes_first():
    health = Diagnostics("ok", (Diagnosis.TEXT(text="one output never moves"),))
    sym = decided(2 * X, diagnostics=health, distinct=8)
    first, second = sym.decision.warnings
    assert (str(first), second.diagnosis) == ("one output never moves", Diagnosis.FEW_SAMPLES)


def test_a_still_model_is_undecided_unless_other_changes_move_it():
    sums = streamed(torch.zeros_like(X))
    for slope, expected in ((0.0, (0, 9)), (4.0, (9, 0))):
        info = replace(INFO, slope=slope)
        sym = solve_and_decide(sums, ACTION, HOW, Thresholds(), info=info)
        assert (sym.nullity, sym.decision.undecided) == expected
        assert sym.accumulated.solution.sensitivity == 0.0
        assert sym.defects.tolist() == [0.0] * 9
    assert Diagnosis.INVARIANT_UNDER_ALL in [w.diagnosis for w in sym.decision.warnings]


def test_only_the_smallest_are_recorded_if_only_these_were_requested():
    sums = streamed(2 * X)
    sym = solve_and_decide(sums, ACTION, HOW, Thresholds(), info=INFO, smallest=2)
    assert (len(sym.defects), sym.decision.unsolved, sym.decision.is_lower_bound) == (2, 7, True)
    assert sym.identification.reasons == (Diagnosis.MORE_THAN_SOLVED(),)
    assert sym.settings["bottom"] == 2
