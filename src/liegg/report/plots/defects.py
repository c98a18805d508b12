"""The verdict in one picture: every defect with its interval and grade, the limits, and the gap that decided."""

import math
from typing import TYPE_CHECKING

from liegg.decision.grades import GRADES
from liegg.report.page.numbers import number
from liegg.report.plots.style import (
    AMBER,
    FOUND,
    MOST,
    MUTED,
    OTHER,
    SKY,
    THIRD,
    bars,
    count_directions,
    cut,
    figure,
    legend,
    lowest,
    whiskers,
    window,
)
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOOKS = dict(
    zip(GRADES, (("o", FOUND), ("D", SKY), ("^", THIRD), ("v", AMBER), ("s", OTHER)), strict=True)
)
"""Marker and colour of every grade."""

UNDECIDED = ("x", MUTED)


def defects(sym: Symmetries, ax: "Axes | None" = None, *, most: int = MOST) -> "Axes":
    """Scale-free defect of every direction that moves the data, with its interval, its grade, the limits and the gap.

    Args:
        sym: the result of `discover`.
        ax: where to draw; by default a new figure.
        most: directions drawn, around the gap.
    """
    ax = ax or figure(7.0, 4.5).subplots()
    values, decision, nullity = sym.defects, sym.decision, sym.nullity
    shown = window(len(values), nullity, most)
    near, ends = values[shown.start : shown.stop], sym.intervals[shown.start : shown.stop]
    rulers = [(decision.threshold, ":", f"threshold {number(decision.threshold)}")]
    if sym.controls.random is not None and math.isfinite(sym.controls.random.low):
        rulers.append(
            (
                sym.controls.random.low,
                "--",
                f"random directions, lowest {number(100 * sym.controls.random.share)} %",
            )
        )
    ax.set_yscale("log")
    least = lowest(near, ends, also=[height for height, _, _ in rulers])
    far = decision.floor < least
    rulers.append(
        (
            decision.floor,
            "-.",
            f"rounding floor {number(decision.floor, 1)}{', off the axis' if far else ''}",
        )
    )
    note = cut(near, least)
    near, place = near.clamp_min(least), range(shown.start + 1, shown.stop + 1)
    every = ["undecided" if i < decision.undecided else grade for i, grade in enumerate(sym.grades)]
    grades = every[shown.start : shown.stop]
    for name, (marker, colour) in {**LOOKS, "undecided": UNDECIDED}.items():
        some = [k for k, grade in enumerate(grades) if grade == name]
        if some:
            whiskers(ax, [place[k] for k in some], ends[some], least, colour)
            label = f"{'no symmetry' if name == 'none' else name} ({every.count(name)})"
            ax.plot(
                [place[k] for k in some],
                near[some].tolist(),
                marker,
                color=colour,
                markersize=5.5,
                label=label,
            )
    for height, dashes, label in rulers:
        ax.axhline(height, color=MUTED, linestyle=dashes, linewidth=1, label=label, zorder=1.5)
    if far:
        ax.set_ylim(bottom=least)
    if nullity and nullity in shown and nullity - 1 in shown:
        _mark_gap(
            ax,
            nullity + 0.5,
            float(near[nullity - 1 - shown.start]),
            float(near[nullity - shown.start]),
            decision.gap,
        )
    if not len(values):
        ax.text(
            0.5,
            0.5,
            "no candidate direction moves the data",
            transform=ax.transAxes,
            ha="center",
            va="center",
        )
    ax.set_ylabel(f"defect  δ²{note}")
    ax.set_title("0: exact symmetry, 1: average direction", fontsize="medium")
    count_directions(ax, shown, len(values), bars(sym, ends))
    legend(ax, columns=2)
    return ax


def _mark_gap(ax: "Axes", x: float, low: float, high: float, gap: float) -> None:
    """A double arrow from the last symmetry to the first other direction, with the ratio of their defects."""
    words = f"gap × {number(float(f'{gap:.2g}'))}"
    arrow = {"arrowstyle": "<->", "color": MUTED, "linewidth": 1, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (x, high), (x, low), arrowprops=arrow)
    ax.annotate(
        words,
        (x, math.sqrt(low * high)),
        (5, 0),
        textcoords="offset points",
        va="center",
        fontsize="small",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.9, "pad": 1},
    )
