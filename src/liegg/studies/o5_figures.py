"""Figures of the O(5) study, drawn from its stored results alone."""

from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from liegg.report.plots import FOUND, OTHER, figure, save_figure
from liegg.studies.figure_style import tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(results: dict[str, Any], out: Path) -> list[Path]:
    """Draw the paper's Figure 2 from the stored results.

    Args:
        results: the stored results.
        out: folder for `o5.png` and `o5.svg`.

    Returns:
        The files written.
    """
    made = figure(12.0, 3.8)
    left, middle, right = made.subplots(1, 3)
    main = results["networks"][str(results["main_size"])]
    _per_direction(
        left, [net["spectrum"] for net in main], "symmetry variance  σ²/|D|", "(a) spectrum"
    )
    left.set_yscale("log")
    _per_direction(
        middle,
        [net["bias"] for net in main],
        "symmetry bias against so(5)",
        "(b) bias of each direction",
    )
    middle.set_ylim(-0.05, 1.1)
    _training_sizes(right, results["networks"])
    made.suptitle(
        f"O(5) regression: {len(main)} networks, N = {results['main_size']:,}", fontsize="medium"
    )
    return save_figure(made, out / "o5")


def _per_direction(ax: "Axes", curves: list[list[float]], label: str, title: str) -> None:
    """One faint line per network and their mean, in the paper's order: most sensitive direction first, the ten last."""
    place = list(range(1, len(curves[0]) + 1))
    for curve in curves:
        ax.plot(place, curve[::-1], color="0.75", linewidth=0.8)
    average = [mean(values) for values in zip(*curves, strict=True)][::-1]
    split = len(average) - 10
    ax.plot(
        place[:split], average[:split], "s", color=OTHER, markersize=4, label="first fifteen, mean"
    )
    ax.plot(place[split:], average[split:], "o", color=FOUND, markersize=4, label="last ten, mean")
    ax.set_xlabel("singular vector, largest value first")
    ax.set_ylabel(label)
    ax.set_title(title, fontsize="medium")
    ax.legend(frameon=False)
    tidy(ax)


def _training_sizes(ax: "Axes", networks: dict[str, list[dict[str, Any]]]) -> None:
    sizes = [int(size) for size in networks]
    kinds = (
        ("mean_variance_of_ten", "o-", FOUND, "on the training samples"),
        ("fresh_mean_variance_of_ten", "s--", OTHER, "on fresh samples"),
    )
    for key, style, colour, label in kinds:
        values = [[net[key] for net in nets] for nets in networks.values()]
        spread = [stdev(v) if len(v) > 1 else 0.0 for v in values]
        ax.errorbar(
            sizes,
            [mean(v) for v in values],
            yerr=spread,
            fmt=style,
            color=colour,
            capsize=3,
            linewidth=1,
            label=label,
        )
    ax.legend(frameon=False)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("training-set size N")
    ax.set_ylabel("mean variance of the last ten")
    ax.set_title("(c) against training-set size, mean ± s.d.", fontsize="medium")
    tidy(ax)
