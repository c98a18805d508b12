"""Structured samples as rows: Python numbers beside the tensors are shared, or refused."""

import math

import pytest
import torch

import liegg
from liegg._utils.errors import DataError


def samples(*numbers: object) -> list[dict[str, object]]:
    drawn = torch.Generator().manual_seed(0)
    return [
        {"pos": torch.randn(4, 3, generator=drawn), "q": numbers[place % len(numbers)]}
        for place in range(60)
    ]


def energy(pos, q):
    return (1 + q) * pos.square().sum((-1, -2))


ACTION = {"pos": liegg.Linear(3, copies=4)}


@pytest.mark.parametrize("numbers", [(0.0, 1.0), (1, 2), (False, True), ({"deep": 1}, {"deep": 2})])
def test_numbers_that_differ_are_refused_and_not_taken_from_the_first_sample(numbers):
    with pytest.raises(DataError, match=r"'q.*' is .* element 1: .*torch\.tensor\("):
        liegg.discover(energy, samples(*numbers), ACTION)


@pytest.mark.parametrize("number", [1, 0.5, math.nan])
def test_a_number_that_all_samples_share_is_given_to_the_model(number):
    given = []

    def model(pos, q):
        given.append(q)
        return pos.square().sum((-1, -2))

    assert liegg.discover(model, samples(number), ACTION).name == "so(3)"
    assert {type(one) for one in given} == {type(number)}


def test_tensors_may_differ():
    tensors = (torch.tensor(0.0), torch.tensor(1.0))
    assert liegg.discover(energy, samples(*tensors), ACTION).name == "so(3)"


def test_lists_of_samples_of_a_loader():
    loader = torch.utils.data.DataLoader(samples(0, 1), batch_size=7, collate_fn=list)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DataError, match="'q' is 0 in the first sample"):
        liegg.discover(energy, loader, ACTION)
