"""What all figures share: colours, an empty figure, quiet axes, intervals, and numbers that a logarithm can show."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import MissingExtraError
from liegg.report.page.numbers import number
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FOUND, OTHER, THIRD, MUTED = "#0072b2", "#d55e00", "#009e73", "#6b6b6b"
"""Blue, vermilion and green of the Okabe-Ito palette: told apart by every kind of colour vision, on paper and on screen."""

SKY, AMBER, PURPLE = "#56b4e9", "#e69f00", "#cc79a7"
"""More of the same palette; lighter, so never without a shape of their own."""

BELOW = 36.0
"""Points from the lower edge of the axes to a legend below their numbers and name."""

DECADES = 34
"""Of a logarithmic axis: squares of what float64 tells apart, and two more."""

MOST = 200
"""Directions drawn, at most: more cannot be told apart on a page."""


def figure(width: float | int = 7.0, height: float | int = 4.0) -> "Figure":
    """An empty figure that belongs to no window and no global state; inches."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "figures need matplotlib. Type: pip install 'liegg[plot]'"
        ) from error
    return Figure(figsize=(width, height), layout="constrained", dpi=150)


def tidy(ax: "Axes", *, whole_numbers: bool = False) -> None:
    """Leave the left and the lower edge of the frame, and faint horizontal lines.

    Args:
        ax: where.
        whole_numbers: the horizontal axis counts something.
    """
    from matplotlib.ticker import MaxNLocator

    if whole_numbers:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def legend(ax: "Axes", *, columns: int = 0) -> None:
    """A legend, on white, so that a line behind it does not cross its words.

    Args:
        ax: where.
        columns: of a legend below the axes, for figures that make room for what lies outside; 0 to put it inside, as it is put
            anyway into a figure without a layout engine, where it would be cut off.
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

    below = ax.transAxes + ScaledTranslation(0, -BELOW / 72, whole.dpi_scale_trans)
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=below,
        borderaxespad=0,
        ncols=columns,
        **look,
    )


def plain(text: str) -> str:
    r"""A text that is drawn letter by letter: no formula between dollars, and no underscore that would hide a legend's entry.

    >>> plain("cost in $ and $"), plain("_Net")
    ('cost in \\$ and \\$', ' _Net')
    """
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def window(total: int, found: int, most: int = MOST) -> range:
    """Directions to draw: all, or as many as there is room for, with the last symmetry and the first other among them.

    >>> window(25, 10), window(1000, 300, 100)
    (range(0, 25), range(250, 350))
    """
    first = max(0, min(found - most // 2, total - most))
    return range(first, min(total, first + most))


def lowest(*values: Float[Tensor, "..."], also: Sequence[float] = ()) -> float:
    """Where a logarithmic axis ends: a decade below the smallest positive number, and at most 34 below the largest.

    An exact zero is drawn there, and so is what is nothing beside the largest number even to float64.

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
    return 10.0 ** max(smallest - 1, largest - DECADES)


def cut(values: Float[Tensor, " k"], least: float) -> str:
    r"""What to add to the name of a logarithmic axis that does not go down to every value.

    >>> cut(torch.tensor([0.0, 1.0]), 1e-3), cut(torch.tensor([0.5, 1.0]), 0.01)
    ('\n(lowest: 0.001 or less)', '')
    """
    return f"\n(lowest: {number(least)} or less)" if bool((values < least).any()) else ""


def count_directions(ax: "Axes", shown: range, total: int, also: str = "") -> None:
    """The horizontal axis of figures that number directions from 1.

    Args:
        ax: where.
        shown: those drawn, from 0.
        total: how many there are.
        also: what else is to be said below it.
    """
    some = f" ({shown.start + 1}–{shown.stop} of {total})" if len(shown) < total else ""
    ax.set_xlabel(f"direction, most invariant first{some}{also}")
    ax.set_xlim(shown.start + 0.3, max(shown.stop, shown.start + 1) + 0.7)
    tidy(ax, whole_numbers=True)


def bars(sym: Symmetries, intervals: Float[Tensor, "r 2"]) -> str:
    """What the bars are, where there are any."""
    return (
        f"; bars: {100 * sym.settings['level']:g} % intervals"
        if bool(intervals.isfinite().all(1).any())
        else ""
    )


def whiskers(
    ax: "Axes",
    places: Sequence[float | int],
    intervals: Float[Tensor, "r 2"],
    least: float,
    colour: str,
) -> None:
    """Vertical bars from the lower to the upper end of every interval that there is; NaN draws nothing.

    Args:
        ax: where.
        places: horizontal place of each.
        intervals: the ends.
        least: lowest height, for ends that a logarithm cannot show.
        colour: of the bars.
    """
    known = intervals.isfinite().all(1).tolist()
    ends = [
        (x, *pair)
        for x, pair, shown in zip(places, intervals.clamp_min(least).tolist(), known, strict=True)
        if shown
    ]
    if not ends:
        return
    across, low, high = zip(*ends, strict=True)
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
