"""Figure of the study of traps."""

from typing import Any

from matplotlib.figure import Figure

from liegg.report.plots import FOUND, MUTED, OTHER, THIRD
from liegg.studies.error_rates.traps_judgement import VERDICTS
from liegg.studies.figures.style import frame, with_panels

COLORS = dict(zip(VERDICTS, (FOUND, MUTED, THIRD, OTHER), strict=True))
"""Color of every verdict."""


def draw_traps(results: dict[str, Any]) -> dict[str, Figure]:
    """Draw the share of every verdict, family by family."""
    families = results["families"]
    made, ax = with_panels(10.0, 1.2 + 0.22 * len(families), 1, 1)
    places = range(len(families))
    left = [0.0] * len(families)
    for verdict in VERDICTS:
        shares = [found[verdict] / found["cases"] for found in families.values()]
        ax.barh(places, shares, left=left, color=COLORS[verdict], height=0.8, label=verdict)
        left = [begin + share for begin, share in zip(left, shares, strict=True)]
    frame(ax, "", xlim=(0, 1), ylim=(len(families) - 0.4, -0.6), xlabel="share of the cases")
    labels = [f"{name}  ({found['cases']})" for name, found in families.items()]
    ax.set_yticks(list(places), labels, fontsize="small")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(VERDICTS), frameon=False)
    return {"traps": made}
