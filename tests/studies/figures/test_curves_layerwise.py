"""The figure of the layers: means and spreads at their places, every text legible."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from liegg.studies.figures import draw
from liegg.studies.figures.curves import draw_layerwise
from studies.figures.legible import assert_legible


def make_results(seeds: int = 4) -> dict[str, Any]:
    """Curves that double from layer to layer, with a spread of a factor of two over seeds."""

    def network(seed: int, layers: int, scale: float) -> dict[str, Any]:
        rows = [
            {"variance": scale * 1e-4 * 2.0**layer * 2.0 ** (seed % 2), "bias": 0.3 / (layer + 1)}
            for layer in range(layers)
        ]
        return {"readings": {"paper, sum": rows, "paper, each": rows}}

    layers = {"MLP-7": (8, 2.0), "sub MLP-3": (4, 1.0), "MLP-7[F]": (8, 1.0), "MLP-7[L]": (8, 1.0)}
    networks = {
        name: [network(seed, *shape) for seed in range(seeds)] for name, shape in layers.items()
    }
    return {"seeds": list(range(1, seeds + 1)), "networks": networks}


def test_means_are_drawn_after_every_hidden_layer() -> None:
    made = draw_layerwise(make_results())["layerwise"]
    variance, bias = made.axes[:2]
    curves = {
        line.get_label(): line
        for line in variance.lines
        if not str(line.get_label()).startswith("_")
    }
    assert list(curves) == ["MLP-7", "sub MLP-3", "MLP-7[F]", "MLP-7[L]"]
    x, y = (np.asarray(part) for part in curves["MLP-7"].get_data())
    assert x.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert y.tolist() == pytest.approx([2e-4 * 2.0**layer * 2**0.5 for layer in range(7)])
    assert len(np.asarray(curves["sub MLP-3"].get_data()[0])) == 3
    assert bias.get_yscale() == "log"
    assert made.axes[2].get_xticklabels()[-1].get_text() == "logits"


@pytest.mark.parametrize("seeds", [1, pytest.param(8, marks=pytest.mark.slow)])
def test_the_figure_is_legible(seeds: int) -> None:
    assert_legible(draw_layerwise(make_results(seeds))["layerwise"])


def test_figures_are_written_as_png_and_svg(tmp_path: Path) -> None:
    paths = draw("layerwise", make_results(1), tmp_path)
    assert paths == [tmp_path / "layerwise.png", tmp_path / "layerwise.svg"]
    assert min(path.stat().st_size for path in paths) > 10_000
