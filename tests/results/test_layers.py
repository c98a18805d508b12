"""The record of all layers: order, access by name, numbers per layer, JSON."""

import json

import pytest
import torch
from torch import nn

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg.results.accumulated import SQUARED_FLOOR


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


# Named motions, and what the layers show in words.


class Norm(nn.Module):
    def forward(self, x):
        return x.norm(dim=1, keepdim=True)


class Skip(nn.Module):
    """Invariant under rotations in the middle; a bypass from the input loses it."""

    def __init__(self):
        super().__init__()
        self.norm, self.head, self.bypass = Norm(), nn.Linear(1, 4), nn.Linear(3, 4)
        self.last = nn.Tanh()

    def forward(self, x):
        return self.last(self.head(self.norm(x)) + self.bypass(x))


def diagnoses(remarks):
    return [remark.diagnosis for remark in remarks]


def spheres(seed=0):
    torch.manual_seed(seed)
    turn = nn.utils.parametrizations.orthogonal(nn.Linear(3, 3, bias=False))
    return nn.Sequential(turn, Norm(), nn.Linear(1, 4), nn.Tanh()).double()


def test_named_motions_have_the_defects_and_intervals_of_discover():
    model, x = spheres(), normal(400, 3)
    found = liegg.discover_layers(model, x, liegg.Linear(3))
    stretch = torch.eye(3, dtype=torch.float64)[None]
    for i, cut in enumerate((1, 2, 3, 4)):
        whole = liegg.discover(model[:cut], x, liegg.Linear(3))
        torch.testing.assert_close(found.defect(stretch)[i], whole.defect(stretch)[0])
        torch.testing.assert_close(
            found.defect_interval(stretch)[i], whole.defect_interval(stretch)[0]
        )
    (rotation,) = found.about({"rotation": liegg.so(3)})
    assert rotation.values.tolist() == found.defect(liegg.so(3)).tolist()
    assert rotation.intervals.shape == (4, 2)
    assert bool((rotation.intervals[1:].nan_to_num(nan=0.0)[:, 1] <= SQUARED_FLOOR).all())
    low, high = rotation.intervals[0].tolist()
    assert 0 < low < float(rotation.values[0]) < high
    assert found.defect_interval(stretch, "unit").isnan().all()


def test_intervals_need_the_problem_and_enough_samples(found):
    assert found.defect_interval(liegg.so(3), "equivariance").shape == (3, 2)
    few = liegg.discover_layers(spheres(), normal(10, 3), liegg.Linear(3))
    assert few.defect_interval(liegg.so(3)).isnan().all()


def test_a_direction_without_motion_is_said():
    x = normal(60, 3)
    x[:, 2] = 0
    found = liegg.discover_layers(spheres(), x, liegg.Linear(3))
    still = torch.zeros(1, 3, 3, dtype=torch.float64)
    still[0, 2, 2] = 1.0
    assert found.defect(still).isnan().all()
    remark = found.remarks({"stretch": still})[0]
    assert (remark.diagnosis, remark.values) == (Diagnosis.LAYERS_DO_NOT_MOVE, {"name": "stretch"})
    assert found.table(about={"stretch": still}).count("–") >= 4


@pytest.mark.parametrize(
    ("about", "text"),
    [
        ({"rotation": liegg.so(2)}, r"\[1, 2, 2\]|\(1, 2, 2\)"),
        ({"rotation": "so(3)"}, "knows 'rotation'"),
        ({"rotation": torch.full((1, 3, 3), torch.nan)}, "finite"),
        ({"rotation": torch.zeros(0, 9)}, "contains no generators"),
        ({" ": liegg.so(3)}, "expected a name"),
        ([("rotation", liegg.so(3))], "or a mapping"),
        ({"a\x1b[31m": liegg.so(3)}, "printable"),
    ],
)
def test_what_is_not_a_named_motion(found, about, text):
    with pytest.raises(ArgumentError, match=text):
        found.table(about=about)


def test_where_the_invariance_arises():
    found = liegg.discover_layers(spheres(), normal(300, 3), liegg.Linear(3))
    first, last = found.remarks()
    assert (first.diagnosis, last.diagnosis) == (Diagnosis.LAYERS_ARISE, Diagnosis.LAYERS_KEEP)
    assert first.values["layer"] == "layer 1 (Norm)"
    assert [first.values[key] for key in ("place", "total", "count")] == [2, 4, 3]
    assert "so(3)" in first.values["name"]
    assert found.to_dict()["remarks"][0]["diagnosis"] == "layers_arise"


def test_invariance_from_the_first_layer_and_in_the_last():
    found = liegg.discover_layers(spheres()[1:], normal(300, 3), liegg.Linear(3))
    assert diagnoses(found.remarks()) == [Diagnosis.LAYERS_FROM_START, Diagnosis.LAYERS_KEEP]
    found = liegg.discover_layers(spheres()[:2], normal(300, 3), liegg.Linear(3))
    assert diagnoses(found.remarks()) == [Diagnosis.LAYERS_ARISE, Diagnosis.LAYER_IS_LAST]


def test_the_layer_that_loses_it_is_named():
    torch.manual_seed(0)
    found = liegg.discover_layers(
        Skip().double(), normal(400, 3), liegg.Linear(3).restrict(liegg.so(3))
    )
    assert found.names == ("norm", "head", "bypass", "last")
    assert [layer.invariance.nullity for layer in found] == [3, 3, 0, 0]
    assert diagnoses(found.remarks()) == [Diagnosis.LAYERS_FROM_START, Diagnosis.LAYER_LOSES]
    assert found.remarks()[1].values == {"layer": "layer bypass (Linear)", "lost": 3, "before": 3}
    along = found.remarks({"rotation": liegg.so(3)})
    rise = next(one for one in along if one.diagnosis is Diagnosis.LAYER_STRENGTHENS)
    assert (rise.values["layer"], rise.values["before"]) == ("layer bypass (Linear)", "0")


def test_no_symmetry_and_undecided_layers():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh()).double()
    found = liegg.discover_layers(model, normal(400, 3), liegg.Linear(3))
    remark = found.remarks()[0]
    assert remark.diagnosis is Diagnosis.LAYERS_WITHOUT_SYMMETRY
    few = liegg.discover_layers(nn.Linear(3, 1).double(), normal(2, 3), liegg.Linear(3))
    assert Diagnosis.LAYERS_UNDECIDED in diagnoses(few.remarks())
    still = liegg.discover_layers(model, torch.zeros(20, 3).double(), liegg.Linear(3))
    assert diagnoses(still.remarks()) == [Diagnosis.LAYERS_UNDECIDED]


def test_equivariance_and_where_it_is_lost():
    torch.manual_seed(0)
    turn = nn.utils.parametrizations.orthogonal(nn.Linear(3, 3, bias=False))
    model = nn.Sequential(turn, nn.Linear(3, 3, bias=False), nn.Tanh()).double()
    action = liegg.Linear(3)
    found = liegg.discover_layers(model, normal(400, 3), action, output_action=action)
    lost = found.remarks()[0]
    assert lost.diagnosis is Diagnosis.LAYERS_EQUIVARIANT_UNTIL
    assert (lost.values["last"], lost.values["count"]) == ("layer 1 (Linear)", 9)
    assert (lost.values["layer"], lost.values["lost"]) == (
        "layer 2 (Tanh)",
        9 - getattr(found[2].equivariance, "nullity", 9),
    )
    found = liegg.discover_layers(model[:2], normal(400, 3), action, output_action=action)
    assert found.remarks()[0].diagnosis is Diagnosis.LAYERS_EQUIVARIANT
    found = liegg.discover_layers(model[2:], normal(400, 3), action, output_action=action)
    assert Diagnosis.LAYERS_NOT_EQUIVARIANT in diagnoses(found.remarks())


def test_a_column_for_each_named_motion():
    found = liegg.discover_layers(spheres(), normal(300, 3), liegg.Linear(3))
    text = found.table(about={"rotation": liegg.so(3), "scaling": liegg.scaling(3)})
    head = next(line for line in text.splitlines() if line.startswith("  layer"))
    assert "δ² of rotation" in head
    assert "δ² of scaling" in head
    assert "variance" not in head
    value = float(found.defect(liegg.scaling(3))[3])
    assert f"{value:.3g} (" in text


def test_a_single_layer_is_said_once():
    found = liegg.discover_layers(Norm(), normal(60, 3), liegg.Linear(3))
    remark = found.remarks({"scaling": liegg.scaling(3)})[0]
    assert remark.diagnosis is Diagnosis.LAYERS_ALONG_ONE
