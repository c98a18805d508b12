"""Figures of the study of widths and depths, the paper's Figure 4, and of its repeats on other draws."""

from itertools import product
from math import floor, log10
from statistics import linear_regression, median
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, Colormap, ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from liegg.report.numbers import number, power_of_ten
from liegg.report.plots import FOUND, MUTED, OTHER
from liegg.studies.configurations import DEEPEST, MAIN_WINDOW, cell_means, value_of
from liegg.studies.figures.style import OUTPUT_READINGS, finish, frame, with_panels

QUANTITY_NAMES = {"variance": "symmetry variance", "bias": "SO(2) bias"}
"""Quantities that are drawn, and their names in titles."""

PAPER_RHO = {"variance": -0.49, "bias": -0.31}
"""The paper's correlations with the test accuracy, both with p < 10⁻⁴."""

DEPTH_MARKERS = "osD^v"
"""One for each depth of the main grid."""

CORRELATIONS = {
    "rho": ("o", "all networks"),
    "between": ("^", "between configurations"),
    "within": ("v", "within a configuration"),
}
"""Correlations that are drawn for every draw of the data: marker and name."""

GAP = 0.6
"""Space between the main grid and the rows beyond it, in rows; holds a line of text."""

NOTE = """Each cell is the mean over {seeds} networks.
Every panel has its own color scale.

Variance and bias are those of the network's
most invariant direction, with the paper's
derivative of the image.

The paper sums the outputs, (a) and (b)."""


def draw_configurations(results: dict[str, Any]) -> dict[str, Figure]:
    """The paper's Figures 4a and 4b."""
    return {
        "configurations-heatmaps": heatmaps(results),
        "configurations-correlation": scatter_plots(results),
    }


def draw_draws(results: dict[str, Any]) -> dict[str, Figure]:
    """Correlation of variance and bias with the test accuracy, for every draw and both readings."""
    made, panels = with_panels(10.5, 4.4, 1, 2, sharey=True)
    places = np.arange(len(results["draws"]))
    for ax, (quantity, name) in zip(panels, QUANTITY_NAMES.items(), strict=True):
        for shift, color, (reading, words) in zip(
            (-0.12, 0.12), (OTHER, FOUND), OUTPUT_READINGS.items(), strict=True
        ):
            for key, (marker, kind) in CORRELATIONS.items():
                values = [draw["correlations"][reading][quantity][key] for draw in results["draws"]]
                ax.plot(
                    places + shift,
                    values,
                    marker,
                    color=color,
                    markersize=6,
                    label=f"{words}, {kind}" if quantity == "variance" else None,
                )
        ax.axhline(0, color=MUTED, linewidth=0.8)
        ax.axhline(
            PAPER_RHO[quantity],
            color=OTHER,
            linestyle="--",
            linewidth=1,
            label=f"the paper, {name}: {_signed(PAPER_RHO[quantity])}",
        )
        ax.set_xticks(places, [f"draw {draw['draw']}" for draw in results["draws"]])
        frame(ax, name, xlim=(-0.5, len(places) - 0.5))
    panels[0].set(ylim=(-1.05, 1.05), ylabel="correlation with the test accuracy")
    count = results["draws"][0]["networks"]
    finish(made, f"Other draws of rotated MNIST, {count} networks each", 3)
    return {"draws": made}


def heatmaps(results: dict[str, Any]) -> Figure:
    """Mean variance, bias and accuracy of the networks of each depth and number of parameters."""
    made, panels = with_panels(13.0, 6.8, 2, 3)
    made.set_layout_engine("constrained", w_pad=0.08)
    contents = product(OUTPUT_READINGS.items(), QUANTITY_NAMES.items())
    for ax, letter, ((reading, words), (quantity, name)) in zip(
        panels[:, :2].flat, "abde", contents, strict=True
    ):
        cells = cell_means(results, quantity, reading)
        exponent = _exponent(cells.flatten().tolist()) if quantity == "variance" else -2
        symbol = "σ²/|D|" if quantity == "variance" else "bias"
        label = f"{symbol}, in units of {power_of_ten(exponent)}"
        _heatmap(ax, results, cells / 10.0**exponent, label)
        ax.set_title(f"({letter}) {name}, {words}", fontsize="medium")
    for ax in panels[:, 0]:
        ax.set_ylabel("hidden layers, deeper upward")
    top, bottom = panels[:, 2]
    accuracy = 100 * cell_means(results, "accuracy", "")
    _heatmap(top, results, accuracy, "accuracy, %", colors="cividis")
    top.set_title("(c) test accuracy", fontsize="medium")
    bottom.set_axis_off()
    bottom.text(
        0.0,
        0.95,
        NOTE.format(seeds=len(results["seeds"])),
        transform=bottom.transAxes,
        va="top",
        linespacing=1.5,
    )
    for ax in (*panels[1, :2], top):
        ax.set_xlabel("parameters")
    title = f"networks of different size and depth, {results['images']:,} images"
    made.suptitle(f"Rotated MNIST: {title}", fontsize="medium")
    return made


def scatter_plots(results: dict[str, Any]) -> Figure:
    """Variance and bias against test accuracy, one point per network of the main grid."""
    counts = results["parameters"]
    colors = ListedColormap(colormaps["viridis"](np.linspace(0, 0.95, len(counts))))
    made, panels = with_panels(10.5, 8.0, 2, 2, sharex=True)
    contents = product(OUTPUT_READINGS, QUANTITY_NAMES)
    for ax, letter, (reading, quantity) in zip(panels.flat, "abcd", contents, strict=True):
        _points(ax, results, quantity, reading, colors=colors)
        ax.set_title(f"({letter}) {_heading(results, quantity, reading)}", fontsize="medium")
    for ax in panels[1]:
        ax.set_xlabel("test accuracy, %")
    bands = ScalarMappable(BoundaryNorm(np.arange(len(counts) + 1) - 0.5, len(counts)), colors)
    bar = made.colorbar(
        bands, ax=panels, label="parameters", ticks=range(len(counts)), aspect=40, pad=0.02
    )
    bar.ax.set_yticklabels([_thousands(count) for count in counts])
    bar.ax.tick_params(length=0, which="both")
    handles = [
        Line2D(
            [],
            [],
            color=MUTED,
            marker=DEPTH_MARKERS[depth - 1],
            linestyle="",
            label=f"{depth} hidden layer{'s' * (depth > 1)}",
        )
        for depth in results["hidden_layers"]
        if depth <= DEEPEST
    ]
    handles += panels[0, 0].get_legend_handles_labels()[0]
    made.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    made.suptitle(
        "Rotated MNIST: symmetry against accuracy, one point per network", fontsize="medium"
    )
    return made


def _heatmap(
    ax: Axes,
    results: dict[str, Any],
    cells: Float[np.ndarray, "depths counts"],
    label: str,
    *,
    colors: str = "viridis",
) -> None:
    """Cells with their numbers; rows deeper than the main grid are drawn apart above it."""
    depths, counts = results["hidden_layers"], results["parameters"]
    norm, scale = Normalize(cells.min(), cells.max()), colormaps[colors]
    places = [row + GAP * (depth > DEEPEST) for row, depth in enumerate(depths)]
    decimals = 2 if cells.max() < 10 else 1
    centred = {"ha": "center", "va": "center", "fontsize": 8}
    edges = np.arange(len(counts) + 1) - 0.5
    for place, row in zip(places, cells, strict=True):
        ax.pcolormesh(
            edges,
            [place - 0.5, place + 0.5],
            row[None],
            norm=norm,
            cmap=scale,
            edgecolors="white",
            linewidth=0.5,
        )
        for column, value in enumerate(row):
            ax.text(
                column, place, f"{value:.{decimals}f}", color=_ink(scale, norm(value)), **centred
            )
    beyond = [place for place, depth in zip(places, depths, strict=True) if depth > DEEPEST]
    if beyond:
        middle, line = (len(counts) - 1) / 2, beyond[0] - (1 + GAP) / 2
        ax.text(middle, line, "beyond the main grid", style="italic", color=MUTED, **centred)
    ax.set_xticks(range(len(counts)), [_thousands(count) for count in counts])
    ax.set_yticks(places, [str(depth) for depth in depths])
    ax.tick_params(length=0, labelsize="small")
    ax.spines[:].set_visible(False)
    bar = ax.figure.colorbar(ScalarMappable(norm, scale), ax=ax, label=label, pad=0.02)
    bar.outline.set_visible(False)


def _ink(scale: Colormap, place: float) -> str:
    """Black or white, whichever has more contrast: both are equal at a luminance of 0.179 (WCAG 2)."""
    channels = np.array(scale(place)[:3])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return "black" if linear @ np.array([0.2126, 0.7152, 0.0722]) > 0.179 else "white"


def _points(
    ax: Axes, results: dict[str, Any], quantity: str, reading: str, *, colors: Colormap
) -> None:
    """One marker per depth, one color per number of parameters, and the least-squares line."""
    networks = [net for net in results["networks"] if net["hidden_layers"] <= DEEPEST]
    values = [value_of(net, quantity, reading) for net in networks]
    exponent = _exponent(values) if quantity == "variance" else 0
    heights = [value / 10.0**exponent for value in values]
    accuracy = [100 * net["test_accuracy"] for net in networks]
    for place, height, net in zip(accuracy, heights, networks, strict=True):
        color = colors(results["parameters"].index(net["parameters"]))
        ax.plot(
            place,
            height,
            DEPTH_MARKERS[net["hidden_layers"] - 1],
            color=color,
            markersize=4.5,
            markeredgewidth=0.3,
            mec="white",
        )
    if _correlation(results, quantity, reading) is not None:
        slope, intercept = linear_regression(accuracy, heights)
        ends = [min(accuracy), max(accuracy)]
        ax.plot(
            ends,
            [intercept + slope * end for end in ends],
            color=OTHER,
            linewidth=1.5,
            label="least squares",
        )
    unit = f", in units of {power_of_ten(exponent)}" if exponent else ""
    frame(
        ax, "", ylabel=f"variance  σ²/|D|{unit}" if quantity == "variance" else "bias against so(2)"
    )


def _heading(results: dict[str, Any], quantity: str, reading: str) -> str:
    """Title of a panel with its correlation; with the paper's correlation for the paper's reading."""
    name = f"{QUANTITY_NAMES[quantity]}, {OUTPUT_READINGS[reading]}"
    correlation = _correlation(results, quantity, reading)
    if correlation is None:
        return f"{name}\nno correlation: too few networks, or no variation"
    p = correlation["p"]
    chance = f"p = {number(p, 1 if p < 1e-3 else 2)}" if p > 0 else f"p < {power_of_ten(-300)}"
    paper = f"; the paper: ρ = {_signed(PAPER_RHO[quantity])}" if reading == "paper, sum" else ""
    return f"{name}\nρ = {_signed(correlation['rho'])}, {chance}{paper}"


def _correlation(results: dict[str, Any], quantity: str, reading: str) -> dict[str, float] | None:
    """Pearson's correlation with the test accuracy over the main grid; None if undefined.

    Where nothing varies, a p of 1 is stored.
    """
    correlation = results["correlations"].get(reading, {}).get(MAIN_WINDOW, {}).get(quantity)
    return None if correlation is None or correlation["p"] == 1 else correlation


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _thousands(count: int) -> str:
    return f"{count / 1000:g}k"


def _exponent(values: list[float]) -> int:
    """Power of ten of the median, such that most numbers have one digit before the point."""
    middle = median(values)
    return floor(log10(middle)) if middle > 0 else 0
