"""Where everything of a chart stands: numbers to a place on the page. The template draws it."""

import math
from collections.abc import Sequence
from typing import Any

from liegg._utils.errors import ArgumentError
from liegg.report.page.numbers import nice_steps, number, power_of_ten
from liegg.results.layers import LayerSymmetries
from liegg.results.symmetries import Symmetries

WIDTH, HEIGHT = 400.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 50.0, 14.0, 14.0, 42.0
"""Margins; the units are pixels of a narrow screen."""

MOST = 80
"""Directions drawn; the caption says how many there are."""

DECADES = 12
"""Of a logarithmic axis: what is smaller is drawn at its lower edge."""

LOWEST_CHANGE = 1e-6
"""Change of the output below which a curve runs along the lower edge."""

HIGHEST_CHANGE = 100.0
"""The same for the upper edge; an output that has nothing to do with the first one any more changes by about 2."""


def defects(record: dict[str, Any]) -> dict[str, Any]:
    """Defects with intervals, the thresholds and the gap.

    Args:
        record: the result as a dict.
    """
    values, decision, nullity = record["defects"], record["decision"], record["nullity"]
    shown = _window(len(values), nullity)
    chart = _scatter(
        values,
        shown,
        nullity,
        [_told_defect(record, i) for i in shown],
        "defect δ²",
        undecided=decision["undecided"],
        weak=[i for i, grade in enumerate(record["grades"]) if grade == "weak"],
        intervals=record["intervals"],
        extra=[decision["threshold"]],
    )
    limits = [("threshold", decision["threshold"]), ("strong", decision["strong"])]
    chart["rulers"] = [
        {"y": chart["place"](level), "text": f"{name} {number(level)}"}
        for name, level in limits
        if chart["low"] <= level <= chart["high"]
    ]
    if nullity and nullity in shown and nullity - 1 in shown:
        below, above = (chart["marks"][shown.index(i)] for i in (nullity - 1, nullity))
        chart["gap"] = {"x": (below["x"] + above["x"]) / 2, "y1": above["y"], "y2": below["y"]}
    return chart


def _told_defect(record: dict[str, Any], i: int) -> str:
    low, high = record["intervals"][i]
    interval = "" if low is None or high is None else f", interval {number(low)} to {number(high)}"
    grade = "undecided" if i < record["decision"]["undecided"] else f"grade {record['grades'][i]}"
    return f"direction {i + 1}: δ² = {number(record['defects'][i])}{interval}, {grade}"


def variances(record: dict[str, Any]) -> dict[str, Any]:
    """The paper's symmetry variance of every direction."""
    values = record["spectrum"]
    shown = _window(len(values), record["nullity"])
    told = [f"direction {i + 1}: variance σ²/|D| = {number(values[i])}" for i in shown]
    return _scatter(values, shown, record["nullity"], told, "variance σ²/|D|")


def biases(sym: Symmetries) -> dict[str, Any] | None:
    """The paper's symmetry bias of every direction against the algebra that was identified; None if there is none to compare."""
    if not sym.nullity or not sym.identification.known:
        return None
    try:
        values = sym.bias(sym.identification.generators).tolist()
    except ArgumentError:  # the nearest algebra of that name may lie outside the candidates
        return None
    shown = _window(len(values), sym.nullity)
    told = [f"direction {i + 1}: bias = {number(values[i])}" for i in shown]
    return _scatter(values, shown, sym.nullity, told, f"bias against {sym.name}", log=False)


def _window(total: int, nullity: int) -> range:
    """Directions to draw: all, or as many as there is room for, with the gap among them."""
    first = max(0, min(nullity - MOST // 2, total - MOST))
    return range(first, min(total, first + MOST))


def curve(found: dict[str, Any], name: str, fraction: float) -> dict[str, Any]:
    """The change of the output along a motion, with the controls.

    Args:
        found: one curve of the verification, as a dict.
        name: what it is the curve of.
        fraction: change up to which the motion holds.
    """
    times, longest = found["times"], found["times"][-1]
    own, mean, low, high = (
        [math.inf if value is None else value for value in found[key]]
        for key in ("change", "control_mean", "control_low", "control_high")
    )
    top = min(
        max([1.0, *(value for value in (*own, *high) if math.isfinite(value))]), HIGHEST_CHANGE
    )
    chart = _frame(LOWEST_CHANGE, 10.0 ** math.ceil(math.log10(top) - 1e-9), log=True)
    across = _linear(0.0, longest, LEFT, WIDTH - RIGHT)
    if found["period"] is not None and longest <= 1.001 * found["period"]:
        steps = [k * found["period"] / 4 for k in range(5)]
        ticks = [
            (across(step), f"{90 * k}°") for k, step in enumerate(steps) if step <= 1.001 * longest
        ]
        label = "motion, as an angle of the period"
    else:
        ticks = [(across(step), number(step)) for step in nice_steps(0.0, longest, 5)]
        label = (
            "multiples of the data's spread"
            if name == "the group"
            else "t, either way"
            if found["both_ways"]
            else "t"
        )
    place = chart["place"]

    def line(values):
        return " ".join(
            f"{across(t):.1f},{place(v):.1f}" for t, v in zip(times, values, strict=True)
        )

    back = " ".join(
        f"{across(t):.1f},{place(v):.1f}" for t, v in reversed(list(zip(times, low, strict=True)))
    )
    worst = max(own)
    return chart | {
        "x_ticks": ticks,
        "x_label": label,
        "y_label": "output change r",
        "longest": longest,
        "area": f"{line(high)} {back}",
        "lines": [("control", line(mean)), ("change", line(own))],
        "rulers": [{"y": place(fraction), "text": f"holds below {number(fraction)}"}],
        "radius": across(min(found["radius"], longest)) if found["radius"] < longest else None,
        "label": f"{name}: output change r against t, at most {number(worst)}; random directions reach {number(max(mean))}",
        "x0": LEFT,
        "x1": WIDTH - RIGHT,
    }


def layers(found: LayerSymmetries) -> dict[str, Any]:
    """The smallest defect and the paper's variance of every layer against its depth."""
    width = max(340.0, LEFT + RIGHT + 26.0 * len(found))
    panels = []
    series = [("smallest defect δ²", [("invariance", found.defect())])]
    if found.output_action is not None:
        series[0][1].append(("equivariance", found.defect(of="equivariance")))
    series.append(
        (
            "symmetry variance",
            [("output", found.variance()), ("output of unit length", found.variance("unit"))],
        )
    )
    across = _linear(0.0, max(1.0, len(found) - 1.0), LEFT + 14, width - RIGHT - 14)
    for title, kinds in series:
        listed = [
            [None if math.isnan(value) else value for value in values.tolist()]
            for _, values in kinds
        ]
        known = [value for values in listed for value in values if value is not None]
        chart = _frame(*_decades(known), log=True)
        drawn = []
        for (name, _), values in zip(kinds, listed, strict=True):
            marks = [
                {
                    "x": across(i),
                    "y": chart["place"](value),
                    "tip": f"{found.names[i]}: {name}, {title} {number(value)}",
                }
                for i, value in enumerate(values)
                if value is not None
            ]
            drawn.append(
                {
                    "name": name,
                    "marks": marks,
                    "line": " ".join(f"{mark['x']:.1f},{mark['y']:.1f}" for mark in marks),
                }
            )
        panels.append(chart | {"title": title, "series": drawn})
    height = HEIGHT - BOTTOM + 26 + 6.5 * min(16, max(map(len, found.names)))
    return {
        "width": width,
        "height": height,
        "panels": panels,
        "names": [(across(i), name) for i, name in enumerate(found.names)],
    }


def _scatter(
    values: Sequence[float],
    shown: range,
    found: int,
    told: Sequence[str],
    label: str,
    *,
    undecided: int = 0,
    weak: Sequence[int] = (),
    intervals: Sequence[Sequence[float | None]] = (),
    log: bool = True,
    extra: Sequence[float] = (),
) -> dict[str, Any]:
    """Marks over the numbers of the directions; those found have their own shape and colour."""
    ends = [end for i in shown if intervals for end in intervals[i] if end is not None]
    chart = _frame(
        *(_decades([*(values[i] for i in shown), *extra, *ends]) if log else (0.0, 1.1)), log=log
    )
    across, place = (
        _linear(shown.start + 0.4, max(shown.stop, 1) + 0.6, LEFT, WIDTH - RIGHT),
        chart["place"],
    )
    marks = []
    for i, tip in zip(shown, told, strict=True):
        low, high = intervals[i] if intervals else (None, None)
        kind = (
            "undecided"
            if i < undecided
            else "found"
            if i < found
            else "weak"
            if i in weak
            else "other"
        )
        whisker = None if low is None or high is None else (place(low), place(high))
        marks.append(
            {
                "x": across(i + 1),
                "y": place(values[i]),
                "kind": kind,
                "whisker": whisker,
                "tip": tip,
            }
        )
    steps = [
        step for step in nice_steps(shown.start + 1, max(shown.stop, 1), 8) if step == int(step)
    ]
    return chart | {
        "marks": marks,
        "x_ticks": [(across(step), f"{step:.0f}") for step in steps],
        "first": shown.start,
        "x_label": "direction, most invariant first",
        "y_label": label,
        "size": 5.0 if len(shown) <= 30 else 2.5,
        "label": f"{label} of {len(values)} directions, {found} of them symmetries",
        "rulers": [],
        "gap": None,
        "count": len(values),
    }


def _frame(low: float, high: float, *, log: bool) -> dict[str, Any]:
    """The vertical axis: how a number becomes a height, and its ticks."""
    if log:
        first, last = round(math.log10(low)), round(math.log10(high))
        step = max(1, math.ceil((last - first) / 6))
        inner = _linear(float(first), float(last), HEIGHT - BOTTOM, TOP)
        ticks = [(inner(k), power_of_ten(k)) for k in range(last, first - 1, -step)]

        def place(value: float) -> float:
            return inner(math.log10(min(max(value, low), high)))
    else:
        place = _linear(low, high, HEIGHT - BOTTOM, TOP)
        ticks = [(place(step), number(step)) for step in nice_steps(low, high, 6)]
    return {
        "place": place,
        "y_ticks": ticks,
        "low": low,
        "high": high,
        "width": WIDTH,
        "height": HEIGHT,
    }


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """Powers of ten around positive numbers, not too many."""
    positive = [value for value in values if value > 0]
    if not positive:
        return 1e-3, 1.0
    last = math.ceil(math.log10(max(positive)) + 0.02)
    first = (
        math.floor(math.log10(min(positive)) - 0.02)
        if len(positive) == len(values)
        else last - DECADES
    )
    first = max(first, last - DECADES)
    return 10.0**first, 10.0 ** max(last, first + 2)


def _linear(low: float, high: float, start: float, end: float) -> Any:
    """The map that takes one interval to another."""
    return lambda value: round(start + (end - start) * (value - low) / (high - low), 2)
