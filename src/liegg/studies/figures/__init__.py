"""Figures of the studies, drawn from their stored results alone."""

from importlib import import_module
from pathlib import Path
from typing import Any

MODULES = {
    "o5": "spectra",
    "rotmnist": "spectra",
    "cifar10": "spectra",
    "configurations": "configurations",
    "draws": "configurations",
    "layerwise": "curves",
    "sample-complexity": "curves",
    "false-discovery": "error_rates",
    "traps": "error_rates",
}
"""The module that draws each study; its function `draw_<study>` returns the figures by file name."""


def draw(study: str, results: dict[str, Any], out: Path) -> list[Path]:
    """Draw the figures of a study and write each as PNG and SVG.

    Args:
        study: name of the study, such as `"o5"`.
        results: the stored results.
        out: folder for the figures.

    Returns:
        The files written.
    """
    from liegg.report.plots import figure, save_figure

    figure()  # says what to install where matplotlib is missing
    module = import_module(f"{__name__}.{MODULES[study]}")
    figures = getattr(module, f"draw_{study.replace('-', '_')}")(results)
    return [path for name, figure in figures.items() for path in save_figure(figure, out / name)]
