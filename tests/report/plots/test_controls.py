"""Controls: the defects beside those of fresh weights and of random directions."""

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
    for name, draws in (("same direction", fresh.along), ("same rank", fresh.own)):
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
