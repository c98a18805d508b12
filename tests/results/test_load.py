"""`liegg.load` reads what a folder holds; what it does not hold is named."""

import json

import pytest
import torch
from torch import nn

import liegg
from cases import normal
from liegg._utils.errors import RecordError
from liegg.results import load_layers
from liegg.results.layers import LayerSymmetries
from liegg.results.run_folder import only_result, read_run, write_run
from liegg.results.symmetries import Symmetries


class Twist(liegg.Action):
    @property
    def size(self):
        return 2

    def fields(self, x):
        return torch.stack([x.flip(1), x], dim=1)


@pytest.fixture(scope="module")
def layers():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh()).double()
    return liegg.discover_layers(model, normal(60, 3), liegg.Linear(3))


@pytest.fixture(scope="module")
def sym():
    return liegg.discover(lambda x: x.square().sum(1), normal(60, 3), liegg.Linear(3))


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_layers_alone_come_back(layers, tmp_path):
    again = liegg.load(layers.save(tmp_path / "run"))
    assert isinstance(again, LayerSymmetries)
    assert again.to_dict() == layers.to_dict()
    assert only_result(tmp_path / "run") == "layers"
    interval = again.defect_interval(liegg.so(3))
    torch.testing.assert_close(interval, layers.defect_interval(liegg.so(3)), rtol=0, atol=0)


def test_a_folder_with_both_gives_the_symmetries(layers, sym, tmp_path):
    write_run(tmp_path, sym, layers=layers)
    assert isinstance(liegg.load(tmp_path), Symmetries)
    assert load_layers(tmp_path).to_dict() == layers.to_dict()
    assert only_result(tmp_path) == ""


@pytest.mark.parametrize("first", ["layers", "sym"])
def test_saving_one_beside_the_other_keeps_both(layers, sym, tmp_path, first):
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    for one in (layers, sym) if first == "layers" else (sym, layers):
        one.save(tmp_path)
    assert isinstance(liegg.load(tmp_path), Symmetries)
    assert load_layers(tmp_path).to_dict() == layers.to_dict()
    stored = read_run(tmp_path)
    assert stored.layers is not None
    assert mine.read_text() == "mine"


def test_a_new_result_replaces_a_complete_run(layers, sym, tmp_path):
    write_run(tmp_path, sym, layers=layers)
    sym.save(tmp_path)
    assert files(tmp_path) == ["arrays.safetensors", "manifest.json", "record.json"]


def test_layers_of_an_action_of_your_own(tmp_path):
    model = nn.Sequential(nn.Linear(2, 3)).double()
    found = liegg.discover_layers(model, normal(40, 2), Twist())
    folder = found.save(tmp_path / "run")
    with pytest.raises(RecordError):
        liegg.load(folder)
    again = liegg.load(folder, action=Twist())
    assert again.defect().tolist() == found.defect().tolist()
    with pytest.raises(RecordError, match="has 9 candidates"):
        liegg.load(folder, action=liegg.Linear(3))


def test_damage_is_named(layers, sym, tmp_path):
    folder = layers.save(tmp_path / "run")
    (folder / "layers.safetensors").write_bytes(b"x")
    with pytest.raises(RecordError, match="was changed since liegg wrote it"):
        liegg.load(folder)
    with pytest.raises(RecordError, match="was changed since"):
        layers.save(folder)  # never over a file that was changed
    folder = layers.save(tmp_path / "two")
    (folder / "layers.json").unlink()
    with pytest.raises(RecordError, match=r"layers.json is missing"):
        liegg.load(folder)
    folder = layers.save(tmp_path / "three")
    (folder / "manifest.json").write_text("[]")
    with pytest.raises(RecordError, match=r"manifest.json is damaged"):
        liegg.load(folder)
    folder = layers.save(tmp_path / "four")
    (folder / "manifest.json").unlink()
    with pytest.raises(RecordError, match=r"manifest.json is missing"):
        liegg.load(folder)
    folder = sym.save(tmp_path / "five")
    (folder / "record.json").unlink()
    with pytest.raises(RecordError, match=r"record.json is missing"):
        liegg.load(folder)


def test_a_file_of_somebody_else_is_not_overwritten(layers, tmp_path):
    (tmp_path / "layers.json").write_text(json.dumps({"mine": 1}))
    with pytest.raises(RecordError, match="it is not overwritten"):
        layers.save(tmp_path)
    assert json.loads((tmp_path / "layers.json").read_text()) == {"mine": 1}
    assert files(tmp_path) == ["layers.json"]


@pytest.mark.parametrize("name", ["none", "empty", "file"])
def test_no_result_at_all(tmp_path, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    with pytest.raises(RecordError, match="is not a stored result"):
        liegg.load(tmp_path / name)
