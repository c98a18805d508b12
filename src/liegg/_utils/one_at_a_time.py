"""One analysis at a time in a process: a second thread waits.

Torch keeps the level of forward derivatives, the kernels of attention, the stance of its compiler and the random
generators for the whole process, not for a thread. An analysis sets them and puts them back, so two at once would
spoil each other's numbers.
"""

import os
import threading
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from torch._C import _functorch  # pyright: ignore[reportAttributeAccessIssue]

from liegg._utils.errors import ArgumentError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_LOCK = threading.RLock()


def one_at_a_time(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Decorate a function that analyses a model: calls from several threads follow one another.

    A call inside a call, in the same thread, does not wait.

    Raises:
        ArgumentError: the function is called inside a transformation of torch.func, such as `vmap`.
    """

    @wraps(function)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with _LOCK:
            return plain(*args, **kwargs)

    plain = outside_transformations(function)
    return call


def outside_transformations(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Decorate a function that reads numbers, which the tensors inside a transformation of torch.func do not show.

    Raises:
        ArgumentError: the function is called inside a transformation of torch.func, such as `vmap`.
    """

    @wraps(function)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        if _functorch.maybe_current_level() is not None:
            raise ArgumentError(
                f"{function.__name__}() cannot run inside torch.func.vmap, grad or jvp. Call it outside, once for each "
                "input."
            )
        return function(*args, **kwargs)

    return call


def _new_lock() -> None:
    """Give a forked process a lock of its own: the thread that held the old one does not exist there."""
    global _LOCK
    _LOCK = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)
