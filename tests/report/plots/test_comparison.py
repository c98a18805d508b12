"""Two results side by side."""

from dataclasses import replace
from typing import Any

import pytest

import liegg
from liegg._utils.errors import ArgumentError

plot: Any = liegg.plot
"""Untyped: what figures hold is looked into, of which matplotlib's types know little."""


def marks(ax, marker):
    return [
        (x, y)
        for line in ax.lines
        if line.get_marker() == marker
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    ]


def test_both_results_are_drawn(nearly, nothing):
    ax = plot.comparison(nearly, nothing)
    first, second = marks(ax, "o"), marks(ax, "s")
    assert [height for _, height in first] == nearly.defects[:8].tolist()
    assert [height for _, height in second] == nothing.defects[:8].tolist()
    assert all(round(x) == i + 1 and x < i + 1 for i, (x, _) in enumerate(first))
    assert all(round(x) == i + 1 and x > i + 1 for i, (x, _) in enumerate(second))
    bars = [tuple(segment[:, 1]) for part in ax.collections for segment in part.get_segments()]
    assert bars == [tuple(ends) for sym in (nearly, nothing) for ends in sym.intervals[:8].tolist()]


def test_names_and_counts(nearly, nothing):
    texts = [text.get_text() for text in plot.comparison(nearly, nothing).get_legend().get_texts()]
    assert texts[:2] == ["model: 3 symmetries", "<lambda>: 0 symmetries"]
    texts = [text.get_text() for text in plot.comparison(nearly, nearly).get_legend().get_texts()]
    assert texts[:2] == ["model (1): 3 symmetries", "model (2): 3 symmetries"]
    ax = plot.comparison(nearly, nothing, names=("_$a$", "b" * 200))
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[0] == r" _\$a\$: 3 symmetries"
    assert len(texts[1]) < 80
    ax.figure.draw_without_rendering()


def test_symmetries_are_filled(nearly):
    ax = plot.comparison(nearly, nearly)
    filled = [
        line
        for line in ax.lines
        if line.get_marker() == "o" and line.get_markerfacecolor() != "white"
    ]
    assert [len(line.get_xdata()) for line in filled] == [3]


def test_every_threshold_is_drawn(nearly):
    thresholds = replace(nearly.decision.thresholds, threshold=0.1)
    other = replace(nearly, decision=replace(nearly.decision, thresholds=thresholds))
    labels = [line.get_label() for line in plot.comparison(nearly, other).lines]
    assert [label for label in labels if label.startswith("threshold")] == [
        "threshold 0.03",
        "threshold 0.1",
    ]


def test_as_many_as_asked_for(nearly):
    ax = plot.comparison(nearly, nearly, max_directions=2)
    assert len(marks(ax, "o")) == 2
    assert "(1–2 of 9)" in ax.get_xlabel()
    with pytest.raises(
        ArgumentError,
        match="max_directions=0: expected the number of directions to draw, 1 or more",
    ):
        plot.comparison(nearly, nearly, max_directions=0)
