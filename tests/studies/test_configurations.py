"""The configurations study: its grid, its correlations, its quick form, and what its stored results must show."""

import json
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr

from liegg.studies import configurations, images

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    return json.loads((RESULTS / "configurations.json").read_text())


def test_the_grid_is_the_papers() -> None:
    cells = configurations.grid(configurations.PARAMETERS, (1, 2, 3, 4, 5), images.SEEDS)
    assert len(cells) == 45 * 8
    assert {cell["parameters"] for cell in cells} == {
        40_000,
        60_000,
        80_000,
        100_000,
        120_000,
        140_000,
        160_000,
        180_000,
        200_000,
    }
    assert {
        "parameters": 40_000,
        "hidden_layers": 2,
        "width": 47,
        "seed": 8,
    } in cells  # the paper's shallow network


def row(
    depth: int, accuracy: float, variance: float, bias: float, parameters: int = 40_000
) -> dict[str, Any]:
    readings = {"paper, sum": {"variance": variance, "bias": [bias, 1.0, 1.0, 1.0]}}
    return {
        "hidden_layers": depth,
        "parameters": parameters,
        "test_accuracy": accuracy,
        "readings": readings,
    }


def test_correlations_are_pearsons_over_the_networks_of_a_window() -> None:
    generator = np.random.default_rng(0)
    rows = [
        row(depth, *generator.random(3).tolist()) for depth in (1, 2, 3, 4, 5, 6) for _ in range(5)
    ]
    found = configurations.correlations(rows)["paper, sum"]
    for window, depths in (("1-5", (1, 2, 3, 4, 5)), ("2-6", (2, 3, 4, 5, 6))):
        inside = [one for one in rows if one["hidden_layers"] in depths]
        known = pearsonr(
            [one["readings"]["paper, sum"]["variance"] for one in inside],
            [one["test_accuracy"] for one in inside],
        )
        assert [found[window]["variance"]["rho"], found[window]["variance"]["p"]] == pytest.approx(
            list(known)
        )


def test_correlation_is_told_apart_between_and_within_configurations() -> None:
    """Means that fall with the accuracy, and deviations from them that rise with it."""
    rows = [
        row(1, 0.5 + k / 10 + e, 1 - k / 10 + e, 0.1, 1000 * k)
        for k in range(1, 4)
        for e in (-0.01, 0.0, 0.01)
    ]
    found = configurations.correlation(
        [one["readings"]["paper, sum"]["variance"] for one in rows], rows
    )
    assert found["between"] == pytest.approx(-1.0)
    assert found["within"] == pytest.approx(1.0)
    assert -1.0 < found["rho"] < -0.9


def test_where_nothing_varies_there_is_no_correlation() -> None:
    rows = [row(1, accuracy, 0.5, 0.1) for accuracy in (0.1, 0.2, 0.3)]
    assert configurations.correlations(rows)["paper, sum"]["1-5"]["bias"] == {
        "rho": 0.0,
        "p": 1.0,
        "between": 0.0,
        "within": 0.0,
    }


def test_a_window_of_two_networks_has_no_correlation() -> None:
    assert configurations.correlations([row(1, 0.1, 0.2, 0.3)] * 2) == {"paper, sum": {}}


@pytest.mark.slow
def test_quick_study(quick_folder: Path) -> None:
    results = json.loads((quick_folder / "configurations.json").read_text())
    assert len(results["networks"]) == 3 * 3 * 2
    assert all(
        abs(net["true_parameters"] / net["parameters"] - 1) < 0.02 for net in results["networks"]
    )
    assert results["correlations"] == configurations.correlations(results["networks"])
    for name in ("configurations-heatmaps", "configurations-correlation"):
        assert (quick_folder / f"{name}.png").stat().st_size > 20_000
    text = configurations.table(results)
    assert "across parameters" in text
    assert "correlation with accuracy, 1-5 hidden layers: variance" in text


def test_stored_results_are_whole(stored: dict[str, Any]) -> None:
    assert len(stored["networks"]) == 54 * 8
    assert stored["epochs"] == 300
    assert {(n["parameters"], n["hidden_layers"], n["seed"]) for n in stored["networks"]} == {
        (cell["parameters"], cell["hidden_layers"], cell["seed"])
        for cell in configurations.grid(
            configurations.PARAMETERS, configurations.HIDDEN_LAYERS, images.SEEDS
        )
    }
    assert all(
        abs(net["true_parameters"] / net["parameters"] - 1) < 0.02 for net in stored["networks"]
    )


def test_more_accurate_networks_have_the_smaller_variance(stored: dict[str, Any]) -> None:
    """The paper has -0.49, an independent prototype -0.57."""
    found = stored["correlations"]["paper, sum"]["1-5"]["variance"]
    assert -0.6 < found["rho"] < -0.5
    assert found["p"] < 1e-20


def test_deeper_is_more_invariant_for_the_sum_and_less_so_per_output(
    stored: dict[str, Any],
) -> None:
    def at(depth: int, reading: str) -> float:
        nets = [
            net
            for net in stored["networks"]
            if net["hidden_layers"] == depth and net["parameters"] == 120_000
        ]
        return mean(net["readings"][reading]["variance"] for net in nets)

    assert at(5, "paper, sum") < 0.8 * at(1, "paper, sum")
    assert at(5, "paper, each") > 1.2 * at(1, "paper, each")
