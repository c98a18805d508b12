"""Figures for papers: one function per figure, which takes an `ax` (or a figure, for several panels) and returns it.

No function changes matplotlib's style or opens a window; `save_figure` writes PNG, SVG and PDF.
"""

from liegg.report.plots.comparison import comparison
from liegg.report.plots.controls import controls
from liegg.report.plots.curves import verification
from liegg.report.plots.defects import defects
from liegg.report.plots.film_strip import motion
from liegg.report.plots.layers import layers
from liegg.report.plots.matrices import generators
from liegg.report.plots.quiver import field
from liegg.report.plots.saving import save_figure
from liegg.report.plots.sheet import overview
from liegg.report.plots.spectra import bias, spectrum
from liegg.report.plots.style import FOUND, MUTED, OTHER, THIRD, figure

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
    "layers",
    "motion",
    "overview",
    "save_figure",
    "spectrum",
    "verification",
]
