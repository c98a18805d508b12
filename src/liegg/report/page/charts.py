"""Layout of the charts: where every mark, line and tick is. The template draws them."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from liegg.report.numbers import nice_steps, number, power_of_ten, window
from liegg.results.layers import LayerSymmetries

WIDTH, HEIGHT = 400.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 50.0, 14.0, 14.0, 42.0
"""Margins; the units are pixels of a narrow screen."""

MAX_DIRECTIONS = 80
"""Directions drawn; the caption says how many there are."""

MAX_DECADES = 12
"""Of a logarithmic axis: smaller values are drawn at its lower edge."""

LOWEST_CHANGE, HIGHEST_CHANGE = 1e-6, 100.0
"""Changes of the output outside are drawn at the edge; unrelated outputs differ by about 2."""

Scale = Callable[[float], float]


def defects(record: dict[str, Any]) -> dict[str, Any]:
    """Lay out the defects with intervals, the thresholds and the gap.

    Args:
        record: the result as a dict.
    """
    values, decision, nullity = record["defects"], record["decision"], record["nullity"]
    drawn = window(len(values), nullity, MAX_DIRECTIONS)
    intervals, thresholds = record["intervals"], decision["thresholds"]
    ends = [end for i in drawn for end in intervals[i] if end is not None]
    axis = _log_axis(*_decades([*(values[i] for i in drawn), thresholds["threshold"], *ends]))
    chart = _scatter(values, drawn, nullity, axis, "defect δ²")
    for i, mark in zip(drawn, chart["marks"], strict=True):
        low, high = intervals[i]
        interval = (
            "" if low is None or high is None else f", interval {number(low)} to {number(high)}"
        )
        grade = record["grades"][i]
        if i < decision["undecided"]:
            grade = mark["kind"] = "undecided"
        elif i >= nullity and grade == "weak":
            mark["kind"] = "weak"
        mark["tip"] += (
            f"{interval}, {grade}" if grade == "undecided" else f"{interval}, grade {grade}"
        )
        if interval:
            mark["whisker"] = (axis["place"](low), axis["place"](high))
    chart["rulers"] = [
        {"y": axis["place"](thresholds[name]), "text": f"{name} {number(thresholds[name])}"}
        for name in ("threshold", "strong")
        if axis["low"] <= thresholds[name] <= axis["high"]
    ]
    if nullity and nullity in drawn and nullity - 1 in drawn:
        below, above = (chart["marks"][i - drawn.start] for i in (nullity - 1, nullity))
        chart["gap"] = {"x": (below["x"] + above["x"]) / 2, "y1": above["y"], "y2": below["y"]}
    return chart


def variances(record: dict[str, Any]) -> dict[str, Any] | None:
    """Lay out the paper's symmetry variance of every direction; None if the record does not hold it."""
    values, nullity = record["spectrum"], record["nullity"]
    if values is None:
        return None
    drawn = window(len(values), nullity, MAX_DIRECTIONS)
    axis = _log_axis(*_decades([values[i] for i in drawn]))
    return _scatter(values, drawn, nullity, axis, "variance σ²/|D|")


def biases(record: dict[str, Any]) -> dict[str, Any] | None:
    """Lay out the paper's symmetry bias against the identified algebra; None if there is none."""
    values, nullity = record["bias"], record["nullity"]
    if values is None:
        return None
    drawn = window(len(values), nullity, MAX_DIRECTIONS)
    label = f"bias against {record['name']}"
    return _scatter(values, drawn, nullity, _linear_axis(0.0, 1.1), label)


def curve(measured: dict[str, Any], name: str, fraction: float) -> dict[str, Any]:
    """Lay out the change of the output along a motion, with the controls.

    Args:
        measured: one curve of the verification, as a dict.
        name: of the motion.
        fraction: change up to which the motion holds.
    """
    times, longest, period = measured["times"], measured["times"][-1], measured["period"]
    own, mean, low, high = (
        [math.inf if value is None else value for value in measured[key]]
        for key in ("change", "control_mean", "control_low", "control_high")
    )
    largest = max([1.0, *(value for value in (*own, *high) if math.isfinite(value))])
    top = math.ceil(math.log10(min(largest, HIGHEST_CHANGE)) - 1e-9)
    axis = _log_axis(LOWEST_CHANGE, 10.0**top)
    across = _linear(0.0, longest, LEFT, WIDTH - RIGHT)
    if period is not None and longest <= 1.001 * period:
        quarters = [(k, k * period / 4) for k in range(5) if k * period / 4 <= 1.001 * longest]
        ticks = [(across(time), f"{90 * k}°") for k, time in quarters]
        label = "motion, as an angle of the period"
    else:
        ticks = [(across(step), number(step)) for step in nice_steps(0.0, longest, 5)]
        label = "t, either way" if measured["both_ways"] else "t"
        label = "multiples of the data's spread" if name == "the group" else label

    def points(values: Sequence[float]) -> list[str]:
        return [
            f"{across(time):.1f},{axis['place'](value):.1f}"
            for time, value in zip(times, values, strict=True)
        ]

    return axis | {
        "x_ticks": ticks,
        "x_label": label,
        "y_label": "output change r",
        "longest": longest,
        "area": " ".join([*points(high), *reversed(points(low))]),
        "lines": [("control", " ".join(points(mean))), ("change", " ".join(points(own)))],
        "rulers": [{"y": axis["place"](fraction), "text": f"holds below {number(fraction)}"}],
        "radius": across(measured["radius"]) if measured["radius"] < longest else None,
        "label": f"{name}: output change r against t, at most {number(max(own))}; random directions "
        f"reach {number(max(mean))}",
        "x0": LEFT,
        "x1": WIDTH - RIGHT,
    }


def layers(result: LayerSymmetries) -> dict[str, Any]:
    """Lay out the smallest defect and the paper's variance of every layer against its depth."""
    width = max(340.0, LEFT + RIGHT + 26.0 * len(result))
    across = _linear(0.0, max(1.0, len(result) - 1.0), LEFT + 14, width - RIGHT - 14)
    smallest = {"invariance": result.defect()}
    if result.output_action is not None:
        smallest["equivariance"] = result.defect(of="equivariance")
    variance = {"output": result.variance(), "output of unit length": result.variance("unit")}
    panels = []
    for title, series in (("smallest defect δ²", smallest), ("symmetry variance", variance)):
        lists = {name: values.tolist() for name, values in series.items()}
        finite = [value for values in lists.values() for value in values if not math.isnan(value)]
        axis = _log_axis(*_decades(finite))
        lines = []
        for name, values in lists.items():
            marks = [
                {
                    "x": across(i),
                    "y": axis["place"](value),
                    "tip": f"{result.names[i]}: {name}, {title} {number(value)}",
                }
                for i, value in enumerate(values)
                if not math.isnan(value)
            ]
            line = " ".join(f"{mark['x']:.1f},{mark['y']:.1f}" for mark in marks)
            lines.append({"name": name, "marks": marks, "line": line})
        panels.append(axis | {"title": title, "series": lines})
    return {
        "width": width,
        "height": HEIGHT - BOTTOM + 26 + 6.5 * min(16, max(map(len, result.names))),
        "panels": panels,
        "names": [(across(i), name) for i, name in enumerate(result.names)],
    }


def _scatter(
    values: Sequence[float], drawn: range, nullity: int, axis: dict[str, Any], label: str
) -> dict[str, Any]:
    """Lay out one mark per direction; symmetries have their own shape and colour."""
    across = _linear(drawn.start + 0.4, max(drawn.stop, 1) + 0.6, LEFT, WIDTH - RIGHT)
    quantity = label.split(" against ")[0].removeprefix("defect ")
    marks = [
        {
            "x": across(i + 1),
            "y": axis["place"](values[i]),
            "kind": "found" if i < nullity else "other",
            "whisker": None,
            "tip": f"direction {i + 1}: {quantity} = {number(values[i])}",
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
    height = _linear(float(first), float(last), HEIGHT - BOTTOM, TOP)
    step = max(1, math.ceil((last - first) / 6))
    ticks = [(height(k), power_of_ten(k)) for k in range(last, first - 1, -step)]
    return _axis(lambda value: height(math.log10(min(max(value, low), high))), ticks, low, high)


def _linear_axis(low: float, high: float) -> dict[str, Any]:
    """A linear vertical axis."""
    place = _linear(low, high, HEIGHT - BOTTOM, TOP)
    return _axis(place, [(place(step), number(step)) for step in nice_steps(low, high)], low, high)


def _axis(place: Scale, ticks: list[tuple[float, str]], low: float, high: float) -> dict[str, Any]:
    size = {"width": WIDTH, "height": HEIGHT}
    return {"place": place, "y_ticks": ticks, "low": low, "high": high, **size}


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """Powers of ten around the positive values, `MAX_DECADES` apart at most; zeros need them all."""
    positive = [value for value in values if value > 0]
    if not positive:
        return 1e-3, 1.0
    last = math.ceil(math.log10(max(positive)) + 0.02)
    first = math.floor(math.log10(min(positive)) - 0.02)
    if len(positive) < len(values):
        first = last - MAX_DECADES
    first = max(first, last - MAX_DECADES)
    return 10.0**first, 10.0 ** max(last, first + 2)


def _linear(low: float, high: float, start: float, end: float) -> Scale:
    """The linear map from one interval to another."""
    return lambda value: round(start + (end - start) * (value - low) / (high - low), 2)
