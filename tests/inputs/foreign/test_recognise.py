"""What is recognised as a model of another framework, without importing one."""

from typing import Any

import numpy as np
import pytest
import torch

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, MissingExtraError, ModelError
from liegg.inputs.foreign.estimator import Estimator
from liegg.inputs.foreign.onnx_file import OnnxSession
from liegg.inputs.foreign.recognise import array_function, as_foreign, for_data

X = np.random.default_rng(0).normal(size=(120, 3))


def norm(x):
    return np.sqrt(1 + np.square(x).sum(1))


class Regressor:
    """The methods of an estimator of scikit-learn."""

    def fit(self, x, y):
        return self

    def predict(self, x):
        return norm(x)


class Classifier(Regressor):
    classes_ = (0, 1)

    def predict(self, x):
        return (norm(x) > 2).astype(int)

    def predict_proba(self, x):
        p = 1 / (1 + np.exp(2 - norm(x)))
        return np.stack([1 - p, p], 1)


class Voter(Classifier):
    predict_proba: Any = None


def test_a_function_of_arrays_is_called_with_arrays():
    sym = liegg.discover(norm, X, liegg.Linear(3))
    assert (sym.nullity, sym.name, sym.settings["route"]) == (3, "so(3)", "finite")
    assert {note.diagnosis for note in sym.notes} == {
        Diagnosis.ARRAY_FUNCTION,
        Diagnosis.FINITE_DIFFERENCES,
    }
    assert set(sym.decision.grades[:3]) == {"strong"}
    single = liegg.discover(norm, X.astype("float32"), liegg.Linear(3))
    assert single.settings["dtype"] == "float64"
    assert single.nullity == 3


def test_functions_of_torch_are_not_called_with_arrays():
    sym = liegg.discover(lambda x: x.square().sum(1), X, liegg.Linear(3))
    assert sym.settings["route"] != "finite"
    assert not sym.notes

    def wrong(x):
        raise RuntimeError("a mistake of its own")

    with pytest.raises(ModelError, match="a mistake of its own"):
        liegg.discover(wrong, X, liegg.Linear(3))


def test_estimators_by_their_methods():
    sym = liegg.discover(Regressor(), X, liegg.Linear(3))
    assert (sym.nullity, sym.model) == (3, "Regressor")
    assert "of which .predict was called" in sym.notes[0]
    assert (
        "of which .predict_proba was called"
        in liegg.discover(Classifier(), X, liegg.Linear(3)).notes[0]
    )
    assert liegg.discover(Regressor().predict, X, liegg.Linear(3)).nullity == 3
    with pytest.raises(ArgumentError, match="predicts classes, and has neither"):
        liegg.discover(Voter(), X, liegg.Linear(3))
    assert as_foreign(Regressor) is None
    assert as_foreign(torch.nn.Linear(2, 2)) is None


def test_fields_of_what_a_foreign_model_returns():
    model = liegg.foreign.from_arrays(lambda x: {"energy": norm(x), "label": x}, name="two")
    sym = liegg.discover(model, X, liegg.Linear(3), output="energy")
    assert (sym.nullity, sym.model) == (3, "two")
    assert liegg.verify(model, X, sym).holds
    assert sym.about("rotation", model=model, data=X)[0].holds


def test_sessions_need_a_floating_point_input():
    class Entry:
        def __init__(self, name, kind):
            self.name, self.type = name, kind

    class Session:
        def __init__(self, *inputs):
            self.inputs = inputs

        def get_inputs(self):
            return self.inputs

        def get_outputs(self):
            return [Entry("y", "tensor(float)")]

        def run(self, names, fed):
            return [norm(fed["x"])[:, None]]

    model = OnnxSession(Session(Entry("x", "tensor(float)")), "net.onnx")
    sym = liegg.discover(model, X, liegg.Linear(3))
    assert (sym.nullity, sym.settings["dtype"]) == (3, "float32")
    with pytest.raises(ModelError, match="expected a floating point one"):
        OnnxSession(Session(Entry("x", "tensor(int64)")), "net.onnx")


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(ArgumentError, match="there is no such file"):
        liegg.foreign.from_onnx(tmp_path / "net.onnx")
    (tmp_path / "empty.onnx").touch()
    with pytest.raises(ArgumentError, match="has 0 bytes"):
        liegg.foreign.from_onnx(tmp_path / "empty.onnx")
    (tmp_path / "text.onnx").write_text("not a model")
    with pytest.raises((MissingExtraError, ArgumentError), match=r"liegg\[onnx\]|is not an ONNX"):
        liegg.foreign.from_onnx(tmp_path / "text.onnx", how="runtime")
    with pytest.raises(ArgumentError, match="expected a function of a batch"):
        liegg.foreign.from_arrays(3)
    with pytest.raises(ArgumentError, match="expected a function of a batch of jax arrays"):
        liegg.foreign.from_jax(3)
    with pytest.raises(ArgumentError, match="an estimator with fit and predict"):
        liegg.discover(object(), X, liegg.Linear(3))


class Booster:
    """A trained booster: it predicts, but is neither an estimator nor a function."""

    def predict(self, x):
        return norm(x)


@pytest.mark.parametrize(
    ("home", "advice"),
    [
        ("xgboost.core", r"model\.predict\(xgboost\.DMatrix\(x\)\)"),
        ("lightgbm.basic", r"Pass .* model\.predict\."),
    ],
)
def test_boosters_are_wrapped(monkeypatch, home, advice):
    monkeypatch.setattr(Booster, "__module__", home)
    with pytest.raises(ArgumentError, match=f"model is a Booster.*{advice}"):
        liegg.discover(Booster(), X, liegg.Linear(3))
    with pytest.raises(ArgumentError, match=f"model is a Booster.*{advice}"):
        liegg.discover(Booster(), {"x": X}, {"x": liegg.Linear(3)})


def test_paths_are_loaded_first(tmp_path):
    with pytest.raises(ArgumentError, match=r"model is a str.*from_onnx\('net.onnx'\)"):
        liegg.discover("net.onnx", X, liegg.Linear(3))
    with pytest.raises(ArgumentError, match=r"Load '.*net.pt' first"):
        liegg.discover(tmp_path / "net.pt", X, liegg.Linear(3))


def test_nothing_else_is_taken_for_an_array_function():
    assert array_function(lambda x: None, "f", X) is None
    assert array_function(lambda x: torch.ones(3), "f", X) is None
    assert array_function(lambda x: 1 / 0, "f", X) is None
    assert isinstance(as_foreign(Regressor()), Estimator)
    assert for_data(norm, X) is norm
    assert for_data(norm, [X]) is norm
