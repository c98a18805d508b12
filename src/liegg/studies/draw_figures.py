"""Figure of the other draws of the data, drawn from its stored results alone."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from liegg.report.plots import FOUND, MUTED, OTHER, figure, save_figure
from liegg.studies.configuration_figures import NAMES, PAPER_RHO, READINGS
from liegg.studies.figure_style import tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = {
    "rho": ("o", "all networks"),
    "between": ("^", "between configurations"),
    "within": ("v", "within a configuration"),
}
"""Correlations that are drawn: marker and name."""


def draw(results: dict[str, Any], out: Path) -> list[Path]:
    """Draw the correlations of every draw as `draws.png` and `draws.svg`."""
    return save_figure(draw_draws(results), out / "draws")


def draw_draws(results: dict[str, Any]) -> "Figure":
    """Correlation of variance and of bias with the test accuracy, draw by draw, for both readings of the outputs."""
    made = figure(10.5, 4.4)
    panels = made.subplots(1, 2, sharey=True)
    places = range(len(results["draws"]))
    for ax, (quantity, name) in zip(panels, NAMES.items(), strict=True):
        for shift, colour, (reading, words) in zip(
            (-0.12, 0.12), (OTHER, FOUND), READINGS.items(), strict=True
        ):
            for kind, (marker, which) in KINDS.items():
                values = [one["correlations"][reading][quantity][kind] for one in results["draws"]]
                label = f"{words}, {which}" if quantity == "variance" else None
                ax.plot(
                    [place + shift for place in places],
                    values,
                    marker,
                    color=colour,
                    markersize=6,
                    label=label,
                )
        ax.axhline(0, color=MUTED, linewidth=0.8)
        paper = f"{PAPER_RHO[quantity]}".replace("-", "\N{MINUS SIGN}")
        ax.axhline(
            PAPER_RHO[quantity],
            color=OTHER,
            linestyle="--",
            linewidth=1,
            label=f"the paper, {name}: {paper}",
        )
        ax.set_xticks(list(places), [f"draw {one['draw']}" for one in results["draws"]])
        ax.set_xlim(-0.5, len(results["draws"]) - 0.5)
        ax.set_title(name, fontsize="medium")
        tidy(ax)
    panels[0].set_ylim(-1.05, 1.05)
    panels[0].set_ylabel("correlation with the test accuracy")
    count = results["draws"][0]["networks"]
    made.suptitle(f"Other draws of rotated MNIST, {count} networks each", fontsize="medium")
    made.legend(loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    return made
