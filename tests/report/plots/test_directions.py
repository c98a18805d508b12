"""Directions: values, intervals, grades, limits and gap are those of the record, symmetries in their own colour."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from matplotlib.colors import to_hex

import liegg
from liegg.decision.controls import Controls, RandomControl
from liegg.decision.grades import GRADES
from liegg.report.plots import FOUND, OTHER
from liegg.report.plots.directions import GRADE_LOOKS, draw_bars
from liegg.report.plots.style import lowest

plot: Any = liegg.plot
"""Untyped: what figures hold is looked into, of which matplotlib's types know little."""


# Variance and bias


def series(ax):
    return {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in ax.lines}


def test_variances(nearly):
    ax = plot.spectrum(nearly)
    values = nearly.spectrum.values.tolist()
    assert series(ax) == {
        "symmetry": ([1, 2, 3], values[:3]),
        "no symmetry": ([4, 5, 6, 7, 8, 9], values[3:]),
    }
    assert [to_hex(line.get_color()) for line in ax.lines] == [FOUND, OTHER]
    assert ax.lines[0].get_marker() != ax.lines[1].get_marker()
    assert ax.get_yscale() == "log"
    assert ax.get_title() == "3 of 9 directions are symmetries"
    assert ax.get_ylabel() == "symmetry variance  σ²/|D|"


def test_bias(nearly):
    ax = plot.bias(nearly, liegg.so(3), "so(3)")
    drawn = [height for _, heights in series(ax).values() for height in heights]
    assert drawn == nearly.bias(liegg.so(3)).tolist()
    assert ax.get_ylabel() == "symmetry bias against so(3)"
    assert ax.get_ylim() == (-0.05, 1.1)


def test_axes_of_your_own_are_drawn_into(nearly):
    left, right = plot.figure().subplots(1, 2)
    assert plot.spectrum(nearly, left) is left
    assert plot.bias(nearly, liegg.so(3), "so(3)", right) is right


def test_what_is_nothing_beside_the_rest_lies_at_the_lower_end(exact):
    values = exact.spectrum.values.clone()
    values[0] = 0.0
    other = replace(exact)
    vars(other)["spectrum"] = replace(
        exact.spectrum, values=values
    )  # where the record keeps it once it is solved
    ax = plot.spectrum(other)
    heights = series(ax)["symmetry"][1]
    assert heights == [lowest(values)] * 3  # rounding errors are drawn as zeros are
    assert 1e-13 * float(values.max()) < heights[0] <= 1e-10 * float(values.max())
    assert ax.get_ylabel().endswith("or less)")


@pytest.mark.parametrize("most", [4, 5])
def test_few_directions_around_the_gap(nearly, most):
    ax = plot.spectrum(nearly, max_directions=most)
    places = sorted(place for across, _ in series(ax).values() for place in across)
    assert len(places) == most
    assert {3, 4} <= set(places)
    assert ax.get_xlabel() == f"direction, most invariant first ({places[0]}–{places[-1]} of 9)"


def test_nothing_found(nothing):
    ax = plot.spectrum(nothing)
    assert list(series(ax)) == ["no symmetry"]
    assert ax.get_title() == "0 of 4 directions are symmetries"


def test_a_name_with_dollars_is_no_formula(nearly):
    ax = plot.bias(nearly, liegg.so(3), r"$\frac{1$ of it$")
    ax.figure.draw_without_rendering()  # which would raise for a formula that makes no sense
    assert r"\$\frac{1\$ of it\$" in ax.get_ylabel()


# Defects


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


def test_a_floor_among_the_defects_is_drawn(nearly):
    ax = plot.defects(replace(nearly, decision=replace(nearly.decision, floor=1e-2)))
    low, high = ax.get_ylim()
    assert low < 1e-2 < high
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
    assert tuple(GRADE_LOOKS) == GRADES
    assert (
        len({marker for marker, _ in GRADE_LOOKS.values()})
        == len({colour for _, colour in GRADE_LOOKS.values()})
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
    assert [marks[name].get_marker() for name in marks] == [
        GRADE_LOOKS[grade][0] for grade in GRADES
    ]


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


def test_bars_are_the_intervals_that_there_are():
    ax = plot.figure().subplots()
    ends = torch.tensor([[0.1, 0.2], [math.nan, math.nan], [0.0, 0.5]], dtype=torch.float64)
    draw_bars(ax, [1, 2, 3], ends, 1e-3, colour=FOUND)
    (bars,) = ax.collections
    assert [segment.tolist() for segment in bars.get_segments()] == [
        [[1, 0.1], [1, 0.2]],
        [[3, 1e-3], [3, 0.5]],
    ]


def test_no_interval_draws_nothing():
    ax = plot.figure().subplots()
    draw_bars(ax, [1], torch.full((1, 2), torch.nan, dtype=torch.float64), 1e-3, colour=FOUND)
    assert not ax.collections
    assert not ax.lines


# All on one page


def test_with_a_reference(exact):
    made = plot.overview(exact, liegg.so(3), "so(3)")
    left, right = made.axes[:2]
    assert left.get_ylabel().startswith("symmetry variance")
    assert right.get_ylabel() == "symmetry bias against so(3)"
    assert sum(bool(ax.images) for ax in made.axes) == 3


def test_without_a_reference_the_defects(nothing):
    made = plot.overview(nothing)
    assert made.axes[0].get_ylabel().startswith("defect")
    made.draw_without_rendering()


def test_every_figure_is_public():
    assert set(plot.__all__) >= {
        "spectrum",
        "defects",
        "bias",
        "generators",
        "field",
        "verification",
        "controls",
        "motion",
        "layers",
        "comparison",
        "overview",
        "figure",
        "save_figure",
        "FOUND",
        "OTHER",
        "THIRD",
        "MUTED",
    }
    assert all(hasattr(liegg.plot, name) for name in plot.__all__)
