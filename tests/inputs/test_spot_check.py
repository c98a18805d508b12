"""Models that are random or mix samples only after the first batch are found during the pass."""

import re

import pytest
import torch

import liegg
from cases import mlp, normal
from liegg._utils.errors import BatchMixingError, RandomModelError
from liegg.inputs.batches import Data
from liegg.inputs.model import Model
from liegg.inputs.spot_check import SpotCheck

X = torch.cat([normal(50, 3), normal(950, 3, seed=1) + 20])
"""The first batch of 50 lies around 0, the others around 20: the models below tell them by that."""


def later(x):
    """Whether a sample is not of the first batch."""
    return (x.sum(1, keepdim=True) > 20).to(x)


def smooth(x):
    return torch.tanh(x / 10).sum(1, keepdim=True)


def mixing(x):
    return smooth(x) + later(x) * 0.01 * x.mean()


def drawing(x):
    return smooth(x) + later(x) * 0.01 * torch.randn(len(x), 1, dtype=x.dtype)


def analyse(model, data: Data = X, **run):
    run = liegg.Run(**{"batch_size": 50, **run})
    return liegg.discover(model, data, liegg.Linear(3), controls="none", run=run)


def sample_in(error) -> int:
    found = re.search(r"sample (\d+)", str(error.value))
    assert found is not None
    return int(found[1])


@pytest.mark.parametrize("route", ["vjp", "jvp", "autograd"])
@pytest.mark.parametrize(
    ("model", "kind", "text"),
    [
        (mixing, BatchMixingError, "though not for the first samples: it mixes samples"),
        (drawing, RandomModelError, "the model draws random numbers"),
    ],
)
def test_it_is_found_in_the_second_batch(model, kind, text, route):
    with pytest.raises(kind, match=text) as error:
        analyse(model, route=route)
    assert 50 <= sample_in(error) < 100


def test_a_batch_in_the_middle_is_reached():
    """Only batches from 300 on are mixed: batch 8, which begins with sample 400, is the first of these that is checked."""
    x = torch.cat([normal(300, 3), X[300:]])
    with pytest.raises(BatchMixingError) as error:
        analyse(mixing, x)
    assert 400 <= sample_in(error) < 450


def test_a_loader_and_a_checkpoint_are_checked_too(tmp_path):
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X), batch_size=50)
    with pytest.raises(BatchMixingError):
        analyse(mixing, loader, checkpoint=tmp_path / "c")


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_a_pure_model_passes(dtype):
    assert analyse(mlp(3, 64, 2, dtype=dtype), X.to(dtype)).samples == 1000


def test_few_batches_are_checked():
    check, due = SpotCheck(Model(smooth, "smooth")), []
    for number in range(40):
        if check.due(50 * number):
            due.append(number)
        check.pieces += 1
    assert due == [1, 2, 4, 8, 16, 32]


def test_a_share_that_begins_later_is_checked_from_its_first_batch():
    assert SpotCheck(Model(smooth, "smooth")).due(500)
    assert not SpotCheck(Model(smooth, "smooth")).due(0)


def test_rounding_is_no_error():
    """A difference that a second look does not confirm is passed over."""
    check, x = SpotCheck(Model(smooth, "smooth")), normal(20, 3)
    y = smooth(x)
    assert bool(check.agrees(x, y * (1 + 1e-14), 50))
    assert not bool(check.agrees(x, y + 1e-3, 50))
    check.confirm(x, 50)
