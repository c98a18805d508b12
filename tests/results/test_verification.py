# pyright: reportAttributeAccessIssue=false
"""The result of a verification: remarks, JSON and reading back."""

import json
import re

import torch

from liegg._utils.diagnoses import Diagnosis
from liegg.results.verification import Curvature, Curve, Verification, verification_from_dict

TIMES = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)


def curve(
    change: float, *, radius: float, period: float | None = 4.0, control_radius=0.5, **other
) -> Curve:
    high = torch.tensor([1.0, 2.0, torch.inf], dtype=torch.float64)
    values = torch.tensor([0.0, 0.0, change], dtype=torch.float64)
    knobs = {"class_changes": None, "control_class_changes": None, "resampling": None} | other
    return Curve(
        TIMES,
        values,
        high,
        high / 2,
        high,
        period=period,
        both_ways=period is None,
        speed=0.25,
        radius=radius,
        control_radius=control_radius,
        **knobs,
    )


def result(*curves: Curve, group: Curve | None = None, notes=()) -> Verification:
    return Verification(curves, group, 0.05, 2.0, 1.0, 100, 8, 0, "net", "Linear(2)", notes)


def members(remarks) -> list[Diagnosis]:
    return [remark.diagnosis for remark in remarks]


def test_a_motion_holds_for_a_period_or_as_far_as_it_was_followed_or_fails_on_the_way():
    share = torch.tensor([0.0, 0.01, 0.0], dtype=torch.float64)
    cases = {
        Diagnosis.HOLDS_FOR_PERIOD: curve(2e-9, radius=4.0),
        Diagnosis.HOLDS_THROUGHOUT: curve(2e-9, radius=4.0, period=None),
        Diagnosis.HOLDS_UP_TO: curve(0.3, radius=1.5),
    }
    for member, one in cases.items():
        assert members(one.remarks) == [member, Diagnosis.CONTROLS_FAIL]
        assert one.holds is (member is not Diagnosis.HOLDS_UP_TO)
    assert cases[Diagnosis.HOLDS_UP_TO].remarks[0].values == {"extent": "135°", "change": 0.3}
    assert cases[Diagnosis.HOLDS_FOR_PERIOD].remarks[1].values == {"extent": "45°"}
    far = cases[Diagnosis.HOLDS_THROUGHOUT].remarks[0].values["extent"]
    assert far == "a motion of 1 of the data's spread"
    rich = curve(
        0.0,
        radius=4.0,
        control_radius=4.0,
        class_changes=share,
        control_class_changes=50 * share,
        resampling=share,
    )
    assert members(rich.remarks[1:]) == [
        Diagnosis.CONTROLS_HOLD_TOO,
        Diagnosis.CLASSES_CHANGE,
        Diagnosis.RESAMPLING_CHANGE,
    ]
    assert rich.remarks[2].values == {"share": 0.01, "control": 0.5}


def test_curvature_agrees_differs_or_is_at_the_floor():
    cases = [
        (Curvature(1.0, 0.1, 0.0, 0.0), None),
        (Curvature(1.0, 0.1, 0.0, 0.0, 0.5, 2.0, agrees=False), Diagnosis.CURVATURE_DIFFERS),
        (Curvature(1.0, 0.1, 0.0, 0.0, 1.0, 1.0, agrees=True), Diagnosis.CURVATURE_AGREES),
        (Curvature(1e-30, 0.0, 0.0, 1e-20, 0.0, agrees=True), Diagnosis.CURVATURE_AT_FLOOR),
        (Curvature(1.0, 0.0, 0.0, 1e-20, 0.0, agrees=False), Diagnosis.CURVATURE_UNPREDICTED),
    ]
    for start, member in cases:
        further = members(curve(0.0, radius=4.0, curvature=start).remarks[2:])
        assert further == ([] if member is None else [member])


def test_the_result_holds_if_every_curve_does():
    good, bad = curve(0.0, radius=4.0), curve(1.0, radius=0.1)
    both = result(good, good, group=bad, notes=(Diagnosis.TEXT(text="mind this"),))
    assert (both.holds, result(good).holds, result().holds) == (False, True, None)
    for width in (60, 80, 120, 200):
        lines = both.table(width=width).splitlines()
        assert max(map(len, lines)) <= width
        starts = [line[2:].partition(":")[0] for line in lines if re.match("  [a-z]", line)]
        assert starts == ["generator 1", "generator 2", "the group", "note"]
    assert str(both.summary) in " ".join(str(both).split())
    nothing = result(notes=(Diagnosis.NOTHING_TO_VERIFY(),))
    assert str(nothing).count(Diagnosis.NOTHING_TO_VERIFY()) == 1
    assert repr(both) == "Verification(curves=2, holds=False, samples=100, model='net')"
    assert "2 of 2 generators hold" in both.summary
    assert "fail after 12 %" in both.summary


def test_json_has_every_field_and_no_infinity_and_is_read_back():
    start = Curvature(1.0, 0.1, float("nan"), 0.0)
    notes = (
        Diagnosis.NEARLY_PERIODIC(count=1, generators="1", gap=0.05),
        Diagnosis.TEXT(text="of the model"),
    )
    whole = result(curve(0.0, radius=4.0, curvature=start), notes=notes)
    written = json.loads(json.dumps(whole.to_dict(), allow_nan=False))
    (one,) = written["curves"]
    assert one["control_high"] == [1.0, 2.0, None]
    assert one["curvature"]["numerical_error"] is None
    assert one["times"] == TIMES.tolist()
    assert (written["group"], written["fraction"], written["holds"]) == (None, 0.05, True)
    again = verification_from_dict(written)
    assert again.notes == notes
    assert again.notes[0].diagnosis is Diagnosis.NEARLY_PERIODIC
    torch.testing.assert_close(again.curves[0].control_high, whole.curves[0].control_high)
