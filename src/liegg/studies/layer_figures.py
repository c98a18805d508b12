"""Figure of the layer-wise study, drawn from its stored results alone: the paper's Figure 5."""

from math import exp, log
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from liegg.report.plots import FOUND, OTHER, figure, save_figure
from liegg.studies.configuration_figures import READINGS
from liegg.studies.figure_style import logarithmic, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES = {
    "MLP-7": ("0.35", "o", 5.0),
    "sub MLP-3": ("#009e73", "s", 9.0),
    "MLP-7[F]": (FOUND, "^", 5.0),
    "MLP-7[L]": (OTHER, "D", 5.0),
}
"""Colour, marker and its size of every regime; the sub-network's layers are those that MLP-7[L] keeps, so they show behind."""

QUANTITIES = {"variance": "symmetry variance  σ²/|D|", "bias": "symmetry bias against so(2)"}
"""What is drawn, and the label of its axis."""


def draw(results: dict[str, Any], out: Path) -> list[Path]:
    """Draw the paper's Figure 5 as `layerwise.png` and `layerwise.svg`."""
    return save_figure(draw_layers(results), out / "layerwise")


def draw_layers(results: dict[str, Any]) -> "Figure":
    """Variance and bias after each layer, mean and spread over seeds, all regimes; summed outputs above, each output below."""
    made = figure(11.0, 7.6)
    panels = made.subplots(2, 2, sharex=True)
    last = max(
        len(nets[0]["readings"][next(iter(READINGS))]) for nets in results["networks"].values()
    )
    for row, (reading, words) in enumerate(READINGS.items()):
        for column, (quantity, label) in enumerate(QUANTITIES.items()):
            ax = panels[row, column]
            for place, (regime, networks) in enumerate(results["networks"].items()):
                curves = [
                    [layer[quantity] for layer in net["readings"][reading]] for net in networks
                ]
                aside = 0.1 * (
                    place - (len(STYLES) - 1) / 2
                )  # the logits of all regimes side by side
                _curve(
                    ax,
                    curves,
                    last + aside,
                    *STYLES[regime],
                    label=regime if row == column == 0 else None,
                )
            ax.set_ylabel(label)
            ax.set_title(f"({'abcd'[2 * row + column]}) {quantity}, {words}", fontsize="medium")
            ax.set_xticks(range(1, last + 1), [*map(str, range(1, last)), "logits"])
            tidy(ax)
            logarithmic(ax, "y")
    for ax in panels[1]:
        ax.set_xlabel("after hidden layer")
    made.suptitle(
        f"Layers of a perceptron with {last - 1} hidden layers, rotated MNIST: {len(results['seeds'])} networks each, mean and "
        "spread (one s.d. of the logarithm)",
        fontsize="medium",
    )
    made.legend(loc="outside lower center", ncols=len(STYLES), frameon=False)
    return made


def _curve(
    ax: "Axes",
    curves: list[list[float]],
    logits: float,
    colour: str,
    marker: str,
    size: float,
    label: str | None,
) -> None:
    """Geometric mean and spread over networks after every hidden layer, and of the logits, which stand at a place of their own."""
    logs = [[log(max(value, 1e-300)) for value in values] for values in zip(*curves, strict=True)]
    centre = [exp(mean(values)) for values in logs]
    spread = [stdev(values) if len(values) > 1 else 0.0 for values in logs]
    low, high = (
        [value * exp(sign * by) for value, by in zip(centre, spread, strict=True)]
        for sign in (-1, 1)
    )
    hidden = range(1, len(centre))
    ax.fill_between(hidden, low[:-1], high[:-1], color=colour, alpha=0.12, linewidth=0)
    ax.plot(
        hidden,
        centre[:-1],
        marker=marker,
        color=colour,
        linewidth=1.2,
        markersize=size,
        label=label,
    )
    bars = [[centre[-1] - low[-1]], [high[-1] - centre[-1]]]
    ax.errorbar(
        [logits], [centre[-1]], yerr=bars, fmt=marker, color=colour, capsize=3, markersize=5
    )
