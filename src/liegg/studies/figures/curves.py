"""Variance and bias as curves: after each layer, and from a share of the samples."""

from itertools import product
from math import exp, log
from statistics import mean, stdev
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liegg.report.plots import FOUND, MUTED, OTHER, THIRD
from liegg.studies.figures.style import (
    OUTPUT_READINGS,
    finish,
    frame,
    logarithmic,
    network_curves,
    with_panels,
)

REGIME_STYLES = {
    "MLP-7": ("0.35", "o", 5.0),
    "sub MLP-3": (THIRD, "s", 9.0),
    "MLP-7[F]": (FOUND, "^", 5.0),
    "MLP-7[L]": (OTHER, "D", 5.0),
}
"""Color, marker and its size of every regime.

MLP-7[L] keeps the layers of the sub-network, whose larger markers are visible behind its own.
"""

QUANTITY_LABELS = {"variance": "symmetry variance  σ²/|D|", "bias": "symmetry bias against so(2)"}
"""Quantities that are drawn, and the labels of their axes."""

SHARE_READINGS = {"paper, sum": "outputs summed (the paper)", "paper, each": "each output a row"}
"""Readings that are drawn for rotated MNIST, and their names in titles."""


def draw_layerwise(results: dict[str, Any]) -> dict[str, Figure]:
    """The paper's Figure 5: variance and bias after each layer, mean and spread over seeds."""
    made, panels = with_panels(11.0, 7.6, 2, 2, sharex=True)
    first = next(iter(OUTPUT_READINGS))
    last = max(len(nets[0]["readings"][first]) for nets in results["networks"].values())
    contents = product(OUTPUT_READINGS.items(), QUANTITY_LABELS.items())
    for ax, letter, ((reading, words), (quantity, label)) in zip(
        panels.flat, "abcd", contents, strict=True
    ):
        for place, (regime, networks) in enumerate(results["networks"].items()):
            curves = [[layer[quantity] for layer in net["readings"][reading]] for net in networks]
            # The logits of all regimes are drawn side by side.
            logits = last + 0.1 * (place - (len(REGIME_STYLES) - 1) / 2)
            _curve(ax, curves, logits, regime, labelled=letter == "a")
        ax.set_xticks(range(1, last + 1), [*map(str, range(1, last)), "logits"])
        frame(ax, f"({letter}) {quantity}, {words}", ylabel=label)
        logarithmic(ax, "y")
    for ax in panels[1]:
        ax.set_xlabel("after hidden layer")
    finish(
        made,
        f"Layers of a perceptron with {last - 1} hidden layers, rotated MNIST: "
        f"{len(results['seeds'])} networks each, mean and spread (one s.d. of the logarithm)",
        len(REGIME_STYLES),
    )
    return {"layerwise": made}


def _curve(
    ax: Axes, curves: list[list[float]], logits: float, regime: str, *, labelled: bool
) -> None:
    """Geometric mean and spread over networks after every hidden layer and, apart, of the logits.

    Args:
        ax: the panel.
        curves: one curve per network, the logits last.
        logits: horizontal place of the logits.
        regime: a key of `REGIME_STYLES`.
        labelled: whether the curve has an entry in the legend.
    """
    color, marker, size = REGIME_STYLES[regime]
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


def draw_sample_complexity(results: dict[str, Any]) -> dict[str, Figure]:
    """The paper's two figures on sample complexity: variance and bias from a share of the samples."""
    return {
        "sample-complexity-o5": o5_figure(results["o5"]),
        "sample-complexity-rotmnist": rotmnist_figure(results["rotmnist"]),
    }


def o5_figure(part: dict[str, Any]) -> Figure:
    """Mean variance and mean bias of the last ten directions, from the entry `o5` of the results."""
    ten = [
        [{quantity: row[f"mean_{quantity}_of_ten"] for quantity in QUANTITY_LABELS} for row in rows]
        for rows in part["networks"]
    ]
    labels = (
        "mean variance of the last ten  σ²/|D|",
        "mean bias of the last ten against so(5)",
        "share of the training samples used, %",
    )
    title = f"O(5) regression: {len(ten)} networks, 100 % is {part['samples']:,} samples"
    return _share_figure(part, {"": ten}, labels, title, paper=0.25)


def rotmnist_figure(part: dict[str, Any]) -> Figure:
    """Variance and bias of the most invariant direction, from the entry `rotmnist` of the results."""
    networks = part["networks"]
    rows = {
        f", {name}": [[entry["readings"][reading] for entry in rows] for rows in networks]
        for reading, name in SHARE_READINGS.items()
    }
    labels = (*QUANTITY_LABELS.values(), "share of the training images used, %")
    title = f"Rotated MNIST: {len(networks)} networks, 100 % is {part['images']:,} images"
    return _share_figure(part, rows, labels, title, paper=5.0)


def _share_figure(
    part: dict[str, Any],
    rows: dict[str, list[list[dict[str, float]]]],
    labels: tuple[str, ...],
    title: str,
    *,
    paper: float,
) -> Figure:
    """Variance and bias against the share of the samples, a row of panels for each reading.

    Args:
        part: an entry of the results, whose networks hold the shares.
        rows: numbers of each network and share, by the end of the titles of their panels.
        labels: of the axes: variance, bias, share.
        title: second half of the figure's title.
        paper: percentage of the samples that suffices according to the paper (appendix A.2).
    """
    made, panels = with_panels(9.5, 1.2 + 3.0 * len(rows), len(rows), 2, sharex=True, squeeze=False)
    shares = [100 * row["fraction"] for row in part["networks"][0]]
    contents = product(rows.items(), zip(QUANTITY_LABELS, labels[:2], strict=True))
    for ax, letter, ((name, networks), (quantity, label)) in zip(
        panels.flat, "abcd", contents, strict=False
    ):
        curves = [[entry[quantity] for entry in network] for network in networks]
        _share_curves(ax, shares, curves, paper)
        frame(ax, f"({letter}) {quantity}{name}", ylabel=label)
    for ax in panels[-1]:
        ax.set_xlabel(labels[2])
    finish(made, f"How many samples does the extraction need?  {title}", 4, panels[0, 0])
    return made


def _share_curves(ax: Axes, share: list[float], curves: list[list[float]], paper: float) -> None:
    """One faint line per network, their mean, its value at 100 %, and the paper's share."""
    average = network_curves(ax, share, curves, label="one network")
    ax.plot(
        share, average, "o-", label="mean over networks", color=FOUND, markersize=4, linewidth=1.2
    )
    ax.axhline(
        average[-1],
        color=OTHER,
        linestyle="--",
        linewidth=1,
        label="mean with 100 % of the samples",
    )
    ax.axvline(
        paper, color=MUTED, linestyle=":", linewidth=1.2, label=f"enough in the paper: {paper:g} %"
    )
    logarithmic(ax, "xy")
