"""The record as a dict: JSON values only, and nothing of the record missing."""

import json
from dataclasses import asdict

import numpy as np

import liegg
from cases import CASES, conjugated_map, lorentz, network, normal

KEYS = {
    "model",
    "question",
    "samples",
    "rows",
    "action",
    "output_action",
    "nullity",
    "variance",
    "spectrum",
    "defects",
    "sensitivity",
    "generators",
    "output_generators",
    "generator_variance",
    "generator_defect",
    "trivial",
    "name",
    "identification",
    "decision",
    "settings",
    "notes",
    "intervals",
    "grades",
    "control",
    "reinitialised",
    "words",
    "generator_words",
    "candidate_words",
    "candidates",
    "coefficients",
    "bias",
    "verification",
    "bottom",
}


def summed(case):
    return liegg.discover(case.function, case.data, case.action).to_dict()


def test_is_json():
    for case in CASES:
        record = summed(case)
        assert json.loads(json.dumps(record, allow_nan=False)) == record, case
        assert record.keys() == KEYS, case


def test_tells_what_was_found():
    case = lorentz()
    sym = liegg.discover(case.function, case.data, case.action)
    record = sym.to_dict()
    assert (record["question"], record["nullity"], record["samples"], record["rows"]) == (
        "invariance",
        6,
        200,
        200,
    )
    np.testing.assert_array_equal(record["generators"], sym.generators)
    np.testing.assert_array_equal(record["spectrum"], sym.spectrum.values)
    np.testing.assert_array_equal(record["defects"], sym.defects)
    assert record["output_generators"] is None
    assert record["decision"]["thresholds"] == asdict(sym.decision.thresholds)
    for key in ("reasons", "warnings"):
        stored, remarks = record["decision"][key], getattr(sym.decision, key)
        assert [one["diagnosis"] for one in stored] == [r.diagnosis.name.lower() for r in remarks]
        assert [one["text"] for one in stored] == list(map(str, remarks))
    assert record["words"] == list(sym.words)
    assert len(record["words"]) == 6
    assert [near["defect"] for near in record["candidates"]] == sym.defects[6:9].tolist()
    assert record["bias"] is not None
    assert max(record["bias"][:6]) < 1e-9
    assert record["settings"]["versions"]["liegg"] == liegg.__version__


def test_each_generator_has_its_numbers():
    record = summed(lorentz())
    assert len(record["generator_variance"]) == len(record["generator_defect"]) == 6
    assert max(record["generator_defect"]) < 1e-28


def test_none_found():
    record = summed(network())
    assert (record["nullity"], record["generators"], record["generator_defect"]) == (0, [], [])
    assert len(record["candidates"]) == 3
    assert record["candidates"][0]["interval"][0] < record["candidates"][0]["defect"]


def test_an_infinite_gap_is_null():
    found = liegg.discover(
        lambda x: x.square().sum(1), normal(50, 3), liegg.Linear(3).restrict(liegg.so(3))
    )
    assert found.nullity == 3
    assert found.to_dict()["decision"]["gap"] is None


def test_equivariance_has_both_sides():
    case = conjugated_map()
    record = liegg.discover(
        case.function, case.data, case.action, output_action=case.output_action
    ).to_dict()
    assert record["question"] == "equivariance"
    assert np.shape(record["generators"]) == (3, 6, 6)
    assert np.shape(record["output_generators"]) == (3, 3, 3)
    assert record["output_action"] == {
        "kind": "linear",
        "n": 3,
        "copies": 1,
        "layout": "copies_first",
    }
    assert max(record["generator_defect"]) < 1e-28
