"""Several processes, by `torch.distributed`: each reads its share of the samples, what they keep is merged in a tree."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch.distributed as dist

from liegg._utils.errors import ArgumentError, ProcessError
from liegg.polarization.fingerprint import difference
from liegg.polarization.state import Tally, from_tensors, merge, to_tensors

Found = TypeVar("Found")

TIMEOUT = 1800.0
"""Seconds that a process waits for the others, at most, once it has read its share."""

MEETING = 120.0
"""Seconds that it waits for them at the start, at most: where one never comes, the others should not wait for long."""


@dataclass(eq=False)
class Group:
    """The processes that take part.

    Attributes:
        rank: number of this one.
        size: how many there are.
        messages: process group by which they talk; over the CPU, whatever the caller's own uses.
        over: whether they have told each other of a failure, or lost each other: nothing more is said then.
    """

    rank: int
    size: int
    messages: Any
    over: bool = False


def joined(*, timeout: float = TIMEOUT) -> Group | None:
    """The processes of the caller's initialised process group; None where there is one alone.

    Every process must call it, within `MEETING` seconds. The messages go by a group of their own over gloo, so that those of the
    caller are not touched.

    Args:
        timeout: seconds to wait for the others, from then on.

    Raises:
        ProcessError: the others did not come.
    """
    if not dist.is_available() or not dist.is_initialized() or dist.get_world_size() == 1:
        return None
    group = Group(dist.get_rank(), dist.get_world_size(), None)
    with _reaching(group):
        meeting: Any = dist.new_group(
            backend="gloo", timeout=timedelta(seconds=min(MEETING, timeout))
        )
        group.messages = dist.new_group(backend="gloo", timeout=timedelta(seconds=timeout))
        dist.destroy_process_group(meeting)
    return group


def check_timeout(timeout: float) -> None:
    """Raise `ArgumentError` for what is no time to wait."""
    if not timeout > 0:
        raise ArgumentError(
            f"timeout={timeout!r}: expected a number of seconds, for example {TIMEOUT:g}."
        )


def part(group: Group | None) -> None:
    """Leave the group; the caller's own stays."""
    if group is not None and dist.is_initialized():
        dist.destroy_process_group(group.messages)


def in_step(group: Group | None, work: Callable[[], Found]) -> Found:
    """Do what all processes do; where it fails in one, all raise.

    A failure is told in place of whatever the others ask next (`heard`): they need not have come to the same step.

    Args:
        group: the processes; None for one alone.
        work: may ask the others on the way.

    Raises:
        ProcessError: it failed in another process, or one was lost; the message says which and why.
    """
    if group is None:
        return work()
    try:
        found = work()
    except Exception as error:
        if not group.over:
            try:
                _gathered(group, (f"{type(error).__name__}: {error}", None))
            except ProcessError as lost:
                raise error from lost
        raise
    heard(group, None)
    return found


def heard(group: Group, mine: Any) -> list[Any]:
    """What every process says.

    Raises:
        ProcessError: one of them has failed instead, or was lost.
    """
    every = _gathered(group, ("", mine))
    for number, (failure, _) in enumerate(every):
        if failure:
            group.over = True
            raise ProcessError(f"process {number} of {group.size} failed: {failure}")
    return [said for _, said in every]


def told(group: Group, mine: Any) -> Any:
    """What the first process says, in all; none may have failed since they last met."""
    box: list[Any] = [mine if group.rank == 0 else None]
    with _reaching(group):
        dist.broadcast_object_list(box, src=0, group=group.messages)
    return box[0]


def agree(group: Group, mine: dict[str, Any]) -> None:
    """Raise `ProcessError` in every process unless all were asked the same about the same model and data."""
    every = heard(group, mine)
    for number, other in enumerate(every):
        if found := difference(every[0], other):
            group.over = True
            raise ProcessError(
                f"process {number} of {group.size} was started with something else than process 0 ({found}). Start them all alike, "
                "and give each the whole data: liegg shares it out."
            )


def together(
    group: Group,
    kept: Tally,
    empty: Callable[[], Tally],
    *,
    passed: int | None = None,
    notes: Sequence[str] = (),
) -> tuple[Tally, tuple[str, ...]]:
    """Merge what this process keeps of its share with what the others keep of theirs; all get the same.

    Args:
        group: the processes.
        kept: what is kept of the share.
        empty: makes a record of no samples, into which those of others are unpacked.
        passed: number of all samples of the data, where this process has passed over those of the others; else None.
        notes: what this process has to say of its share.

    Returns:
        The record of all samples, and what all have to say.

    Raises:
        ProcessError: another process failed, did not answer, or has data of another length; the message says which and why.
    """
    every = heard(group, (passed, tuple(notes)))
    counts = {number: count for number, (count, _) in enumerate(every) if count is not None}
    for number, count in counts.items():
        if count != (first := next(iter(counts.values()))):
            group.over = True
            raise ProcessError(
                f"the data of process {number} of {group.size} has {count} samples, that of process {next(iter(counts))} {first}. "
                "Give each the whole data: liegg shares it out."
            )
    return _merged(group, kept, empty), tuple(
        dict.fromkeys(note for _, said in every for note in said)
    )


def _merged(group: Group, kept: Tally, empty: Callable[[], Tally]) -> Tally:
    """A tree: pairs merge, then pairs of pairs; the first process tells all what came out, or why nothing did."""
    failure: Exception | None = None
    said, step = "", 1
    while step < group.size:
        if group.rank % (2 * step) == step:
            with _reaching(group):
                dist.send_object_list(
                    [said or to_tensors(kept)], dst=group.rank - step, group=group.messages
                )
            break
        if group.rank + step < group.size:
            box: list[Any] = [None]
            with _reaching(group):
                dist.recv_object_list(box, src=group.rank + step, group=group.messages)
            try:
                if isinstance(box[0], str):
                    said = said or box[0]
                elif not said:
                    kept = merge(kept, from_tensors(box[0], empty()))
            except Exception as error:
                failure, said = (
                    error,
                    f"process {group.rank} of {group.size} failed: {type(error).__name__}: {error}",
                )
        step *= 2
    final = told(group, said or to_tensors(kept))
    if isinstance(final, str):
        group.over = True
        raise failure or ProcessError(final)
    return from_tensors(final, empty())


def _gathered(group: Group, mine: tuple[str, Any]) -> list[tuple[str, Any]]:
    """What every process says, with its failure if it has one."""
    every: list[Any] = [None] * group.size
    with _reaching(group):
        dist.all_gather_object(every, mine, group=group.messages)
    return every


@contextmanager
def _reaching(group: Group) -> Iterator[None]:
    """Raise `ProcessError` where torch cannot reach the others; nothing but its messages belongs inside."""
    try:
        yield
    except RuntimeError as error:
        group.over = True
        raise ProcessError(
            f"process {group.rank} of {group.size} lost the others: one of them died, or does not run the same analysis "
            f"({reason(error)}). Call it in all processes, give slow ones more time with timeout=, or pass processes='alone' to "
            "use this one only."
        ) from error


def reason(error: Exception) -> str:
    """What torch says of a lost connection, without the places in its own sources and its guesses.

    >>> reason(
    ...     RuntimeError(
    ...         "[../gloo/transport/tcp/pair.cc:547] Connection closed by peer [::1]:7. This is typically caused by"
    ...     )
    ... )
    'Connection closed by peer [::1]:7'
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    plain = re.sub(r"\[[^\]\s]*\.\w+:\d+\]\s*", "", lines[0])
    return plain.partition("This is typically")[0].strip(" .") or type(error).__name__
