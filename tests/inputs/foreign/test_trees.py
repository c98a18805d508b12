"""Models of arrays on structured samples: called with trees of arrays, by names or by the user's own function."""

import sys
from typing import Any

import numpy as np
import pytest
import torch

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, ModelError
from liegg.inputs.foreign.bridge import as_tensors
from liegg.inputs.foreign.onnx_file import OnnxSession

DRAWN = np.random.default_rng(0)
DATA = {"pos": DRAWN.normal(size=(100, 4, 3)), "w": DRAWN.random((100, 4)) + 0.5}
MOVES = {"pos": liegg.Linear(3)}


def energy(pos, w):
    return (np.sin(np.linalg.norm(pos, axis=-1)) * w).sum(1)


def in_torch(pos, w):
    return (pos.norm(dim=-1).sin() * w).sum(1)


class Regressor:
    """An estimator that takes one table of numbers."""

    def fit(self, x, y):
        return self

    def predict(self, x):
        return np.exp(-np.square(x).sum(1))


class Entry:
    def __init__(self, name, kind):
        self.name, self.type = name, kind


class Session:
    """A session of onnxruntime with two inputs."""

    def __init__(self, *types: str):
        self.types = types

    def get_inputs(self):
        return [Entry(name, kind) for name, kind in zip(("pos", "w"), self.types, strict=True)]

    def get_outputs(self):
        return [Entry("y", "tensor(float)")]

    def run(self, _names, fed):
        assert {name: array.dtype.name for name, array in fed.items()} == {
            "pos": "float32",
            "w": "float32",
        }
        return [energy(**fed).astype("float32")]


@pytest.mark.parametrize("route", ["auto", "finite"])
@pytest.mark.parametrize("style", [energy, lambda batch: energy(batch["pos"], batch["w"])])
def test_functions_of_numpy_take_dictionaries(style, route):
    run = liegg.Run(route=route)
    sym = liegg.discover(style, DATA, MOVES, held_out=DATA, run=run)
    assert (sym.nullity, sym.name, sym.settings["route"]) == (3, "so(3)", "finite")
    assert Diagnosis.ARRAY_FUNCTION in {note.diagnosis for note in sym.notes}
    assert sym.verification is not None
    assert sym.verification.holds
    exact = liegg.discover(in_torch, DATA, MOVES)
    assert exact.settings["route"] != "finite"
    np.testing.assert_allclose(sym.defects[3:], exact.defects[3:], rtol=1e-6)


def test_lists_of_numbers_are_outputs():
    x = DATA["pos"][:, 0]
    sym = liegg.discover(lambda a: [float(np.exp(-v @ v)) for v in a], x, liegg.Linear(3))
    assert (sym.nullity, sym.name) == (3, "so(3)")
    assert as_tensors([[1.0, 2.0], [3.0, 4.0]]).shape == (2, 2)
    assert as_tensors((np.float64(1), np.float64(2))).shape == (2,)
    for other in ([1.0, "a"], [[1.0], [1.0, 2.0]], [1.0, [2.0]], []):
        assert not isinstance(as_tensors(other), torch.Tensor)


def test_call_gets_the_model_as_it_was_given():
    model = Regressor()
    data = {"x": DATA["pos"][:, 0], "w": DATA["w"][:, 0]}

    def call(given: Any, batch: Any) -> Any:
        assert given is model
        assert isinstance(batch["x"], np.ndarray)
        return given.predict(batch["x"]) * batch["w"]

    sym = liegg.discover(model, data, {"x": liegg.Linear(3)}, call=call)
    assert (sym.nullity, sym.name, sym.model) == (3, "so(3)", "Regressor")
    assert liegg.verify(model, data, sym, call=call).holds
    with pytest.raises(ModelError, match="Regressor does not take samples with 'x', 'w'"):
        liegg.discover(model, data, {"x": liegg.Linear(3)})


@pytest.mark.parametrize("tree", [DATA, (DATA["pos"], DATA["w"])])
def test_sessions_take_inputs_by_name_or_in_order(tree):
    model = OnnxSession(Session("tensor(float)", "tensor(float)"), "two.onnx")
    path = "pos" if isinstance(tree, dict) else 0
    sym = liegg.discover(model, tree, {path: liegg.Linear(3)})
    assert (sym.nullity, sym.name, sym.model) == (3, "so(3)", "two.onnx")


def test_inputs_that_do_not_fit_a_session_are_listed():
    model = OnnxSession(Session("tensor(float)", "tensor(float)"), "two.onnx")
    with pytest.raises(ModelError, match=r"'pos' tensor\(float\), 'w'.*a sample has no 'w'"):
        liegg.discover(model, {"pos": DATA["pos"]}, MOVES)
    with pytest.raises(ModelError, match="Pass a dictionary of all of them"):
        liegg.discover(model, DATA["pos"], liegg.Linear(3, copies=4))
    extra = liegg.discover(model, DATA | {"label": np.ones(100)}, MOVES)
    assert Diagnosis.UNUSED_LEAVES in {note.diagnosis for note in extra.notes}


def test_a_broken_installation_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "onnx.py").write_text("")
    (tmp_path / "onnx2torch.py").write_text("import a_package_that_is_not_here")
    (tmp_path / "net.onnx").write_text("x")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("onnx", "onnx2torch"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(ArgumentError, match=r"cannot be converted.*a_package_that_is_not_here"):
        liegg.foreign.from_onnx(tmp_path / "net.onnx", how="torch")
    for name in ("onnx", "onnx2torch"):
        sys.modules.pop(name, None)


class Table:
    """A DataFrame with the part of the methods that is used."""

    def __init__(self, values, columns):
        self.values, self.columns = values, columns

    def to_numpy(self):
        return self.values

    def __getitem__(self, name):
        return self.values[:, self.columns.index(name)]


class ByName(Regressor):
    """An estimator that was fitted on named columns, and takes them by name."""

    feature_names_in_ = ("a", "b", "c")

    def predict(self, x):
        if not isinstance(x, Table):
            raise ValueError("columns by name need a table")
        return np.cos(np.hypot(x["a"], x["b"])) + np.sin(x["c"])


@pytest.mark.parametrize("order", ["abc", "cab"])
def test_estimators_that_were_fitted_on_names_get_tables(order):
    table = Table(DATA["pos"][:, 0], list(order))
    sym = liegg.discover(ByName(), table, liegg.Linear(3), held_out=table)
    assert (sym.nullity, sym.name, sym.words) == (1, "so(2)", ("rotation in a–b",))
    assert sym.verification is not None
    assert sym.verification.holds
    with pytest.raises(ModelError, match=r"fitted on columns by name.*DataFrame.*'a', 'b', 'c'"):
        liegg.discover(ByName(), table.to_numpy(), liegg.Linear(3))
