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
    assert Diagnosis.DATA_LEVEL_NETWORKS in [one.diagnosis for one in sym.decision.warnings]
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


@pytest.mark.parametrize("column", ["constant", "repeated"])
def test_motions_out_of_the_subspace_of_the_data_are_left_out(column: str) -> None:
    """A network ignores a column that is constant or repeats another, but no sample says what labels are beside it."""
    x = 2 * data_set("cube", 4000)[:, :2]
    last = 1.0 + 0 * x[:, :1] if column == "constant" else x[:, :1]
    sym = _found(torch.cat([x, last], 1), x.norm(dim=1) < 0.8)
    assert sym.name == "so(2)"
    kinds = [one.diagnosis for one in sym.decision.warnings]
    assert Diagnosis.DATA_LEFT_BY_MOTIONS in kinds
    # Samples that are moved along the symmetry stay where samples are.
    moved = sym.generators[0] @ torch.cat([x, last], 1).mT
    beside = moved[2] if column == "constant" else moved[2] - moved[0]
    assert float(beside.abs().max()) < 1e-6 * float(moved.abs().max())


def test_no_candidate_within_the_data() -> None:
    x = torch.cat([data_set("cube", 1000), torch.ones(1000, 1)], 1)
    grows = torch.zeros(1, 4, 4)
    grows[0, 3, 0] = 1.0
    with pytest.raises(ArgumentError, match="out of the subspace"):
        liegg.discover_data(
            x, liegg.Linear(4).restrict(grows), labels=x[:, 0] > 0, question="label"
        )


def test_mixed_units_are_refused() -> None:
    """Measured in units of the largest column, whatever moves it looked like a symmetry."""
    x = data_set("cube", 2000) * torch.tensor([1.0, 1.0, 8.0])
    with pytest.raises(ArgumentError, match="factor of 8"):
        _found(x, x[:, :2].norm(dim=1) < 0.4)
    turned = x @ torch.linalg.qr(data_set("gaussian", 3)).Q
    with pytest.raises(ArgumentError, match="principal axes"):
        _found(turned, x[:, :2].norm(dim=1) < 0.4)
    shell = data_set("shell", 2000)
    sphere = shell / shell.norm(dim=1, keepdim=True) * torch.tensor([1.0, 1.0, 1e6])
    with pytest.raises(ArgumentError, match="question='support'"):
        liegg.discover_data(sphere, liegg.Linear(3), question="support")
