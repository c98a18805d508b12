"""Thresholds: every one is checked, and a misspelt one is answered with its name."""

import math
from dataclasses import asdict, fields, replace
from typing import Any, cast

import pytest

from liegg._utils.errors import ArgumentError
from liegg.decision.thresholds import Thresholds

OUTSIDE = {
    "threshold": (0.0, -1.0, math.inf),
    "minimum_gap": (0.5, math.inf),
    "strong": (-1.0, math.inf),
    "weak": (-1.0, math.inf),
    "effect": (0.0, math.inf),
    "resolution": (-1.0, math.inf),
    "floor_factor": (0.0, -3.0, math.inf),
    "trivial_tolerance": (0.0, 1.0),
    "coverage": (-1e-3, 1.0),
    "linear": (-0.1, math.inf),
    "level": (0.4, 1.0),
}
INSIDE = {
    "minimum_gap": 1.0,
    "strong": 0.0,
    "weak": 0.0,
    "effect": 1e-9,
    "resolution": 0.0,
    "coverage": 0.0,
    "linear": 0.0,
    "level": 0.5,
}


def test_values_out_of_range_are_refused_and_the_message_says_what_to_type():
    assert OUTSIDE.keys() == {field.name for field in fields(Thresholds)}
    for field in fields(Thresholds):
        for value in OUTSIDE[field.name]:
            with pytest.raises(ArgumentError) as caught:
                Thresholds(**{field.name: value})
            text = str(caught.value)
            assert text.startswith(f"{field.name}={value!r}: expected "), text
            assert text.endswith(f"for example {field.name}={field.default:g}."), text


def test_values_that_are_not_numbers_are_refused(monkeypatch):
    monkeypatch.setattr("jaxtyping.config.jaxtyping_disable", True)
    for name in OUTSIDE:
        for value in ("0.1", True, None, math.nan):
            with pytest.raises(ArgumentError, match=f"^{name}={value!r}: expected a number"):
                Thresholds(**cast(Any, {name: value}))


def test_ends_that_are_included():
    for name, value in INSIDE.items():
        assert getattr(Thresholds(**{name: value}), name) == value
    assert Thresholds(minimum_gap=2).minimum_gap == 2


def test_a_misspelt_threshold_is_answered_with_its_name():
    with pytest.raises(ArgumentError, match=r"'treshold'.*threshold="):
        Thresholds(treshold=0.1)  # pyright: ignore[reportCallIssue]
    with pytest.raises(ArgumentError, match=r"'colour'.*minimum_gap"):
        Thresholds(colour=0.1)  # pyright: ignore[reportCallIssue]


def test_a_record_is_compared_and_copied_by_its_values():
    changed = replace(Thresholds(), threshold=0.1, level=0.9)
    assert changed == Thresholds(threshold=0.1, level=0.9) != Thresholds()
    assert Thresholds(**asdict(changed)) == changed
    with pytest.raises(ArgumentError, match="level="):
        replace(changed, level=2.0)
