"""Elements that the figures of the studies share: panels, curves of networks, logarithmic axes."""

from collections.abc import Sequence
from math import log10
from statistics import mean
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from liegg.report.numbers import number
from liegg.report.plots.style import figure, tidy

OUTPUT_READINGS = {"paper, sum": "outputs summed", "paper, each": "each output a row"}
"""Readings that are drawn, one row of panels each, and their names in titles."""

LARGEST_RANGE = 6
"""Decades of a logarithmic axis. Smaller values are rounding errors in these studies."""


def with_panels(
    width: float, height: float, rows: int, columns: int, **settings: Any
) -> tuple[Figure, Any]:
    """An empty figure and its panels; settings such as `sharex` are for `Figure.subplots`."""
    made = figure(width, height)
    return made, made.subplots(rows, columns, **settings)


def frame(ax: Axes, title: str, **settings: Any) -> None:
    """Set the title of a panel and properties of its axes, and draw faint horizontal lines.

    Args:
        ax: the panel.
        title: its title.
        settings: properties for `Axes.set`, such as `xlabel` or `yscale`.
    """
    ax.set(**settings)
    ax.set_title(title, fontsize="medium")
    tidy(ax)


def finish(figure: Figure, title: str, columns: int, panel: Axes | None = None) -> None:
    """Add a title above all panels and one legend below them.

    Args:
        figure: the figure.
        title: its title; empty for none.
        columns: columns of the legend.
        panel: whose entries the legend shows; by default the entries of all panels.
    """
    if title:
        figure.suptitle(title, fontsize="medium")
    entries = () if panel is None else panel.get_legend_handles_labels()
    figure.legend(*entries, loc="outside lower center", ncols=columns, frameon=False)


def network_curves(
    ax: Axes,
    x: Sequence[float | int],
    curves: list[list[float]],
    *,
    color: str = "0.75",
    alpha: float = 1.0,
    label: str | None = None,
) -> list[float]:
    """Draw one faint line per network, and return the mean of the curves."""
    for curve in curves:
        name = label if curve is curves[0] else None
        ax.plot(x, curve, color=color, alpha=alpha, linewidth=0.8, label=name)
    return [mean(values) for values in zip(*curves, strict=True)]


def logarithmic(ax: Axes, names: Literal["x", "y", "xy"]) -> None:
    """Make axes logarithmic, with ticks in plain numbers; call it after everything is drawn.

    Powers of ten alone would leave many axes with a single tick. Less than half a decade gets round
    numbers at equal steps, up to one and a half decades 1, 2, 3, 5 and 7 of each, up to three
    decades 1, 2 and 5. The lower end is cut at `LARGEST_RANGE`.

    Args:
        ax: the panel.
        names: which of its axes.
    """
    for name in names:
        ax.set(**{f"{name}scale": "log"})
        axis = ax.xaxis if name == "x" else ax.yaxis
        low, high = axis.get_view_interval()
        decades = min(LARGEST_RANGE, log10(high / low))
        ax.set(**{f"{name}lim": (high / 10.0**decades, high)})
        digits = (1.0,) if decades > 3 else (1.0, 2.0, 5.0)
        if decades <= 1.5:
            digits = (1.0, 2.0, 3.0, 5.0, 7.0)
        equal_steps = MaxNLocator(5, steps=[1, 2, 5, 10])
        axis.set_major_locator(equal_steps if decades < 0.5 else LogLocator(subs=digits))
        axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
        axis.set_minor_formatter(NullFormatter())
