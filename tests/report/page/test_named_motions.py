"""Named motions on the slider, and the labels that the model predicts."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

import liegg
from cases import normal
from liegg._utils.errors import ArgumentError
from liegg.report.motions import checked_samples
from liegg.report.page.named_motions import NAMED_BASIS, checked_classes, named_motions
from liegg.report.page.page import report_html
from liegg.report.page.stage import motions_of, stage_of
from liegg.results.answers import Answers


def motions(sym, samples, classes=None):
    stage, x = stage_of(sym.action, samples), checked_samples(sym.action, samples)
    listed = motions_of(sym, stage, named_motions(sym, stage, x, classes))["list"]
    return {one["label"]: one for one in listed if one["basis"] == NAMED_BASIS}


def test_labels_are_what_the_model_predicts(classified, plane):
    motion = motions(classified, plane[:8], ["right", "left"])["turn"]
    angles = torch.atan2(plane[:8, 1], plane[:8, 0])
    assert len(motion["places"]) == 10  # eight angles, the start and a whole turn
    assert motion["longest"] == motion["period"] == pytest.approx(2 * math.pi)
    for k, time in enumerate(motion["places"]):
        expected = ["right" if math.cos(angle + time) > 0 else "left" for angle in angles]
        assert [row[k] for row in motion["predictions"]] == expected


def test_sizes_belong_to_times(classified_images):
    sym, x = classified_images
    for motion in motions(sym, x[:3]).values():
        sizes = motion["sizes"]
        assert sizes["times"][-1] == motion["longest"]
        assert (sizes["times"][0], sizes["values"][0]) == (0, 0)
    shift = motions(sym, x[:3])["shift"]
    assert shift["sizes"]["values"][-1] == pytest.approx(0.25 * 3)  # pixels: half of 6 is 1
    assert shift["longest"] == pytest.approx(0.25)


def test_only_samples_of_the_data_have_labels(classified, plane):
    mixed = torch.cat([plane[4:5], normal(1, 2, seed=9), plane[1:2]])
    rows = motions(classified, mixed)["turn"]["predictions"]
    assert [row is None for row in rows] == [False, True, False]
    own = motions(classified, plane[:8])["turn"]["predictions"]
    assert [rows[0], rows[2]] == [own[4], own[1]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_samples_are_known_in_the_dtype_of_the_model(plane, dtype):
    model = torch.nn.Linear(2, 3).to(dtype)
    sym = liegg.discover(model, plane, liegg.Linear(2), about="rotation", target="classes")
    for samples in (plane[:4], plane[:4].numpy(), plane[:4].to(dtype)):
        assert None not in motions(sym, samples)["rotation"]["predictions"]


def test_motions_outside_the_candidates_are_drawn(classified_images):
    sym, x = classified_images
    found = motions(sym, x[:2])
    assert list(found) == [answer.name for answer in sym.answers]
    np.testing.assert_allclose(found["shift"]["place"], [[0, 0, 1], [0, 0, 0], [0, 0, 0]])
    assert found["shift"]["colour"] is None
    assert found["contrast"]["place"] is None
    np.testing.assert_allclose(found["contrast"]["colour"], np.diag([1, 1, 1, 0]))
    assert found["shift"]["note"]  # one of two generators is drawn


def test_colours_of_channels_that_are_averaged_are_not_drawn():
    x, weights = normal(30, 2, 6, 6), normal(72, 3)
    sym = liegg.discover(lambda x: (x.flatten(1) @ weights).tanh(), x, liegg.Image())
    assert list(motions(sym, x[:2])) == ["rotation", "shift", "scaling", "shear"]


def test_results_without_times_have_no_labels(classified, plane):
    (answer,) = classified.answers
    older = replace(answer, finite=replace(answer.finite, times=None))
    sym = replace(classified, answers=Answers([older]))
    motion = motions(sym, plane[:2])["turn"]
    assert (motion["curve"], motion["sizes"], motion["predictions"]) == (None, None, None)
    assert answer.sentence.partition(" %")[0] in report_html(sym, samples=plane[:2])


@pytest.mark.parametrize("classes", ["ab", [], [1, 2], ["one"]], ids=repr)
def test_names_of_classes_are_checked(classified, plane, classes, tmp_path):
    with pytest.raises(ArgumentError, match="classes="):
        classified.report(tmp_path / "page.html", samples=plane[:2], classes=classes)


def test_more_names_than_predictions(classified, rotations):
    assert checked_classes(classified, ["a", "b", "c"]) == ("a", "b", "c")
    assert checked_classes(rotations, ["a"]) == ("a",)
    assert checked_classes(classified, None) is None
