"""Variance and bias: the numbers of the record, the symmetries in their own colour."""

from dataclasses import replace
from typing import Any

import pytest
from matplotlib.colors import to_hex

import liegg
from liegg.report.plots import FOUND, OTHER

plot: Any = liegg.plot
"""Untyped: what figures hold is looked into, of which matplotlib's types know little."""


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
    assert 0 < heights[0] <= 1e-30
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
