"""The label given the data: symmetries of the rule behind the labels, whatever the density of the samples."""

import pytest
import torch

import liegg
from known_data import data_set
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError


def _found(x: torch.Tensor, labels: torch.Tensor) -> liegg.Symmetries:
    return liegg.discover_data(x, liegg.Linear(x.shape[1]), labels=labels, question="label")


def test_the_rule_has_rotations_that_the_data_has_not() -> None:
    x = 2 * data_set("cube", 8000)[:, :2]
    radius = x.square().sum(1)
    sym = _found(x, radius > 0.6)
    assert sym.name == "so(2)"
    assert sym.settings["question"] == "label"
    assert sym.settings["accuracy"] > 0.98
    assert "label given the data" in str(sym.sentence)
    assert Diagnosis.DATA_LABEL_NETWORKS in [one.diagnosis for one in sym.decision.warnings]
    data = liegg.discover_data(x, liegg.Linear(2))
    assert data.nullity == 0
    model = liegg.discover(lambda y: y.square().sum(1), x, liegg.Linear(2))
    assert liegg.compare(sym, model, names=("label", "model")).shared == 1
    noisy = _found(
        x, radius + 0.1 * data_set("gaussian", 8000, seed=1)[:, 0]
    )  # numbers, in four classes
    assert noisy.name == "so(2)"


def test_a_rule_without_a_symmetry() -> None:
    x = 2 * data_set("cube", 8000)[:, :2]
    angle = torch.atan2(x[:, 1], x[:, 0])
    sym = _found(x, x.norm(dim=1) > 0.6 + 0.15 * torch.cos(5 * angle))
    assert sym.nullity == 0
    assert not sym.decision.undecided


def test_a_label_that_is_hardly_learned_is_undecided() -> None:
    x = data_set("gaussian", 300)
    sym = _found(x, x.square().sum(1) + data_set("gaussian", 300, seed=1)[:, 0] > 3)
    assert sym.nullity == 0
    assert sym.decision.undecided
    assert "Undecided whether the label given the data" in str(sym.sentence)


def test_labels_are_needed() -> None:
    x = data_set("cube", 300)
    with pytest.raises(ArgumentError, match="needs labels"):
        liegg.discover_data(x, liegg.Linear(3), question="label")
    with pytest.raises(ArgumentError, match="at least two different"):
        _found(x, torch.zeros(300))
    with pytest.raises(ArgumentError, match="299 entries"):
        _found(x, x[:299, 0] > 0)
    with pytest.raises(ArgumentError, match="at most 256"):
        liegg.discover_data(
            torch.rand(200, 300), liegg.Linear(300), labels=[0, 1] * 100, question="label"
        )


def test_a_label_without_relation_to_the_data() -> None:
    with pytest.raises(ArgumentError, match="cannot be told from the samples"):
        _found(data_set("cube", 1000), data_set("gaussian", 1000, seed=1)[:, 0] > 0)
