"""Errors counted by hand."""

from typing import Any

import pytest

from liegg.studies.error_rates.tally import (
    by_label,
    coverage,
    inventions,
    nonlinear,
    recoveries,
    rule_errors,
    upper_limit,
)


def row(family: str, count: int, expected: int = 0, **more: Any) -> dict[str, Any]:
    base = {
        "family": family,
        "kind": "k",
        "n": 3,
        "copies": 1,
        "action": "Linear",
        "outputs": 1,
        "samples": 100,
        "dtype": "float64",
        "nonlinear": True,
        "warned": False,
        "expected": expected,
        "exact": count,
        "strong": count,
        "approximate": 0,
        "range": None,
        "last": 4e-32 if expected else None,
        "next": 0.5,
        "rounding_unit": 1e-16,
        "angle": 0.001 if count == expected else None,
        "counts": {"liegg": count, "other": 1},
    }
    return base | more


def test_inventions() -> None:
    rows = [
        row("asymmetric", 0),
        row("asymmetric", 2),
        row("asymmetric", 1, strong=0, approximate=1, warned=True),
        row("asymmetric", 3, strong=1, approximate=2),
    ]
    found = inventions(rows)
    assert {key: found[key] for key in ("cases", "false", "strong", "approximate", "unwarned")} == {
        "cases": 4,
        "false": 3,
        "strong": 2,
        "approximate": 2,
        "unwarned": 2,
    }
    assert inventions([])["upper"] is None


def test_recoveries() -> None:
    found = recoveries(
        [
            row("exact", 3, 3),
            row("exact", 2, 3),
            row("exact", 5, 3),
            row("exact", 3, 3, exact=2, last=9e-32, angle=0.2),
        ]
    )
    assert found == {
        "cases": 4,
        "right": 2,
        "exact": 1,
        "missed": 1,
        "extra": 1,
        "held": None,
        "angle": 0.2,
        "rounding": 9.0,
    }
    ranged = [
        row("exact", 3, 3, range=[3, 3]),
        row("exact", 2, 3, range=[2, 3]),
        row("exact", 5, 3, range=[5, 6]),
    ]
    assert recoveries(ranged)["held"] == 2


def test_counts_by_label_add_up_to_the_whole() -> None:
    rows = [
        row("asymmetric", index % 3 == 0, n=2 + index % 2, dtype=("float32", "float64")[index % 2])
        for index in range(12)
    ]
    told = by_label(rows, inventions)
    assert list(told["n"]) == ["2", "3"]
    for values in told.values():
        assert sum(one["cases"] for one in values.values()) == 12
        assert sum(one["false"] for one in values.values()) == 4


def test_rule_errors_take_only_what_the_question_is_about() -> None:
    rows = [
        row("asymmetric", 0),
        row("asymmetric", 1, nonlinear=False),
        row("confined", 1),
        row("exact", 3, 3),
        row("exact", 1, 1),
    ]
    told = {"expected": 3, "repeats": 10}
    broken = [
        told | {"strength": 0.001, "right": {"liegg": 10, "other": 4}},
        told | {"strength": 0.5, "right": {"liegg": 0, "other": 0}},
    ]
    errors = rule_errors(rows, broken, [row("trained", 9, 10)])
    assert len(nonlinear(rows)) == 1
    wrong = {
        rule: [(one["wrong"], one["cases"]) for one in errors[rule].values()] for rule in errors
    }
    assert wrong == {
        "liegg": [(0, 1), (0, 2), (0, 10), (1, 1)],
        "other": [(1, 1), (1, 2), (6, 10), (1, 1)],
    }


def test_coverage_is_pooled_over_kinds() -> None:
    one = {
        "strength": 0.1,
        "samples": 200,
        "stated": 10,
        "expected": 3,
        "covered_smallest": 9,
        "covered_all": 27,
    }
    none = {
        "strength": 0.1,
        "samples": 500,
        "stated": 0,
        "expected": 3,
        "covered_smallest": 0,
        "covered_all": 0,
    }
    found = coverage([one, one | {"expected": 1, "covered_smallest": 10, "covered_all": 10}, none])
    assert found == [
        {"strength": 0.1, "samples": 200, "stated": 20, "smallest": 0.95, "all": 0.925},
        {"strength": 0.1, "samples": 500, "stated": 0, "smallest": None, "all": None},
    ]


def test_the_upper_limit_is_wilsons() -> None:
    """The end where the rate observed is 1.96 standard errors below."""
    for wrong, cases in ((0, 300), (5, 40), (40, 40)):
        limit = upper_limit(wrong, cases)
        assert limit is not None
        if limit < 1:
            assert (limit - wrong / cases) / (limit * (1 - limit) / cases) ** 0.5 == pytest.approx(
                1.96, rel=0.02
            )
