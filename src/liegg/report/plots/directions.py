"""Directions, most invariant first: variance, bias, defects, and all on one page."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.decision.grades import GRADES
from liegg.report.numbers import number, window
from liegg.report.plots.matrices import generators
from liegg.report.plots.style import (
    AMBER,
    FOUND,
    MUTED,
    OTHER,
    SKY,
    THIRD,
    figure,
    horizontal_line,
    legend,
    lowest,
    plain,
    tidy,
    write_centred,
)
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DRAWN_DIRECTIONS = 200
"""Directions drawn: more cannot be distinguished on a page."""

GRADE_LOOKS = dict(
    zip(GRADES, (("o", FOUND), ("D", SKY), ("^", THIRD), ("v", AMBER), ("s", OTHER)), strict=True)
)
"""Marker and colour of every grade."""


class Marks(NamedTuple):
    """Marks that look alike.

    Attributes:
        places: where they are, horizontally.
        heights: where they are, vertically.
        look: marker, color, label and other arguments of `Axes.plot`.
        intervals: lower and upper ends of the bar through each; NaN, or None, for no bar.
    """

    places: Sequence[float | int]
    heights: Float[Tensor, " k"]
    look: dict[str, Any]
    intervals: Float[Tensor, "k 2"] | None = None


def draw_directions(
    ax: "Axes",
    marks: Sequence[Marks],
    drawn: range,
    total: int,
    *,
    label: str = "defect  δ²",
    log: bool = True,
    rulers: Sequence[tuple[float, str, str]] = (),
    level: float = 0.95,
) -> float:
    """Draw marks over the numbers of directions, which count from 1, and label both axes.

    Args:
        ax: the axes.
        marks: groups of marks; empty ones are left out.
        drawn: the directions that are drawn, from 0.
        total: number of all directions.
        label: of the vertical axis.
        log: whether it is logarithmic; what it cannot show lies at its lower end.
        rulers: height, dashes and label of horizontal lines.
        level: of the intervals.

    Returns:
        The lower end of a logarithmic axis.
    """
    marks = [group for group in marks if len(group.places)]
    intervals = [group.intervals for group in marks if group.intervals is not None]
    heights = [group.heights for group in marks]
    least = lowest(*heights, *intervals, also=[height for height, *_ in rulers]) if log else 0.0
    ax.set_yscale("log" if log else "linear")
    for places, values, look, ends in marks:
        if ends is not None:
            draw_bars(ax, places, ends, least, colour=look["color"])
        ax.plot(places, values.clamp_min(least).tolist(), linestyle="none", **look)
    for ruler in rulers:
        horizontal_line(ax, *ruler)
    is_cut = any(bool((values < least).any()) for values in heights)
    ax.set_ylabel(label + f"\n(lowest: {number(least)} or less)" * is_cut)
    part = f" ({drawn.start + 1}–{drawn.stop} of {total})" if len(drawn) < total else ""
    has_bars = any(bool(ends.isfinite().all(1).any()) for ends in intervals)
    bars = f"; bars: {100 * level:g} % intervals" * has_bars
    ax.set_xlabel(f"direction, most invariant first{part}{bars}")
    ax.set_xlim(drawn.start + 0.3, max(drawn.stop, drawn.start + 1) + 0.7)
    tidy(ax, integer_ticks=True)
    return least


def draw_bars(
    ax: "Axes",
    places: Sequence[float | int],
    intervals: Float[Tensor, "r 2"],
    least: float,
    *,
    colour: str,
) -> None:
    """Draw a vertical bar for every interval, no lower than `least`; NaN draws nothing."""
    finite = intervals.isfinite().all(1)
    if not bool(finite.any()):
        return
    across = torch.tensor(places, dtype=torch.float64)[finite].tolist()
    low, high = intervals[finite].clamp_min(least).mT.tolist()
    ax.vlines(across, low, high, color=colour, linewidth=1.2, zorder=1.8)
    ends = {"color": colour, "markersize": 4, "zorder": 1.8, "label": "_ends"}
    ax.plot([*across, *across], [*low, *high], "_", **ends)


def spectrum(
    sym: Symmetries, ax: "Axes | None" = None, *, max_directions: int = DRAWN_DIRECTIONS
) -> "Axes":
    """Draw the symmetry variance of every direction, ascending, with the symmetries set apart.

    Args:
        sym: the result of `discover`.
        ax: axes to draw into; by default a new figure.
        max_directions: directions drawn, around the gap.
    """
    values = sym.spectrum.values
    ax = _draw_values(sym, values, ax, max_directions, label="symmetry variance  σ²/|D|")
    verb = "is a symmetry" if sym.nullity == 1 else "are symmetries"
    ax.set_title(f"{sym.nullity} of {len(values)} directions {verb}", fontsize="medium")
    return ax


def bias(
    sym: Symmetries,
    reference: Float[Tensor, "e ..."],
    name: str,
    ax: "Axes | None" = None,
    *,
    max_directions: int = DRAWN_DIRECTIONS,
) -> "Axes":
    """Draw the paper's symmetry bias of every direction against a reference algebra.

    Args:
        sym: the result of `discover`.
        reference: generators such as `liegg.so(5)`.
        name: of the reference, for the axis.
        ax: axes to draw into; by default a new figure.
        max_directions: directions drawn, around the gap.
    """
    label = f"symmetry bias against {plain(name)}"
    ax = _draw_values(sym, sym.bias(reference), ax, max_directions, label=label, log=False)
    ax.set_ylim(-0.05, 1.1)
    ax.set_title(f"distance to {plain(name)}: 0 inside, 1 orthogonal", fontsize="medium")
    return ax


def _draw_values(
    sym: Symmetries,
    values: Float[Tensor, " k"],
    ax: "Axes | None",
    max_directions: int,
    *,
    label: str,
    log: bool = True,
) -> "Axes":
    """Draw a number of every direction, symmetries in their own colour and shape."""
    ax = ax or figure().subplots()
    drawn = window(len(values), sym.nullity, max_directions)
    symmetries = {"marker": "o", "color": FOUND, "markersize": 6, "label": "symmetry"}
    others = {"marker": "s", "color": OTHER, "markersize": 5, "label": "no symmetry"}
    marks = [
        Marks([i + 1 for i in some], values[some.start : some.stop], look)
        for look, some in (
            (symmetries, range(drawn.start, min(sym.nullity, drawn.stop))),
            (others, range(max(sym.nullity, drawn.start), drawn.stop)),
        )
    ]
    draw_directions(ax, marks, drawn, len(values), label=label, log=log)
    if drawn:
        legend(ax)
    return ax


def defects(
    sym: Symmetries, ax: "Axes | None" = None, *, max_directions: int = DRAWN_DIRECTIONS
) -> "Axes":
    """Draw the defect of every direction that moves the data, with interval, grade, thresholds and gap.

    Args:
        sym: the result of `discover`.
        ax: axes to draw into; by default a new figure.
        max_directions: directions drawn, around the gap.
    """
    ax = ax or figure(7.0, 4.5).subplots()
    decision, nullity, random = sym.decision, sym.nullity, sym.controls.random
    drawn = window(len(sym.defects), nullity, max_directions)
    rulers = [threshold_line(sym)]
    if random is not None and math.isfinite(random.low):
        share = f"random directions, lowest {number(100 * random.share)} %"
        rulers.append((random.low, "--", share))
    grades = list(decision.shown_grades)
    marks = []
    for name, (marker, colour) in {**GRADE_LOOKS, "undecided": ("x", MUTED)}.items():
        label = f"{'no symmetry' if name == 'none' else name} ({grades.count(name)})"
        look = {"marker": marker, "color": colour, "markersize": 5.5, "label": label}
        marks.append(defect_marks(sym, [i for i in drawn if grades[i] == name], look))
    level = decision.thresholds.level
    least = draw_directions(ax, marks, drawn, len(sym.defects), rulers=rulers, level=level)
    is_outside = decision.floor < least
    floor = f"rounding floor {number(decision.floor, 1)}{', off the axis' * is_outside}"
    horizontal_line(ax, decision.floor, "-.", floor)
    if is_outside:
        ax.set_ylim(bottom=least / 3)  # marks at the lower end stay whole
    if nullity and nullity in drawn and nullity - 1 in drawn:
        low, high = sym.defects[nullity - 1 : nullity + 1].clamp_min(least).tolist()
        _mark_gap(ax, nullity + 0.5, low, high, gap=decision.gap)
    if not len(sym.defects):
        write_centred(ax, "no candidate direction moves the data")
    ax.set_title("0: exact symmetry, 1: average direction", fontsize="medium")
    legend(ax, columns=2)
    return ax


def defect_marks(
    sym: Symmetries, directions: Sequence[int], look: dict[str, Any], offset: float = 0.0
) -> Marks:
    """Marks of the defects of some directions, with their intervals."""
    places = [i + 1 + offset for i in directions]
    return Marks(places, sym.defects[[*directions]], look, sym.intervals[[*directions]])


def threshold_line(sym: Symmetries) -> tuple[float, str, str]:
    """Height, dashes and label of the line at the threshold."""
    threshold = sym.decision.thresholds.threshold
    return threshold, ":", f"threshold {number(threshold)}"


def _mark_gap(ax: "Axes", x: float, low: float, high: float, *, gap: float) -> None:
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


def overview(
    sym: Symmetries, reference: Float[Tensor, "e ..."] | None = None, name: str = ""
) -> "Figure":
    """Draw the defects and the generators on one page; with a reference, the paper's spectrum and bias instead of the defects.

    Args:
        sym: the result of `discover`.
        reference: generators of a known algebra to compare with.
        name: of the reference.
    """
    fig = figure(9.5, 6.4)
    top, bottom = fig.subfigures(2, 1, squeeze=False, height_ratios=(1.15, 1)).flatten()
    if reference is None:
        defects(sym, top.subplots())
    else:
        left, right = top.subplots(1, 2)
        spectrum(sym, left)
        bias(sym, reference, name, right)
    generators(sym, bottom)
    return fig
