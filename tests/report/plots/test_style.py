"""What all figures share."""

import math
from typing import Any

import matplotlib
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import liegg
from liegg._utils.errors import MissingExtraError
from liegg.report.numbers import window
from liegg.report.plots.style import (
    FOUND,
    MUTED,
    OTHER,
    THIRD,
    figure,
    legend,
    lowest,
    plain,
    tidy,
    whiskers,
)

plot: Any = liegg.plot
"""Untyped: what figures hold is looked into, of which matplotlib's types know little."""


def luminance(colour):
    """Relative luminance by WCAG."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", [FOUND, OTHER, THIRD, MUTED])
def test_colours_stand_out_from_paper(colour):
    assert 1.05 / (luminance(colour) + 0.05) > 3  # WCAG's contrast of graphics


def test_a_figure_has_the_size_asked_for_and_no_window():
    made = figure(3.0, 2.0)
    assert isinstance(made, Figure)
    assert tuple(made.get_size_inches()) == (3.0, 2.0)


def test_without_matplotlib_the_error_says_what_to_type(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(
        MissingExtraError, match=r"figures need matplotlib. Type: pip install 'liegg\[plot\]'"
    ):
        figure()


@given(st.integers(0, 500), st.integers(0, 500), st.integers(2, 100))
def test_the_window_holds_the_gap(total, found, most):
    found = min(found, total)
    shown = window(total, found, most)
    assert len(shown) == min(total, most)
    assert not len(shown) or 0 <= shown.start < shown.stop <= total
    if 0 < found < total:
        assert found - 1 in shown
        assert found in shown


@given(st.lists(st.floats(1e-300, 1e300) | st.just(0.0) | st.just(math.nan), max_size=5))
def test_the_lower_end_lies_below_all_that_can_be_told_apart(values):
    least = lowest(torch.tensor(values, dtype=torch.float64))
    assert least > 0
    positive = [value for value in values if value > 0]
    assert all(value > least for value in positive if value > 1e-33 * max(positive))


@pytest.mark.parametrize("text", ["$x$", "a $ b", "$\\frac{1$", "_hidden", "ordinary"])
def test_any_text_is_drawn_letter_by_letter(text):
    ax = plot.figure().subplots()
    ax.set_title(plain(text))
    ax.plot([0], [0], label=plain(text))
    ax.legend()
    ax.figure.draw_without_rendering()
    assert not ax.title.get_text().replace(r"\$", "").count("$")
    assert len(ax.get_legend_handles_labels()[0]) == 1


def test_whiskers_are_the_intervals_that_there_are():
    ax = plot.figure().subplots()
    ends = torch.tensor([[0.1, 0.2], [math.nan, math.nan], [0.0, 0.5]], dtype=torch.float64)
    whiskers(ax, [1, 2, 3], ends, 1e-3, FOUND)
    (bars,) = ax.collections
    assert [segment.tolist() for segment in bars.get_segments()] == [
        [[1, 0.1], [1, 0.2]],
        [[3, 1e-3], [3, 0.5]],
    ]


def test_no_interval_draws_nothing():
    ax = plot.figure().subplots()
    whiskers(ax, [1], torch.full((1, 2), torch.nan, dtype=torch.float64), 1e-3, FOUND)
    assert not ax.collections
    assert not ax.lines


def test_a_legend_goes_below_only_where_the_figure_makes_room():
    cases: list[tuple[Any, bool]] = [(plot.figure(), True), (Figure(), False)]
    for made, below in cases:
        ax = made.subplots()
        ax.plot([1, 2], label="a line")
        legend(ax, columns=2)
        made.draw_without_rendering()
        box = ax.get_legend().get_window_extent()
        assert bool(box.y1 < ax.get_window_extent().y0) is below
        assert box.y0 >= 0
        assert box.y1 <= made.bbox.y1


def test_directions_are_counted_in_whole_numbers():
    ax = plot.figure().subplots()
    ax.plot([1, 2, 3], [1, 2, 3])
    tidy(ax, integer_ticks=True)
    assert all(tick == int(tick) for tick in ax.get_xticks())
    assert not ax.spines["top"].get_visible()


def test_a_strange_style_stays_as_it_is(exact):
    with matplotlib.rc_context({"axes.titlesize": 30, "lines.linewidth": 7}):
        before = dict(matplotlib.rcParams)
        plot.overview(exact)
        assert dict(matplotlib.rcParams) == before
