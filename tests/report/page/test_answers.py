"""Answers about named motions on a page: the table, its bars, and the line charts."""

import re
from dataclasses import replace

import pytest

import liegg
from cases import normal
from liegg._utils.text import percentage
from liegg.actions import Motion
from liegg.report.page.answers import BAR_EDGE, BAR_WIDTH, answers_of
from liegg.report.page.charts import BOTTOM, CHART_HEIGHT, CHART_WIDTH, LEFT, RIGHT, TOP
from liegg.report.page.page import report_html
from liegg.results.answers import Answers


def shown_of(sym):
    shown = answers_of(sym.answers)
    assert shown is not None
    return shown


def place(share: float) -> float:
    """Where a share of 1 lies in a bar."""
    return BAR_EDGE + share * (BAR_WIDTH - 2 * BAR_EDGE)


def test_the_table_of_predictions(classified):
    shown, finite = shown_of(classified), classified.answers[0].finite
    (row,) = shown["rows"]
    assert (shown["quantity"], shown["samples"], shown["level"]) == ("predictions", 60, "95")
    assert (row["name"], row["size"], row["kind"]) == ("turn", "random angle", "other")
    assert row["changed"] == percentage(finite.share.value)
    assert row["random"] == percentage(finite.random_share)
    assert re.findall(r"[\d.]+", row["interval"]) == [
        percentage(end).removesuffix(" %") for end in (finite.share.low, finite.share.high)
    ]
    assert row["bar"]["value"] == pytest.approx(place(finite.share.value), abs=0.01)
    assert row["bar"]["random"] == pytest.approx(place(finite.random_share), abs=0.01)
    assert row["bar"]["ends"] == pytest.approx(
        (place(finite.share.low), place(finite.share.high)), abs=0.01
    )


def test_the_line_chart_of_predictions(classified):
    (curve,) = shown_of(classified)["curves"]
    finite = classified.answers[0].finite
    numbers = curve["numbers"]
    assert numbers["sizes"] == [0, *finite.sizes.tolist(), 360]
    assert numbers["change"] == pytest.approx([0, *(100 * finite.changed).tolist(), 0])
    assert numbers["control_mean"] == pytest.approx([0, *(100 * finite.random_changed).tolist(), 0])
    for (x, y), size, change in zip(
        curve["chart"]["points"]["change"], numbers["sizes"], numbers["change"], strict=True
    ):
        assert x == pytest.approx(LEFT + size / 360 * (CHART_WIDTH - RIGHT - LEFT), abs=0.01)
        assert y == pytest.approx(
            CHART_HEIGHT - BOTTOM - change / 100 * (CHART_HEIGHT - BOTTOM - TOP), abs=0.01
        )


def test_rounding_is_written_as_zero_in_the_table_too(plane):
    about = {"turn": liegg.so(2)}
    sym = liegg.discover(lambda x: x.square().sum(1), plane, liegg.Linear(2), about=about)
    (answer,) = sym.answers
    assert answer.finite is not None
    assert answer.finite.amount > 0
    assert (answer.grade, answer.changed) == ("exact", "0 %")
    assert shown_of(sym)["rows"][0]["changed"] == "0 %"


def test_one_output_is_told_in_per_cent_of_its_spread(plane):
    cube = lambda x: x[:, 0] ** 3 + x[:, 1]  # noqa: E731
    about = {"grow": liegg.scaling(2), "turn": liegg.so(2)}
    sym = liegg.discover(cube, plane, liegg.Linear(2), about=about)
    shown = shown_of(sym)
    assert (shown["quantity"], shown["level"]) == ("output", "")
    for row, answer, curve in zip(shown["rows"], sym.answers, shown["curves"], strict=True):
        finite = answer.finite
        assert finite is not None
        assert row["changed"] == percentage(finite.amount)
        assert row["bar"]["ends"] is None
        last = 100 * float(finite.change[-1]) ** 0.5
        assert curve["numbers"]["change"][len(finite.sizes)] == pytest.approx(last)


def test_equivariance(plane):
    model = lambda x: x * x.square().sum(1, keepdim=True)  # noqa: E731
    sym = liegg.discover(
        model, plane, liegg.Linear(2), output_action=liegg.Linear(2), about="rotation"
    )
    shown = shown_of(sym)
    assert (shown["quantity"], shown["adjective"], shown["holds"]) == (
        "output",
        "equivariant",
        True,
    )
    assert [row["kind"] for row in shown["rows"]] == ["found"]


def test_without_finite_motions_the_derivative_answers(classified):
    derived = classified.about({"other": liegg.so(2)})
    shown = answers_of(derived)
    assert shown is not None
    (row,) = shown["rows"]
    assert (shown["quantity"], shown["curves"]) == ("derivative", [])
    assert row["changed"] == percentage(derived[0].defect ** 0.5)
    assert row["random"] == percentage(1.0)
    html = report_html(replace(classified, answers=derived), samples=normal(2, 2))
    assert derived[0].sentence.partition(" %")[0] in html


def test_undecided_and_not_measured():
    x = normal(40, 2)
    sym = liegg.discover(lambda x: 0 * x + 1, x, liegg.Linear(2), about="rotation")
    (row,) = shown_of(sym)["rows"]
    assert (row["kind"], row["bar"]) == ("undecided", None)


def test_a_change_that_is_not_finite_is_at_the_edge(plane):
    finite = {"grow": Motion(liegg.scaling(2), 1.0, unit="%")}
    sym = liegg.discover(
        lambda x: (50 * x[:, 0] ** 2).exp(), plane / 3, liegg.Linear(2), about=finite
    )
    answer = sym.answers[0]
    assert answer.finite is not None
    broken = replace(answer.finite, change=answer.finite.change / 0, amount=float("inf"))
    shown = answers_of(Answers([replace(answer, finite=broken)]))
    assert shown is not None
    assert shown["rows"][0]["bar"]["value"] == BAR_WIDTH - BAR_EDGE
    assert shown["curves"][0]["numbers"]["change"] == [0.0, None, None]
    assert report_html(replace(sym, answers=Answers([replace(answer, finite=broken)])))


def test_a_unit_without_a_size_has_no_curve(plane):
    motion = Motion(liegg.so(2), 0.5, unit="°")  # without per_unit all its sizes are 0
    sym = liegg.discover(lambda x: x[:, 0], plane, liegg.Linear(2), about={"turn": motion})
    assert shown_of(sym)["curves"] == []
    assert report_html(sym, samples=plane[:2])


def test_no_answers(rotations):
    assert answers_of(rotations.answers) is None
