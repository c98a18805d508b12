"""Threads: never a wrong answer, and the process is left as it was."""

import multiprocessing
import threading
from collections import Counter
from typing import Any

import pytest
import torch

import liegg
from cases import mlp, normal
from liegg._utils import one_at_a_time as module
from liegg._utils.errors import ArgumentError
from liegg._utils.one_at_a_time import one_at_a_time
from reliability.outcomes import state_of_process

X = normal(100, 3)


def test_a_second_thread_waits_and_a_call_inside_a_call_does_not():
    inside, most = [0], [0]

    @one_at_a_time
    def work(depth: int) -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        if depth:
            work(0)
        threading.Event().wait(0.002)
        inside[0] -= 1

    threads = [threading.Thread(target=work, args=(1,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [2]  # one thread, and its own call inside


def answer(name: Any) -> tuple[int, str]:
    """Ask one of several questions; all routes, a module in training mode, layers and verification among them."""
    if name == "verify":
        held = liegg.verify(SQUARE, X[:20], liegg.Linear(3), liegg.so(3))
        return len(held.curves), ""
    if name == "layers":
        found = liegg.discover_layers(NETWORK, X[:40], liegg.Linear(3))
        return len(found), ""
    model, route = (SHARED, "jvp") if name == "module" else (SQUARE, name)
    sym = liegg.discover(model, X, liegg.Linear(3), run=liegg.Run(route=route))
    return sym.nullity, sym.name


def SQUARE(x):  # noqa: N802
    return x.square().sum(1, keepdim=True)


class Norm(torch.nn.Module):
    """|x|², with dropout that only eval mode switches off."""

    def __init__(self):
        super().__init__()
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(x.square().sum(1, keepdim=True))


SHARED, NETWORK = Norm().train(), mlp(3, 8, 2)
EXPECTED = {
    "jvp": (3, "so(3)"),
    "vjp": (3, "so(3)"),
    "autograd": (3, "so(3)"),
    "module": (3, "so(3)"),
    "verify": (3, ""),
    "layers": (len(NETWORK), ""),
}


def hammer(threads: int, calls: int) -> Counter:
    """Answers that were wrong, and errors, of many threads at once."""
    faults: Counter = Counter()

    def work(number: int) -> None:
        names = list(EXPECTED)
        for i in range(calls):
            name = names[(number + i) % len(names)]
            try:
                if (got := answer(name)) != EXPECTED[name]:
                    faults[f"{name}: {got}"] += 1
            except Exception as error:
                faults[f"{name}: {type(error).__name__}"] += 1

    started = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    return faults


@pytest.mark.parametrize("calls", [3, pytest.param(200, marks=pytest.mark.slow)])
def test_eight_threads_get_the_answers_of_one(calls):
    torch.manual_seed(5)
    before = state_of_process()
    assert hammer(8, calls) == Counter()
    after = state_of_process()
    # beartype, which checks types in the tests, draws from Python's own generator
    assert after[:1] + after[2:] == before[:1] + before[2:]
    assert SHARED.training
    assert SHARED.drop.training


def test_inside_vmap_is_a_clear_error():
    def analysed(x):
        return liegg.discover(SQUARE, X, liegg.Linear(3)).defects.sum() + x

    with pytest.raises(ArgumentError, match=r"cannot run inside torch\.func\.vmap"):
        torch.func.vmap(analysed)(torch.zeros(2))


def _locked_in_child(queue) -> None:
    queue.put(module._LOCK.acquire(timeout=5))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_does_not_wait_for_a_thread_that_it_does_not_have():
    context = multiprocessing.get_context("fork")
    holds, done = threading.Event(), threading.Event()

    def hold() -> None:
        with module._LOCK:
            holds.set()
            done.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait(5)
    queue = context.Queue()
    child = context.Process(target=_locked_in_child, args=(queue,))
    child.start()
    try:
        assert queue.get(timeout=15)
    finally:
        done.set()
        thread.join()
        child.join()
