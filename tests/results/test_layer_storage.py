"""Layers on disk: bit for bit, shared results once, names that are no file names, and an error for everything that can be wrong."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis, Remark, as_remark
from liegg._utils.errors import RecordError
from liegg.results.layer_storage import load_layers, save_layers
from liegg.results.layers import LayerSymmetries
from stored import accept_changes

ODD = "../a b\\c:*?<script>"


def layers_of(output_action=None):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(), nn.Tanh(), nn.Linear(4, 3)).double()
    return liegg.discover_layers(model, normal(60, 3), liegg.Linear(3), output_action=output_action)


@pytest.fixture(scope="module", params=[None, liegg.Linear(3)], ids=["invariance", "equivariance"])
def found(request):
    return layers_of(request.param)


def arrays(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def test_come_back_as_they_were(found, tmp_path):
    assert found.save(tmp_path / "run" / "layers") == tmp_path / "run" / "layers"
    again = load_layers(tmp_path / "run" / "layers")
    assert isinstance(again, LayerSymmetries)
    assert again.to_dict() == found.to_dict()
    assert str(again) == str(found)
    assert (again.action, again.output_action) == (found.action, found.output_action)
    assert [layer.shape for layer in again] == [layer.shape for layer in found]
    assert [layer.notes for layer in again] == [layer.notes for layer in found]
    for one, other in zip(again, found, strict=True):
        for problem in ("invariance", "unit", "equivariance"):
            sym, own = one.problem(problem), other.problem(problem)
            assert (sym is None) == (own is None)
            if sym is not None and own is not None:
                assert torch.equal(sym.accumulated.factor, own.accumulated.factor)
                assert torch.equal(sym.defects, own.defects)
                assert torch.equal(sym.coefficients, own.coefficients)


def test_what_comes_back_can_be_saved_again_byte_for_byte(found, tmp_path):
    load_layers(found.save(tmp_path / "one")).save(tmp_path / "two")
    assert arrays(tmp_path / "one") == arrays(tmp_path / "two")


def test_what_layers_share_is_stored_and_read_once(found, tmp_path):
    again = load_layers(found.save(tmp_path))
    assert again["1"].same == "0"
    assert again["1"].invariance is again["0"].invariance
    assert again["1"].unit is again["0"].unit
    assert again["2"].invariance is not again["0"].invariance
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "layers.json",
        "layers.safetensors",
        "manifest.json",
    ]
    assert len(json.loads((tmp_path / "layers.json").read_text())["results"]) == (
        6 if found.output_action is None else 7
    )


def test_a_layer_may_be_called_anything(tmp_path):
    found = layers_of()
    found = replace(
        found,
        layers=(
            replace(found[0], name=ODD, notes=(as_remark(ODD),)),
            replace(found[3], name="../../up"),
        ),
    )
    again = load_layers(found.save(tmp_path / "run"))
    assert again.names == (ODD, "../../up")
    assert again[0].notes == (ODD,)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_an_earlier_result_is_replaced(found, tmp_path):
    other = layers_of()
    other.save(tmp_path)
    save_layers(found, str(tmp_path))
    assert load_layers(tmp_path).to_dict() == found.to_dict()


def edit(folder, change):
    path = folder / "layers.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    change(index)
    path.write_text(json.dumps(index), encoding="utf-8")


DAMAGE = [
    (lambda f: (f / "layers.json").unlink(), r"layers.json is missing"),
    (lambda f: (f / "layers.json").write_text("{"), r"damaged \(JSONDecodeError"),
    (lambda f: (f / "layers.json").write_bytes(b"\xff\xfe"), r"damaged"),
    (lambda f: (f / "layers.json").write_text("[]"), r"damaged \(TypeError"),
    (lambda f: edit(f, lambda index: index.update(format=7)), r"format 7"),
    (lambda f: edit(f, lambda index: index.pop("layers")), r"damaged \(KeyError: 'layers'\)"),
    (lambda f: edit(f, lambda index: index["layers"][0].update(unit=None)), r"damaged"),
    (lambda f: edit(f, lambda index: index["layers"][0].update(unit=99)), r"damaged"),
    (lambda f: edit(f, lambda index: index["results"].pop()), r"damaged"),
    (
        lambda f: edit(f, lambda index: index.update(action={"kind": "warp"})),
        r"the stored action is of kind 'warp'",
    ),
    (lambda f: (f / "layers.safetensors").unlink(), r"layers.safetensors is missing"),
    (lambda f: (f / "layers.safetensors").write_bytes(b"x"), r"belongs to another result"),
]


def test_damage_is_named(found, tmp_path):
    for place, (damage, text) in enumerate(DAMAGE):
        folder = found.save(tmp_path / f"run-{place}")
        damage(folder)
        for message in ("run", text):  # by its checksum; by its content
            with pytest.raises(RecordError, match=message):
                pytest.fail(f"{text}: loaded {load_layers(folder)!r}")
            accept_changes(folder)


OLD_LAYERS = Path(__file__).parents[1] / "recorded" / "format-3" / "layers"


def test_layers_of_an_earlier_version_are_read(tmp_path):
    found = load_layers(OLD_LAYERS)
    assert (len(found), found.samples) == (3, found[0].invariance.samples)
    again = load_layers(found.save(tmp_path))
    assert again.to_dict() == found.to_dict()


def test_an_index_of_an_earlier_version_that_points_outside_is_refused(tmp_path):
    folder = Path(shutil.copytree(OLD_LAYERS, tmp_path / "layers"))
    shutil.copytree(OLD_LAYERS / "000" / "unit", tmp_path / "outside")
    (folder / "link").symlink_to(tmp_path / "outside")
    for place in ("../outside", "/absolute", "000/../../outside", "link", ".", ""):
        edit(folder, lambda index, place=place: index["layers"][0].update(unit=place))
        with pytest.raises(RecordError, match="points outside its folder"):
            pytest.fail(f"{place}: loaded {load_layers(folder)!r}")


def test_a_path_that_is_a_file(found, tmp_path):
    path = tmp_path / "run.json"
    path.write_text("mine")
    with pytest.raises(RecordError, match=r"run.json is a file; expected a folder to save into"):
        found.save(path)
    with pytest.raises(RecordError, match=r"run.json is not a folder of stored layers"):
        load_layers(path)
    assert path.read_text() == "mine"


def test_notes_keep_their_diagnosis_and_plain_ones_are_read(tmp_path):
    found = layers_of()
    note = Diagnosis.LAYER_ZERO_OUTPUTS(n=3, total=60)
    found = replace(found, notes=(note,), layers=(replace(found[0], notes=(note,)),))
    again = load_layers(found.save(tmp_path))
    for remark in (*again.notes, *again[0].notes):
        assert isinstance(remark, Remark)
        assert (remark.diagnosis, remark.values) == (note.diagnosis, note.values)
    edit(tmp_path, lambda index: index.update(notes=["as text"]))
    accept_changes(tmp_path)
    assert load_layers(tmp_path).notes == ("as text",)
