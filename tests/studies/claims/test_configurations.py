"""Claims about network configurations on planted results."""

import pytest

from liegg.studies.claims import configurations
from liegg.studies.claims.record import EACH, SUM, TooFewError
from studies.claims import planted

PLANTED = {"configurations": planted.configurations()}


def kept(wanted) -> dict:
    networks = [net for net in planted.configurations()["networks"] if wanted(net)]
    return {"configurations": planted.configurations(networks=networks)}


def changed(change) -> dict:
    results = planted.configurations()
    for net in results["networks"]:
        change(net, net["readings"]["paper, sum"])
    return {"configurations": results}


@pytest.mark.parametrize("reading", [SUM, EACH])
def test_more_parameters_less_variance(reading):
    found = configurations.more_parameters(PLANTED, reading, quantity="variance")
    assert found.holds
    assert "negative at 5 of 5 depths" in found.ours


def test_means_at_the_ends_are_over_the_main_window():
    """1e-3 · (1 - 0.1) · (1 - 0.3) and 1e-3 · 0.5 · 0.7, with 0.45 % for the seeds."""
    assert configurations.more_parameters(PLANTED, SUM, quantity="variance").ours.endswith(
        "; 0.00063 on the mean with 40,000 parameters, 0.00035 with 200,000"
    )
    assert configurations.more_parameters(PLANTED, SUM, quantity="bias").ours.endswith(
        "; 0.051 on the mean with 40,000 parameters, 0.035 with 200,000"
    )


def test_parameters_that_matter_nowhere_or_the_other_way():
    def reverse(net, row):
        row["bias"][0] = net["parameters"] / 1e6 + net["seed"] / 1e5

    def same(net, row):
        row["bias"][0] = net["seed"] / 100

    for change, said in ((reverse, "negative at 0 of 5 depths"), (same, "ρ = 0.00, p = 1.00")):
        found = configurations.more_parameters(changed(change), SUM, quantity="bias")
        assert not found.holds
        assert said in found.ours


def test_networks_of_one_count_decide_nothing():
    with pytest.raises(TooFewError, match="nothing to correlate"):
        configurations.more_parameters(kept(lambda net: net["parameters"] == 40_000), SUM, quantity="variance")
    with pytest.raises(TooFewError, match=r"^no networks with 1 to 5 hidden layers$"):
        configurations.more_parameters(kept(lambda net: net["hidden_layers"] == 6), SUM, quantity="variance")


def test_depth_helps_the_sum_and_harms_each_output():
    with_sum, with_each = (configurations.deeper(PLANTED, reading) for reading in (SUM, EACH))
    assert with_sum.holds
    assert not with_each.holds
    assert "negative at 3 of 3 counts" in with_sum.ours
    assert "negative at 0 of 3 counts" in with_each.ours
    assert with_sum.ours.endswith(
        "with 120,000 parameters 0.00063 → 0.00056 → 0.00049 → 0.00042 → 0.00035 on the mean from depth 1 to 5"
    )


def test_a_middle_depth_has_the_smallest_bias():
    found = configurations.balanced(PLANTED, SUM)
    assert found.holds
    assert found.ours == (
        "smallest mean bias 0.030 with 3 hidden layers and 200,000 parameters; over all counts smallest at depth 3, 0.038"
    )


@pytest.mark.parametrize("best", [1, 5])
def test_an_outer_depth_is_not_balanced(best):
    def outer(net, row):
        row["bias"][0] = 0.1 + abs(net["hidden_layers"] - best) / 10

    found = configurations.balanced(changed(outer), SUM)
    assert not found.holds
    assert f"with {best} hidden layer" in found.ours


def test_one_cell_decides_and_the_mean_depth_is_told():
    """Depth 1 is best on the mean, but for one configuration of depth 4."""

    def single(net, row):
        special = (net["hidden_layers"], net["parameters"]) == (4, 40_000)
        row["bias"][0] = 0.01 if special else net["hidden_layers"] / 10

    found = configurations.balanced(changed(single), SUM)
    assert found.holds
    assert found.ours == (
        "smallest mean bias 0.010 with 4 hidden layers and 40,000 parameters; over all counts smallest at depth 1, 0.100"
    )


def test_two_depths_have_none_between():
    with pytest.raises(TooFewError, match=r"^too few depths: 2, a depth between others needs 3$"):
        configurations.balanced(kept(lambda net: net["hidden_layers"] in (1, 2, 6)), SUM)


def test_the_stored_correlations_decide():
    found = configurations.correlation(PLANTED, SUM, quantity="variance")
    assert found.holds
    assert found.ours == "ρ = -0.57, p = 1e-30; with 2 to 6 hidden layers ρ = -0.61, p = 1e-40"
    assert configurations.correlation(PLANTED, SUM, quantity="bias").holds


@pytest.mark.parametrize(("rho", "p", "holds"), [(-0.3, 9e-5, True), (-0.3, 2e-4, False), (0.3, 1e-9, False)])
def test_correlations_must_be_negative_and_not_by_chance(rho, p, holds):
    stored = {SUM: {"1-5": {"bias": {"rho": rho, "p": p}}}}
    found = configurations.correlation({"configurations": {"correlations": stored}}, SUM, quantity="bias")
    assert found.holds is holds
    assert "2 to 6" not in found.ours


def test_a_window_that_is_not_stored():
    for stored in ({}, {SUM: {}}):
        with pytest.raises(TooFewError, match=r"^too few networks with 1 to 5 hidden layers: no correlation is stored$"):
            configurations.correlation({"configurations": {"correlations": stored}}, SUM, quantity="bias")


def test_equal_accuracy_with_different_variance():
    """Within a depth accuracies are alike, and 40,000 parameters have 1.8 times the variance of 200,000; seeds add 0.7 %."""
    found = configurations.not_strict(PLANTED, SUM)
    assert not found.holds
    assert "a factor of 1.8" in found.ours

    def twice(net, row):
        if net["parameters"] == 40_000:
            row["variance"] *= 1.2

    found = configurations.not_strict(changed(twice), SUM)
    assert found.holds
    assert "a factor of 2.2" in found.ours


def test_only_pairs_of_equal_accuracy_are_compared():
    rows = [(0.800, 1.0), (0.8005, 1.5), (0.9, 100.0), (0.90005, 0.0)]
    networks = [
        {"parameters": 1, "hidden_layers": 1, "test_accuracy": accuracy, "readings": {SUM: {"variance": variance, "bias": [0.1]}}}
        for accuracy, variance in rows
    ]
    found = configurations.not_strict({"configurations": {"networks": networks}}, SUM)
    assert not found.holds
    assert found.ours == "variance 1.0 and 1.5, a factor of 1.5, at accuracy 0.8000 and 0.8005"
    with pytest.raises(TooFewError, match=r"^no two networks have accuracies within 0.001$"):
        configurations.not_strict({"configurations": {"networks": networks[1:3]}}, SUM)


def test_other_draws_of_the_data_stand_beside_the_correlation():
    draws = {"draws": [{"correlations": {SUM: {"variance": {"rho": rho}}}} for rho in (-0.5, -0.45)]}
    found = configurations.correlation({"configurations": planted.configurations(), "draws": draws}, SUM, quantity="variance")
    assert found.ours.endswith("; on 2 other draws of the data ρ = -0.50 to -0.45")
