"""The layout of charts: where marks, lines and ticks are."""

import math

import numpy as np
import pytest
import torch

from liegg.report.page import charts
from liegg.report.page.charts import CHARTED_DIRECTIONS, defects
from liegg.results.verification import Curve


def test_heights_are_logarithms_and_stop_at_the_edge(rotations):
    chart = defects(rotations.to_dict())
    heights = np.array([mark["y"] for mark in chart["marks"]])
    steps = np.diff(np.log10(rotations.defects[10:].numpy()))
    decade = (chart["place"](1e-3) - chart["place"](1e-1)) / 2
    np.testing.assert_allclose(-np.diff(heights[10:]) / decade, steps, atol=0.02 / decade)
    assert decade > 10
    assert set(heights[:10]) == {chart["place"](chart["low"])}  # far below the drawn decades
    assert chart["rulers"][0]["y"] == chart["place"](rotations.decision.thresholds.threshold)


def test_many_directions_are_drawn_around_the_gap(rotations):
    record = rotations.to_dict() | {
        "defects": [1e-3] * 150 + [0.1] * 10 + [1.0] * 50,
        "intervals": [[None, None]] * 150 + [[0.05, 0.2]] * 60,
        "grades": ["strong"] * 150 + ["weak"] * 10 + ["none"] * 50,
        "nullity": 150,
    }
    chart = defects(record)
    marks = chart["marks"]
    assert (chart["first"], len(marks), chart["count"]) == (110, CHARTED_DIRECTIONS, 210)
    assert [mark["kind"] for mark in marks] == ["found"] * 40 + ["weak"] * 10 + ["other"] * 30
    assert [mark["whisker"] is None for mark in marks] == [True] * 40 + [False] * 40
    assert marks[39]["tip"].startswith("direction 150: δ² = 0.001")
    assert "interval 0.05 to 0.2" in marks[40]["tip"]
    assert marks[39]["x"] < chart["gap"]["x"] < marks[40]["x"]


def measured(times, change, *, radius):
    """A curve whose controls are half of it to twice as large."""
    change = torch.tensor(change, dtype=torch.float64)
    return Curve(
        times=torch.tensor(times, dtype=torch.float64),
        change=change,
        control_mean=change,
        control_low=0.5 * change,
        control_high=2 * change,
        class_changes=None,
        control_class_changes=None,
        resampling=None,
        period=None,
        both_ways=False,
        speed=1.0,
        radius=radius,
        control_radius=radius,
    )


def test_curves_are_drawn_evenly_and_marked_where_they_were_measured():
    times = [0.01, 0.02, 1.0, 4.0]
    change = [0.0025 * t**2 for t in times]
    chart = charts.curve(measured(times, change, radius=4.0), "generator 1", 0.05)
    points = [tuple(map(float, pair.split(","))) for pair in dict(chart["lines"])["change"].split()]
    across = [x for x, _ in points]
    assert across == sorted(across)
    assert max(np.diff(across)) <= (chart["x1"] - chart["x0"]) / 80 + 0.1
    assert len(chart["measured"]) == 4
    for x, y in points:  # the root of r is linear in t, as the measured one is
        t = 4 * (x - chart["x0"]) / (chart["x1"] - chart["x0"])
        if t > 0.1:
            assert y == pytest.approx(chart["place"](0.0025 * t**2), abs=0.3)
    for mark in chart["measured"]:
        assert min(np.hypot(x - mark[0], y - mark[1]) for x, y in points) < 0.1


def test_a_curve_that_becomes_infinite():
    made = measured([1.0, 2.0, 4.0], [0.1, math.inf, math.inf], radius=1.0)
    chart = charts.curve(made, "generator 1", 0.05)
    assert "nan" not in dict(chart["lines"])["change"]
