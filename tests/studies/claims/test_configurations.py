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
    assert "clearly negative at 5 of 5 depths" in found.ours


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

    for change, said in (
        (reverse, "clearly negative at 0 of 5 depths"),
        (same, "ρ = 0.00, p = 1.00"),
    ):
        found = configurations.more_parameters(changed(change), SUM, quantity="bias")
        assert not found.holds
        assert said in found.ours


def test_networks_of_one_count_decide_nothing():
    with pytest.raises(TooFewError, match="nothing to correlate"):
        configurations.more_parameters(
            kept(lambda net: net["parameters"] == 40_000), SUM, quantity="variance"
        )
    with pytest.raises(TooFewError, match=r"^no networks with 1 to 5 hidden layers$"):
        configurations.more_parameters(
            kept(lambda net: net["hidden_layers"] == 6), SUM, quantity="variance"
        )


def test_a_depth_counts_only_if_it_is_clearly_negative():
    """At depth 2 the means fall a little, from 0.46 over 0.45 to 0.44, far less than the seeds differ."""

    def unclear(net, row):
        if net["hidden_layers"] == 2:
            row["variance"] = net["seed"] / 10 + (0.01 - net["parameters"] / 8e6)

    found = configurations.more_parameters(changed(unclear), SUM, quantity="variance")
    assert found.holds
    assert "clearly negative at 4 of 5 depths" in found.ours


def test_depth_helps_the_sum_and_harms_each_output():
    with_sum, with_each = (configurations.deeper(PLANTED, reading) for reading in (SUM, EACH))
    assert with_sum.holds
    assert not with_each.holds
    assert "clearly negative at 2 of 2 counts; all counts: ρ = -0.9" in with_sum.ours
    assert "clearly negative at 0 of 2 counts; all counts: ρ = 0.9" in with_each.ours
    assert with_sum.ours.startswith("with 100,000 parameters or more: ρ = -0.9")
    assert with_sum.ours.endswith(
        "with 200,000 parameters 0.00045 → 0.00040 → 0.00035 → 0.00030 → 0.00025 on the mean from depth 1 to 5"
    )


def test_networks_with_few_parameters_do_not_decide_about_depth():
    """40,000 parameters against 100,000: whichever way the small ones go, the large ones decide."""

    def turn(small: bool):
        def change(net, row):
            net["parameters"] = {120_000: 100_000}.get(net["parameters"], net["parameters"])
            if (net["parameters"] < 100_000) is small:
                row["variance"] = net["hidden_layers"] + net["seed"] / 100

        return change

    found = configurations.deeper(changed(turn(small=True)), SUM)
    assert found.holds
    assert "clearly negative at 2 of 2 counts; all counts: ρ = -0.3" in found.ours
    assert "clearly negative at 2 of 3; " in found.ours
    found = configurations.deeper(changed(turn(small=False)), SUM)
    assert not found.holds
    assert "clearly negative at 0 of 2 counts; all counts: ρ = 0.3" in found.ours
    with pytest.raises(TooFewError, match=r"^too few networks: 0, a correlation needs 3$"):
        configurations.deeper(kept(lambda net: net["parameters"] < 100_000), SUM)


def test_depths_between_have_smaller_biases():
    """Means over 3 counts: 0.038 at depth 3, 0.004 more for each layer away."""

    def steeper(net, row):
        row["bias"][0] += 0.1 * (net["hidden_layers"] in (1, 5))

    found = configurations.balanced(changed(steeper), SUM)
    assert found.holds
    assert found.ours == (
        "mean bias 0.146 at depth 1, 0.041 between, 0.146 at depth 5; p = 1e-13 against depth 1, p = 1e-13 against depth 5; "
        "smallest cell 0.030 with 3 hidden layers and 200,000 parameters"
    )


@pytest.mark.parametrize(
    ("outer", "said"), [(1, "p = 1.00 against depth 1"), (5, "p = 1.00 against depth 5")]
)
def test_one_outer_depth_that_is_as_good_is_enough(outer, said):
    def good(net, row):
        row["bias"][0] = net["seed"] / 1e4 + {outer: 0.01, 6 - outer: 0.1}.get(
            net["hidden_layers"], 0.05
        )

    found = configurations.balanced(changed(good), SUM)
    assert not found.holds
    assert said in found.ours
    assert f"smallest cell 0.010 with {outer} hidden layer" in found.ours


def test_a_single_cell_does_not_decide():
    """Depths are alike, but for one configuration of depth 4 that is by far the best."""

    def single(net, row):
        special = (net["hidden_layers"], net["parameters"]) == (4, 40_000)
        row["bias"][0] = 0.01 if special else 0.05 + net["seed"] / 1000

    found = configurations.balanced(changed(single), SUM)
    assert not found.holds
    assert found.ours.endswith("; smallest cell 0.010 with 4 hidden layers and 40,000 parameters")


def test_two_depths_have_none_between():
    with pytest.raises(TooFewError, match=r"^too few depths: 2, a depth between others needs 3$"):
        configurations.balanced(kept(lambda net: net["hidden_layers"] in (1, 2, 6)), SUM)


def test_the_stored_correlations_decide():
    found = configurations.correlation(PLANTED, SUM, quantity="variance")
    assert found.holds
    assert found.ours == "ρ = -0.57, p = 1e-30; with 2 to 6 hidden layers ρ = -0.61, p = 1e-40"
    assert configurations.correlation(PLANTED, SUM, quantity="bias").holds


@pytest.mark.parametrize(
    ("rho", "p", "holds"), [(-0.3, 9e-5, True), (-0.3, 2e-4, False), (0.3, 1e-9, False)]
)
def test_correlations_must_be_negative_and_not_by_chance(rho, p, holds):
    stored = {SUM: {"1-5": {"bias": {"rho": rho, "p": p}}}}
    found = configurations.correlation(
        {"configurations": {"quick": False, "correlations": stored}}, SUM, quantity="bias"
    )
    assert found.holds is holds
    assert "2 to 6" not in found.ours


def test_a_window_that_is_not_stored():
    for stored in ({}, {SUM: {}}):
        with pytest.raises(
            TooFewError,
            match=r"^too few networks with 1 to 5 hidden layers: no correlation is stored$",
        ):
            configurations.correlation(
                {"configurations": {"quick": False, "correlations": stored}}, SUM, quantity="bias"
            )


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
        {
            "parameters": 1,
            "hidden_layers": 1,
            "test_accuracy": accuracy,
            "readings": {SUM: {"variance": variance, "bias": [0.1]}},
        }
        for accuracy, variance in rows
    ]
    found = configurations.not_strict({"configurations": {"networks": networks}}, SUM)
    assert not found.holds
    assert found.ours == "variance 1.0 and 1.5, a factor of 1.5, at accuracy 0.8000 and 0.8005"
    with pytest.raises(TooFewError, match=r"^no two networks have accuracies within 0.001$"):
        configurations.not_strict({"configurations": {"networks": networks[1:3]}}, SUM)


OTHERS = "; on 2 other draws of the data ρ = -0.56 to -0.55"


@pytest.mark.parametrize(
    ("quick", "quick_draws", "told"),
    [(False, False, True), (False, True, False), (True, True, True), (True, False, True)],
)
def test_quick_draws_do_not_stand_beside_full_results(quick, quick_draws, told):
    results = {
        "configurations": planted.configurations(quick=quick),
        "draws": planted.draws(quick=quick_draws),
    }
    found = configurations.correlation(results, SUM, quantity="variance")
    assert found.holds
    assert found.ours.endswith(OTHERS) is told
    assert ("draws" in found.ours) is told
