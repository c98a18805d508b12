"""Figures of the study of sample complexity."""

from typing import TYPE_CHECKING, Any

from liegg.report.plots import FOUND, MUTED, OTHER, figure
from liegg.studies.figures.style import finish, frame, logarithmic, network_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPER_SHARE = {"o5": 0.25, "rotmnist": 5.0}
"""Percentage of the samples that suffices according to the paper (appendix A.2)."""

READINGS = {"paper, sum": "outputs summed (the paper)", "paper, each": "each output a row"}
"""Readings that are drawn for rotated MNIST, and their names in titles."""

QUESTION = "How many samples does the extraction need?"


def draw_sample_complexity(results: dict[str, Any]) -> "dict[str, Figure]":
    """Draw the paper's two figures on sample complexity."""
    return {
        "sample-complexity-o5": o5_figure(results["o5"]),
        "sample-complexity-rotmnist": rotmnist_figure(results["rotmnist"]),
    }


def o5_figure(part: dict[str, Any]) -> "Figure":
    """Mean variance and mean bias of the last ten directions against the share of the samples.

    Args:
        part: the entry `o5` of the results.
    """
    made = figure(9.5, 4.2)
    panels = made.subplots(1, 2)
    kinds = (("a", "variance", "  σ²/|D|"), ("b", "bias", " against so(5)"))
    for ax, (letter, quantity, unit) in zip(panels, kinds, strict=True):
        key = f"mean_{quantity}_of_ten"
        _curves(ax, part, [[row[key] for row in rows] for rows in part["networks"]], "o5")
        frame(
            ax,
            f"({letter}) {quantity}",
            xlabel="share of the training samples used, %",
            ylabel=f"mean {quantity} of the last ten{unit}",
        )
    count = len(part["networks"])
    title = f"O(5) regression: {count} networks, 100 % is {part['samples']:,} samples"
    finish(made, f"{QUESTION}  {title}", 4, panels[0])
    return made


def rotmnist_figure(part: dict[str, Any]) -> "Figure":
    """Variance and bias of the most invariant direction against the share of the images.

    Args:
        part: the entry `rotmnist` of the results.
    """
    made = figure(9.5, 7.2)
    panels = made.subplots(2, 2, sharex=True)
    kinds = (("variance", "  σ²/|D|"), ("bias", " against so(2)"))
    for row, (reading, name) in enumerate(READINGS.items()):
        for column, (quantity, unit) in enumerate(kinds):
            ax = panels[row, column]
            curves = [
                [entry["readings"][reading][quantity] for entry in rows]
                for rows in part["networks"]
            ]
            _curves(ax, part, curves, "rotmnist")
            frame(
                ax,
                f"({'abcd'[2 * row + column]}) {quantity}, {name}",
                ylabel=f"symmetry {quantity}{unit}",
            )
    for ax in panels[1]:
        ax.set_xlabel("share of the training images used, %")
    count = len(part["networks"])
    title = f"Rotated MNIST: {count} networks, 100 % is {part['images']:,} images"
    finish(made, f"{QUESTION}  {title}", 4, panels[0, 0])
    return made


def _curves(ax: "Axes", part: dict[str, Any], curves: list[list[float]], study: str) -> None:
    """One faint line per network, their mean, its value at 100 %, and the paper's share."""
    share, paper = [100 * row["fraction"] for row in part["networks"][0]], PAPER_SHARE[study]
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
