"""Data sets on the GPU: the same answers as on the CPU, for every question."""

from typing import Any

import pytest
import torch

import liegg
from known_data import data_set

FLIP = torch.diag(torch.tensor([1.0, 1.0, -1.0]))


def _found(x: torch.Tensor, **options: Any) -> liegg.Symmetries:
    return liegg.discover_data(x, liegg.Linear(x.shape[1]), **options)


def test_the_distribution(device):
    x = data_set("half shell", 3000)
    here = _found(x[:2500], functions=32, labels=x[:2500, 2] > 1)
    there = _found(
        x[:2500].to(device),
        functions=32,
        labels=(x[:2500, 2] > 1).to(device),
        held_out=x[2500:].to(device),
        elements={"flip": FLIP.to(device), "turn": lambda y: y @ -FLIP.to(y)},
    )
    assert there.settings["device"] == "cpu"
    assert there.name == here.name == "so(2)"
    torch.testing.assert_close(there.defects, here.defects)
    assert there.distribution is not None
    assert len(there.distribution.moved) == 3


def test_functions_of_the_user_see_the_device_of_the_data(device):
    weights = torch.randn(3, 24, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x, weights = data_set("half shell", 2000).to(device), weights.to(device)
    batches = [x[:900], x[900:]]
    sym = liegg.discover_data(
        batches, liegg.Linear(3), functions=lambda y: (2 * y @ weights + 1).cos()
    )
    assert sym.nullity == 1


@pytest.mark.parametrize("question", ["support", "discriminator", "label"])
def test_functions_of_samples(question: Any, device):
    x = data_set("half shell", 3000)
    if question == "support":
        x = x / x.norm(dim=1, keepdim=True)
    labels: dict[str, Any] = {}
    if question == "label":
        labels["labels"] = (x[:, :2].norm(dim=1) > 0.7).to(device)
    action = liegg.Linear(3).restrict(liegg.so(3))
    sym = liegg.discover_data(x.to(device), action, question=question, **labels)
    assert sym.nullity == {"support": 3, "discriminator": 1}.get(question, 1)
    assert sym.settings["device"] == "cpu"
