"""Figures of the study of widths and depths, drawn from its stored results alone: the paper's Figure 4."""

from math import floor, isnan, log10
from pathlib import Path
from statistics import linear_regression, mean, median
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from liegg.report.plots import MUTED, OTHER, figure, save_figure
from liegg.studies.figure_style import number, power_of_ten, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

READINGS = {"paper, sum": "outputs summed", "paper, each": "each output a row"}
"""Readings that are drawn, one row of panels to each, and what they are called."""

DEEPEST = 5
"""Hidden layers of the deepest networks of the main grid."""

WINDOW = f"1-{DEEPEST}"
"""Name of the main grid among the correlations."""

NAMES = {"variance": "symmetry variance", "bias": "SO(2) bias"}
"""What is measured, and what panels call it."""

PAPER_RHO = {"variance": -0.49, "bias": -0.31}
"""The paper's correlations with the test accuracy, both with p < 10⁻⁴."""

MARKERS = "osD^v"
"""One for each depth of the main grid."""

GAP = 0.6
"""Between the main grid and the rows beyond it, in rows; holds a line of text."""

NOTE = """Each cell is the mean over {seeds} networks.
Every panel has a colour scale of its own.

Variance and bias are those of the network's
most invariant direction, with the paper's
derivative of the image.

The paper sums the outputs, (a) and (b)."""


def draw(results: dict[str, Any], out: Path) -> list[Path]:
    """Draw the paper's Figure 4.

    Args:
        results: the stored results.
        out: folder for `configurations-heatmaps` (4a) and `configurations-correlation` (4b), each as PNG and SVG.

    Returns:
        The files written.
    """
    paths = save_figure(draw_heatmaps(results), out / "configurations-heatmaps")
    return paths + save_figure(draw_correlation(results), out / "configurations-correlation")


def draw_heatmaps(results: dict[str, Any]) -> "Figure":
    """Mean variance, bias and accuracy of the networks of each depth and number of parameters.

    Args:
        results: the stored results.
    """
    made = figure(13.0, 6.8)
    made.set_layout_engine("constrained", w_pad=0.08)
    panels = made.subplots(2, 3)
    for (left, right, _), letters, (reading, name) in zip(
        panels, ("ab", "de"), READINGS.items(), strict=True
    ):
        variance = _means(results, "variance", reading)
        exponent = _exponent(variance.flatten().tolist())
        _heatmap(
            left,
            results,
            variance / 10.0**exponent,
            f"σ²/|D|, in units of {power_of_ten(exponent)}",
            "viridis",
        )
        bias = _means(results, "bias", reading)
        _heatmap(right, results, 100 * bias, f"bias, in units of {power_of_ten(-2)}", "viridis")
        for ax, letter, called in zip((left, right), letters, NAMES.values(), strict=True):
            ax.set_title(f"({letter}) {called}, {name}", fontsize="medium")
        left.set_ylabel("hidden layers, deeper upward")
    top, bottom = panels[:, 2]
    _heatmap(top, results, 100 * _means(results, "accuracy", ""), "accuracy, %", "cividis")
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
    made.suptitle(
        f"Rotated MNIST: networks of different size and depth, {results['images']:,} images",
        fontsize="medium",
    )
    return made


def draw_correlation(results: dict[str, Any]) -> "Figure":
    """Variance and bias against test accuracy, one point per network of the main grid.

    Args:
        results: the stored results.
    """
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.lines import Line2D

    counts = results["parameters"]
    colours = ListedColormap(colormaps["viridis"](np.linspace(0, 0.95, len(counts))))
    made = figure(10.5, 8.0)
    panels = made.subplots(2, 2, sharex=True)
    for pair, letters, reading in zip(panels, ("ab", "cd"), READINGS, strict=True):
        for ax, letter, measure in zip(pair, letters, NAMES, strict=True):
            _points(ax, results, measure, reading, colours)
            ax.set_title(f"({letter}) {_heading(results, measure, reading)}", fontsize="medium")
    for ax in panels[1]:
        ax.set_xlabel("test accuracy, %")
    bands = ScalarMappable(BoundaryNorm(np.arange(len(counts) + 1) - 0.5, len(counts)), colours)
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
            marker=MARKERS[depth - 1],
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


def _means(
    results: dict[str, Any], measure: str, reading: str
) -> Float[np.ndarray, "depths counts"]:
    """Mean over the seeds for each depth and number of parameters asked for."""
    cells: dict[tuple[int, int], list[float]] = {}
    for net in results["networks"]:
        cells.setdefault((net["hidden_layers"], net["parameters"]), []).append(
            _value(net, measure, reading)
        )
    return np.array(
        [
            [mean(cells[depth, count]) for count in results["parameters"]]
            for depth in results["hidden_layers"]
        ]
    )


def _value(net: dict[str, Any], measure: str, reading: str) -> float:
    """Test accuracy, or variance or bias of the most invariant direction."""
    if measure == "accuracy":
        return net["test_accuracy"]
    found = net["readings"][reading][measure]
    return found[0] if measure == "bias" else found


def _heatmap(
    ax: "Axes",
    results: dict[str, Any],
    cells: Float[np.ndarray, "depths counts"],
    label: str,
    colours: str,
) -> None:
    """Cells with their numbers; rows deeper than the main grid stand apart above it."""
    from matplotlib import colormaps
    from matplotlib.colors import Normalize

    depths, counts = results["hidden_layers"], results["parameters"]
    norm, scale = Normalize(cells.min(), cells.max()), colormaps[colours]
    places = [row + GAP * (depth > DEEPEST) for row, depth in enumerate(depths)]
    decimals = 2 if cells.max() < 10 else 1
    mesh = None
    for place, row in zip(places, cells, strict=True):
        edges = np.arange(len(counts) + 1) - 0.5
        mesh = ax.pcolormesh(
            edges,
            [place - 0.5, place + 0.5],
            row[None],
            norm=norm,
            cmap=scale,
            edgecolors="white",
            linewidth=0.5,
        )
        for column, value in enumerate(row):
            text = f"{value:.{decimals}f}"
            ax.text(
                column,
                place,
                text,
                ha="center",
                va="center",
                fontsize=8,
                color=_ink(scale, norm(value)),
            )
    beyond = [place for place, depth in zip(places, depths, strict=True) if depth > DEEPEST]
    if beyond:
        middle, line = (len(counts) - 1) / 2, beyond[0] - (1 + GAP) / 2
        ax.text(
            middle,
            line,
            "beyond the main grid",
            ha="center",
            va="center",
            fontsize=8,
            style="italic",
            color=MUTED,
        )
    ax.set_xticks(range(len(counts)), [_thousands(count) for count in counts])
    ax.set_yticks(places, [str(depth) for depth in depths])
    ax.tick_params(length=0, labelsize="small")
    ax.spines[:].set_visible(False)
    if mesh is not None:
        ax.figure.colorbar(mesh, ax=ax, label=label, pad=0.02).outline.set_visible(False)


def _ink(scale: "Colormap", place: float) -> str:
    """Black or white, whichever is read better on a colour: the two contrasts are equal at a luminance of 0.179 (WCAG 2)."""
    channels = np.array(scale(place)[:3])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return "black" if linear @ np.array([0.2126, 0.7152, 0.0722]) > 0.179 else "white"


def _points(
    ax: "Axes", results: dict[str, Any], measure: str, reading: str, colours: "Colormap"
) -> None:
    """One marker per depth, one colour per number of parameters, and the line of least squares through all points."""
    networks = [net for net in results["networks"] if net["hidden_layers"] <= DEEPEST]
    values = [_value(net, measure, reading) for net in networks]
    exponent = _exponent(values) if measure == "variance" else 0
    heights = [value / 10.0**exponent for value in values]
    accuracy = [100 * net["test_accuracy"] for net in networks]
    for place, height, net in zip(accuracy, heights, networks, strict=True):
        colour = colours(results["parameters"].index(net["parameters"]))
        ax.plot(
            place,
            height,
            MARKERS[net["hidden_layers"] - 1],
            color=colour,
            markersize=4.5,
            markeredgewidth=0.3,
            mec="white",
        )
    if _correlation(results, measure, reading) is not None:
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
    ax.set_ylabel(f"variance  σ²/|D|{unit}" if measure == "variance" else "bias against so(2)")
    tidy(ax)


def _heading(results: dict[str, Any], measure: str, reading: str) -> str:
    """What a panel shows, and below it the correlation with its p-value; for the paper's reading also the paper's."""
    name = f"{NAMES[measure]}, {READINGS[reading]}"
    found = _correlation(results, measure, reading)
    if found is None:
        return f"{name}\ntoo few or too equal networks for a correlation"
    p = found["p"]
    chance = f"p = {number(p, 1 if p < 1e-3 else 2)}" if p > 0 else f"p < {power_of_ten(-300)}"
    paper = f"; the paper: ρ = {_signed(PAPER_RHO[measure])}" if reading == "paper, sum" else ""
    return f"{name}\nρ = {_signed(found['rho'])}, {chance}{paper}"


def _correlation(results: dict[str, Any], measure: str, reading: str) -> dict[str, float] | None:
    """Pearson's with the test accuracy over the main grid; nothing for fewer than three networks, or networks all alike."""
    found = results["correlations"].get(reading, {}).get(WINDOW, {}).get(measure)
    return None if found is None or isnan(found["rho"]) else found


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _thousands(count: int) -> str:
    return f"{count / 1000:g}k"


def _exponent(values: list[float]) -> int:
    """Power of ten of the median, so that most numbers have one digit before the point."""
    middle = median(values)
    return floor(log10(middle)) if middle > 0 else 0
