"""The record of all layers: order, access by name, numbers per layer, JSON; its table."""

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


# The table: one line each, with what was asked for and what was out of the ordinary.


def printed(output_action=None):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(), nn.ReLU(), nn.Linear(4, 3)).double()
    found = liegg.discover_layers(
        model, normal(60, 3), liegg.Linear(3), output_action=output_action
    )
    return found, str(found)


def rows(text):
    return [
        line.split() for line in text.splitlines() if line.startswith("  ") and "note" not in line
    ]


def test_every_layer_has_a_line_with_its_numbers():
    found, text = printed()
    assert (
        text.splitlines()[0]
        == "4 layers of Sequential under Linear(n=3, copies=1, layout='copies_first')"
    )
    assert text.splitlines()[1] == "60 samples, outputs=each, float64"
    head, *lines = rows(text)
    assert head == [
        "layer",
        "kind",
        "output",
        "symmetries",
        "defect",
        "δ²",
        "variance",
        "unit",
        "variance",
    ]
    assert [line[:2] for line in lines] == [
        ["0", "Linear"],
        ["1", "Dropout"],
        ["2", "ReLU"],
        ["3", "Linear"],
    ]
    assert lines[0][2:4] == ["4", str(found[0].invariance.nullity)]
    assert lines[1][2:4] == ["as", "0"]
    first = found[0]
    assert lines[0][4:] == [
        f"{value:.2e}"
        for value in (
            first.invariance.defects[0],
            first.invariance.spectrum.values[0],
            first.unit.spectrum.values[0],
        )
    ]


def test_columns_stand_under_their_heads():
    found, text = printed(liegg.Linear(3))
    assert "equivariance with Linear(n=3, copies=1, layout='copies_first') on the outputs" in text
    lines = [line for line in text.splitlines() if line.startswith("  ") and "note" not in line]
    assert len({line.rstrip()[-1] for line in lines}) > 1
    assert len({len(line) for line in lines}) == 1
    assert rows(text)[1][-2:] == ["–", "–"]
    last = found[-1].equivariance
    assert last is not None
    assert rows(text)[-1][-2:] == [str(last.nullity), f"{float(last.defects[0]):.2e}"]


def test_notes_come_once_and_name_their_layer():
    found, text = printed()
    assert found["2"].notes
    assert text.count(f"note on 2: {found['2'].notes[0]}") == 1


def test_long_names_keep_their_end():
    inner = nn.Sequential(nn.Linear(3, 2))
    for _ in range(20):
        inner = nn.Sequential(inner)
    text = str(liegg.discover_layers(inner.double(), normal(20, 3), liegg.Linear(3)))
    assert "  …0.0.0." in text
    assert max(map(len, text.splitlines())) < 130
