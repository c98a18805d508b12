"""Claims about the number of samples on planted results."""

import pytest

from liegg.studies.claims import samples
from liegg.studies.claims.record import ONE, SUM, TooFewError
from studies.claims import planted


def with_share(part: str, share: float, **changes) -> dict:
    """Planted results with one share changed in every network."""
    results = planted.samples()
    for network in results[part]["networks"]:
        for row in network:
            if row["fraction"] == share:
                row |= changes
    return {"sample-complexity": results}


def test_a_small_share_suffices_for_vectors():
    found = samples.o5({"sample-complexity": planted.samples()}, ONE)
    assert found.holds
    assert found.ours == (
        "0.25 % (25 samples): variance 0.080, bias 0.011; all: variance 0.10, bias 0.008; enough from 0.25 % (25 samples)"
    )


@pytest.mark.parametrize(
    "change",
    [{"mean_variance_of_ten": 0.06}, {"mean_variance_of_ten": 0.16}, {"mean_bias_of_ten": 0.018}],
)
def test_a_share_that_differs_too_much_does_not_suffice(change):
    assert not samples.o5(with_share("o5", 0.0025, **change), ONE).holds


@pytest.mark.parametrize(
    "change",
    [{"mean_variance_of_ten": 0.067}, {"mean_variance_of_ten": 0.149}, {"mean_bias_of_ten": 0.016}],
)
def test_a_share_just_close_enough_suffices(change):
    assert samples.o5(with_share("o5", 0.0025, **change), ONE).holds


def test_a_share_suffices_only_if_all_larger_ones_do():
    found = samples.o5(with_share("o5", 0.01, mean_variance_of_ten=0.02), ONE)
    assert not found.holds
    assert found.ours.endswith("enough from 10 % (1,000 samples)")


def test_five_percent_suffice_for_the_bias_of_images():
    found = samples.rotmnist({"sample-complexity": planted.samples()}, SUM)
    assert found.holds
    assert (
        found.ours
        == "5 % (500 samples): bias 0.050 on the mean; all: 0.040; enough from 5 % (500 samples)"
    )


@pytest.mark.parametrize(("bias", "holds"), [(0.066, False), (0.064, True), (0.0, True)])
def test_the_mean_bias_of_images_follows_the_rule_of_the_vectors(bias, holds):
    """With all images 0.04, so up to 1.5 times 0.04 and 0.005 more; the networks differ, only their mean counts."""
    results = planted.samples()
    for seed, network in enumerate(results["rotmnist"]["networks"]):
        network[1]["readings"][SUM] = {"bias": bias + 0.05 * (-1) ** seed}
    found = samples.rotmnist({"sample-complexity": results}, SUM)
    assert found.holds is holds
    assert f"bias {bias:.3f} on the mean" in found.ours
    assert found.ours.endswith(
        f"enough from {'5 % (500 samples)' if holds else '100 % (10,000 samples)'}"
    )


def test_shares_that_were_not_taken():
    results = {"sample-complexity": planted.samples()}
    for network in results["sample-complexity"]["o5"]["networks"]:
        del network[:1]
        break  # the rows are one list, shared by all networks
    with pytest.raises(TooFewError, match=r"^the run did not take 0.25 % of the samples$"):
        samples.o5(results, ONE)
    for network in results["sample-complexity"]["rotmnist"]["networks"]:
        del network[-1]
    with pytest.raises(TooFewError, match=r"^the run did not take 100 % of the samples$"):
        samples.rotmnist(results, SUM)
    with pytest.raises(TooFewError, match=r"^the run did not take 5 % of the samples$"):
        samples.rotmnist({"sample-complexity": planted.samples(rotmnist={"networks": []})}, SUM)
