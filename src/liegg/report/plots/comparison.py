"""Two results in one figure."""

from typing import TYPE_CHECKING

from liegg._utils.diagnoses import plural
from liegg._utils.errors import ArgumentError
from liegg.report.numbers import number
from liegg.report.plots.style import (
    FOUND,
    OTHER,
    cut,
    figure,
    horizontal_line,
    interval_label,
    label_directions,
    legend,
    lowest,
    plain,
    whiskers,
)
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FURTHER_DIRECTIONS = 5
"""Directions drawn after the last symmetry of either result."""

MAX_NAME = 60
"""Letters of a name; longer ones are cut."""

OFFSET = 0.13
"""Horizontal distance of the marks of each result from the direction's number."""


def comparison(
    a: Symmetries,
    b: Symmetries,
    ax: "Axes | None" = None,
    *,
    names: tuple[str, str] | None = None,
    max_directions: int | None = None,
) -> "Axes":
    """Draw the defects of the first directions of two results: which model is more invariant.

    Each result has its own directions, most invariant first; filled marks are its symmetries.

    Args:
        a: the result of `discover`.
        b: another.
        ax: axes to draw into; by default a new figure.
        names: of the two; by default those of the models, numbered where they are equal.
        max_directions: directions drawn; by default all symmetries of both, and five more.

    Raises:
        ArgumentError: `max_directions` is not positive.
    """
    if max_directions is not None and max_directions < 1:
        raise ArgumentError(
            f"max_directions={max_directions}: expected the number of directions to draw, 1 or more."
        )
    if names is None:
        same = a.model == b.model
        names = (f"{a.model} (1)", f"{b.model} (2)") if same else (a.model, b.model)
    count = max_directions or max(a.nullity, b.nullity) + FURTHER_DIRECTIONS
    values, ends = ([getattr(sym, of)[:count] for sym in (a, b)] for of in ("defects", "intervals"))
    least = lowest(*values, *ends, also=[a.decision.thresholds.threshold])
    ax = ax or figure(7.0, 4.5).subplots()
    ax.set_yscale("log")
    looks = ((-OFFSET, "o", FOUND), (OFFSET, "s", OTHER))
    for sym, name, defects, interval, (offset, marker, colour) in zip(
        (a, b), names, values, ends, looks, strict=True
    ):
        heights = defects.clamp_min(least).tolist()
        places = [i + 1 + offset for i in range(len(heights))]
        whiskers(ax, places, interval, least, colour)
        short = name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"
        label = plain(f"{short}: {plural(sym.nullity, 'symmetry')}")
        for some, fill in ((slice(0, sym.nullity), colour), (slice(sym.nullity, None), "white")):
            if heights[some]:
                ax.plot(
                    places[some],
                    heights[some],
                    marker,
                    color=colour,
                    markerfacecolor=fill,
                    markersize=5.5,
                    label=label,
                    zorder=3,
                )
                label = "_others"  # a legend hides it
    for level in dict.fromkeys((a.decision.thresholds.threshold, b.decision.thresholds.threshold)):
        horizontal_line(ax, level, ":", f"threshold {number(level)}")
    ax.set_ylabel("defect  δ²" + (cut(values[0], least) or cut(values[1], least)))
    ax.set_title("filled: a symmetry", fontsize="medium")
    total = max(len(a.defects), len(b.defects))
    bars = interval_label(a, ends[0]) or interval_label(b, ends[1])
    label_directions(ax, range(min(count, total)), total, bars)
    legend(ax, columns=1)
    return ax
