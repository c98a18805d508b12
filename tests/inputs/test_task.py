"""Several outputs are classes or values: what says so, and that a regression never has predictions."""

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg.inputs.model import Model
from liegg.inputs.task import Task, labels_in, read_outputs


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def model(*shape, target=None):
    return Model(lambda x: x, "model", output_shape=shape, target=target)


def fitted(outputs, loss, steps=250):
    """A small network after some training, and its outputs."""
    torch.manual_seed(0)
    x, truth = normal(300, 5), normal(5, outputs, seed=1)
    network = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, outputs)).double()
    optimiser = torch.optim.SGD(network.parameters(), 0.1, momentum=0.9)
    for _ in range(steps):
        optimiser.zero_grad()
        loss(network(x), x @ truth).backward()
        optimiser.step()
    return network, x


@pytest.mark.parametrize("outputs", [2, 4, 10])
def test_training_by_cross_entropy_shows(outputs):
    network, x = fitted(outputs, lambda y, t: nn.functional.cross_entropy(y, t.argmax(1)))
    found = read_outputs(model(outputs), network(x).detach(), signals=True)
    assert found.task == "classes"
    assert found.note is not None
    assert found.note.diagnosis is Diagnosis.OUTPUTS_READ_AS_CLASSES


@pytest.mark.parametrize("outputs", [2, 4, 10])
def test_a_regression_has_values(outputs):
    network, x = fitted(outputs, lambda y, t: (y - t).square().mean())
    found = read_outputs(model(outputs), network(x).detach())
    assert found.task == "undecided"
    assert not found.classes
    assert found.note is not None
    assert found.note.diagnosis is Diagnosis.OUTPUTS_UNDECIDED


@pytest.mark.parametrize("outputs", [2, 3, 4, 10])
def test_few_random_outputs_are_not_taken_for_classes(outputs):
    """With few outputs a sum varies little by chance: a tenth of these networks had one below 0.2."""
    signals = normal(32, 1, 64) * normal(32, 1, 1, seed=1).abs()
    taken = 0
    for seed in range(40):
        torch.manual_seed(seed)
        network = nn.Sequential(
            nn.Conv1d(1, 8, 5),
            nn.ReLU(),
            nn.AdaptiveAvgPool1d(1),
            nn.Flatten(),
            nn.Linear(8, outputs),
        ).double()
        with torch.no_grad():
            taken += read_outputs(model(outputs), network(signals), signals=True).classes
    assert taken <= 1


def test_forces_without_a_resultant_are_no_logits():
    """Their sum is constant, but so is that of every component."""
    forces = normal(200, 4, 3)
    forces -= forces.mean(1, keepdim=True)
    assert not read_outputs(model(12), forces.flatten(1)).classes


@pytest.mark.parametrize(
    ("outputs", "about", "task"),
    [
        (normal(50, 3).softmax(1), {}, "classes"),
        (normal(50, 3).log_softmax(1), {}, "classes"),
        (normal(50, 3) - 5, {}, "undecided"),
        (normal(50, 3), {"labels": "classes"}, "classes"),
        (normal(50, 1), {"task": "classes"}, "values"),
        (normal(50, 3), {"task": "classes"}, "classes"),
        (normal(50, 2) * torch.tensor([1.0, -1.0]), {"task": "values"}, "values"),
        (normal(3, 2), {}, "undecided"),
        (torch.full((50, 3), torch.nan), {}, "undecided"),
        (torch.ones(50, 3), {}, "undecided"),
    ],
)
def test_what_else_says_it(outputs, about, task):
    assert read_outputs(model(outputs.shape[1]), outputs, **about).task == task


def test_maps_are_values_and_targets_are_of_classes():
    y = normal(50, 6)
    assert read_outputs(model(2, 3), y).task == "values"
    assert read_outputs(model(6, target=lambda y, c: y), y).task == "classes"


@pytest.mark.parametrize("output", [None, "logits", "head.logits"])
def test_logits_by_name_are_of_classes(output):
    """Also where nobody names the field, as with models of Hugging Face."""

    def classifier(x):
        logits = x @ normal(3, 5)
        if output == "head.logits":
            return {"head": {"logits": logits}, "state": x}
        return {"logits": logits, "state": x}

    x = normal(60, 3)
    sym = liegg.discover(classifier, x, liegg.Linear(3), about="rotation", output=output)
    assert sym.settings["task"] == "classes"
    (asked,) = sym.about("scaling", model=classifier, data=x)
    for answer in (sym.answers[0], asked):
        assert answer.finite is not None
        assert answer.finite.share is not None
    hidden = liegg.discover(classifier, x, liegg.Linear(3), about="rotation", output="state")
    assert hidden.settings["task"] == "undecided"


def test_one_output_is_no_class():
    found = read_outputs(model(1), normal(50, 1), task="classes")
    assert found.note is not None
    assert found.note.diagnosis is Diagnosis.ONE_OUTPUT_IS_A_VALUE
    assert read_outputs(model(1), normal(50, 1)).note is None


def test_labels_in_data():
    x, classes, values = normal(20, 2), torch.arange(20) % 3, normal(20, 3)
    assert labels_in(TensorDataset(x, classes), 3) == "classes"
    assert labels_in(DataLoader(TensorDataset(x, classes), 4), 3) == "classes"
    assert labels_in([(x, classes)], 3) == "classes"
    assert labels_in(TensorDataset(x, values), 3) == "values"
    one_hot = nn.functional.one_hot(classes).double()
    for nothing in (x, [x], [], TensorDataset(x), TensorDataset(x, one_hot), None, 3):
        assert labels_in(nothing, 3) is None
    assert labels_in(TensorDataset(x, classes), 2) is None  # a class that no output has
    assert labels_in(TensorDataset(x, classes > 0), 2) is None

    class Broken(torch.utils.data.Dataset):
        def __len__(self):
            return 3

        def __getitem__(self, place):
            raise RuntimeError("no such file")

    assert labels_in(Broken(), 3) is None


def test_a_regression_is_never_told_that_its_predictions_change():
    network, x = fitted(3, lambda y, t: (y - t).square().mean(), steps=20)
    sym = liegg.discover(network, x[:, :5], liegg.Linear(5), about="rotation")
    (answer,) = sym.answers
    assert answer.finite is not None
    assert answer.finite.share is None
    assert "of its spread" in answer.sentence
    assert sym.settings["task"] == "undecided"
    assert [n.diagnosis for n in sym.notes].count(Diagnosis.OUTPUTS_UNDECIDED) == 1
    (again,) = sym.about("rotation", model=network, data=x)
    assert again.finite is not None
    assert again.finite.share is None
    said = liegg.discover(network, x, liegg.Linear(5), about="rotation", target="classes")
    finite = said.answers[0].finite
    assert finite is not None
    assert finite.share is not None
    assert said.settings["task"] == "classes"
    assert "predictions" in said.sentence or "predictions" in said.answers[0].sentence


def test_a_verification_reads_outputs_as_the_result_does():
    network, x = fitted(3, lambda y, t: (y - t).square().mean(), steps=20)
    tasks: tuple[tuple[Task, bool], ...] = (("classes", True), ("values", False))
    for task, has in tasks:
        sym = liegg.discover(network, x, liegg.Linear(5), about=(), target=task)
        curves = liegg.verify(network, x, sym, torch.eye(5)[None], samples=40, points=4, controls=1)
        assert (curves.curves[0].class_changes is not None) == has


def test_an_unknown_word_lists_the_targets():
    with pytest.raises(
        ArgumentError, match=r"target='regression': expected .*'classes' or 'values'"
    ):
        liegg.discover(lambda x: x, normal(20, 2), liegg.Linear(2), target="regression")
