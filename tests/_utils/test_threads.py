"""The number of threads inside a block, after it, after an error, and during an analysis."""

import pytest
import torch
from torch import nn

import liegg
from cases import normal
from liegg._utils.threads import TINY_PRODUCTS, one_if, threads


@pytest.fixture
def three():
    """The caller uses three threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def test_blocks_inside_blocks_restore_what_was_before_each(three):
    with threads(1):
        with threads(2):
            assert torch.get_num_threads() == 2
        assert torch.get_num_threads() == 1
        with threads(1):
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 3


def test_an_error_restores_the_number(three):
    with pytest.raises(ZeroDivisionError), threads(1):
        raise ZeroDivisionError
    assert torch.get_num_threads() == 3


def test_one_thread_only_for_small_problems(three):
    assert (one_if(True), one_if(False)) == (1, 3)


class Counting(nn.Module):
    """A network that notes the number of threads at every call."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(3, width), nn.Linear(width, 1)
        self.seen: set[int] = set()

    def __deepcopy__(self, memo: object) -> "Counting":
        return self

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.add(torch.get_num_threads())
        return self.last(torch.tanh(self.first(x)))


@pytest.mark.parametrize(("width", "expected"), [(8, {1}), (TINY_PRODUCTS // 400, {3})])
def test_only_tiny_models_leave_the_caller_s_threads(width, expected, three, monkeypatch):
    """Linear algebra runs on one thread in both cases, the model of many weights on the caller's three."""
    model, solving = Counting(width), set()
    solve = torch.linalg.eigh

    def noted(*args, **kwargs):
        solving.add(torch.get_num_threads())
        return solve(*args, **kwargs)

    monkeypatch.setattr(torch.linalg, "eigh", noted)
    liegg.discover(model, normal(100, 3).float(), liegg.Linear(3))
    assert model.seen == expected
    assert solving == {1}
    assert torch.get_num_threads() == 3
