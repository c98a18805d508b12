"""The verdict in one figure: every defect with its interval and grade, the thresholds, and the gap."""

import math
from typing import TYPE_CHECKING

from liegg.decision.grades import GRADES
from liegg.report.numbers import number, window
from liegg.report.plots.style import (
    AMBER,
    FOUND,
    MAX_DIRECTIONS,
    MUTED,
    OTHER,
    SKY,
    THIRD,
    cut,
    figure,
    horizontal_line,
    interval_label,
    label_directions,
    legend,
    lowest,
    whiskers,
    write_centred,
)
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOOKS = dict(
    zip(GRADES, (("o", FOUND), ("D", SKY), ("^", THIRD), ("v", AMBER), ("s", OTHER)), strict=True)
)
"""Marker and colour of every grade."""

UNDECIDED_LOOK = ("x", MUTED)


def defects(
    sym: Symmetries, ax: "Axes | None" = None, *, max_directions: int = MAX_DIRECTIONS
) -> "Axes":
    """Draw the defect of every direction that moves the data, with interval, grade, thresholds and gap.

    Args:
        sym: the result of `discover`.
        ax: axes to draw into; by default a new figure.
        max_directions: directions drawn, around the gap.
    """
    ax = ax or figure(7.0, 4.5).subplots()
    decision, nullity, total = sym.decision, sym.nullity, len(sym.defects)
    drawn = window(total, nullity, max_directions)
    values, ends = sym.defects[drawn.start : drawn.stop], sym.intervals[drawn.start : drawn.stop]
    rulers = [
        (decision.thresholds.threshold, ":", f"threshold {number(decision.thresholds.threshold)}")
    ]
    if sym.controls.random is not None and math.isfinite(sym.controls.random.low):
        share = f"random directions, lowest {number(100 * sym.controls.random.share)} %"
        rulers.append((sym.controls.random.low, "--", share))
    ax.set_yscale("log")
    least = lowest(values, ends, also=[height for height, _, _ in rulers])
    is_outside = decision.floor < least
    floor = f"rounding floor {number(decision.floor, 1)}{', off the axis' * is_outside}"
    rulers.append((decision.floor, "-.", floor))
    ax.set_ylabel(f"defect  δ²{cut(values, least)}")
    heights = values.clamp_min(least)
    grades = ["undecided"] * decision.undecided + list(decision.grades[decision.undecided :])
    for name, (marker, colour) in {**LOOKS, "undecided": UNDECIDED_LOOK}.items():
        some = [k for k, i in enumerate(drawn) if grades[i] == name]
        if some:
            places = [drawn[k] + 1 for k in some]
            whiskers(ax, places, ends[some], least, colour)
            label = f"{'no symmetry' if name == 'none' else name} ({grades.count(name)})"
            dots = heights[some].tolist()
            ax.plot(places, dots, marker, color=colour, markersize=5.5, label=label)
    for height, dashes, label in rulers:
        horizontal_line(ax, height, dashes, label)
    if is_outside:
        ax.set_ylim(bottom=least)
    if nullity and nullity in drawn and nullity - 1 in drawn:
        low, high = heights[nullity - 1 - drawn.start : nullity + 1 - drawn.start].tolist()
        _mark_gap(ax, nullity + 0.5, low, high, decision.gap)
    if not total:
        write_centred(ax, "no candidate direction moves the data")
    ax.set_title("0: exact symmetry, 1: average direction", fontsize="medium")
    label_directions(ax, drawn, total, interval_label(sym, ends))
    legend(ax, columns=2)
    return ax


def _mark_gap(ax: "Axes", x: float, low: float, high: float, gap: float) -> None:
    """Draw an arrow from the last symmetry to the next direction, with the ratio of their defects."""
    arrow = {"arrowstyle": "<->", "color": MUTED, "linewidth": 1, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (x, high), (x, low), arrowprops=arrow)
    ax.annotate(
        f"gap × {number(float(f'{gap:.2g}'))}",
        (x, math.sqrt(low * high)),
        (5, 0),
        textcoords="offset points",
        va="center",
        fontsize="small",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.9, "pad": 1},
    )
