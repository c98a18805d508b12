"""The figures of the study of false discoveries: every number at its place, every text legible."""

from typing import Any

import numpy as np
import pytest

from liegg.studies.figures.error_rates import (
    SMALLEST_DEFECT,
    coverage_figure,
    defects_figure,
    draw_false_discovery,
    rules_figure,
    strength_figure,
)
from studies.figures.legible import assert_legible

KINDS = ("so(3)", "so(1, 2)", "sp(4)", "se(2)")
STRENGTHS = (1e-4, 1e-2, 1.0)


def make_results(*, stated: bool = True) -> dict[str, Any]:
    def case(family: str, index: int, dtype: str) -> dict[str, Any]:
        last, smallest = (
            {"float64": 1e-31, "float32": 1e-14, "bfloat16": 0.0}[dtype],
            0.1 * (1 + index),
        )
        return {
            "family": family,
            "nonlinear": index % 4 > 0,
            "dtype": dtype,
            "last": last,
            "next": smallest,
        }

    def broken(kind: str, strength: float, samples: int) -> dict[str, Any]:
        values = [strength**2 * factor for factor in (0.2, 0.3, 0.5)]
        intervals = [[0.8 * value, 1.3 * value] for value in values] if stated else None
        return {
            "kind": kind,
            "strength": strength,
            "samples": samples,
            "expected": 3,
            "limit": [*values, 1.0],
            "example": {"defects": values, "intervals": intervals},
        }

    return {
        "threshold": 0.03,
        "cases": [
            case(family, index, dtype)
            for family in ("asymmetric", "exact", "confined")
            for index in range(8)
            for dtype in ("float64", "float32", "bfloat16")
        ],
        "rotations": [{"last": 0.01}, {"last": 0.02}],
        "broken": [
            broken(kind, strength, samples)
            for kind in KINDS
            for strength in STRENGTHS
            for samples in (200, 1000, 5000)
        ],
        "limits": [
            {
                "kind": kind,
                "strength": strength,
                "defects": [strength**2 * factor for factor in (0.2, 0.3, 0.5)] + [1.0],
            }
            for kind in KINDS
            for strength in STRENGTHS
        ],
        "slopes": dict.fromkeys(KINDS, 2.0),
        "rules": {
            rule: {
                name: {"cases": 50, "wrong": wrong}
                for name in ("none", "exact", "broken", "trained")
            }
            for rule, wrong in (
                ("liegg", 0),
                ("largest gap", 50),
                ("together below 1 % of the sum", 25),
            )
        },
        "coverage": [
            {
                "strength": strength,
                "samples": samples,
                "stated": 160,
                "smallest": 0.93 if stated else None,
                "all": 0.96 if stated else None,
            }
            for strength in STRENGTHS
            for samples in (200, 1000, 5000)
        ],
    }


def test_every_case_is_a_point_and_zeros_are_at_the_edge() -> None:
    ax = defects_figure(make_results()).axes[0]
    points = [
        np.asarray(line.get_xdata(), dtype=float) for line in ax.lines if line.get_marker() == "o"
    ]
    assert [len(some) for some in points] == [18, 6, 24, 2, 4, 4, 4, 8, 8, 8]
    assert points[0].min() == pytest.approx(0.2)
    assert (points[-3] == SMALLEST_DEFECT).all()
    assert (points[-1] == 1e-31).all()
    assert [label.get_text() for label in ax.get_yticklabels()][4] == "broken, ε = 1  (4)"


def test_bars_are_as_long_as_the_errors() -> None:
    ax = rules_figure(make_results()).axes[0]
    widths = [[bar.get_width() for bar in container] for container in ax.containers]
    assert widths == [[0.0, 100.0, 50.0]] * 4
    assert [text.get_text() for text in ax.texts][:3] == ["0", "50", "25"]


@pytest.mark.parametrize("stated", [True, False])
def test_strengths_show_limits_and_examples(stated: bool) -> None:
    made = strength_figure(make_results(stated=stated))
    assert len(made.axes) == 8
    above, under = made.axes[0], made.axes[4]
    limits = [
        np.asarray(line.get_ydata(), dtype=float)
        for line in above.lines
        if line.get_linestyle() == "-"
    ]
    assert limits[0].tolist() == pytest.approx([0.2 * strength**2 for strength in STRENGTHS])
    assert limits[1].tolist() == pytest.approx([0.5 * strength**2 for strength in STRENGTHS])
    scaled = [
        np.asarray(line.get_ydata(), dtype=float)
        for line in under.lines
        if line.get_linestyle() == "-"
    ]
    assert scaled[0].tolist() == pytest.approx([0.2] * 3)
    words = [text.get_text() for text in made.legends[0].get_texts()]
    assert ("smallest, one analysis of 1,000 samples, with 95 % intervals" in words) == stated


def test_coverage_is_drawn_for_each_strength() -> None:
    made = coverage_figure(make_results())
    smallest, every = made.axes
    curves = [line for line in smallest.lines if line.get_marker() not in ("None", None, "")]
    assert len(curves) == len(STRENGTHS)
    assert np.asarray(curves[0].get_ydata()).tolist() == [0.93] * 3
    assert [label.get_text() for label in every.get_xticklabels()] == ["200", "1,000", "5,000"]
    assert [text.get_text() for text in made.legends[0].get_texts()] == [
        "ε = 0.0001",
        "ε = 0.01",
        "ε = 1",
    ]


def test_coverage_without_intervals_says_so() -> None:
    made = coverage_figure(make_results(stated=False))
    assert [text.get_text() for text in made.axes[0].texts] == ["no intervals were reported"]


@pytest.mark.slow
def test_the_figures_are_legible() -> None:
    figures = draw_false_discovery(make_results())
    names = ("defects", "rules", "strength", "coverage")
    assert list(figures) == [f"false-discovery-{name}" for name in names]
    for made in figures.values():
        assert_legible(made)
