"""The layout of charts: where marks, lines and ticks are."""

import numpy as np

from liegg.report.page.charts import MAX_DIRECTIONS, defects


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
    assert (chart["first"], len(marks), chart["count"]) == (110, MAX_DIRECTIONS, 210)
    assert [mark["kind"] for mark in marks] == ["found"] * 40 + ["weak"] * 10 + ["other"] * 30
    assert [mark["whisker"] is None for mark in marks] == [True] * 40 + [False] * 40
    assert marks[39]["tip"].startswith("direction 150: δ² = 0.001")
    assert "interval 0.05 to 0.2" in marks[40]["tip"]
    assert marks[39]["x"] < chart["gap"]["x"] < marks[40]["x"]
