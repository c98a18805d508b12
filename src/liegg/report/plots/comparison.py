"""Two results side by side."""

from typing import TYPE_CHECKING

from liegg._utils.errors import ArgumentError
from liegg.report.page.numbers import number
from liegg.report.plots.style import (
    FOUND,
    MUTED,
    OTHER,
    bars,
    count_directions,
    cut,
    figure,
    legend,
    lowest,
    plain,
    whiskers,
)
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BEYOND = 5
"""Directions shown after the last symmetry of either."""

LONGEST = 60
"""Letters of a name; more are left out."""

ASIDE = 0.13
"""How far from a direction's number the marks of each result stand."""


def comparison(
    a: Symmetries,
    b: Symmetries,
    ax: "Axes | None" = None,
    *,
    names: tuple[str, str] | None = None,
    most: int | None = None,
) -> "Axes":
    """Defects of the first directions of two results with their intervals: which model is more invariant.

    Each result has its own directions, most invariant first; filled marks are its symmetries.

    Args:
        a: the result of `discover`.
        b: another.
        ax: where to draw; by default a new figure.
        names: of the two; by default their models', numbered where they are the same.
        most: directions drawn; by default all symmetries of both, and five more.

    Raises:
        ArgumentError: `most` is no positive number.
    """
    if most is not None and most < 1:
        raise ArgumentError(f"most={most}: expected the number of directions to draw, 1 or more.")
    first, second = names or (
        (a.model, b.model) if a.model != b.model else (f"{a.model} (1)", f"{b.model} (2)")
    )
    count = max(a.nullity, b.nullity) + BEYOND if most is None else most
    ax = ax or figure(7.0, 4.5).subplots()
    ax.set_yscale("log")
    threshold = a.decision.threshold
    least = lowest(
        a.defects[:count],
        b.defects[:count],
        a.intervals[:count],
        b.intervals[:count],
        also=[threshold],
    )
    for sym, name, aside, marker, colour in (
        (a, first, -ASIDE, "o", FOUND),
        (b, second, ASIDE, "s", OTHER),
    ):
        heights = sym.defects[:count].clamp_min(least).tolist()
        place = [i + 1 + aside for i in range(len(heights))]
        whiskers(ax, place, sym.intervals[:count], least, colour)
        called = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
        told = f"{called}: {sym.nullity} symmetr{'y' if sym.nullity == 1 else 'ies'}"
        for some, fill in ((slice(0, sym.nullity), colour), (slice(sym.nullity, None), "white")):
            if not heights[some]:
                continue
            label = "_others" if fill == "white" and sym.nullity else plain(told)
            ax.plot(
                place[some],
                heights[some],
                marker,
                color=colour,
                markerfacecolor=fill,
                markersize=5.5,
                label=label,
                linestyle="none",
                zorder=3,
            )
    for level in dict.fromkeys((threshold, b.decision.threshold)):
        ax.axhline(
            level, color=MUTED, linestyle=":", linewidth=1, label=f"threshold {number(level)}"
        )
    ax.set_ylabel("defect  δ²" + (cut(a.defects[:count], least) or cut(b.defects[:count], least)))
    ax.set_title("filled: a symmetry", fontsize="medium")
    total = max(len(a.defects), len(b.defects))
    count_directions(
        ax,
        range(min(count, total)),
        total,
        bars(a, a.intervals[:count]) or bars(b, b.intervals[:count]),
    )
    legend(ax, columns=1)
    return ax
