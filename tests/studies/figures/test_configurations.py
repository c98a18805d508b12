"""Figures of widths and depths: every number drawn is the stored one, and every text can be read."""

from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from liegg.report.plots import figure
from liegg.studies.figures.configurations import (
    draw_configurations,
    draw_draws,
    heatmaps,
    scatter_plots,
)
from studies.figures.legible import assert_legible, x_of, y_of

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


def numbers(panel: Axes) -> list[str]:
    return [text.get_text() for text in panel.texts if text.get_text()[0].isdigit()]


def panel(made: Figure, title: str) -> Axes:
    return next(ax for ax in made.axes if ax.get_title().startswith(title))


def test_figures_of_a_quick_run_are_legible():
    figures = draw_configurations(make_quick())
    assert list(figures) == ["configurations-heatmaps", "configurations-correlation"]
    for made in figures.values():
        assert_legible(made)


@pytest.mark.slow
def test_figures_of_a_complete_run_are_legible():
    for made in draw_configurations(make_results(COUNTS, DEPTHS, 8)).values():
        assert_legible(made)


@pytest.fixture(scope="module")
def full_heatmaps() -> Figure:
    return heatmaps(make_results(COUNTS, DEPTHS, 2))


# Heat maps


def test_cells_hold_the_means_over_the_seeds(full_heatmaps: Figure):
    first = {
        "(a) symmetry variance, outputs summed": ["1.96", "1.94", "1.92"],
        "(b) SO(2) bias, outputs summed": ["8.00", "8.00", "8.00"],
        "(c) test accuracy": ["80.4", "80.6", "80.8"],
        "(d) symmetry variance, each output a row": ["7.50", "7.40", "7.30"],
        "(e) SO(2) bias, each output a row": ["3.50", "3.50", "3.50"],
    }
    last = {"(a)": "0.80", "(b)": "3.00", "(c)": "87.0", "(d)": "5.20", "(e)": "1.00"}
    for title, values in first.items():
        shown = numbers(panel(full_heatmaps, title))
        assert len(shown) == 9 * 6
        assert shown[:3] == values
        assert shown[-1] == last[title[:3]]
    labels = [ax.get_ylabel() for ax in full_heatmaps.axes]
    assert [labels.count(f"σ²/|D|, in units of {unit}") for unit in ("10⁻³", "10⁻²")] == [2, 0]
    assert labels.count("bias, in units of 10⁻²") == 2


def test_the_unit_of_variance_follows_the_numbers():
    made = heatmaps(make_results([40_000, 60_000], [1], 2, scale=1e4))
    assert [ax.get_ylabel() for ax in made.axes].count("σ²/|D|, in units of 10¹") == 2
    assert numbers(panel(made, "(a)"))[:2] == ["1.96", "1.94"]


def test_depth_grows_upward_and_the_sixth_row_is_apart(full_heatmaps: Figure):
    left = panel(full_heatmaps, "(a)")
    assert [label.get_text() for label in left.get_yticklabels()] == ["1", "2", "3", "4", "5", "6"]
    steps = [b - a for a, b in zip(left.get_yticks()[:-1], left.get_yticks()[1:], strict=True)]
    assert steps == pytest.approx([1, 1, 1, 1, 1.6])
    assert [label.get_text() for label in left.get_xticklabels()][:2] == ["40k", "60k"]
    words = [text for text in left.texts if text.get_text() == "beyond the main grid"]
    assert len(words) == 1
    assert 4.5 < words[0].get_position()[1] < 5.1  # between the edges of rows 5 and 6


def test_nothing_is_beyond_a_main_grid_alone():
    made = heatmaps(make_results([40_000, 120_000], [1, 3, 5], 2))
    assert not [text for ax in made.axes for text in ax.texts if "beyond" in text.get_text()]


def test_numbers_are_dark_on_bright_cells(full_heatmaps: Figure):
    left = panel(full_heatmaps, "(a)")
    cells = [text for text in left.texts if text.get_text()[0].isdigit()]
    # The largest variance is yellow, the smallest purple.
    assert (cells[0].get_color(), cells[-1].get_color()) == ("black", "white")


def test_one_cell_alone_is_drawn():
    made = heatmaps(make_results([40_000], [6], 1))
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
    results = make_results(COUNTS, DEPTHS, 2)
    made = scatter_plots(results)
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
    made = scatter_plots(make_results(COUNTS, DEPTHS, 1))
    assert [ax.get_title().partition("\n")[2] for ax in made.axes[:4]] == [
        "ρ = −0.57, p = 3 × 10⁻³³; the paper: ρ = −0.49",
        "ρ = −0.25, p = 0.012; the paper: ρ = −0.31",
        "ρ = 0.05, p < 10⁻³⁰⁰",
        "ρ = −0.10, p = 10⁻⁴",
    ]


def test_axes_and_bar_are_labelled():
    made = scatter_plots(make_results(COUNTS, DEPTHS, 1))
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
    ax = panel(scatter_plots(results), "(b)")
    line = next(line for line in ax.lines if line.get_label() == "least squares")
    ends = [
        f([net["test_accuracy"] for net in results["networks"] if net["hidden_layers"] <= 5])
        for f in (min, max)
    ]
    assert x_of(line) == pytest.approx([100 * end for end in ends])
    assert y_of(line) == pytest.approx([0.9 - end for end in ends])


def test_without_a_stored_correlation_there_is_no_line():
    made = scatter_plots(make_quick())
    assert "no correlation" in made.axes[0].get_title()
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
    undefined = {"rho": 0.0, "p": 1.0}
    results["correlations"] = {"paper, sum": {"1-5": {"variance": undefined, "bias": undefined}}}
    made = scatter_plots(results)
    assert "no correlation" in made.axes[0].get_title()
    assert len(made.axes[0].lines) == 9 * 5


# Other draws


def make_draws(draws: int) -> dict[str, Any]:
    def correlation(value: float) -> dict[str, float]:
        return {"rho": value, "p": 1e-5, "between": value - 0.1, "within": value / 10}

    return {
        "draws": [
            {
                "draw": draw,
                "networks": 360,
                "correlations": {
                    "paper, sum": {
                        "variance": correlation(-0.5 + draw / 50),
                        "bias": correlation(-0.2 + draw / 10),
                    },
                    "paper, each": {
                        "variance": correlation(-0.4 - draw / 50),
                        "bias": correlation(draw / 30),
                    },
                },
            }
            for draw in range(1, draws + 1)
        ]
    }


def test_every_correlation_is_drawn_at_its_place() -> None:
    results = make_draws(3)
    made = draw_draws(results)["draws"]
    variance, bias = made.axes
    for ax, quantity in ((variance, "variance"), (bias, "bias")):
        points = [line for line in ax.lines if line.get_marker() in ("o", "^", "v")]
        assert len(points) == 2 * 3
        first = results["draws"][0]["correlations"]["paper, sum"][quantity]
        assert [y_of(line)[0] for line in points[:3]] == pytest.approx(
            [first[kind] for kind in ("rho", "between", "within")]
        )
    assert [label.get_text() for label in bias.get_xticklabels()] == ["draw 1", "draw 2", "draw 3"]
    words = [text.get_text() for text in made.legends[0].get_texts()]
    assert "the paper, symmetry variance: \N{MINUS SIGN}0.49" in words
    assert "the paper, SO(2) bias: \N{MINUS SIGN}0.31" in words
    assert_legible(made)


# The helper


def test_overlapping_and_cut_texts_are_found():
    made = figure()
    made.text(0.5, 0.5, "one")
    made.text(0.51, 0.5, "other")
    with pytest.raises(AssertionError, match="overlap: one / other"):
        assert_legible(made)
    made = figure()
    made.text(0.99, 0.5, "too far to the right")
    with pytest.raises(AssertionError, match="cut off: too far"):
        assert_legible(made)
