"""The defects beside what a model without the symmetry would show."""

import math
from typing import TYPE_CHECKING

import torch

from liegg._utils.errors import ArgumentError
from liegg.report.page.numbers import number
from liegg.report.plots.style import (
    FOUND,
    MUTED,
    OTHER,
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

MOST = 40
"""Directions drawn where there are no fresh weights to say how many matter."""


def controls(sym: Symmetries, ax: "Axes | None" = None) -> "Axes":
    """Defect of the first directions beside random directions and the same architecture with fresh weights.

    Fresh weights are shown twice: along the same directions, and their own smallest defects of the same rank. A filled mark is a
    direction that was learned: its interval lies clearly below fresh weights. Without fresh weights it is a symmetry.

    Args:
        sym: the result of `discover`.
        ax: where to draw; by default a new figure.

    Raises:
        ArgumentError: no control was made.
    """
    fresh, chance = sym.controls.reinitialised, sym.controls.random
    if fresh is None and (chance is None or not chance.draws):
        raise ArgumentError(
            "this result has no control to draw; make one with discover(..., control='reinitialised'), and leave controls=True."
        )
    ax = ax or figure(7.0, 4.7).subplots()
    shown = (
        range(fresh.along.shape[1])
        if fresh is not None
        else window(len(sym.defects), sym.nullity, MOST)
    )
    values, ends = sym.defects[shown.start : shown.stop], sym.intervals[shown.start : shown.stop]
    draws = [] if fresh is None else [fresh.along, fresh.own]
    least = lowest(values, ends, *draws, also=[sym.decision.threshold])
    place = torch.arange(shown.start + 1, shown.stop + 1, dtype=torch.float64)
    ax.set_yscale("log")
    whiskers(ax, place.tolist(), ends, least, FOUND)
    filled = torch.tensor(
        fresh.learned if fresh is not None else [i < sym.nullity for i in shown], dtype=torch.bool
    )
    names = (
        ("model, learned", "model, not clearly learned")
        if fresh is not None
        else ("model, a symmetry", "model, no symmetry")
    )
    for some, fill, label in ((filled, FOUND, names[0]), (~filled, "white", names[1])):
        if bool(some.any()):
            ax.plot(
                place[some].tolist(),
                values[some].clamp_min(least).tolist(),
                "o",
                color=FOUND,
                markerfacecolor=fill,
                markersize=6,
                label=label,
                zorder=3,
            )
    looks = [
        (-0.2, "^", OTHER, "fresh weights, same direction"),
        (0.2, "x", THIRD, "fresh weights, same rank"),
    ]
    for found, (aside, marker, colour, label) in zip(draws, looks, strict=False):
        across, heights = (place + aside).expand(len(found), -1), found.clamp_min(least)
        known = ~found.isnan()
        ax.plot(
            across[known].tolist(),
            heights[known].tolist(),
            marker,
            color=colour,
            markersize=4,
            alpha=0.75,
            linestyle="none",
            label=f"{label} ({len(found)} draws)",
        )
    if chance is not None and math.isfinite(chance.median):
        ax.axhline(
            chance.median,
            color=MUTED,
            linestyle="-",
            linewidth=1,
            label=f"random directions, median {number(chance.median, 2)}",
        )
        about = f"{number(100 * chance.share)} % of them below {number(chance.low, 2)}"
        ax.axhline(chance.low, color=MUTED, linestyle="--", linewidth=1, label=about)
    ax.axhline(
        sym.decision.threshold,
        color=MUTED,
        linestyle=":",
        linewidth=1,
        label=f"threshold {number(sym.decision.threshold)}",
    )
    ax.set_ylabel("defect  δ²" + cut(values, least))
    told = (
        ""
        if fresh is None
        else f"{sum(fresh.learned)} of the first {len(fresh.learned)} directions were learned"
    )
    ax.set_title(told or "the model beside random directions", fontsize="medium")
    count_directions(ax, shown, len(sym.defects), bars(sym, ends))
    legend(ax, columns=2)
    return ax
