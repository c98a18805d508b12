"""Ctrl-C and SIGTERM: they wait where asked, the second does not, and handlers are put back."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from liegg._utils.interrupts import Terminated, deferred_interrupts, terminated_as_interrupted

SIGNALS = [signal.SIGINT, signal.SIGTERM]


@pytest.fixture(autouse=True)
def usual_handlers():
    """The handlers of a fresh interpreter, which must be in place again after each test."""
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    after = {number: signal.getsignal(number) for number in usual}
    for number, handler in before.items():
        signal.signal(number, handler)
    assert after == usual


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_waits_and_says_which_it_was(number):
    with deferred_interrupts() as waiting:
        waiting.raise_if_any()
        signal.raise_signal(number)
        assert waiting.pending is not None
        with pytest.raises(KeyboardInterrupt) as raised:
            waiting.raise_if_any()
        assert (raised.type is Terminated) == (number == signal.SIGTERM)


@pytest.mark.parametrize("second", SIGNALS)
@pytest.mark.parametrize("first", SIGNALS)
def test_the_second_does_not_wait(first, second):
    with deferred_interrupts():
        signal.raise_signal(first)
        with pytest.raises(KeyboardInterrupt) as raised:
            signal.raise_signal(second)
        assert (raised.type is Terminated) == (second == signal.SIGTERM)


def test_it_works_inside_the_handler_of_the_command_line():
    with terminated_as_interrupted():
        outer = signal.getsignal(signal.SIGTERM)
        assert outer is not signal.SIG_DFL  # which would end the test run below
        with deferred_interrupts() as waiting:
            signal.raise_signal(signal.SIGTERM)
            assert isinstance(waiting.pending, Terminated)
        assert signal.getsignal(signal.SIGTERM) is outer
        with pytest.raises(Terminated):
            signal.raise_signal(signal.SIGTERM)


def test_the_command_line_works_inside_of_it():
    with deferred_interrupts() as waiting:
        outer = signal.getsignal(signal.SIGTERM)
        with terminated_as_interrupted():
            assert signal.getsignal(signal.SIGTERM) is outer
        signal.raise_signal(signal.SIGTERM)
        assert isinstance(waiting.pending, Terminated)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_handler_of_the_caller_is_left_alone(number):
    received = []
    before = signal.signal(number, lambda *_: received.append("mine"))
    try:
        with deferred_interrupts() as waiting:
            signal.raise_signal(number)
        assert received == ["mine"]
        assert waiting.pending is None
    finally:
        signal.signal(number, before)


FORKED = """
import os, signal, sys, time
from liegg._utils.interrupts import deferred_interrupts
ready, begun = os.pipe()
with deferred_interrupts() as waiting:
    child = os.fork()
    if child == 0:
        os.write(begun, b"x")  # before that, Python forgets signals
        time.sleep(60)
        os._exit(0)
    os.read(ready, 1)
    os.kill(child, signal.SIGTERM)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), waiting.pending)
"""


def test_a_forked_worker_ends_at_once():
    """A pool of workers that is terminated inside a pass must not wait for a batch of the parent."""
    done = subprocess.run(
        [sys.executable, "-c", FORKED],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.stderr == ""
    assert done.stdout.split() == [str(-signal.SIGTERM), "None"]


def test_in_another_thread_no_handler_is_set():
    handlers = []

    def work() -> None:
        with deferred_interrupts() as waiting:
            handlers.extend(signal.getsignal(number) for number in SIGNALS)
            waiting.raise_if_any()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler, signal.SIG_DFL]
