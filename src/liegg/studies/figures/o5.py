"""Figure of the O(5) study: the paper's Figure 2."""

from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from liegg.report.plots import FOUND, OTHER, figure
from liegg.studies.figures.style import frame, network_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DIMENSION = 10
"""Dimension of so(5): the number of directions that should vanish."""


def draw_o5(results: dict[str, Any]) -> "dict[str, Figure]":
    """Spectrum and bias of the 25 directions, and the variance against the training-set size."""
    made = figure(12.0, 3.8)
    left, middle, right = made.subplots(1, 3)
    main = results["networks"][str(results["main_size"])]
    _directions(left, [net["spectrum"] for net in main])
    frame(left, "(a) spectrum", ylabel="symmetry variance  σ²/|D|", yscale="log")
    _directions(middle, [net["bias"] for net in main])
    frame(
        middle,
        "(b) bias of each direction",
        ylabel="symmetry bias against so(5)",
        ylim=(-0.05, 1.1),
    )
    _training_sizes(right, results["networks"])
    for ax in (left, middle, right):
        ax.legend(frameon=False)
    made.suptitle(
        f"O(5) regression: {len(main)} networks, N = {results['main_size']:,}", fontsize="medium"
    )
    return {"o5": made}


def _directions(ax: "Axes", curves: list[list[float]]) -> None:
    """One faint line per network and their mean, most sensitive direction first as in the paper."""
    places = list(range(1, len(curves[0]) + 1))
    average = network_curves(ax, places, [curve[::-1] for curve in curves])
    split = len(average) - DIMENSION
    kinds = (
        (slice(split), "s", OTHER, "first fifteen, mean"),
        (slice(split, None), "o", FOUND, "last ten, mean"),
    )
    for part, marker, color, label in kinds:
        ax.plot(places[part], average[part], marker, color=color, markersize=4, label=label)
    ax.set_xlabel("singular vector, largest value first")


def _training_sizes(ax: "Axes", networks: dict[str, list[dict[str, Any]]]) -> None:
    """Mean variance of the last ten directions against the training-set size."""
    sizes = [int(size) for size in networks]
    kinds = (
        ("mean_variance_of_ten", "o-", FOUND, "on the training samples"),
        ("fresh_mean_variance_of_ten", "s--", OTHER, "on new samples"),
    )
    for key, style, color, label in kinds:
        values = [[net[key] for net in nets] for nets in networks.values()]
        spread = [stdev(v) if len(v) > 1 else 0.0 for v in values]
        ax.errorbar(
            sizes,
            [mean(v) for v in values],
            yerr=spread,
            fmt=style,
            color=color,
            capsize=3,
            linewidth=1,
            label=label,
        )
    frame(
        ax,
        "(c) against training-set size, mean ± s.d.",
        xscale="log",
        yscale="log",
        xlabel="training-set size N",
        ylabel="mean variance of the last ten",
    )
