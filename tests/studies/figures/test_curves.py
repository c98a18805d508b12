"""Figures of sample complexity: curves, means, the line at 100 % and the paper's share are where the results put them."""

from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from liegg.report.plots import figure
from liegg.studies.figures.curves import draw_sample_complexity, o5_figure, rotmnist_figure
from liegg.studies.figures.style import logarithmic
from studies.figures.legible import assert_legible, drawn_texts, x_of, y_of

FRACTIONS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0]


def make_results(fractions: list[float], seeds: int, samples: int) -> dict[str, Any]:
    """Realistic sizes; network k lies 10 k % above the first, so that means are known."""
    factors = [1 + 0.1 * seed for seed in range(seeds)]
    o5 = [
        [
            {
                "fraction": f,
                "samples": round(f * samples),
                "mean_variance_of_ten": 0.09 * k * f / (f + 0.01) * 1.01,
                "mean_bias_of_ten": 0.007 * k / f**0.4,
                "nullity": 10,
            }
            for f in fractions
        ]
        for k in factors
    ]
    sizes = {"paper, sum": (1e-3, 0.04), "paper, each": (7e-3, 0.03)}
    rotmnist = [
        [
            {
                "fraction": f,
                "samples": round(f * samples),
                "readings": {
                    reading: {"variance": variance * k * f**0.05, "bias": bias * k / f**0.1}
                    for reading, (variance, bias) in sizes.items()
                },
            }
            for f in fractions
        ]
        for k in factors
    ]
    return {
        "o5": {"samples": samples, "networks": o5},
        "rotmnist": {"images": samples, "networks": rotmnist},
    }


FULL = make_results(FRACTIONS, 8, 10_000)
QUICK = make_results([0.05, 0.2, 1.0], 2, 300)


def named(ax: Axes, start: str) -> Line2D:
    return next(line for line in ax.lines if str(line.get_label()).startswith(start))


@pytest.mark.parametrize(
    "results",
    [pytest.param(FULL, marks=pytest.mark.slow, id="full"), pytest.param(QUICK, id="quick")],
)
def test_figures_are_legible(results):
    figures = draw_sample_complexity(results)
    assert list(figures) == ["sample-complexity-o5", "sample-complexity-rotmnist"]
    for made in figures.values():
        assert_legible(made)


@pytest.mark.parametrize(
    ("results", "middle"), [(FULL, 1.35), (QUICK, 1.05)], ids=["full", "quick"]
)
def test_curves_of_o5(results, middle):
    made = o5_figure(results["o5"])
    networks = results["o5"]["networks"]
    for ax, key, whole in zip(
        made.axes, ("mean_variance_of_ten", "mean_bias_of_ten"), (0.09, 0.007), strict=True
    ):
        for line, rows in zip(ax.lines, networks, strict=False):
            assert y_of(line) == [row[key] for row in rows]
        assert x_of(named(ax, "mean over")) == pytest.approx(
            [100 * row["fraction"] for row in networks[0]]
        )
        assert y_of(named(ax, "mean over")) == pytest.approx(
            [middle * row[key] for row in networks[0]]
        )
        dashed = named(ax, "mean with 100 %")
        assert dashed.get_linestyle() == "--"
        assert y_of(dashed) == pytest.approx([middle * whole] * 2)
        dotted = named(ax, "enough in the paper: 0.25 %")
        assert dotted.get_linestyle() == ":"
        assert x_of(dotted) == [0.25, 0.25]
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_curves_of_rotmnist():
    made = rotmnist_figure(FULL["rotmnist"])
    wholes = (1e-3, 0.04, 7e-3, 0.03)
    for ax, whole, slope in zip(made.axes, wholes, (0.05, -0.1, 0.05, -0.1), strict=True):
        assert y_of(named(ax, "mean over")) == pytest.approx(
            [1.35 * whole * f**slope for f in FRACTIONS]
        )
        assert y_of(named(ax, "mean with 100 %")) == pytest.approx([1.35 * whole] * 2)
        assert x_of(named(ax, "enough in the paper: 5 %")) == [5, 5]
        assert len(ax.lines) == 8 + 3


def test_legend_has_each_entry_once():
    (legend,) = rotmnist_figure(QUICK["rotmnist"]).legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "one network",
        "mean over networks",
        "mean with 100 % of the samples",
        "enough in the paper: 5 %",
    ]


def test_rounding_far_below_does_not_flatten_the_curves():
    part = make_results(FRACTIONS, 2, 1_000)["o5"]
    part["networks"][0][0]["mean_variance_of_ten"] = 0.0
    part["networks"][1][0]["mean_variance_of_ten"] = 1e-33
    made = o5_figure(part)
    low, high = made.axes[0].get_ylim()
    assert high / low == pytest.approx(1e6)
    assert high > 0.09
    assert {"0.1", "0.01", "10⁻⁵"} <= {name for name, _ in drawn_texts(made)}
    assert_legible(made)


# Logarithmic axes


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.00101, 0.00128, ["0.0011", "0.0012"]),
        (0.0021, 0.0062, ["0.003", "0.004", "0.005", "0.006"]),
        (0.4, 4.0, ["0.5", "0.7", "1", "2", "3"]),
        (2e-5, 2.0, ["0.0001", "0.001", "0.01", "0.1", "1"]),
        (0.2, 110.0, ["0.2", "0.5", "1", "2", "5", "10", "20", "50", "100"]),
    ],
)
def test_every_range_has_ticks_in_plain_numbers(low, high, labels):
    made = figure()
    ax = made.subplots()
    ax.set_xlim(low, high)
    logarithmic(ax, "x")
    made.draw_without_rendering()
    ticks = zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
    assert [label.get_text() for place, label in ticks if low <= place <= high] == labels
