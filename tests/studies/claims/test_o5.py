"""Claims about the O(5) regression on planted results."""

import pytest

from liegg.studies.claims import o5
from liegg.studies.claims.record import ONE, TooFewError
from studies.claims import planted


def test_ten_vanishing_values_hold():
    found = o5.ten({"o5": planted.o5()}, ONE)
    assert found.holds
    assert (
        found.ours
        == "nullity ten in 8 of 8 networks at N = 10,000; bias at most 0.0100; gap 200 to 200 times"
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"nullity": 9}, "nullity ten in 7 of 8"),
        ({"largest_bias_of_ten": 0.03}, "bias at most 0.0300"),
    ],
)
def test_one_network_that_fails_is_enough(change, said):
    results = planted.o5()
    results["networks"]["10000"][3] |= change
    found = o5.ten({"o5": results}, ONE)
    assert not found.holds
    assert said in found.ours


def test_without_networks_of_the_main_size_nothing_is_decided():
    with pytest.raises(TooFewError, match=r"^no networks of the main size 30,000$"):
        o5.ten({"o5": planted.o5(main_size=30_000)}, ONE)


def test_the_variance_falls_and_where_it_stops():
    found = o5.size({"o5": planted.o5()}, ONE)
    assert found.holds
    assert found.ours.startswith("ρ = -0.")
    assert found.ours.endswith(
        "0.60 at N = 100, 0.060 at 3,000, no clear fall from there (0.062 at 10,000)"
    )


def test_a_fall_of_less_than_a_tenth_is_none():
    assert o5.course({100: 0.6, 3000: 0.063, 30_000: 0.06}) == (
        "0.60 at N = 100, 0.063 at 3,000, no clear fall from there (0.060 at 30,000)"
    )


def test_a_rising_variance_does_not_hold():
    networks = {
        size: [planted.o5_network(int(size) * (1 + seed / 1000)) for seed in range(8)]
        for size in ("100", "1000")
    }
    found = o5.size({"o5": planted.o5(networks=networks)}, ONE)
    assert not found.holds
    assert found.ours.endswith("no clear fall from there (1.0e+03 at 1,000)")


def test_two_networks_of_two_sizes_decide_nothing():
    networks = {
        size: [planted.o5_network(1 / int(size) + seed / 1e6) for seed in range(2)]
        for size in ("300", "1000")
    }
    with pytest.raises(TooFewError, match="the clearest order of 4"):
        o5.size({"o5": planted.o5(networks=networks)}, ONE)


def small_sets(small: dict, next_size: dict) -> dict:
    """Planted results in which every network of the two smallest sizes is changed."""
    results = planted.o5()
    for size, change in (("100", small), ("1000", next_size)):
        results["networks"][size] = [net | change for net in results["networks"][size]]
    return {"o5": results}


def test_a_small_training_set_suffices_for_the_generators():
    found = o5.small(small_sets({"largest_bias_of_ten": 0.199, "nullity": 9}, {}), ONE)
    assert found.holds
    assert (
        found.ours
        == "at N = 100 bias at most 0.199, nullity ten in 0 of 8; at N = 1,000 bias at most 0.010, nullity ten in 8 of 8"
    )


def test_one_network_of_the_smallest_set_that_fails_is_enough():
    results = planted.o5()
    results["networks"]["100"][3] |= {"largest_bias_of_ten": 0.2, "nullity": 11}
    found = o5.small({"o5": results}, ONE)
    assert not found.holds
    assert found.ours.startswith("at N = 100 bias at most 0.200, nullity ten in 7 of 8; ")


def test_only_the_smallest_training_set_decides():
    assert o5.small(small_sets({}, {"largest_bias_of_ten": 0.9}), ONE).holds


def test_sizes_are_ordered_as_numbers_and_need_networks():
    networks = {"1000": [planted.o5_network(0.1)], "300": [planted.o5_network(0.1)], "20": []}
    found = o5.small({"o5": planted.o5(networks=networks)}, ONE)
    assert found.ours.startswith("at N = 300 ")
    del networks["1000"]
    assert (
        o5.small({"o5": planted.o5(networks=networks)}, ONE).ours
        == "at N = 300 bias at most 0.010, nullity ten in 1 of 1"
    )
    with pytest.raises(TooFewError, match=r"^no networks$"):
        o5.small({"o5": planted.o5(networks={"20": []})}, ONE)


def test_built_in_invariance_holds():
    found = o5.built_in({"o5": planted.o5()}, ONE)
    assert found.holds
    assert found.ours == "perceptron of inner products: variance 1e-30 of the largest, bias 1e-15"


def test_emlp_is_told_beside_and_counts():
    assert o5.built_in({"o5": planted.o5(), "o5-emlp": planted.emlp()}, ONE).ours.endswith(
        "; EMLP, gain 1: variance 5e-32 of the largest, bias 7e-16"
    )
    for bad in (planted.emlp(variance=1e-9), planted.emlp(bias=1e-3)):
        assert not o5.built_in({"o5": planted.o5(), "o5-emlp": bad}, ONE).holds


@pytest.mark.parametrize(
    "change", [{"spectrum": [1e-30] * 9 + [1e-11] + [1.0] * 15}, {"largest_bias_of_ten": 1e-5}]
)
def test_a_tenth_value_or_a_bias_too_large_does_not_hold(change):
    control = planted.o5()["invariant_by_construction"] | change
    assert not o5.built_in({"o5": planted.o5(invariant_by_construction=control)}, ONE).holds
