# pyright: reportAttributeAccessIssue=false
"""Arguments that cannot be verified are refused with a message that helps."""

import pytest
import torch

import liegg
from cases import normal, square
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg.discovery.verification.verify import verify

X, LINEAR = normal(100, 3), liegg.Linear(3)

WRONG_NUMBERS = [
    ({"samples": 1}, "samples=1: expected an integer from 2 to 100000, for example samples=256"),
    ({"points": 2.5}, "points=2.5: expected a whole number"),
    ({"controls": 0}, "controls=0: expected an integer from 1"),
    ({"seed": -1}, "seed=-1: expected a whole number from 0"),
    ({"fraction": 0.0}, "fraction=0.0: expected a positive share of the variance"),
    ({"fraction": float("inf")}, "fraction=inf"),
    ({"longest": -1.0}, "longest=-1.0: expected None or a positive multiple"),
    ({"effort": "little"}, "effort='little': expected 'auto' or 'full'"),
    ({"progress": 3}, "progress=3: expected a function"),
    ({"output_generators": liegg.so(3)}, "without an output action"),
    ({"generators": [1, 2]}, "generators=.1, 2.: expected a tensor"),
    ({"generators": torch.full((1, 3, 3), torch.nan)}, "finite numbers"),
    ({"generators": liegg.so(2)}, r"generators have shape \(1, 2, 2\); expected \[d, 3, 3\]"),
    ({"generators": torch.ones(2, 8)}, r"shape \(2, 8\); expected coefficients \[d, 9\]"),
    ({"generators": None}, "an action was given without generators"),
    ({"sym": "so(3)"}, "sym='so.3.': expected what liegg.discover returns"),
    ({"output_action": 3}, "output_action=3: expected an action"),
    (
        {"output_action": LINEAR, "output_generators": liegg.so(3)[:2]},
        "3 generators and 2 output_generators: expected one for each",
    ),
]


def test_invalid_arguments(monkeypatch):
    monkeypatch.setattr("jaxtyping.config.jaxtyping_disable", True)  # as users run it
    for knobs, words in WRONG_NUMBERS:
        with pytest.raises(ArgumentError, match=words):
            verify(square, X, **{"sym": LINEAR, "generators": liegg.so(3)} | knobs)
    sym = liegg.discover(square, X, LINEAR)
    with pytest.raises(ArgumentError, match="output_action was given with a result of discover"):
        verify(square, X, sym, output_action=LINEAR)


def test_no_generators_are_not_an_error():
    result = verify(square, X, LINEAR, liegg.so(3)[:0])
    assert result.curves == ()
    assert [note.diagnosis for note in result.notes] == [Diagnosis.NO_GENERATOR_GIVEN]


def test_coefficients_are_generators_too():
    by_matrix = verify(square, X, LINEAR, liegg.so(3)[:1])
    by_row = verify(square, X, LINEAR, liegg.so(3)[:1].flatten(1))
    torch.testing.assert_close(by_row.curves[0].control_mean, by_matrix.curves[0].control_mean)
