"""The defects next to those of models and directions without the symmetry."""

import math
from typing import TYPE_CHECKING

import torch

from liegg._utils.errors import ArgumentError
from liegg.report.numbers import number, window
from liegg.report.plots.style import (
    FOUND,
    OTHER,
    THIRD,
    cut,
    figure,
    horizontal_line,
    interval_label,
    label_directions,
    legend,
    lowest,
    whiskers,
)
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_DIRECTIONS = 40
"""Directions drawn where there are no re-initialised models."""


def controls(sym: Symmetries, ax: "Axes | None" = None) -> "Axes":
    """Draw the defect of the first directions next to random directions and re-initialised models.

    Re-initialised models are drawn twice: along the same directions, and their own smallest defects of the same rank. A filled
    mark is a learned direction: its interval lies clearly below re-initialised models. Without these it is a symmetry.

    Args:
        sym: the result of `discover`.
        ax: axes to draw into; by default a new figure.

    Raises:
        ArgumentError: the result has no control.
    """
    untrained, random = sym.controls.reinitialised, sym.controls.random
    if untrained is None and (random is None or not random.draws):
        raise ArgumentError(
            "this result has no control to draw; make one with discover(..., controls='random') or "
            "controls='reinitialised'."
        )
    ax = ax or figure(7.0, 4.7).subplots()
    if untrained is None:
        drawn = window(len(sym.defects), sym.nullity, MAX_DIRECTIONS)
        filled = torch.tensor([i < sym.nullity for i in drawn], dtype=torch.bool)
        labels = ("model, a symmetry", "model, no symmetry")
        title, draws = "the model and random directions", {}
    else:
        drawn = range(untrained.along.shape[1])
        filled = torch.tensor(untrained.learned, dtype=torch.bool)
        labels = ("model, learned", "model, not clearly learned")
        title = f"{sum(untrained.learned)} of the first {len(drawn)} directions were learned"
        draws = {"same direction": untrained.along, "same rank": untrained.own}
    values, ends = sym.defects[drawn.start : drawn.stop], sym.intervals[drawn.start : drawn.stop]
    least = lowest(values, ends, *draws.values(), also=[sym.decision.thresholds.threshold])
    places = torch.arange(drawn.start + 1, drawn.stop + 1, dtype=torch.float64)
    ax.set_yscale("log")
    whiskers(ax, places.tolist(), ends, least, FOUND)
    for some, fill, label in ((filled, FOUND, labels[0]), (~filled, "white", labels[1])):
        if bool(some.any()):
            ax.plot(
                places[some].tolist(),
                values[some].clamp_min(least).tolist(),
                "o",
                color=FOUND,
                markerfacecolor=fill,
                markersize=6,
                label=label,
                zorder=3,
            )
    looks = ((-0.2, "^", OTHER), (0.2, "x", THIRD))
    for (name, heights), (offset, marker, colour) in zip(draws.items(), looks, strict=False):
        finite = ~heights.isnan()
        ax.plot(
            (places + offset).expand(len(heights), -1)[finite].tolist(),
            heights.clamp_min(least)[finite].tolist(),
            marker,
            color=colour,
            markersize=4,
            alpha=0.75,
            label=f"re-initialised, {name} ({len(heights)} models)",
        )
    if random is not None and math.isfinite(random.median):
        median = f"random directions, median {number(random.median, 2)}"
        horizontal_line(ax, random.median, "-", median)
        low = f"{number(100 * random.share)} % of them below {number(random.low, 2)}"
        horizontal_line(ax, random.low, "--", low)
    threshold = sym.decision.thresholds.threshold
    horizontal_line(ax, threshold, ":", f"threshold {number(threshold)}")
    ax.set_ylabel("defect  δ²" + cut(values, least))
    ax.set_title(title, fontsize="medium")
    label_directions(ax, drawn, len(sym.defects), interval_label(sym, ends))
    legend(ax, columns=2)
    return ax
