"""From a claim to its findings."""

import pytest

from liegg.studies.claims.record import Claim, Finding, Outcome, Results, TooFewError, findings


def check(results: Results, reading: str) -> Outcome:
    if "few" in results["a"]:
        raise TooFewError("only one network")
    return Outcome(reading == "paper, sum", f"{reading}: {results['a']['value']}")


CLAIM = Claim("name", "A statement.", "5.1", "a", "0.5", check, needs=("b",))


def test_each_reading_is_asked():
    found = findings(CLAIM, {"a": {"quick": False, "value": 3}, "b": {"quick": False}})
    assert found == [
        Finding(
            "name", "A statement.", "5.1", "a", "0.5", "paper, sum", "paper, sum: 3", "holds", False
        ),
        Finding(
            "name",
            "A statement.",
            "5.1",
            "a",
            "0.5",
            "paper, each",
            "paper, each: 3",
            "does not hold",
            False,
        ),
    ]


@pytest.mark.parametrize("study", ["a", "b"])
def test_a_quick_run_of_any_study_it_needs_is_told(study):
    results = {"a": {"quick": False, "value": 3}, "b": {"quick": False}}
    results[study] = results[study] | {"quick": True}
    assert all(finding.quick for finding in findings(CLAIM, results))


@pytest.mark.parametrize(
    ("results", "ours"),
    [
        ({}, "no results of a; type `liegg reproduce a`"),
        ({"a": {"quick": True, "value": 3}}, "no results of b; type `liegg reproduce b`"),
        ({"a": {"quick": True, "few": 1}, "b": {"quick": False}}, "only one network"),
    ],
)
def test_what_cannot_be_decided_is_not_run(results, ours):
    found = findings(CLAIM, results)
    assert [(finding.verdict, finding.ours, finding.quick) for finding in found] == [
        ("not run", ours, bool(results))
    ] * 2
