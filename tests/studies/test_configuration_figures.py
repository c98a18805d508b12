"""Figures of widths and depths: every number drawn is the stored one, and every text can be read."""

from itertools import combinations
from statistics import mean
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from liegg.report.plots import figure
from liegg.studies.configuration_figures import draw, draw_correlation, draw_heatmaps

COUNTS = list(range(40_000, 200_001, 20_000))
DEPTHS = [1, 2, 3, 4, 5, 6]


def make_results(
    counts: list[int], depths: list[int], seeds: int, scale: float = 1.0
) -> dict[str, Any]:
    """Results whose means over the seeds are round: a spread that sums to zero around a plane of depths and counts."""
    networks = []
    for depth in depths:
        for count in counts:
            for seed in range(1, seeds + 1):
                spread = 1 + 0.1 * (seed - (seeds + 1) / 2) / seeds
                sums = scale * 1e-3 * (2.2 - 0.2 * depth - 1e-6 * count) * spread
                each = scale * 1e-3 * (8.0 - 0.3 * depth - 5e-6 * count) * spread
                readings = {
                    "paper, sum": {
                        "variance": sums,
                        "bias": [(0.09 - 0.01 * depth) * spread, 0.99, 0.99, 1.0],
                    },
                    "paper, each": {
                        "variance": each,
                        "bias": [(0.04 - 0.005 * depth) * spread, 0.99, 0.99, 1.0],
                    },
                }
                accuracy = 0.79 + 0.01 * depth + 1e-7 * count + 0.01 * (spread - 1)
                networks.append(
                    {
                        "parameters": count,
                        "hidden_layers": depth,
                        "seed": seed,
                        "test_accuracy": accuracy,
                        "readings": readings,
                    }
                )
    correlations = {
        "paper, sum": {
            "1-5": {"variance": {"rho": -0.571, "p": 3.2e-33}, "bias": {"rho": -0.254, "p": 0.0123}}
        },
        "paper, each": {
            "1-5": {"variance": {"rho": 0.05, "p": 0.0}, "bias": {"rho": -0.1, "p": 9.6e-5}}
        },
    }
    return {
        "seeds": list(range(1, seeds + 1)),
        "images": 10_000,
        "parameters": counts,
        "hidden_layers": depths,
        "networks": networks,
        "correlations": correlations,
    }


def make_quick() -> dict[str, Any]:
    return make_results([40_000, 120_000, 200_000], [1, 3, 6], 2) | {"correlations": {}}


def drawn_texts(made: Figure) -> list[tuple[str, Bbox]]:
    """Texts that reach the picture, and the boxes they fill; labels of ticks beyond an axis are not among them."""
    seen: list[Text] = []
    original = Text.draw

    def draw_and_note(text: Text, *args: Any, **kwargs: Any) -> None:
        if text.get_visible() and text.get_text():
            seen.append(text)
        original(text, *args, **kwargs)

    with patch.object(Text, "draw", draw_and_note):
        made.draw_without_rendering()
    return [(text.get_text(), text.get_window_extent()) for text in seen]


def assert_legible(made: Figure) -> None:
    """No text is cut off by the edge of the figure, and no two texts overlap."""
    texts = drawn_texts(made)
    assert texts
    for name, box in texts:
        inside = (
            made.bbox.x0 <= box.x0
            and made.bbox.y0 <= box.y0
            and box.x1 <= made.bbox.x1
            and box.y1 <= made.bbox.y1
        )
        assert inside, f"cut off: {name}"
    for (one, first), (other, second) in combinations(texts, 2):
        assert not first.overlaps(second), f"overlap: {one} / {other}"


def x_of(line: Line2D) -> list[float]:
    return np.asarray(line.get_xdata()).tolist()


def y_of(line: Line2D) -> list[float]:
    return np.asarray(line.get_ydata()).tolist()


def numbers(panel: Axes) -> list[str]:
    return [text.get_text() for text in panel.texts if text.get_text()[0].isdigit()]


def panel(made: Figure, title: str) -> Axes:
    return next(ax for ax in made.axes if ax.get_title().startswith(title))


@pytest.mark.parametrize(
    "results", [make_results(COUNTS, DEPTHS, 8), make_quick()], ids=["full", "quick"]
)
def test_figures_are_written_and_legible(results, tmp_path):
    paths = draw(results, tmp_path)
    stems = ("configurations-heatmaps", "configurations-correlation")
    assert paths == [tmp_path / f"{stem}{ending}" for stem in stems for ending in (".png", ".svg")]
    assert all(path.stat().st_size > 10_000 for path in paths)
    assert_legible(draw_heatmaps(results))
    assert_legible(draw_correlation(results))


# Heat maps


def test_cells_hold_the_means_over_the_seeds():
    made = draw_heatmaps(make_results(COUNTS, DEPTHS, 8))
    first = {
        "(a) symmetry variance, outputs summed": ["1.96", "1.94", "1.92"],
        "(b) SO(2) bias, outputs summed": ["8.00", "8.00", "8.00"],
        "(c) test accuracy": ["80.4", "80.6", "80.8"],
        "(d) symmetry variance, each output a row": ["7.50", "7.40", "7.30"],
        "(e) SO(2) bias, each output a row": ["3.50", "3.50", "3.50"],
    }
    last = {"(a)": "0.80", "(b)": "3.00", "(c)": "87.0", "(d)": "5.20", "(e)": "1.00"}
    for title, values in first.items():
        shown = numbers(panel(made, title))
        assert len(shown) == 9 * 6
        assert shown[:3] == values
        assert shown[-1] == last[title[:3]]


def test_colour_bars_name_their_units():
    labels = [ax.get_ylabel() for ax in draw_heatmaps(make_results(COUNTS, DEPTHS, 8)).axes]
    assert labels.count("σ²/|D|, in units of 10⁻³") == 2
    assert labels.count("bias, in units of 10⁻²") == 2
    assert labels.count("accuracy, %") == 1


def test_the_unit_of_variance_follows_the_numbers():
    made = draw_heatmaps(make_results(COUNTS, DEPTHS, 2, scale=1e4))
    assert [ax.get_ylabel() for ax in made.axes].count("σ²/|D|, in units of 10¹") == 2
    assert numbers(panel(made, "(a)"))[:2] == ["1.96", "1.94"]


def test_depth_grows_upward_and_the_sixth_row_stands_apart():
    made = draw_heatmaps(make_results(COUNTS, DEPTHS, 8))
    left = panel(made, "(a)")
    assert left.get_ylabel() == "hidden layers, deeper upward"
    assert [label.get_text() for label in left.get_yticklabels()] == ["1", "2", "3", "4", "5", "6"]
    steps = [
        high - low for low, high in zip(left.get_yticks()[:-1], left.get_yticks()[1:], strict=True)
    ]
    assert steps == pytest.approx([1, 1, 1, 1, 1.6])
    assert [label.get_text() for label in left.get_xticklabels()][:2] == ["40k", "60k"]
    words = [text for text in left.texts if text.get_text() == "beyond the main grid"]
    assert len(words) == 1
    assert 4.5 < words[0].get_position()[1] < 5.1  # between the edges of rows 5 and 6


def test_nothing_is_beyond_a_main_grid_alone():
    made = draw_heatmaps(make_results([40_000, 120_000], [1, 3, 5], 2))
    assert not [name for name, _ in drawn_texts(made) if "beyond" in name]


def test_numbers_fit_their_cells_and_are_dark_on_bright():
    made = draw_heatmaps(make_results(COUNTS, DEPTHS, 8))
    made.draw_without_rendering()
    left = panel(made, "(a)")
    cell = left.transData.transform([[0, 0], [1, 1]])
    width, height = cell[1] - cell[0]
    cells = [text for text in left.texts if text.get_text()[0].isdigit()]
    assert all(text.get_window_extent().width < 0.9 * width for text in cells)
    assert all(text.get_window_extent().height < 0.9 * height for text in cells)
    assert (cells[0].get_color(), cells[-1].get_color()) == (
        "black",
        "white",
    )  # largest variance yellow, smallest purple


def test_one_cell_alone_is_drawn():
    made = draw_heatmaps(make_results([40_000], [6], 1))
    assert numbers(panel(made, "(c)")) == ["85.4"]
    assert_legible(made)


# Correlation


def points(ax: Axes) -> list[tuple[float, float, str, str]]:
    lines = [line for line in ax.lines if line.get_marker() != "None"]
    return [
        (x_of(line)[0], y_of(line)[0], str(line.get_marker()), to_hex(line.get_color()))
        for line in lines
    ]


def test_each_network_of_the_main_grid_is_one_point():
    results = make_results(COUNTS, DEPTHS, 8)
    made = draw_correlation(results)
    for title, reading in (("(a)", "paper, sum"), ("(c)", "paper, each")):
        shown = points(panel(made, title))
        main = [net for net in results["networks"] if net["hidden_layers"] <= 5]
        assert [x for x, *_ in shown] == pytest.approx([100 * net["test_accuracy"] for net in main])
        assert [y for _, y, *_ in shown] == pytest.approx(
            [1e3 * net["readings"][reading]["variance"] for net in main]
        )
        assert (
            len(
                {
                    (net["hidden_layers"], mark)
                    for net, (*_, mark, _) in zip(main, shown, strict=True)
                }
            )
            == 5
        )
        assert (
            len(
                {(net["parameters"], colour) for net, (*_, colour) in zip(main, shown, strict=True)}
            )
            == 9
        )
        assert len({mark for *_, mark, _ in shown}) == 5
        assert len({colour for *_, colour in shown}) == 9
    biases = [y for _, y, *_ in points(panel(made, "(b)"))]
    assert biases == pytest.approx([net["readings"]["paper, sum"]["bias"][0] for net in main])


def test_panels_quote_the_stored_correlations():
    made = draw_correlation(make_results(COUNTS, DEPTHS, 2))
    assert [ax.get_title() for ax in made.axes[:4]] == [
        "(a) symmetry variance, outputs summed\nρ = −0.57, p = 3 × 10⁻³³; the paper: ρ = −0.49",
        "(b) SO(2) bias, outputs summed\nρ = −0.25, p = 0.012; the paper: ρ = −0.31",
        "(c) symmetry variance, each output a row\nρ = 0.05, p < 10⁻³⁰⁰",
        "(d) SO(2) bias, each output a row\nρ = −0.10, p = 1 × 10⁻⁴",
    ]


def test_axes_and_bar_are_labelled():
    made = draw_correlation(make_results(COUNTS, DEPTHS, 2))
    labels = ["variance  σ²/|D|, in units of 10⁻³", "bias against so(2)"]
    assert [ax.get_ylabel() for ax in made.axes[:4]] == labels * 2
    assert [ax.get_xlabel() for ax in made.axes[2:4]] == ["test accuracy, %"] * 2
    bar = made.axes[4]
    assert bar.get_ylabel() == "parameters"
    assert [label.get_text() for label in bar.get_yticklabels()] == [
        f"{count // 1000}k" for count in COUNTS
    ]
    names = [text.get_text() for text in made.legends[0].get_texts()]
    assert names == [
        "1 hidden layer",
        *(f"{depth} hidden layers" for depth in range(2, 6)),
        "least squares",
    ]


def test_the_line_is_the_regression():
    results = make_results(COUNTS, DEPTHS, 4)
    for net in results["networks"]:
        net["readings"]["paper, sum"]["bias"][0] = 0.9 - net["test_accuracy"]
    ax = panel(draw_correlation(results), "(b)")
    line = next(line for line in ax.lines if line.get_label() == "least squares")
    ends = [
        f([net["test_accuracy"] for net in results["networks"] if net["hidden_layers"] <= 5])
        for f in (min, max)
    ]
    assert x_of(line) == pytest.approx([100 * end for end in ends])
    assert y_of(line) == pytest.approx([0.9 - end for end in ends])


def test_without_a_stored_correlation_there_is_no_line():
    made = draw_correlation(make_quick())
    assert (
        made.axes[0].get_title()
        == "(a) symmetry variance, outputs summed\ntoo few or too equal networks for a correlation"
    )
    assert not [
        line for ax in made.axes for line in ax.lines if line.get_label() == "least squares"
    ]
    assert [text.get_text() for text in made.legends[0].get_texts()] == [
        "1 hidden layer",
        "3 hidden layers",
    ]


def test_equal_accuracies_have_no_correlation_and_no_line():
    results = make_results(COUNTS, DEPTHS, 1)
    for net in results["networks"]:
        net["test_accuracy"] = 0.5
    undefined = {"rho": float("nan"), "p": float("nan")}
    results["correlations"] = {"paper, sum": {"1-5": {"variance": undefined, "bias": undefined}}}
    made = draw_correlation(results)
    assert made.axes[0].get_title().endswith("\ntoo few or too equal networks for a correlation")
    assert len(made.axes[0].lines) == 9 * 5


# The helpers


def test_texts_over_each_other_are_found():
    made = figure()
    made.text(0.5, 0.5, "one")
    made.text(0.51, 0.5, "other")
    with pytest.raises(AssertionError, match="overlap: one / other"):
        assert_legible(made)


def test_texts_beyond_the_edge_are_found():
    made = figure()
    made.text(0.99, 0.5, "too far to the right")
    with pytest.raises(AssertionError, match="cut off: too far"):
        assert_legible(made)


def test_the_spread_of_the_made_results_sums_to_zero():
    nets = make_results([100_000], [3], 8)["networks"]
    assert mean(net["readings"]["paper, sum"]["variance"] for net in nets) == pytest.approx(1.5e-3)
    assert len({net["test_accuracy"] for net in nets}) == 8
