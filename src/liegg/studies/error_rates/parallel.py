"""Many independent analyses, in this process or in several."""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import torch

R = TypeVar("R")


def starmap(
    function: Callable[..., R],
    arguments: Sequence[tuple[Any, ...]],
    *,
    processes: int = 1,
    finished: Callable[[R], object] = lambda _: None,
) -> list[R]:
    """Results of a function for many arguments, in their order.

    Args:
        function: of a module, so that other processes find it.
        arguments: of every call.
        processes: number of processes, each with one thread; 1 computes in this one.
        finished: called with each result.
    """

    def counted(results: Iterable[R]) -> Iterator[R]:
        for result in results:
            finished(result)
            yield result

    call = partial(_called, function)
    if processes == 1:
        return list(counted(map(call, arguments)))
    # Started afresh: a copy of a process whose threads hold a lock may wait for it forever.
    with multiprocessing.get_context("spawn").Pool(processes, _one_thread) as pool:
        return list(counted(pool.imap(call, arguments, chunksize=4)))


def _called(function: Callable[..., R], arguments: tuple[Any, ...]) -> R:
    return function(*arguments)


def _one_thread() -> None:
    torch.set_num_threads(1)
