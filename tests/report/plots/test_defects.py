"""Defects: values, intervals, grades, limits and gap are those of the record."""

from dataclasses import replace
from typing import Any

import pytest
import torch

import liegg
from liegg.decision.controls import Controls, RandomControl
from liegg.decision.grades import GRADES
from liegg.report.plots.defects import LOOKS

plot: Any = liegg.plot
"""Untyped: what figures hold is looked into, of which matplotlib's types know little."""


def points(ax):
    """Heights by place, of the marks of all grades."""
    marks = [line for line in ax.lines if line.get_label().endswith(")")]
    return {
        place: height
        for line in marks
        for place, height in zip(line.get_xdata(), line.get_ydata(), strict=True)
    }


def level(ax, start):
    (line,) = [line for line in ax.lines if line.get_label().startswith(start)]
    assert len(set(line.get_ydata())) == 1
    return line.get_ydata()[0]


def test_values_and_intervals(nearly):
    ax = plot.defects(nearly)
    drawn = points(ax)
    assert list(drawn) == list(range(1, 10))
    assert list(drawn.values()) == nearly.defects.tolist()
    known = nearly.intervals.isfinite().all(1)
    assert bool(known.all())
    bars = {
        segment[0][0]: tuple(segment[:, 1])
        for part in ax.collections
        for segment in part.get_segments()
    }
    assert bars == {i + 1: tuple(ends) for i, ends in enumerate(nearly.intervals.tolist())}
    assert "bars: 95 % intervals" in ax.get_xlabel()


def test_limits(nearly):
    ax = plot.defects(nearly)
    assert level(ax, "threshold 0.03") == nearly.decision.thresholds.threshold
    assert level(ax, "random directions, lowest 5 %") == nearly.controls.random.low
    assert level(ax, "rounding floor") == nearly.decision.floor
    assert ax.get_ylim()[0] > nearly.decision.floor
    (floor,) = [
        text.get_text() for text in ax.get_legend().get_texts() if "floor" in text.get_text()
    ]
    assert floor.endswith("off the axis")


def test_a_floor_among_the_defects_is_drawn(exact):
    ax = plot.defects(exact)
    low, high = ax.get_ylim()
    assert low < exact.decision.floor < high
    assert not [text for text in ax.get_legend().get_texts() if "off the axis" in text.get_text()]


def test_no_control_no_line(nearly):
    assert not [
        line
        for line in plot.defects(replace(nearly, controls=Controls())).lines
        if "random" in line.get_label()
    ]
    endless = replace(nearly, controls=Controls(RandomControl(torch.inf, torch.inf, 0.05, 0)))
    assert not [line for line in plot.defects(endless).lines if "random" in line.get_label()]


def test_the_gap(nearly):
    ax = plot.defects(nearly)
    arrow, words = ax.texts
    assert arrow.xy == (3.5, float(nearly.defects[3]))
    assert arrow.xyann == (3.5, float(nearly.defects[2]))
    assert float(words.get_text().removeprefix("gap × ")) == pytest.approx(
        nearly.decision.gap, rel=0.05
    )


def test_every_grade_has_a_shape_and_a_colour_of_its_own():
    assert tuple(LOOKS) == GRADES
    assert (
        len({marker for marker, _ in LOOKS.values()})
        == len({colour for _, colour in LOOKS.values()})
        == len(GRADES)
    )


def test_grades_are_told_apart_and_counted(nearly):
    grades = ("exact", "strong", "approximate", "weak", "weak", "none", "none", "none", "none")
    ax = plot.defects(replace(nearly, decision=replace(nearly.decision, grades=grades)))
    marks = {line.get_label(): line for line in ax.lines if line.get_label().endswith(")")}
    assert list(marks) == [
        "exact (1)",
        "strong (1)",
        "approximate (1)",
        "weak (2)",
        "no symmetry (4)",
    ]
    assert list(marks["weak (2)"].get_xdata()) == [4, 5]
    assert [marks[name].get_marker() for name in marks] == [LOOKS[grade][0] for grade in GRADES]


def test_undecided_directions_are_called_so(undecided):
    ax = plot.defects(undecided)
    (mark,) = [line for line in ax.lines if line.get_label() == "undecided (3)"]
    assert list(mark.get_xdata()) == [1, 2, 3]
    assert not ax.texts


def test_a_window_still_counts_all(nearly):
    ax = plot.defects(nearly, max_directions=2)
    assert list(points(ax)) == [3, 4]
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert {"approximate (3)", "no symmetry (6)"} <= set(labels)
    assert "(3–4 of 9)" in ax.get_xlabel()


def test_nothing_moves_the_data():
    sym = liegg.discover(
        lambda x: x.sum(1), torch.zeros(5, 2, dtype=torch.float64), liegg.Linear(2)
    )
    ax = plot.defects(sym)
    assert [text.get_text() for text in ax.texts] == ["no candidate direction moves the data"]
    ax.figure.draw_without_rendering()


def test_nothing_overlaps(nearly, exact, trained):
    """The legend lies outside the axes, and no name of an axis lies on another."""
    for sym in (nearly, exact, trained):
        ax = plot.defects(sym)
        ax.figure.draw_without_rendering()
        box = ax.get_legend().get_window_extent()
        assert not box.overlaps(ax.get_window_extent())
        assert not box.overlaps(ax.xaxis.label.get_window_extent())
        assert ax.figure.bbox.x0 <= box.x0
        assert box.x1 <= ax.figure.bbox.x1
