"""Defects beside those of fresh weights, of random directions and of another model."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import liegg
from liegg._utils.errors import ArgumentError
from liegg.decision.controls import Controls, ReinitialisedControl

plot: Any = liegg.plot
"""Untyped: what figures hold is looked into, of which matplotlib's types know little."""


# Controls


def heights(ax, start):
    return [
        float(height)
        for line in ax.lines
        if line.get_label().startswith(start)
        for height in line.get_ydata()
    ]


def test_the_numbers_are_those_of_the_record(trained):
    ax = plot.controls(trained)
    random, fresh = trained.controls.random, trained.controls.reinitialised
    count = fresh.along.shape[1]
    least = min(heights(ax, "model"))
    model = np.array(heights(ax, "model"))
    assert np.allclose(np.sort(model), trained.defects[:count].clamp_min(least).numpy(), rtol=1e-12)
    for name, draws in (("same direction", fresh.along), ("same rank", fresh.own[:, :count])):
        drawn = np.array(heights(ax, f"re-initialised, {name} (3 models)")).reshape(3, count)
        assert np.allclose(drawn, draws.clamp_min(least).numpy(), rtol=1e-12)
    assert set(heights(ax, "random directions, median")) == {random.median}
    assert set(heights(ax, "5 % of them below")) == {random.low}
    assert set(heights(ax, "threshold")) == {trained.decision.thresholds.threshold}


def test_learned_directions_are_filled(nearly):
    draws = torch.tensor([[0.5, 0.001], [0.6, torch.nan]], dtype=torch.float64)
    untrained = ReinitialisedControl(draws, draws, (True, False))
    ax = plot.controls(replace(nearly, controls=replace(nearly.controls, reinitialised=untrained)))
    marks = {line.get_label(): line for line in ax.lines}
    assert list(marks["model, learned"].get_ydata()) == [float(nearly.defects[0])]
    assert list(marks["model, not clearly learned"].get_xdata()) == [2]
    assert marks["model, not clearly learned"].get_markerfacecolor() == "white"
    assert sorted(heights(ax, "re-initialised, same direction")) == [
        0.001,
        0.5,
        0.6,
    ]  # and nothing for the NaN
    assert ax.get_title() == "1 of the first 2 directions were learned"


def test_random_directions_alone(nearly):
    ax = plot.controls(nearly)
    assert heights(ax, "model, a symmetry") == nearly.defects[:3].tolist()
    assert heights(ax, "model, no symmetry") == nearly.defects[3:].tolist()
    assert not heights(ax, "re-initialised")


def test_no_control(nearly):
    with pytest.raises(
        ArgumentError, match=r"no control to draw; make one with discover\(..., controls='random'\)"
    ):
        plot.controls(replace(nearly, controls=Controls()))


# Two results


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
