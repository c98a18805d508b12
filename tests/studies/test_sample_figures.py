"""Figures of sample complexity: curves, means, the line at 100 % and the paper's share are where the results put them."""

from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from liegg.report.plots import figure
from liegg.studies.figure_style import logarithmic, number, power_of_ten
from liegg.studies.sample_figures import draw, draw_o5, draw_rotmnist
from studies.test_configuration_figures import assert_legible, drawn_texts, x_of, y_of

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


@pytest.mark.parametrize("results", [FULL, QUICK], ids=["full", "quick"])
def test_figures_are_written_and_legible(results, tmp_path):
    paths = draw(results, tmp_path)
    stems = ("sample-complexity-o5", "sample-complexity-rotmnist")
    assert paths == [tmp_path / f"{stem}{ending}" for stem in stems for ending in (".png", ".svg")]
    assert all(path.stat().st_size > 10_000 for path in paths)
    assert_legible(draw_o5(results["o5"]))
    assert_legible(draw_rotmnist(results["rotmnist"]))


@pytest.mark.parametrize(
    ("results", "middle"), [(FULL, 1.35), (QUICK, 1.05)], ids=["full", "quick"]
)
def test_curves_of_o5(results, middle):
    made = draw_o5(results["o5"])
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
    made = draw_rotmnist(FULL["rotmnist"])
    wholes = (1e-3, 0.04, 7e-3, 0.03)
    for ax, whole, slope in zip(made.axes, wholes, (0.05, -0.1, 0.05, -0.1), strict=True):
        assert y_of(named(ax, "mean over")) == pytest.approx(
            [1.35 * whole * f**slope for f in FRACTIONS]
        )
        assert y_of(named(ax, "mean with 100 %")) == pytest.approx([1.35 * whole] * 2)
        assert x_of(named(ax, "enough in the paper: 5 %")) == [5, 5]
        assert len(ax.lines) == 8 + 3


def test_words():
    shown = [name for name, _ in drawn_texts(draw_o5(FULL["o5"]))]
    assert (
        "How many samples does the extraction need?  O(5) regression: 8 networks, 100 % is 10,000 samples"
        in shown
    )
    assert {
        "mean variance of the last ten  σ²/|D|",
        "mean bias of the last ten against so(5)",
    } <= set(shown)
    assert shown.count("share of the training samples used, %") == 2
    shown = [name for name, _ in drawn_texts(draw_rotmnist(QUICK["rotmnist"]))]
    assert (
        "How many samples does the extraction need?  Rotated MNIST: 2 networks, 100 % is 300 images"
        in shown
    )
    assert {"(a) variance, outputs summed (the paper)", "(d) bias, each output a row"} <= set(shown)
    legend = [
        "one network",
        "mean over networks",
        "mean with 100 % of the samples",
        "enough in the paper: 5 %",
    ]
    assert [shown.count(name) for name in legend] == [1, 1, 1, 1]


def test_rounding_far_below_does_not_flatten_the_curves():
    part = make_results(FRACTIONS, 2, 1_000)["o5"]
    part["networks"][0][0]["mean_variance_of_ten"] = 0.0
    part["networks"][1][0]["mean_variance_of_ten"] = 1e-33
    made = draw_o5(part)
    low, high = made.axes[0].get_ylim()
    assert high / low == pytest.approx(1e6)
    assert high > 0.09
    assert {"0.1", "0.01", "1 × 10⁻⁵"} <= {name for name, _ in drawn_texts(made)}
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


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.05, 3, "0.05"),
        (100.0, 3, "100"),
        (1e-4, 3, "0.0001"),
        (2e-5, 3, "2 × 10⁻⁵"),
        (3.24e-33, 1, "3 × 10⁻³³"),
        (9.6e-6, 1, "1 × 10⁻⁵"),
    ],
)
def test_numbers_for_people(value, digits, text):
    assert number(value, digits) == text


def test_powers_of_ten():
    assert [power_of_ten(exponent) for exponent in (-120, -3, 0, 45, 6789)] == [
        "10⁻¹²⁰",
        "10⁻³",
        "10⁰",
        "10⁴⁵",
        "10⁶⁷⁸⁹",
    ]
