"""Questions whose answers are read later, and tensors sent ahead."""

import pytest
import torch

from liegg._utils.device import DeferredCheck, call_in_parts, call_within_memory, to_device

TRUE, FALSE = torch.tensor(True), torch.tensor(False)


class TroubleError(Exception):
    """Something is wrong."""


def trouble() -> None:
    raise TroubleError


def test_on_a_cpu_an_answer_is_looked_at_at_once():
    check = DeferredCheck()
    check.submit(TRUE, trouble)
    with pytest.raises(TroubleError):
        check.submit(FALSE, trouble)
    check.resolve()  # it was told once


def test_no_trouble_on_a_closer_look_goes_on():
    looked = []
    check = DeferredCheck()
    check.submit(FALSE, lambda: looked.append(1))
    check.submit(TRUE, trouble)
    assert looked == [1]


@pytest.mark.parametrize(
    "value",
    [
        torch.arange(3),
        torch.ones(2, 2),
        torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last),
    ],
)
def test_what_is_sent_arrives_as_it_was(value):
    there = to_device(value, torch.device("cpu"))
    assert torch.equal(there, value)
    assert there.stride() == value.stride()
    assert to_device(value, torch.device("cpu"), torch.float64).dtype == torch.float64


@pytest.mark.parametrize(("most", "used"), [(100, 40), (39, 20), (1, 1)])
def test_fewer_samples_are_taken_where_they_do_not_fit(most, used):
    def work(x):
        if len(x) > most:
            raise torch.OutOfMemoryError("no")
        return len(x)

    assert call_within_memory(work, torch.zeros(40, 3)) == used
    most = 0
    with pytest.raises(torch.OutOfMemoryError):
        call_within_memory(work, torch.zeros(40, 3))


@pytest.mark.parametrize("most", [100, 40, 13, 1])
def test_all_samples_are_taken_in_parts_where_they_do_not_fit(most):
    def work(x):
        if len(x) > most:
            raise torch.OutOfMemoryError("no")
        return x.square()

    x = torch.arange(40.0)
    assert torch.equal(call_in_parts(work, x), x.square())
    most = 0
    with pytest.raises(torch.OutOfMemoryError):
        call_in_parts(work, x)
