"""The main figures on one page."""

from typing import Any

import liegg

plot: Any = liegg.plot
"""Untyped: what figures hold is looked into, of which matplotlib's types know little."""


def test_with_a_reference(exact):
    made = plot.overview(exact, liegg.so(3), "so(3)")
    left, right = made.axes[:2]
    assert left.get_ylabel().startswith("symmetry variance")
    assert right.get_ylabel() == "symmetry bias against so(3)"
    assert sum(bool(ax.images) for ax in made.axes) == 3


def test_without_a_reference_the_defects(nothing):
    made = plot.overview(nothing)
    assert made.axes[1].get_ylabel().startswith("defect")
    made.draw_without_rendering()


def test_every_figure_is_public():
    assert set(plot.__all__) >= {
        "spectrum",
        "defects",
        "bias",
        "generators",
        "field",
        "verification",
        "controls",
        "motion",
        "layers",
        "comparison",
        "overview",
        "figure",
        "save_figure",
        "FOUND",
        "OTHER",
        "THIRD",
        "MUTED",
    }
    assert all(hasattr(liegg.plot, name) for name in plot.__all__)
