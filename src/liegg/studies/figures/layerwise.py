"""Figure of the layer-wise study: the paper's Figure 5."""

from math import exp, log
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from liegg.report.plots import FOUND, OTHER, THIRD, figure
from liegg.studies.figures.style import OUTPUT_READINGS, finish, frame, logarithmic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES = {
    "MLP-7": ("0.35", "o", 5.0),
    "sub MLP-3": (THIRD, "s", 9.0),
    "MLP-7[F]": (FOUND, "^", 5.0),
    "MLP-7[L]": (OTHER, "D", 5.0),
}
"""Color, marker and its size of every regime.

MLP-7[L] keeps the layers of the sub-network, whose larger markers are visible behind its own.
"""

QUANTITIES = {"variance": "symmetry variance  σ²/|D|", "bias": "symmetry bias against so(2)"}
"""Quantities that are drawn, and the labels of their axes."""


def draw_layerwise(results: dict[str, Any]) -> "dict[str, Figure]":
    """Variance and bias after each layer, mean and spread over seeds, for all regimes."""
    made = figure(11.0, 7.6)
    panels = made.subplots(2, 2, sharex=True)
    first = next(iter(OUTPUT_READINGS))
    last = max(len(nets[0]["readings"][first]) for nets in results["networks"].values())
    for row, (reading, words) in enumerate(OUTPUT_READINGS.items()):
        for column, (quantity, label) in enumerate(QUANTITIES.items()):
            ax = panels[row, column]
            for place, (regime, networks) in enumerate(results["networks"].items()):
                curves = [
                    [layer[quantity] for layer in net["readings"][reading]] for net in networks
                ]
                # The logits of all regimes are drawn side by side.
                logits = last + 0.1 * (place - (len(STYLES) - 1) / 2)
                _curve(ax, curves, logits, regime, labelled=row == column == 0)
            ax.set_xticks(range(1, last + 1), [*map(str, range(1, last)), "logits"])
            frame(ax, f"({'abcd'[2 * row + column]}) {quantity}, {words}", ylabel=label)
            logarithmic(ax, "y")
    for ax in panels[1]:
        ax.set_xlabel("after hidden layer")
    finish(
        made,
        f"Layers of a perceptron with {last - 1} hidden layers, rotated MNIST: "
        f"{len(results['seeds'])} networks each, mean and spread (one s.d. of the logarithm)",
        len(STYLES),
    )
    return {"layerwise": made}


def _curve(
    ax: "Axes", curves: list[list[float]], logits: float, regime: str, *, labelled: bool
) -> None:
    """Geometric mean and spread over networks after every hidden layer and, apart, of the logits.

    Args:
        ax: the panel.
        curves: one curve per network, the logits last.
        logits: horizontal place of the logits.
        regime: a key of `STYLES`.
        labelled: whether the curve has an entry in the legend.
    """
    color, marker, size = STYLES[regime]
    logs = [[log(max(value, 1e-300)) for value in values] for values in zip(*curves, strict=True)]
    centre = [exp(mean(values)) for values in logs]
    spread = [stdev(values) if len(values) > 1 else 0.0 for values in logs]
    low, high = (
        [value * exp(sign * by) for value, by in zip(centre, spread, strict=True)]
        for sign in (-1, 1)
    )
    hidden = range(1, len(centre))
    ax.fill_between(hidden, low[:-1], high[:-1], color=color, alpha=0.12, linewidth=0)
    ax.plot(
        hidden,
        centre[:-1],
        label=regime if labelled else None,
        marker=marker,
        color=color,
        linewidth=1.2,
        markersize=size,
    )
    bars = [[centre[-1] - low[-1]], [high[-1] - centre[-1]]]
    ax.errorbar([logits], [centre[-1]], yerr=bars, fmt=marker, color=color, capsize=3, markersize=5)
