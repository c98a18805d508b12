"""SIGTERM inside the block ends it as Ctrl-C would; afterwards everything is as it was."""

import os
import signal
import threading

import pytest

from liegg._utils.interrupts import Terminated, terminated_as_interrupted


@pytest.fixture(autouse=True)
def default_handler():
    """Whatever a test does, SIGTERM means afterwards what it meant before."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


def test_sigterm_is_an_interrupt_inside_the_block_only():
    with terminated_as_interrupted():
        handler = signal.getsignal(signal.SIGTERM)
        assert callable(handler)  # otherwise the signal would end the tests
        with pytest.raises(KeyboardInterrupt) as caught:
            os.kill(os.getpid(), signal.SIGTERM)
    assert caught.type is Terminated
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_the_handler_is_put_back_after_an_error():
    with pytest.raises(ZeroDivisionError), terminated_as_interrupted():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_handler_of_the_caller_is_left_alone():
    seen = []
    signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    with terminated_as_interrupted():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except Terminated:  # it would end pytest
            pytest.fail("the handler of the caller was replaced")
    assert seen == [signal.SIGTERM]


def test_in_another_thread_nothing_is_changed():
    seen = []

    def work() -> None:
        with terminated_as_interrupted():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.SIG_DFL]
