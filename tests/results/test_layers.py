"""The record of all layers: order, access by name, numbers per layer, JSON."""

import json

import pytest
import torch
from torch import nn

import liegg
from cases import normal
from liegg._utils.errors import ArgumentError


@pytest.fixture(scope="module")
def found():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(), nn.Linear(4, 3)).double()
    return liegg.discover_layers(
        model, normal(60, 3), liegg.Linear(3), output_action=liegg.Linear(3)
    )


def test_layers_are_reached_by_place_and_by_name(found):
    assert len(found) == 3
    assert [layer.name for layer in found] == list(found.names) == ["0", "1", "2"]
    assert found[0] is found["0"]
    assert found[-1].name == "2"
    with pytest.raises(ArgumentError, match="there is no layer 3: 3 were analysed"):
        found[3]
    with pytest.raises(ArgumentError, match="no layer 'conv1' was analysed; there are 0, 1, 2"):
        found["conv1"]


def test_numbers_of_every_layer(found):
    assert found.variance().tolist() == [
        float(layer.invariance.spectrum.values[0]) for layer in found
    ]
    assert found.variance("unit").tolist() == [
        float(layer.unit.spectrum.values[0]) for layer in found
    ]
    assert found.bias(liegg.so(3)).tolist() == [
        float(layer.invariance.bias(liegg.so(3))[0]) for layer in found
    ]
    assert found.defect(liegg.so(3)).tolist() == [
        float(layer.invariance.defect(liegg.so(3)).max()) for layer in found
    ]
    assert found.defect().tolist() == [float(layer.invariance.defects[0]) for layer in found]


def test_problems_that_a_layer_does_not_have_are_nan(found):
    assert found.variance("equivariance").isnan().tolist() == [True, True, False]
    assert found.defect(of="equivariance")[2] < 1e-28  # a linear map turns with its input
    with pytest.raises(
        ArgumentError, match="of='units': expected 'invariance', 'unit' or 'equivariance'"
    ):
        found[0].problem("units")


def test_nothing_that_moves_has_no_smallest_defect():
    found = liegg.discover_layers(nn.Linear(2, 2), torch.zeros(20, 2), liegg.Linear(2))
    assert found.defect().isnan().all()
    assert "–" in str(found)


def test_is_json(found):
    record = found.to_dict()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert [layer["name"] for layer in record["layers"]] == ["0", "1", "2"]
    assert record["layers"][1]["same"] == "0"
    assert record["layers"][0]["equivariance"] is None
    assert record["layers"][2]["equivariance"]["question"] == "equivariance"
    assert record["layers"][0]["invariance"] == found[0].invariance.to_dict()
    assert record["layers"][0]["unit"]["variance"] == float(found[0].unit.spectrum.values[0])
    assert (record["model"], record["samples"], record["notes"]) == ("Sequential", 60, [])
    assert record["action"] == liegg.Linear(3).settings()


def test_repr_is_one_line(found):
    assert (
        repr(found)
        == "LayerSymmetries(3 layers, action=Linear(n=3, copies=1, layout='copies_first'), samples=60, model='Sequential')"
    )
