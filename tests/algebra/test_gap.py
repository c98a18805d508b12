"""Invariants against GAP's exact answers, on the same algebras conjugated and mixed at random."""

import json

import pytest

from algebra.gap import algebras as make
from algebra.gap.ask import ALGEBRAS, ANSWERS, exact_constants
from liegg.algebra import so
from liegg.algebra.structure.invariants import invariants

STORED = {
    answer["name"]: answer for answer in json.loads(ANSWERS.read_text(encoding="utf-8"))["answers"]
}


def summary(constants):
    """The invariants that GAP was asked for."""
    found = invariants(constants)
    types = [simple.dynkin for simple in found.simple for _ in range(1 + simple.complex)]
    return {
        "dimension": found.dimension,
        "derived_series": list(found.derived_series),
        "lower_central_series": list(found.lower_central_series),
        "centre": len(found.centre),
        "radical": len(found.radical),
        "nilradical": len(found.nilradical),
        "levi": len(found.levi),
        "ideals": sorted(simple.dimension for simple in found.simple),
        "type": sorted(types),
        "rank": found.rank,
    }


def test_every_algebra_has_an_answer():
    assert list(STORED) == list(ALGEBRAS)
    assert len(STORED) >= 30


def test_gap_says_the_same():
    for name, generators in ALGEBRAS.items():
        expected = {key: value for key, value in STORED[name].items() if key != "name"}
        expected |= {"ideals": sorted(expected["ideals"]), "type": sorted(expected["type"].split())}
        constants = make.constants_of(generators(), seed=len(name), condition=100.0)
        assert summary(constants) == expected, name


def test_questions_are_exact():
    constants = exact_constants(so(3))
    assert constants == {(0, 1): {2: 1}, (0, 2): {1: -1}, (1, 2): {0: 1}}
    with pytest.raises(ValueError, match="not the rational combination"):
        exact_constants(so(3)[:2])
    with pytest.raises(ValueError, match="not integer"):
        exact_constants(so(3) / 2)
