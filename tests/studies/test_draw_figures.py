"""The figure of the other draws: every correlation at its place, every text legible."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from liegg.studies.draw_figures import draw, draw_draws
from studies.test_configuration_figures import assert_legible


def make_results(draws: int) -> dict[str, Any]:
    def told(value: float) -> dict[str, float]:
        return {"rho": value, "p": 1e-5, "between": value - 0.1, "within": value / 10}

    return {
        "draws": [
            {
                "draw": draw,
                "networks": 360,
                "correlations": {
                    "paper, sum": {
                        "variance": told(-0.5 + draw / 50),
                        "bias": told(-0.2 + draw / 10),
                    },
                    "paper, each": {"variance": told(-0.4 - draw / 50), "bias": told(draw / 30)},
                },
            }
            for draw in range(1, draws + 1)
        ]
    }


def test_every_correlation_is_drawn_at_its_place() -> None:
    results = make_results(3)
    made = draw_draws(results)
    variance, bias = made.axes
    for ax, quantity in ((variance, "variance"), (bias, "bias")):
        points = [line for line in ax.lines if line.get_marker() in ("o", "^", "v")]
        assert len(points) == 2 * 3
        first = results["draws"][0]["correlations"]["paper, sum"][quantity]
        assert [np.asarray(line.get_ydata()).tolist()[0] for line in points[:3]] == pytest.approx(
            [first[kind] for kind in ("rho", "between", "within")]
        )
    assert [label.get_text() for label in bias.get_xticklabels()] == ["draw 1", "draw 2", "draw 3"]
    words = [text.get_text() for text in made.legends[0].get_texts()]
    assert "the paper, symmetry variance: \N{MINUS SIGN}0.49" in words
    assert "the paper, SO(2) bias: \N{MINUS SIGN}0.31" in words


@pytest.mark.parametrize("draws", [2, 3])
def test_the_figure_is_written_and_legible(tmp_path: Path, draws: int) -> None:
    results = make_results(draws)
    assert_legible(draw_draws(results))
    assert sorted(path.name for path in draw(results, tmp_path)) == ["draws.png", "draws.svg"]
