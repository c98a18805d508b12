"""Several processes, by `torch.distributed`: each reads its share of the samples, what they keep is merged in a tree."""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor

from liegg._errors import ProcessError
from liegg.tally import Tally, from_tensors, merge, to_tensors

TIMEOUT = 1800.0
"""Seconds that a process waits for the others, at most, once it has read its share."""

ALIKE = 1e-2
"""Relative difference of outputs that rounding on different machines may make; another model makes more."""


class Group(NamedTuple):
    """The processes that take part.

    Attributes:
        rank: number of this one.
        size: how many there are.
        messages: process group by which they talk; over the CPU, whatever the caller's own uses.
    """

    rank: int
    size: int
    messages: Any


def joined(*, timeout: float = TIMEOUT) -> Group | None:
    """The processes of the caller's initialised process group; None where there is one alone.

    Every process must call it. The messages go by a group of their own over gloo, so that those of the caller are not touched.

    Args:
        timeout: seconds to wait for the others.

    Raises:
        ProcessError: the others did not come.
    """
    if not dist.is_available() or not dist.is_initialized() or dist.get_world_size() == 1:
        return None
    rank, size = dist.get_rank(), dist.get_world_size()
    try:
        return Group(rank, size, dist.new_group(backend="gloo", timeout=timedelta(seconds=timeout)))
    except RuntimeError as error:
        raise _lost(rank, size, error) from error


def part(group: Group | None) -> None:
    """Leave the group; the caller's own stays."""
    if group is not None and dist.is_initialized():
        dist.destroy_process_group(group.messages)


def fingerprint(first: Float[Tensor, "b ..."], y: Float[Tensor, "p c"], asked: dict[str, Any]) -> dict[str, Any]:
    """What must be the same in all processes, and in a run that is taken up again.

    Args:
        first: a batch of the data.
        y: what the model says of it.
        asked: action, options, versions: anything that JSON can hold.
    """
    content = first.detach().cpu().contiguous()
    data = hashlib.sha256(content.view(torch.uint8).numpy().tobytes() if content.numel() else b"").hexdigest()
    return {
        "data": f"{tuple(content.shape)} {content.dtype} {data[:16]}", "answers": y.detach().double().cpu().flatten()[:64].tolist(),
        **{name: json.dumps(value, sort_keys=True, default=str) for name, value in asked.items()},
    }  # fmt: skip


def difference(one: dict[str, Any], other: dict[str, Any]) -> str:
    """What differs between two fingerprints, in words; empty if nothing does."""
    for name in sorted({*one, *other} - {"answers"}):
        if one.get(name) != other.get(name):
            return f"{name}: {one.get(name)} and {other.get(name)}"
    a, b = (torch.tensor(record["answers"], dtype=torch.float64) for record in (one, other))
    if a.shape != b.shape or float((a - b).norm()) > ALIKE * max(float(a.norm()), float(b.norm())):
        return "the model: its outputs for the first samples are not the same"
    return ""


def agree(group: Group, mine: dict[str, Any]) -> None:
    """Raise `ProcessError` in every process unless all were asked the same about the same model and data."""
    every = _told(group, mine)
    for number, other in enumerate(every):
        if found := difference(every[0], other):
            raise ProcessError(
                f"process {number} of {group.size} was started with something else than process 0 ({found}). Start them all alike, "
                "and give each the whole data: liegg shares it out."
            )


def together(group: Group, work: Callable[[], Tally], empty: Callable[[], Tally]) -> Tally:
    """Do this process's share, and merge it with those of the others; all get the same.

    Args:
        group: the processes.
        work: reads the share.
        empty: makes a record of no samples, into which those of others are unpacked.

    Raises:
        ProcessError: another process failed, or did not answer; the message says which and why.
    """
    failure: BaseException | None = None
    kept = None
    try:
        kept = work()
    except Exception as error:
        failure = error
    told = _told(group, "" if failure is None else f"{type(failure).__name__}: {failure}")
    if failure is not None:
        raise failure
    for number, text in enumerate(told):
        if text:
            raise ProcessError(f"process {number} of {group.size} failed: {text}")
    if kept is None:
        raise ProcessError("a share was not read, and nobody said why.")
    try:
        return _merged(group, kept, empty)
    except RuntimeError as error:
        raise _lost(group.rank, group.size, error) from error


def _merged(group: Group, kept: Tally, empty: Callable[[], Tally]) -> Tally:
    """A tree: pairs merge, then pairs of pairs; the first process tells all what came out."""
    step = 1
    while step < group.size:
        if group.rank % (2 * step) == step:
            dist.send_object_list([to_tensors(kept)], dst=group.rank - step, group=group.messages)
            break
        if group.rank + step < group.size:
            box: list[Any] = [None]
            dist.recv_object_list(box, src=group.rank + step, group=group.messages)
            kept = merge(kept, from_tensors(box[0], empty()))
        step *= 2
    final: list[Any] = [to_tensors(kept) if group.rank == 0 else None]
    dist.broadcast_object_list(final, src=0, group=group.messages)
    return from_tensors(final[0], empty())


def _told(group: Group, mine: Any) -> list[Any]:
    """What every process says."""
    every: list[Any] = [None] * group.size
    try:
        dist.all_gather_object(every, mine, group=group.messages)
    except RuntimeError as error:
        raise _lost(group.rank, group.size, error) from error
    return every


def _lost(rank: int, size: int, error: Exception) -> ProcessError:
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return ProcessError(
        f"process {rank} of {size} lost the others: one of them died, or does not run the same analysis ({reason}). Call it in all "
        "processes, or pass processes='alone' to use this one only."
    )
