"""What all figures share: colours, an empty figure, plain axes, intervals, logarithmic axes."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import MissingExtraError
from liegg.report.numbers import number
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FOUND, OTHER, THIRD, MUTED = "#0072b2", "#d55e00", "#009e73", "#6b6b6b"
"""Blue, vermilion and green of the Okabe-Ito palette, distinct for every kind of colour vision, and grey."""

SKY, AMBER, PURPLE = "#56b4e9", "#e69f00", "#cc79a7"
"""More of the same palette; lighter, so each is used with its own marker."""

LEGEND_OFFSET = 36.0
"""Points from the lower edge of the axes to a legend below their ticks and label."""

MAX_DECADES = 34
"""Of a logarithmic axis: the squared resolution of float64, and two more."""

MAX_DIRECTIONS = 200
"""Directions drawn: more cannot be distinguished on a page."""


def figure(width: float | int = 7.0, height: float | int = 4.0) -> "Figure":
    """Make an empty figure of a size in inches, without a window or global state."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "figures need matplotlib. Type: pip install 'liegg[plot]'"
        ) from error
    return Figure(figsize=(width, height), layout="constrained", dpi=150)


def tidy(ax: "Axes", *, integer_ticks: bool = False) -> None:
    """Keep the left and lower edge of the frame, and faint horizontal lines.

    Args:
        ax: the axes.
        integer_ticks: the horizontal axis counts something.
    """
    from matplotlib.ticker import MaxNLocator

    if integer_ticks:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def legend(ax: "Axes", *, columns: int = 0) -> None:
    """Add a legend on white, so that no line crosses its text.

    Args:
        ax: the axes.
        columns: of a legend below the axes; 0 puts it inside, as does a figure without a layout engine, which would cut
            it off.
    """
    look = {
        "frameon": True,
        "facecolor": "white",
        "edgecolor": "none",
        "framealpha": 0.9,
        "fontsize": "small",
    }
    whole = ax.get_figure()
    engine = None if whole is None else getattr(whole, "get_layout_engine", lambda: None)()
    if not columns or engine is None or whole is None:
        ax.legend(loc="best", **look)
        return
    from matplotlib.transforms import ScaledTranslation

    below = ax.transAxes + ScaledTranslation(0, -LEGEND_OFFSET / 72, whole.dpi_scale_trans)
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=below,
        borderaxespad=0,
        ncols=columns,
        **look,
    )


def plain(text: str) -> str:
    r"""Escape a text for matplotlib: no formula between dollars, no leading underscore, which hides a legend entry.

    >>> plain("cost in $ and $"), plain("_Net")
    ('cost in \\$ and \\$', ' _Net')
    """
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def lowest(*values: Float[Tensor, "..."], also: Sequence[float] = ()) -> float:
    """Lower end of a logarithmic axis: a decade below the smallest positive number, at most 34 below the largest.

    Zeros are drawn there, and so are numbers that float64 cannot tell from zero next to the largest.

    >>> lowest(torch.tensor([0.0, 1e-3]), also=[0.03])
    0.0001
    >>> lowest(torch.tensor([1e-66, 1.0], dtype=torch.float64)), lowest(torch.zeros(2))
    (1e-34, 0.1)
    """
    known = torch.cat(
        [
            *(value.detach().flatten().double() for value in values),
            torch.tensor([*also], dtype=torch.float64),
        ]
    )
    known = known[(known > 0) & known.isfinite()]
    if not len(known):
        return 0.1
    smallest, largest = (
        math.floor(math.log10(float(end)) + 1e-9) for end in (known.min(), known.max())
    )
    return 10.0 ** max(smallest - 1, largest - MAX_DECADES)


def cut(values: Float[Tensor, " k"], least: float) -> str:
    r"""Addition to the label of a logarithmic axis that does not reach every value.

    >>> cut(torch.tensor([0.0, 1.0]), 1e-3), cut(torch.tensor([0.5, 1.0]), 0.01)
    ('\n(lowest: 0.001 or less)', '')
    """
    return f"\n(lowest: {number(least)} or less)" if bool((values < least).any()) else ""


def label_directions(ax: "Axes", drawn: range, total: int, also: str = "") -> None:
    """Label the horizontal axis of a figure that numbers directions from 1.

    Args:
        ax: the axes.
        drawn: the directions that are drawn, from 0.
        total: number of all directions.
        also: text to add to the label.
    """
    some = f" ({drawn.start + 1}–{drawn.stop} of {total})" if len(drawn) < total else ""
    ax.set_xlabel(f"direction, most invariant first{some}{also}")
    ax.set_xlim(drawn.start + 0.3, max(drawn.stop, drawn.start + 1) + 0.7)
    tidy(ax, integer_ticks=True)


def interval_label(sym: Symmetries, intervals: Float[Tensor, "r 2"]) -> str:
    """Addition to a label that explains the bars, if there are any."""
    has_bars = bool(intervals.isfinite().all(1).any())
    return f"; bars: {100 * sym.decision.thresholds.level:g} % intervals" if has_bars else ""


def whiskers(
    ax: "Axes",
    places: Sequence[float | int],
    intervals: Float[Tensor, "r 2"],
    least: float,
    colour: str,
) -> None:
    """Draw a vertical bar for every interval; NaN draws nothing.

    Args:
        ax: the axes.
        places: horizontal place of each interval.
        intervals: lower and upper ends.
        least: lowest height, for ends that a logarithm cannot show.
        colour: of the bars.
    """
    finite = intervals.isfinite().all(1)
    if not bool(finite.any()):
        return
    across = torch.tensor(places, dtype=torch.float64)[finite].tolist()
    low, high = intervals[finite].clamp_min(least).mT.tolist()
    ax.vlines(across, low, high, color=colour, linewidth=1.2, zorder=1.8)
    ax.plot(
        [*across, *across],
        [*low, *high],
        "_",
        color=colour,
        markersize=4,
        zorder=1.8,
        label="_ends",
    )


def horizontal_line(ax: "Axes", height: float, dashes: str, label: str) -> None:
    """Draw a thin grey line across the axes."""
    ax.axhline(height, color=MUTED, linestyle=dashes, linewidth=1, label=label, zorder=1.5)


def write_centred(ax: "Axes", text: str) -> None:
    """Write a sentence into empty axes: what cannot be drawn, and why."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", wrap=True)
