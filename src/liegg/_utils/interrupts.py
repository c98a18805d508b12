"""SIGTERM, which job schedulers send before they kill: handled as Ctrl-C is."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM."""


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Raise `Terminated` at SIGTERM inside the block, in the main thread; a handler of the caller is left alone."""
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def stop(*_: Any) -> None:
        raise Terminated

    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
