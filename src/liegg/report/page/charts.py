"""Layout of the charts: where every mark, line and tick is. The template draws them."""

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from liegg.report.motions import HIGHEST_CHANGE, LOWEST_CHANGE, evenly
from liegg.report.numbers import MAX_DECADES, decades, nice_steps, number, power_of_ten, window
from liegg.results.layers import LayerDirection, LayerSymmetries
from liegg.results.verification import Curve

CHART_WIDTH, CHART_HEIGHT = 400.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 50.0, 14.0, 14.0, 42.0
"""Margins; the units are pixels of a narrow screen."""

CHARTED_DIRECTIONS = 80
"""Directions drawn; the caption says how many there are."""

MAX_PERCENT = 400.0
"""Changes above are drawn at the upper edge."""

Scale = Callable[[float], float]


def defects(record: dict[str, Any]) -> dict[str, Any]:
    """Lay out the defects with intervals, the thresholds and the gap.

    Args:
        record: the result as a dict.
    """
    nullity, undecided = record["nullity"], record["decision"]["undecided"]
    thresholds = record["decision"]["thresholds"]
    chart = _scatter(
        record["defects"],
        nullity,
        "defect δ²",
        intervals=record["intervals"],
        also=[thresholds["threshold"]],
    )
    marks, first, place = chart["marks"], chart["first"], chart["place"]
    for i, mark in enumerate(marks, start=first):
        grade = "undecided" if 0 <= i - nullity < undecided else record["grades"][i]
        mark["tip"] += ", undecided" if grade == "undecided" else f", grade {grade}"
        if grade == "undecided" or (i >= nullity and grade == "weak"):
            mark["kind"] = grade
    chart["rulers"] = [
        {"y": place(thresholds[name]), "text": f"{name} {number(thresholds[name])}"}
        for name in ("threshold", "strong")
        if chart["low"] <= thresholds[name] <= chart["high"]
    ]
    if first < nullity < first + len(marks) and not undecided:
        below, above = marks[nullity - 1 - first], marks[nullity - first]
        chart["gap"] = {"x": (below["x"] + above["x"]) / 2, "y1": above["y"], "y2": below["y"]}
    return chart


def variances(record: dict[str, Any]) -> dict[str, Any] | None:
    """Lay out the paper's symmetry variance of every direction; None if the record does not hold it."""
    values = record["spectrum"]
    return None if values is None else _scatter(values, record["nullity"], "variance σ²/|D|")


def biases(record: dict[str, Any]) -> dict[str, Any] | None:
    """Lay out the paper's symmetry bias against the identified algebra; None if there is none."""
    if record["bias"] is None:
        return None
    place = _linear(0.0, 1.1, CHART_HEIGHT - BOTTOM, TOP)
    ticks = [(place(step), number(step)) for step in nice_steps(0.0, 1.1)]
    label = f"bias against {record['name']}"
    return _scatter(record["bias"], record["nullity"], label, axis=_axis(place, ticks, 0.0, 1.1))


def curve(measured: Curve, name: str, fraction: float) -> dict[str, Any]:
    """Lay out the change of the output along a motion, with the controls.

    Args:
        measured: one curve of the verification.
        name: of the motion.
        fraction: change up to which the motion holds.
    """
    times, longest, period = measured.times.tolist(), measured.longest, measured.period
    own, mean = measured.change.tolist(), measured.control_mean.tolist()
    low, high = measured.control_low.tolist(), measured.control_high.tolist()
    largest = max([1.0, *(value for value in (*own, *high) if math.isfinite(value))])
    top = math.ceil(math.log10(min(largest, HIGHEST_CHANGE)) - 1e-9)
    axis = _log_axis(LOWEST_CHANGE, 10.0**top)
    across = _linear(0.0, longest, LEFT, CHART_WIDTH - RIGHT)
    if period is not None and longest <= 1.001 * period:
        quarters = [(k, k * period / 4) for k in range(5) if k * period / 4 <= 1.001 * longest]
        ticks = [(across(time), f"{90 * k}°") for k, time in quarters]
        label = "motion, as an angle of the period"
    else:
        ticks = [(across(step), number(step)) for step in nice_steps(0.0, longest, 5)]
        label = "t, either way" if measured.both_ways else "t"
        label = "multiples of the data's spread" if name == "the group" else label

    def points(values: Sequence[float]) -> list[str]:
        return [
            f"{across(time):.1f},{axis['place'](value):.1f}"
            for time, value in zip(*evenly(times, values), strict=True)
        ]

    return axis | {
        "x_ticks": ticks,
        "x_label": label,
        "y_label": "output change r",
        "longest": longest,
        "area": " ".join([*points(high), *reversed(points(low))]),
        "lines": [("control", " ".join(points(mean))), ("change", " ".join(points(own)))],
        "measured": [
            (across(time), axis["place"](value)) for time, value in zip(times, own, strict=True)
        ],
        "rulers": [{"y": axis["place"](fraction), "text": f"holds below {number(fraction)}"}],
        "radius": None if measured.holds else across(measured.radius),
        "label": f"{name}: output change r against t, at most {number(max(own))}; random directions "
        f"reach {number(max(mean))}",
        "x0": LEFT,
        "x1": CHART_WIDTH - RIGHT,
    }


class Series(NamedTuple):
    """Values of every layer.

    Attributes:
        name: what they are.
        values: one per layer; NaN leaves the layer out.
        intervals: lower and upper end per layer; NaN for none.
    """

    name: str
    values: Sequence[float]
    intervals: Sequence[Sequence[float]] = ()


class Panel(NamedTuple):
    """What one chart over the layers shows.

    Attributes:
        title: of the chart.
        series: what is drawn.
        rulers: values at which a line is drawn, by their names.
        counts: whether the values are small whole numbers; otherwise the axis is logarithmic.
        decades: powers of ten of a logarithmic axis; smaller values are drawn at its lower edge.
    """

    title: str
    series: Sequence[Series]
    rulers: Mapping[str, float] = MappingProxyType({})
    counts: bool = False
    decades: int = MAX_DECADES


def changes(
    lines: Mapping[str, Sequence[float]],
    sizes: Sequence[float],
    *,
    top: float | None = None,
    **texts: str,
) -> dict[str, Any]:
    """Lay out percentages against the size of a motion, one line through points for each kind of motion.

    Args:
        lines: `change` and `control`, in per cent, one value per size; infinities are left out.
        sizes: ascending, the first 0.
        top: upper end of the axis; by default what holds the largest finite value, up to a limit.
        texts: `unit` of the sizes, `x_label`, `y_label` and `label`.
    """
    finite = [value for line in lines.values() for value in line if math.isfinite(value)]
    top = min(max(10.0, *finite), MAX_PERCENT) if top is None else top
    steps = nice_steps(0.0, top, 5)
    place = _linear(0.0, top, CHART_HEIGHT - BOTTOM, TOP)
    across = _linear(0.0, sizes[-1], LEFT, CHART_WIDTH - RIGHT)
    round_turn = texts["unit"] == "°" and sizes[-1] == 360
    marks = [90.0 * k for k in range(5)] if round_turn else nice_steps(0.0, sizes[-1], 5)
    degrees = "°" if texts["unit"] == "°" else ""
    points = {
        kind: [
            (across(size), place(min(value, top)))
            for size, value in zip(sizes, line, strict=True)
            if math.isfinite(value)
        ]
        for kind, line in lines.items()
    }
    axis = _axis(place, [(place(step), f"{number(step)} %") for step in steps], 0.0, top)
    return (
        axis
        | texts
        | {
            "x_ticks": [(across(mark), f"{number(mark)}{degrees}") for mark in marks],
            "longest": sizes[-1],
            "lines": [
                (kind, " ".join(f"{x:.1f},{y:.1f}" for x, y in row)) for kind, row in points.items()
            ],
            "points": points,
            "rulers": [],
            "x0": LEFT,
            "x1": CHART_WIDTH - RIGHT,
        }
    )


def layers(result: LayerSymmetries, named: Sequence[LayerDirection] = ()) -> dict[str, Any]:
    """Lay out the defects of named motions and the smallest defect of every layer against its depth."""
    smallest = [Series("invariance", result.defect().tolist())]
    if result.output_action is not None:
        smallest.append(Series("equivariance", result.defect(of="equivariance").tolist()))
    panels = [
        Panel(
            f"defect δ² of {one.name}",
            [Series(one.name, one.values.tolist(), one.intervals.tolist())],
        )
        for one in named
    ]
    return over_layers(result.names, [*panels, Panel("smallest defect δ²", smallest)])


def over_layers(names: Sequence[str], panels: Sequence[Panel]) -> dict[str, Any]:
    """Lay out charts against the depth of the layers.

    Args:
        names: of the layers, first to last.
        panels: one chart each.
    """
    width = max(340.0, LEFT + RIGHT + 26.0 * len(names))
    across = _linear(0.0, max(1.0, len(names) - 1.0), LEFT + 14, width - RIGHT - 14)
    return {
        "width": width,
        "height": CHART_HEIGHT - BOTTOM + 26 + 6.5 * min(16, max(map(len, names))),
        "panels": [_panel(panel, names, across) for panel in panels],
        "names": [(across(i), name) for i, name in enumerate(names)],
    }


def _panel(panel: Panel, names: Sequence[str], across: Scale) -> dict[str, Any]:
    """One chart over the layers: its axis, lines and marks."""
    bars = [
        {i: ends for i, ends in enumerate(one.intervals) if not any(map(math.isnan, ends))}
        for one in panel.series
    ]
    known = [
        [(i, value) for i, value in enumerate(one.values) if not math.isnan(value)]
        for one in panel.series
    ]
    values = [value for points in known for _, value in points]
    values += [end for ends in bars for pair in ends.values() for end in pair]
    if panel.counts:
        top = max([1.0, *values])
        place = _linear(0.0, 1.1 * top, CHART_HEIGHT - BOTTOM, TOP)
        steps = [step for step in nice_steps(0.0, top, 5) if step == int(step)]
        axis = _axis(place, [(place(step), f"{step:.0f}") for step in steps], 0.0, 1.1 * top)
    else:
        axis = _log_axis(*decades([*values, *panel.rulers.values()], panel.decades))
    place = axis["place"]
    series = []
    for one, points, ends in zip(panel.series, known, bars, strict=True):
        marks = [
            {
                "x": across(i),
                "y": place(value),
                "whisker": tuple(map(place, ends[i])) if i in ends else None,
                "tip": f"{names[i]}: {one.name}, {panel.title} {number(value)}"
                + (f", interval {' to '.join(map(number, ends[i]))}" if i in ends else ""),
            }
            for i, value in points
        ]
        line = " ".join(f"{across(i):.1f},{place(value):.1f}" for i, value in points)
        series.append({"name": one.name, "marks": marks, "line": line})
    rulers = [
        {"y": place(value), "text": f"{name} {number(value)}"}
        for name, value in panel.rulers.items()
    ]
    return axis | {"title": panel.title, "series": series, "rulers": rulers}


def _scatter(
    values: Sequence[float],
    nullity: int,
    label: str,
    *,
    intervals: Sequence[Sequence[float | None]] = (),
    also: Sequence[float] = (),
    axis: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Lay out one mark per direction; symmetries have their own shape and colour.

    Args:
        values: one per direction.
        nullity: number of symmetries.
        label: of the vertical axis.
        intervals: of the values; ends may be None.
        also: further values that the vertical axis reaches.
        axis: the vertical axis; logarithmic if it is None.
    """
    drawn = window(len(values), nullity, CHARTED_DIRECTIONS)
    bars = {i: intervals[i] for i in drawn if intervals and None not in intervals[i]}
    ends = [end for bar in bars.values() for end in bar if end is not None]
    axis = axis or _log_axis(*decades([*(values[i] for i in drawn), *also, *ends]))
    across = _linear(drawn.start + 0.4, max(drawn.stop, 1) + 0.6, LEFT, CHART_WIDTH - RIGHT)
    quantity = label.split(" against ")[0].removeprefix("defect ")
    marks = [
        {
            "x": across(i + 1),
            "y": axis["place"](values[i]),
            "kind": "found" if i < nullity else "other",
            "whisker": tuple(map(axis["place"], bars[i])) if i in bars else None,
            "tip": f"direction {i + 1}: {quantity} = {number(values[i])}"
            + (f", interval {' to '.join(map(number, bars[i]))}" if i in bars else ""),
        }
        for i in drawn
    ]
    steps = nice_steps(drawn.start + 1, max(drawn.stop, 1), 8)
    return axis | {
        "marks": marks,
        "x_ticks": [(across(step), f"{step:.0f}") for step in steps if step == int(step)],
        "first": drawn.start,
        "x_label": "direction, most invariant first",
        "y_label": label,
        "size": 5.0 if len(drawn) <= 30 else 2.5,
        "label": f"{label} of {len(values)} directions, {nullity} of them symmetries",
        "rulers": [],
        "gap": None,
        "count": len(values),
    }


def _log_axis(low: float, high: float) -> dict[str, Any]:
    """A logarithmic vertical axis between two powers of ten."""
    first, last = round(math.log10(low)), round(math.log10(high))
    height = _linear(float(first), float(last), CHART_HEIGHT - BOTTOM, TOP)
    step = max(1, math.ceil((last - first) / 6))
    ticks = [(height(k), power_of_ten(k)) for k in range(last, first - 1, -step)]
    return _axis(lambda value: height(math.log10(min(max(value, low), high))), ticks, low, high)


def _axis(place: Scale, ticks: list[tuple[float, str]], low: float, high: float) -> dict[str, Any]:
    size = {"width": CHART_WIDTH, "height": CHART_HEIGHT}
    return {"place": place, "y_ticks": ticks, "low": low, "high": high, **size}


def _linear(low: float, high: float, start: float, end: float) -> Scale:
    """The linear map from one interval to another."""
    return lambda value: round(start + (end - start) * (value - low) / (high - low), 2)
