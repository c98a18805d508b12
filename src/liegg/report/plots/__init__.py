"""Figures for papers: one function per figure, which takes an `ax` (or a figure, for several panels) and returns it.

No function changes matplotlib's style or opens a window; `save_figure` writes PNG, SVG and PDF.
"""

from liegg._utils.arguments import check_functions
from liegg.report.plots.comparison import comparison, controls
from liegg.report.plots.curves import verification
from liegg.report.plots.directions import bias, defects, overview, spectrum
from liegg.report.plots.film_strip import motion
from liegg.report.plots.group import multiplication_table, orbit
from liegg.report.plots.layers import layer_errors, layers
from liegg.report.plots.matrices import field, generators
from liegg.report.plots.style import (
    FOUND,
    MUTED,
    OTHER,
    THIRD,
    figure,
    matplotlib_types,
    save_figure,
)

__all__ = [
    "FOUND",
    "MUTED",
    "OTHER",
    "THIRD",
    "bias",
    "comparison",
    "controls",
    "defects",
    "field",
    "figure",
    "generators",
    "layer_errors",
    "layers",
    "motion",
    "multiplication_table",
    "orbit",
    "overview",
    "save_figure",
    "spectrum",
    "verification",
]

check_functions(globals(), __all__, matplotlib_types)
