"""Claims about layers on planted results."""

import pytest

from liegg.studies.claims import layers
from liegg.studies.claims.record import EACH, SUM, TooFewError
from studies.claims import planted


def changed(regime: str, place: int, **numbers: float) -> dict:
    """Planted results with a layer of a regime multiplied in every network, for the sum only."""
    results = planted.layerwise()
    for net in results["networks"][regime]:
        rows = [dict(row) for row in net["readings"][SUM]]
        for name, factor in numbers.items():
            rows[place][name] *= factor
        net["readings"] = net["readings"] | {SUM: rows}
    return {"layerwise": results}


def test_regimes_that_meet_at_the_end():
    found = layers.agree_at_the_end({"layerwise": planted.layerwise()}, SUM)
    assert found.holds
    assert found.ours == (
        "variance: a factor of 1.0 before the logits, 1.0 at them, up to 3.0 earlier; "
        "bias: a factor of 1.0 before the logits, 1.0 at them, up to 3.0 earlier"
    )


@pytest.mark.parametrize("place", [-1, -2])
@pytest.mark.parametrize("quantity", ["variance", "bias"])
def test_regimes_that_do_not_meet(place, quantity):
    results = changed("MLP-7[L]", place, **{quantity: 2.1})
    assert not layers.agree_at_the_end(results, SUM).holds
    assert layers.agree_at_the_end(results, EACH).holds
    assert layers.agree_at_the_end(
        changed("sub MLP-3", place, **{quantity: 9.0}), SUM
    ).holds  # which is another network


def test_a_sub_network_that_is_better_by_itself():
    found = layers.sub_network({"layerwise": planted.layerwise()}, SUM)
    assert found.holds
    assert found.ours.startswith("after hidden layer 3: variance 0.00")
    assert "in sub MLP-3 (p = 8e-05)" in found.ours


@pytest.mark.parametrize("quantity", ["variance", "bias"])
def test_a_sub_network_that_is_no_better(quantity):
    assert not layers.sub_network(changed("MLP-7", 2, **{quantity: 0.3}), SUM).holds
    assert layers.sub_network(
        changed("MLP-7", 3, **{quantity: 0.1}), SUM
    ).holds  # a layer that the sub-network does not have


def test_training_that_improves_the_layers_between():
    found = layers.training({"layerwise": planted.layerwise()}, SUM)
    assert found.holds
    assert found.ours.startswith(
        "hidden layers 2 to 6: variance 0.0010 in MLP-7[F] (p = 8e-05), 0.0011 in MLP-7[L] (p = 8e-05)"
    )


@pytest.mark.parametrize("regime", ["MLP-7[F]", "MLP-7[L]"])
@pytest.mark.parametrize("quantity", ["variance", "bias"])
def test_training_that_does_not(regime, quantity):
    assert not layers.training(changed(regime, 3, **{quantity: 30.0}), SUM).holds
    assert layers.training(
        changed(regime, 0, **{quantity: 30.0}), SUM
    ).holds  # the first layer is not between


def test_too_few_networks():
    results = planted.layerwise()
    results["networks"] = {name: nets[:2] for name, nets in results["networks"].items()}
    with pytest.raises(TooFewError, match="too few networks: with 2 and 2"):
        layers.training({"layerwise": results}, SUM)
    with pytest.raises(TooFewError, match="no networks of MLP-7"):
        layers.agree_at_the_end(
            {"layerwise": results | {"networks": {name: [] for name in results["networks"]}}}, SUM
        )
