# pyright: reportOptionalMemberAccess=false, reportArgumentType=false
"""Two models asked the same: known differences, pairing, and what cannot be told."""

import math
from dataclasses import replace

import pytest
import torch

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg.results.answers import Answers
from liegg.results.comparison_text import compared_cell


def points(n=300, seed=0):
    return torch.randn(n, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def asked(function, x=None, about="rotation"):
    return liegg.discover(function, points() if x is None else x, liegg.Linear(2), about=about)


def side(x):
    return torch.stack([x[:, 0], -x[:, 0]], dim=1)


def ring(x):
    return torch.stack([x.square().sum(1) - 1, 1 - x.square().sum(1)], dim=1)


def bent(x):
    return x[:, 0] ** 2 + 2 * x[:, 1] ** 2


def test_the_difference_of_changed_predictions_is_paired():
    (pair,) = liegg.compare(asked(side), asked(ring), names=("side", "ring")).answers
    assert pair.measure == "predictions"
    assert pair.paired
    assert pair.smaller == "b"
    assert pair.b.finite.share.value == 0
    assert pair.difference.value == pytest.approx(pair.a.finite.share.value)
    assert pair.remark.diagnosis is Diagnosis.MOTION_CHANGES_LESS
    assert pair.remark.values["model"] == "ring"


def test_predictions_of_one_are_not_compared_with_outputs_of_the_other():
    """Both changes are then those of the output: 105 % of the spread, not 61 % of the predictions."""
    x = points()
    classes = liegg.discover(side, x, liegg.Linear(2), about="rotation", target="classes")
    values = liegg.discover(side, x, liegg.Linear(2), about="rotation", target="values")
    found = liegg.compare(classes, values, names=("classes", "values"))
    (pair,) = found.answers
    assert pair.measure == "output"
    assert pair.a.changed == pair.b.changed != classes.answers[0].changed
    assert pair.smaller == ""
    assert pair.difference.value == pytest.approx(0)
    expected = Diagnosis.TASKS_DIFFER(classes="classes", values="values")
    assert expected in found.notes
    assert classes.answers[0].finite.share is not None


def odd_ring(x):
    """Classes by distance, as logits whose sum varies, so that nothing says that they are classes."""
    square = x.square().sum(1)
    return torch.stack([square + x[:, 0], 2 + x[:, 0] + square.square() / 4], 1)


def test_outputs_that_may_be_classes_are_compared_with_classes_as_such():
    """Rotations keep which output is larger, although both outputs change."""
    classes, open_ = asked(side), asked(odd_ring)
    (answer,) = open_.answers
    assert open_.settings["task"] == "undecided"
    assert answer.finite.share is None
    assert answer.finite.largest.share.value == 0
    assert answer.finite.amount > 0.1
    assert answer.remarks[0].diagnosis is Diagnosis.MOTION_CHANGES_LARGEST
    assert answer.remarks[0].values["share"] == "0 %"
    found = liegg.compare(classes, open_, names=("classes", "open"))
    (pair,) = found.answers
    assert (pair.measure, pair.smaller) == ("predictions", "b")
    assert pair.difference.value == pytest.approx(classes.answers[0].finite.share.value)
    assert Diagnosis.TASK_ASSUMED(classes="classes", values="open") in found.notes
    (both,) = liegg.compare(open_, open_, names=("one", "other")).answers
    assert both.measure == "output"
    assert "0 % of its predictions, if its outputs are classes" in both.sentence
    assert both.largest_first
    assert "predictions, if classes" in str(liegg.compare(open_, open_, names=("one", "other")))


def test_a_part_of_the_output_is_answered_before_predictions():
    """One logit is the same at every angle, the other is not; so which is larger changes."""
    x = points()

    def model(x):
        return torch.stack([x.square().sum(1), x[:, 0] + 1], dim=1)

    for target, holds, part in ((0, True, "logit of class 0"), (1, False, "logit of class 1")):
        sym = liegg.discover(model, x, liegg.Linear(2), target=target, about="rotation")
        (answer,) = sym.answers
        assert part in answer.part
        assert answer.holds is holds
        assert answer.finite.share is None
        assert answer.finite.largest.share.value > 0.1
        assert answer.finite.predictions is not None
        said = answer.remarks[0]
        if holds:
            assert said.diagnosis is Diagnosis.MOTION_CHANGES_NOTHING_OF
        else:
            assert said.diagnosis is Diagnosis.MOTION_CHANGES_PART_AND_PREDICTIONS
            assert said.values["percent"] == answer.changed
        assert "predictions changed" in str(liegg.compare(sym, sym, names=("one", "other")))
        (pair,) = liegg.compare(sym, sym).answers
        assert pair.measure == "output"


def test_motions_outside_the_candidates_have_a_ratio_of_defects():
    """Brightness is not a map of the plane; one model reads it more than the other."""
    drawn = torch.Generator().manual_seed(0)
    x = torch.rand(60, 1, 8, 8, generator=drawn, dtype=torch.float64)
    weights = torch.rand(64, 1, generator=drawn, dtype=torch.float64)
    level = weights - weights.mean()

    def model(x, share):
        return torch.tanh(x.flatten(1) @ (level + share * weights.mean()))

    one, other = (
        liegg.discover(
            lambda x, s=s: model(x, s), x, liegg.Image(), about="brightness", target="values"
        )
        for s in (0.2, 0.6)
    )
    (pair,) = liegg.compare(one, other).answers
    assert not pair.a.inside
    assert not pair.paired_ratio
    assert pair.ratio.value == pytest.approx(pair.b.defect / pair.a.defect)
    assert 1 < pair.ratio.low < pair.ratio.value < pair.ratio.high
    assert pair.ratio.high <= pair.b.interval[1] / pair.a.interval[0]
    assert pair.ratio.low >= pair.b.interval[0] / pair.a.interval[1]
    derived = [
        replace(sym, answers=Answers(replace(answer, finite=None) for answer in sym.answers))
        for sym in (one, other)
    ]
    (pair,) = liegg.compare(*derived).answers
    assert (pair.measure, pair.smaller, pair.smaller_in_words) == ("defect", "a", "a (δ²)")
    assert "larger motions were not compared" in pair.sentence
    (pair,) = liegg.compare(one, derived[1]).answers
    assert compared_cell(pair, pair.a).startswith(
        "δ²"
    )  # not the change of one beside the δ² of the other
    assert pair.size_in_words() == ""
    (same,) = liegg.compare(one, one).answers
    assert same.smaller == ""


def test_means_over_other_angles_are_not_compared():
    """A model changes more at some angles than at others, and is not less invariant than itself for that."""
    x = points()
    sym = asked(side, x)
    (answer,) = sym.answers
    elsewhere = replace(answer.finite, sizes=answer.finite.sizes + 5, each_changed=torch.ones(256))
    other = replace(sym, answers=Answers([replace(answer, finite=elsewhere)]))
    found = liegg.compare(sym, other)
    assert [pair.measure for pair in found.answers] == ["defect"]
    assert found.answers[0].smaller == ""
    note = Diagnosis.SIZES_DIFFER(motions="rotation", count=1, first="a", second="b")
    assert note in found.notes
    assert note not in liegg.compare(sym, sym).notes


def test_other_samples_are_not_paired():
    (pair,) = liegg.compare(asked(side), asked(side, points(seed=1))).answers
    assert not pair.paired
    assert not pair.paired_ratio
    assert pair.smaller == ""
    assert pair.remark.diagnosis is Diagnosis.MOTION_CHANGES_ALIKE
    assert pair.ratio.low < 1 < pair.ratio.high


def test_a_multiple_of_a_model_is_exactly_as_symmetric():
    """Every block adds the same to both defects, so that a paired interval has no width."""
    one, other = asked(bent), asked(lambda x: 3 * bent(x))
    (pair,) = liegg.compare(one, other, about={"spin": liegg.so(2)}).answers
    assert pair.measure == "defect"
    assert pair.paired_ratio
    assert [pair.ratio.value, pair.ratio.low, pair.ratio.high] == pytest.approx([1, 1, 1])
    assert pair.smaller == ""


def test_the_interval_of_the_ratio_covers():
    """Of pairs of samples from one distribution, in which the true ratio is 1."""
    covered = 0
    for seed in range(60):
        results = [asked(bent, points(seed=2 * seed + part), about=()) for part in (0, 1)]
        (pair,) = liegg.compare(*results, about={"spin": liegg.so(2)}).answers
        covered += pair.ratio.low <= 1 <= pair.ratio.high
    assert covered >= 60 * 0.95 - 3 * math.sqrt(60 * 0.95 * 0.05)


def test_exact_and_inexact_are_told_apart_by_their_output():
    (pair,) = liegg.compare(asked(lambda x: x.square().sum(1)), asked(bent)).answers
    assert pair.measure == "output"
    assert pair.smaller == "a"
    assert math.isnan(pair.ratio.value)


def test_what_only_one_was_asked_is_left_out():
    one, other = asked(bent), asked(bent, about=())
    assert liegg.compare(one, other).answers == ()
    (pair,) = liegg.compare(one, other, about="rotation").answers
    assert pair.measure == "defect"


def test_the_comparison_begins_with_the_motion():
    found = liegg.compare(asked(side), asked(ring), names=("side", "ring"))
    assert str(found).startswith("ring is clearly more invariant to rotation")
    assert found.to_dict()["answers"][0]["smaller"] == "b"


def test_names_are_two():
    for names in [("a",), ("a", "a"), ("a", "b", "c"), ("", "b"), ()]:
        sym = asked(bent)
        with pytest.raises(ArgumentError):
            liegg.compare(sym, sym, names=names)
