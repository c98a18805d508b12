"""What cannot be verified is refused with words that help."""

import pytest
import torch

import liegg
from cases import normal, square
from liegg._utils.errors import ArgumentError
from liegg.discovery.verification.verify import verify

X = normal(100, 3)
SYM = liegg.discover(square, X, liegg.Linear(3))


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        (
            {"samples": 1},
            "samples=1: expected a whole number of 2 or more, for example samples=256",
        ),
        ({"points": 2.5}, "points=2.5: expected a whole number of 4 or more"),
        ({"controls": 0}, "controls=0: expected a whole number of 1 or more"),
        ({"seed": -1}, "seed=-1: expected a whole number from 0"),
        ({"fraction": 0.0}, "fraction=0.0: expected a positive share of the variance"),
        ({"fraction": float("inf")}, "fraction=inf: expected a positive share"),
        ({"longest": -1.0}, "longest=-1.0: expected None or a positive multiple"),
        ({"output_action": liegg.Linear(3)}, "output_action was given with a result of discover"),
        (
            {"output_generators": liegg.so(3)},
            "output_generators given without generators or without an output action",
        ),
        (
            {"generators": [1, 2]},
            "generators were given as list; expected a real floating point tensor",
        ),
        (
            {"generators": torch.full((1, 3, 3), torch.nan)},
            "expected a real floating point tensor .* of finite numbers",
        ),
        ({"generators": liegg.so(2)}, r"generators have shape \(1, 2, 2\); expected \[d, 3, 3\]"),
    ],
)
def test_arguments_that_make_no_sense(knobs, words, monkeypatch):
    monkeypatch.setattr(
        "jaxtyping.config.jaxtyping_disable", True
    )  # as users run it: the words, not beartype's
    with pytest.raises(ArgumentError, match=words):
        verify(square, X, SYM, **knobs)


@pytest.mark.parametrize(
    ("sym", "knobs", "words"),
    [
        (liegg.Linear(3), {}, "an action was given without generators"),
        ("so(3)", {}, "sym is a str; expected what liegg.discover"),
        (liegg.Linear(3), {"output_action": 3}, "output_action must be an action too"),
        (
            liegg.Linear(3),
            {
                "generators": liegg.so(3),
                "output_action": liegg.Linear(3),
                "output_generators": liegg.so(3)[:2],
            },
            "3 generators and 2 output_generators: expected one for each",
        ),
    ],
)
def test_actions_that_make_no_sense(sym, knobs, words, monkeypatch):
    monkeypatch.setattr("jaxtyping.config.jaxtyping_disable", True)
    with pytest.raises(ArgumentError, match=words):
        verify(square, X, sym, **knobs)


def test_no_generators_are_no_error():
    found = verify(square, X, liegg.Linear(3), liegg.so(3)[:0])
    assert found.curves == ()
    assert found.notes == ("no generator was given to verify",)
