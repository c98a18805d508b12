"""Claims about turned pictures on planted results."""

import pytest

from liegg.studies.claims import rotation
from liegg.studies.claims.record import EACH, SUM, TooFewError
from studies.claims import planted


def test_the_rotation_is_retrieved():
    found = rotation.rotmnist({"rotmnist": planted.rotmnist()}, SUM, kind="deep")
    assert found.holds
    assert (
        found.ours
        == "in 8 of 8 networks; bias 0.031 on the mean, at most 0.033; before training 0.501, p = 8e-05"
    )  # one order of 12,870
    assert (
        "bias 0.081 on the mean"
        in rotation.rotmnist({"rotmnist": planted.rotmnist()}, EACH, kind="shallow").ours
    )


def test_one_network_without_it_is_enough():
    """Its bias is smaller than before training, but not small."""
    results = planted.rotmnist(deep=[*planted.image_networks(0.03, 7), planted.image_network(0.21)])
    found = rotation.rotmnist({"rotmnist": results}, SUM, kind="deep")
    assert not found.holds
    assert found.ours.startswith("in 7 of 8 networks")


@pytest.mark.parametrize("before", [0.03, 0.02, 0.0301])
def test_a_bias_that_was_small_before_training_was_not_learned(before):
    results = planted.rotmnist(untrained={"deep": planted.image_networks(before)})
    found = rotation.rotmnist({"rotmnist": results}, SUM, kind="deep")
    assert not found.holds
    assert found.ours.startswith("in 8 of 8 networks; bias 0.031 on the mean")
    assert rotation.rotmnist({"rotmnist": results}, SUM, kind="shallow").holds
    learned = rotation.cifar10(
        {"cifar10": planted.cifar10(untrained=planted.image_networks(before))}, SUM
    )
    assert not learned.holds


def test_networks_that_cannot_be_told_from_untrained_ones_decide_nothing():
    results = planted.rotmnist(
        {"deep": planted.image_networks(0.5, 2)}, deep=planted.image_networks(0.03, 2)
    )
    with pytest.raises(TooFewError, match=r"^too few networks: with 2 and 2 no p is below 0\.05$"):
        rotation.rotmnist({"rotmnist": results}, SUM, kind="deep")


def test_no_networks_decide_nothing():
    with pytest.raises(TooFewError, match=r"^no networks$"):
        rotation.rotmnist({"rotmnist": planted.rotmnist(deep=[])}, SUM, kind="deep")


def test_cifar10_is_read_alike():
    assert rotation.cifar10({"cifar10": planted.cifar10()}, SUM).holds
    assert not rotation.cifar10(
        {"cifar10": planted.cifar10(networks=planted.image_networks(0.3))}, SUM
    ).holds


def test_tinted_digits_are_not_cifar10():
    with pytest.raises(TooFewError, match=r"^the run saw tinted MNIST digits, not CIFAR-10$"):
        rotation.cifar10({"cifar10": planted.cifar10(data="tinted MNIST digits")}, SUM)


def test_deep_networks_are_less_biased():
    found = rotation.less_biased({"rotmnist": planted.rotmnist()}, SUM)
    assert found.holds
    assert found.ours == "0.031 deep, 0.081 shallow, p = 8e-05"  # one order of 12,870


def test_the_other_count_of_layers_is_told_beside():
    fewer = {
        "deep, 5 hidden layers": planted.image_networks(0.04),
        "shallow, 1 hidden layer": planted.image_networks(0.02),
    }
    found = rotation.less_biased({"rotmnist": planted.rotmnist({}, **fewer)}, SUM)
    assert found.ours.endswith("; with one hidden layer less 0.041, 0.021")


@pytest.mark.parametrize("deep", [0.08, 0.09, 0.0799])
def test_deep_networks_that_are_not_clearly_less_biased(deep):
    assert not rotation.less_biased(
        {"rotmnist": planted.rotmnist(deep=planted.image_networks(deep))}, SUM
    ).holds


def test_a_single_wild_network_can_turn_the_mean():
    """Seven of eight deep networks are below all shallow ones, which is no chance; the eighth lifts their mean above."""
    found = rotation.less_biased(
        {
            "rotmnist": planted.rotmnist(
                deep=[*planted.image_networks(0.03, 7), planted.image_network(0.9)]
            )
        },
        SUM,
    )
    assert not found.holds
    assert found.ours == "0.140 deep, 0.081 shallow, p = 5e-03"


def test_two_networks_each_cannot_be_told_apart():
    few = planted.rotmnist(
        shallow=planted.image_networks(0.08, 2), deep=planted.image_networks(0.03, 2)
    )
    with pytest.raises(TooFewError, match="with 2 and 2 no p is below"):
        rotation.less_biased({"rotmnist": few}, SUM)


def test_the_spectrum_vanishes_less_than_for_vectors():
    found = rotation.not_exact({"rotmnist": planted.rotmnist(), "o5": planted.o5()}, SUM)
    assert found.holds
    assert (
        found.ours
        == "smallest over largest value at least 0.10 here, at most 0.0010 in the O(5) networks"
    )


def test_one_o5_network_that_vanishes_less_is_enough():
    results = planted.o5()
    results["networks"]["10000"][0]["spectrum"] = [0.2] * 10 + [1.0] * 15
    assert not rotation.not_exact({"rotmnist": planted.rotmnist(), "o5": results}, SUM).holds


def test_nothing_to_compare_with():
    with pytest.raises(TooFewError, match=r"^no networks to compare$"):
        rotation.not_exact({"rotmnist": planted.rotmnist(), "o5": planted.o5(main_size=5)}, SUM)
