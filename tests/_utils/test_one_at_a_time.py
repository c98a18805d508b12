"""Threads: never a wrong answer, and the process is left as it was."""

import multiprocessing
import threading
from collections import Counter

import pytest
import torch

import liegg
from cases import normal
from liegg._utils import one_at_a_time as module
from liegg._utils.errors import ArgumentError
from liegg._utils.one_at_a_time import one_at_a_time
from reliability.outcomes import Outcome
from reliability.thread_trials import answer, hammer, judged, square

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


def test_eight_threads_get_the_answers_of_one():
    """Three calls each; `tests/reliability` makes 200 each."""
    found = hammer(threads=8, calls=3)
    assert Counter(outcome for _, outcome, _ in found) == {Outcome.ANSWERED: 24}


def test_assertions_in_eight_threads_leave_the_process_as_it_was():
    found = hammer(threads=8, calls=2, questions=("assertion", "error", "laws", "attention"))
    assert Counter(outcome for _, outcome, _ in found) == {Outcome.ANSWERED: 16}


def test_a_wrong_answer_in_a_thread_is_seen():
    decided, numbers = answer("vjp", 0)
    assert judged("vjp", 0, (decided, numbers)) == (Outcome.ANSWERED, "")
    assert judged("vjp", 0, ((4, "so(3)"), numbers))[0] is Outcome.WRONG
    assert judged("vjp", 0, (decided, numbers * 1.001))[0] is Outcome.WRONG
    assert judged("own model", 3, (decided, numbers[:2]))[0] is Outcome.WRONG


def test_inside_vmap_is_a_clear_error():
    def analysed(x):
        return liegg.discover(square, X, liegg.Linear(3)).defects.sum() + x

    with pytest.raises(ArgumentError, match=r"cannot run inside torch\.func\.vmap"):
        torch.func.vmap(analysed)(torch.zeros(2))


@pytest.mark.parametrize("call", [liegg.identify, lambda x: liegg.testing.assert_same_span(x, x)])
def test_what_reads_numbers_is_refused_inside_vmap(call):
    with pytest.raises(ArgumentError, match=r"cannot run inside torch\.func\.vmap"):
        torch.func.vmap(call)(normal(2, 3, 3, 3))


def test_what_needs_no_lock_does_not_wait():
    done = threading.Event()

    def work() -> None:
        liegg.identify(liegg.so(3))
        done.set()

    with module._LOCK:
        threading.Thread(target=work).start()
        assert done.wait(20)


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
