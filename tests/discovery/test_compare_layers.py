"""Two networks layer by layer: known answers, layers that only one has, and what cannot be compared."""

import json

import pytest
import torch
from torch import nn

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg.results.layer_comparison import LayerComparison


class Norm(nn.Module):
    def forward(self, x):
        return x.norm(dim=1, keepdim=True)


class First(nn.Module):
    def forward(self, x):
        return x[:, :1].tanh()


def network(middle, *more, seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(middle, nn.Linear(1, 4), nn.Tanh(), *more).double()


def layers(model, samples=300, action=None, seed=0, **options):
    data = normal(samples, 3, seed=seed)
    return liegg.discover_layers(model, data, action or liegg.Linear(3), **options)


@pytest.fixture(scope="module")
def both():
    return layers(network(Norm())), layers(network(First(), nn.Linear(4, 2)), seed=1)


def test_layers_are_compared_by_name(both):
    found = liegg.compare(*both)
    assert isinstance(found, LayerComparison)
    assert [pair.name for pair in found.pairs] == ["0", "1", "2"]
    assert (found.only_a, found.only_b) == ((), ("3",))
    for pair in found.pairs:
        # x₁ keeps the 6 maps that do not change it; 2 of the combinations of rotations are among them
        assert (pair.a.invariance.nullity, pair.b.invariance.nullity) == (3, 6)
        assert pair.shared == liegg.compare(pair.a.invariance, pair.b.invariance).shared == 1
        assert pair.differs
    (remark,) = found.remarks
    assert remark.diagnosis is Diagnosis.LAYERS_DIFFER
    assert (remark.values["count"], remark.values["total"]) == (3, 3)
    assert remark.values["layer"] == "layer 0 (Norm / First)"
    assert [note.diagnosis for note in found.notes] == [
        Diagnosis.LAYERS_ONLY_IN_ONE,
        Diagnosis.LAYER_KIND_DIFFERS,
        Diagnosis.INDEPENDENT_INTERVALS,
    ]


def test_named_motions_are_compared_with_intervals(both):
    found = liegg.compare(*both).about({"rotation": liegg.so(3), "scaling": liegg.scaling(3)})
    assert found.motions == ("rotation", "scaling")
    for i, pair in enumerate(found.pairs):
        rotation, scaling = pair.directions
        assert rotation.a.exact
        assert rotation.smaller == "a"
        assert scaling.a.value == float(both[0].defect(liegg.scaling(3))[i])
        low, high = both[1].defect_interval(liegg.scaling(3))[i].tolist()
        assert (scaling.b.low, scaling.b.high) == (low, high)
    end, layers = found.remarks[:2]
    assert (end.diagnosis, end.values["a"]) == (Diagnosis.LAYERS_ALONG_END, "0")
    assert end.values["clearly"] == "clearly less in a"
    assert layers.diagnosis is Diagnosis.LAYERS_ALONG_CLEARER
    assert layers.values == {"name": "rotation", "model": "a", "count": 3, "total": 3}


def test_a_network_is_like_itself(both):
    found = liegg.compare(both[0], both[0]).about({"scaling": liegg.scaling(3)})
    assert not any(pair.differs for pair in found.pairs)
    assert [one.diagnosis for one in found.remarks] == [
        Diagnosis.LAYERS_ALONG_END,
        Diagnosis.LAYERS_ALONG_ALIKE,
        Diagnosis.LAYERS_SAME_COUNTS,
    ]
    assert found.remarks[-1].values == {"total": 3, "most": 3}


def test_no_symmetry_in_either_and_undecided():
    plain = nn.Sequential(nn.Linear(3, 8), nn.Tanh()).double()
    one, other = layers(plain), layers(plain, seed=1)
    assert [r.diagnosis for r in liegg.compare(one, other).remarks] == [Diagnosis.LAYERS_SAME_NONE]
    few = layers(nn.Linear(3, 1).double(), samples=2)
    found = liegg.compare(few, few)
    assert found.pairs[0].undecided
    assert not found.pairs[0].differs
    assert [r.diagnosis for r in found.remarks] == [Diagnosis.LAYERS_UNDECIDED]
    assert "?" in str(found)


def test_prints_and_is_json(both):
    found = liegg.compare(*both)
    named = found.about({"rotation": liegg.so(3)})
    for one in (found, named):
        record = one.to_dict()
        assert json.loads(json.dumps(record, allow_nan=False)) == record
        assert " ".join(str(one).split()).startswith(one.sentence)
        assert "<pre" in one._repr_html_()
    assert record["layers"][0]["directions"][0]["smaller"] == "a"
    assert record["only_b"] == ["3"]
    assert "rotation in a" in str(named)
    assert repr(found) == "LayerComparison(3 layers, 3 differ)"


def test_equivariance_is_compared_where_both_were_tested():
    action = liegg.Linear(3)
    model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 2, bias=False)).double()
    found = layers(model, output_action=action)
    first, last = liegg.compare(found, found).pairs
    assert (first.shared_equivariances, last.shared_equivariances) == (9, None)
    with pytest.raises(ArgumentError, match="same output_action"):
        liegg.compare(found, layers(model))


def test_what_cannot_be_compared(both):
    sym = both[0][0].invariance
    for a, b, kind in ((both[0], sym, "a"), (sym, both[0], "b")):
        with pytest.raises(ArgumentError, match=f"{kind} holds the layers of a network"):
            liegg.compare(a, b)
    with pytest.raises(ArgumentError, match="only results with the same candidates"):
        liegg.compare(both[0], layers(network(Norm()), action=liegg.Affine(3)))
    with pytest.raises(ArgumentError, match="no layer in common: a has 0, 1, 2, b has output"):
        liegg.compare(both[0], layers(nn.Tanh()))
    with pytest.raises(ArgumentError, match=r"about\['rotation'\]"):
        liegg.compare(*both).about({"rotation": liegg.so(4)})


def test_loaded_layers_compare_alike(both, tmp_path):
    stored = [liegg.load(one.save(tmp_path / str(i))) for i, one in enumerate(both)]
    about = {"rotation": liegg.so(3)}
    one, other = liegg.compare(*both).about(about), liegg.compare(*stored).about(about)
    assert one.to_dict() == other.to_dict()
