"""What all figures share; on disk: whole, the same for the same figure, in the formats asked for."""

import math
from itertools import pairwise
from typing import Any

import matplotlib
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import liegg
from liegg._utils.errors import ArgumentError, MissingExtraError
from liegg.report.numbers import decades, window
from liegg.report.plots.style import FOUND, MUTED, OTHER, THIRD, figure, legend, lowest, plain, tidy

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


@given(
    st.lists(st.floats(1e-320, 1.7e308) | st.sampled_from([0.0, math.nan, math.inf]), max_size=5)
)
def test_the_lower_end_lies_twelve_decades_below_the_largest_at_most(values):
    least = lowest(torch.tensor(values, dtype=torch.float64))
    assert least > 0
    positive = [value for value in values if 0 < value < math.inf]
    large = [value for value in positive if value > max(1e-10 * max(positive), 1e-299)]
    assert all(value > least for value in large)
    low, high = decades(values)
    assert low == least < high < math.inf
    if positive and max(positive) > 1e-280:
        assert least >= 1e-14 * max(positive)


@pytest.mark.parametrize("text", ["$x$", "a $ b", "$\\frac{1$", "_hidden", "ordinary"])
def test_any_text_is_drawn_letter_by_letter(text):
    ax = plot.figure().subplots()
    ax.set_title(plain(text))
    ax.plot([0], [0], label=plain(text))
    ax.legend()
    ax.figure.draw_without_rendering()
    assert not ax.title.get_text().replace(r"\$", "").count("$")
    assert len(ax.get_legend_handles_labels()[0]) == 1


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


# On disk


SIGNATURES = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def small():
    made = plot.figure(2, 2)
    made.subplots().plot([1, 2, 3], label="δ²")
    return made


@pytest.mark.parametrize("name", ["one", "one.png", "one.svg", "one.PDF"])
def test_both_formats_by_default_whatever_the_ending(tmp_path, name):
    paths = plot.save_figure(small(), tmp_path / "folder" / name)
    assert paths == [tmp_path / "folder" / "one.png", tmp_path / "folder" / "one.svg"]
    assert sorted(path.name for path in (tmp_path / "folder").iterdir()) == ["one.png", "one.svg"]


def test_a_dot_in_a_name_is_no_ending(tmp_path):
    assert plot.save_figure(small(), tmp_path / "layer1.conv", formats=["png"]) == [
        tmp_path / "layer1.conv.png"
    ]


@pytest.mark.parametrize("ending", SIGNATURES)
def test_the_same_figure_gives_the_same_bytes(tmp_path, ending, monkeypatch):
    wholes = []
    for k in range(2):
        monkeypatch.setenv(
            "SOURCE_DATE_EPOCH", str(10**9 * (k + 1))
        )  # what matplotlib takes for the date, where it writes one
        (path,) = plot.save_figure(small(), tmp_path / f"{k}", formats=(ending,))
        wholes.append(path.read_bytes())
    assert wholes[0].startswith(SIGNATURES[ending])
    assert all(one == other for one, other in pairwise(wholes))
    assert b"CreationDate" not in wholes[0]
    assert b"<dc:date>" not in wholes[0]


def test_pdf_holds_its_fonts_as_outlines_that_journals_take(tmp_path):
    (path,) = plot.save_figure(small(), tmp_path / "one", formats="pdf")
    content = path.read_bytes()
    assert b"/Type3" not in content
    assert b"/FontFile2" in content


def test_axes_and_parts_stand_for_their_figure(tmp_path):
    made = plot.figure(2, 2)
    part = made.subfigures(1, 2)[0].subfigures(2, 1)[0]
    ax = part.subplots()
    whole = plot.save_figure(made, tmp_path / "whole", formats=("png",))[0].read_bytes()
    for k, source in enumerate((part, ax)):
        assert (
            plot.save_figure(source, tmp_path / f"{k}", formats=("png",))[0].read_bytes() == whole
        )


def test_axes_that_were_removed_have_no_figure(tmp_path):
    ax = plot.figure().subplots()
    ax.remove()
    with pytest.raises(ArgumentError, match="expected a figure, or axes of one"):
        plot.save_figure(ax, tmp_path / "none")


@pytest.mark.parametrize("formats", [(), ("jpg",), "jpg", ("png", "eps")])
def test_unknown_formats_are_refused(tmp_path, formats):
    with pytest.raises(ArgumentError, match="expected some of 'png', 'svg' and 'pdf'"):
        plot.save_figure(small(), tmp_path / "none", formats=formats)
    assert not list(tmp_path.iterdir())


def test_a_figure_that_cannot_be_drawn_leaves_nothing(tmp_path):
    made = small()
    made.axes[0].set_title(r"$\frac{1$")  # matplotlib refuses that formula when it draws
    (tmp_path / "one.png").write_bytes(b"as it was")
    with pytest.raises(ValueError, match="frac"):
        plot.save_figure(made, tmp_path / "one")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [
        ("one.png", b"as it was")
    ]


def test_what_a_figure_function_returns_can_be_saved(tmp_path, exact):
    paths = plot.save_figure(
        plot.defects(exact), tmp_path / "defects", formats=("png", "svg", "pdf")
    )
    assert [path.suffix for path in paths] == [".png", ".svg", ".pdf"]
    assert all(path.stat().st_size > 5000 for path in paths)
