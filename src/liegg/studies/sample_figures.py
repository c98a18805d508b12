"""Figures of the sample-complexity study, drawn from its stored results alone."""

from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from liegg.report.plots import FOUND, MUTED, OTHER, figure, save_figure
from liegg.studies.figure_style import logarithmic, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPER_SHARE = {"o5": 0.25, "rotmnist": 5.0}
"""Percentage of the samples that the paper found to be enough (appendix on sample complexity)."""

READINGS = {"paper, sum": "outputs summed (the paper)", "paper, each": "each output a row"}
"""Readings that are drawn for rotated MNIST, and what they are called."""


def draw(results: dict[str, Any], out: Path) -> list[Path]:
    """Draw the paper's two figures on sample complexity.

    Args:
        results: the stored results.
        out: folder for `sample-complexity-o5` and `sample-complexity-rotmnist`, each as PNG and SVG.

    Returns:
        The files written.
    """
    paths = save_figure(draw_o5(results["o5"]), out / "sample-complexity-o5")
    return paths + save_figure(
        draw_rotmnist(results["rotmnist"]), out / "sample-complexity-rotmnist"
    )


def draw_o5(part: dict[str, Any]) -> "Figure":
    """Mean variance and mean bias of the last ten directions against the share of the samples.

    Args:
        part: the entry `o5` of the results.
    """
    made = figure(9.5, 4.2)
    left, right = made.subplots(1, 2)
    networks, paper = part["networks"], PAPER_SHARE["o5"]
    _curves(
        left, networks, [[row["mean_variance_of_ten"] for row in rows] for rows in networks], paper
    )
    _curves(
        right, networks, [[row["mean_bias_of_ten"] for row in rows] for rows in networks], paper
    )
    left.set_ylabel("mean variance of the last ten  σ²/|D|")
    left.set_title("(a) variance", fontsize="medium")
    right.set_ylabel("mean bias of the last ten against so(5)")
    right.set_title("(b) bias", fontsize="medium")
    for ax in (left, right):
        ax.set_xlabel("share of the training samples used, %")
    _head(
        made,
        f"O(5) regression: {len(networks)} networks, 100 % is {part['samples']:,} samples",
        left,
    )
    return made


def draw_rotmnist(part: dict[str, Any]) -> "Figure":
    """Variance and bias of the most invariant direction against the share of the images, one row of panels to a reading.

    Args:
        part: the entry `rotmnist` of the results.
    """
    made = figure(9.5, 7.2)
    panels = made.subplots(2, 2, sharex=True)
    networks, paper = part["networks"], PAPER_SHARE["rotmnist"]
    for (left, right), letters, (reading, name) in zip(
        panels, ("ab", "cd"), READINGS.items(), strict=True
    ):
        found = [[row["readings"][reading] for row in rows] for rows in networks]
        _curves(left, networks, [[row["variance"] for row in rows] for rows in found], paper)
        _curves(right, networks, [[row["bias"] for row in rows] for rows in found], paper)
        left.set_ylabel("symmetry variance  σ²/|D|")
        left.set_title(f"({letters[0]}) variance, {name}", fontsize="medium")
        right.set_ylabel("symmetry bias against so(2)")
        right.set_title(f"({letters[1]}) bias, {name}", fontsize="medium")
    for ax in panels[1]:
        ax.set_xlabel("share of the training images used, %")
    _head(
        made,
        f"Rotated MNIST: {len(networks)} networks, 100 % is {part['images']:,} images",
        panels[0][0],
    )
    return made


def _curves(
    ax: "Axes", networks: list[list[dict[str, Any]]], curves: list[list[float]], paper: float
) -> None:
    """One faint line per network, their mean, its value at 100 %, and the share of the paper."""
    share = [100 * row["fraction"] for row in networks[0]]
    for curve in curves:
        ax.plot(
            share,
            curve,
            color="0.75",
            linewidth=0.8,
            label="one network" if curve is curves[0] else None,
        )
    centre = [mean(values) for values in zip(*curves, strict=True)]
    ax.plot(
        share, centre, "o-", color=FOUND, markersize=4, linewidth=1.2, label="mean over networks"
    )
    ax.axhline(
        centre[-1], color=OTHER, linestyle="--", linewidth=1, label="mean with 100 % of the samples"
    )
    ax.axvline(
        paper, color=MUTED, linestyle=":", linewidth=1.2, label=f"enough in the paper: {paper:g} %"
    )
    logarithmic(ax, "xy")
    tidy(ax)


def _head(made: "Figure", title: str, panel: "Axes") -> None:
    """Title, and one legend for all panels below them, where it hides no curve."""
    made.suptitle(f"How many samples does the extraction need?  {title}", fontsize="medium")
    made.legend(
        *panel.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False
    )
