"""The record in words and as JSON."""

import json

import pytest
import torch

from liegg.results.verification import Curvature, Curve, Verification

TIMES = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)


def made(
    change: list[float],
    *,
    radius: float,
    period: float | None = 4.0,
    control_radius: float = 0.5,
    **other,
) -> Curve:
    high = torch.tensor([1.0, 2.0, torch.inf], dtype=torch.float64)
    values = torch.tensor(change, dtype=torch.float64)
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


def whole(*curves: Curve, group: Curve | None = None, notes: tuple[str, ...] = ()) -> Verification:
    return Verification(curves, group, 0.05, 2.0, 1.0, 100, 8, 0, "net", "Linear(2)", notes)


def test_a_motion_that_holds():
    curve = made([1e-9, 2e-9, 1e-10], radius=4.0)
    assert curve.holds
    assert (
        curve.sentence()
        == "holds over the whole period, r at most 2e-09; random directions of equal displacement up to 45°"
    )


def test_a_motion_that_breaks_on_the_way():
    curve = made([0.01, 0.1, 0.3], radius=1.5)
    assert not curve.holds
    assert curve.sentence().startswith("holds up to 135°, r up to 0.3")


def test_a_motion_that_never_comes_back_is_told_by_how_far_the_samples_go():
    curve = made([0.0, 0.0, 0.0], radius=4.0, period=None)
    assert (
        "holds up to a motion of 1 of the data's spread, as far as it was followed"
        in curve.sentence()
    )
    assert "random directions of equal displacement up to a motion of 0.12" in curve.sentence()


def test_controls_that_hold_too_are_no_contrast():
    assert (
        "so do random directions of equal displacement"
        in made([0.0] * 3, radius=4.0, control_radius=4.0).sentence()
    )


def test_classes_and_resampling_are_told():
    share = torch.tensor([0.0, 0.01, 0.0], dtype=torch.float64)
    sentence = made(
        [0.0] * 3,
        radius=4.0,
        class_changes=share,
        control_class_changes=50 * share,
        resampling=share,
    ).sentence()
    assert "classes change for up to 1.0% of the samples (random: 50.0%)" in sentence
    assert "resampling alone makes r up to 0.01" in sentence


@pytest.mark.parametrize(
    ("curvature", "words"),
    [
        (Curvature(1.0, 0.1, 0.0, 0.0), ""),
        (
            Curvature(1.0, 0.1, 0.0, 0.0, 0.5, 2.0, agrees=False),
            "; curvature 2 of the prediction, beyond the error",
        ),
        (
            Curvature(1.0, 0.1, 0.0, 0.0, 1.0, 1.0, agrees=True),
            "; curvature 1 of the prediction, within the error",
        ),
        (
            Curvature(1e-30, 0.0, 0.0, 1e-20, 0.0, None, agrees=True),
            "; the curvature is at the floor, as predicted",
        ),
        (
            Curvature(1.0, 0.0, 0.0, 1e-20, 0.0, None, agrees=False),
            "; the curvature is not what was predicted",
        ),
    ],
)
def test_curvature_in_words(curvature, words):
    plain = made([0.0] * 3, radius=4.0).sentence()
    assert made([0.0] * 3, radius=4.0, curvature=curvature).sentence() == plain + words


def test_one_line_to_a_generator_one_for_the_group_and_the_notes():
    good, bad = made([0.0] * 3, radius=4.0), made([1.0] * 3, radius=0.1)
    found = whole(good, good, group=bad, notes=("mind this",))
    assert found.holds is False
    assert whole(good).holds is True
    assert whole().holds is None
    lines = str(found).splitlines()
    assert lines[0] == "net under Linear(2) at finite size: 2 generators on 100 samples"
    assert [line.strip().partition(":")[0] for line in lines[2:]] == [
        "generator 1",
        "generator 2",
        "the group",
        "note",
    ]
    assert repr(found) == "Verification(curves=2, holds=False, samples=100, model='net')"


def test_json_has_every_field_and_no_infinity():
    curvature = Curvature(1.0, 0.1, float("nan"), 0.0)
    written = json.loads(
        json.dumps(
            whole(made([0.0] * 3, radius=4.0, curvature=curvature)).to_dict(), allow_nan=False
        )
    )
    (curve,) = written["curves"]
    assert curve["control_high"] == [1.0, 2.0, None]
    assert curve["curvature"]["numerical_error"] is None
    assert curve["times"] == TIMES.tolist()
    assert written["group"] is None
    assert (
        written["fraction"],
        written["samples"],
        written["holds"],
        len(written["sentences"]),
    ) == (0.05, 100, True, 1)
