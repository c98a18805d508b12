"""Handle Ctrl-C and SIGTERM, which job schedulers send before they kill a process, alike."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM."""


class DeferredInterrupt:
    """A signal that arrived and waits until `raise_if_any` is called."""

    def __init__(self) -> None:
        self.pending: KeyboardInterrupt | None = None

    def raise_if_any(self) -> None:
        """Raise `KeyboardInterrupt` after Ctrl-C, `Terminated` after SIGTERM."""
        if self.pending is not None:
            raise self.pending


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Raise `Terminated` at SIGTERM inside the block, in the main thread; a handler of the caller is left alone."""
    if not _in_main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def deferred_interrupts() -> Iterator[DeferredInterrupt]:
    """Let Ctrl-C and SIGTERM wait inside the block, in the main thread; a second one does not wait.

    A handler of the caller is left alone.

    Yields:
        The signal that waits, if one has arrived.
    """
    waiting = DeferredInterrupt()
    if not _in_main_thread():
        yield waiting
        return
    at_once = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: _terminate}
    usual = {
        signal.SIGINT: (signal.default_int_handler,),
        signal.SIGTERM: (signal.SIG_DFL, _terminate),
    }
    before = {
        number: handler
        for number, known in usual.items()
        if (handler := signal.getsignal(number)) in known
    }

    owner = os.getpid()

    def remember(number: int, _: Any) -> None:
        if number == signal.SIGTERM and os.getpid() != owner:  # a forked worker that is to end
            signal.signal(signal.SIGTERM, before[signal.SIGTERM])
            signal.raise_signal(number)
            return
        waiting.pending = Terminated() if number == signal.SIGTERM else KeyboardInterrupt()
        for other in before:
            signal.signal(other, at_once[other])

    for number in before:
        signal.signal(number, remember)
    try:
        yield waiting
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _terminate(*_: Any) -> None:
    raise Terminated


def _in_main_thread() -> bool:
    """Whether signal handlers can be set."""
    return threading.current_thread() is threading.main_thread()
