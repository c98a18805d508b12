"""Several processes, as `torchrun` starts them: each takes its share of the networks, the first gathers what all found."""

import atexit
import os
import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import torch.distributed as dist

from liegg._errors import ResultsError


def rank() -> int:
    """Number of this process; 0 where there is only one."""
    return int(os.environ.get("RANK", "0"))


def count() -> int:
    """Number of processes, from the environment that `torchrun` sets."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def device_here(device: str) -> str:
    """Device of this process: `"cuda"` becomes the GPU of its number on this machine where there are several processes."""
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if device == "cuda" and count() > 1 else device


def share(items: Sequence[Any]) -> list[int]:
    """Places of the items that this process takes: every so-manieth, so that all get networks of every size."""
    return list(range(len(items)))[rank() :: count()]


def gather(found: dict[int, Any], label: str) -> dict[int, Any] | None:
    """What all processes found, in the first one; None in the others.

    Every process must call it. Where one of them has died, the others end with torch's error.

    Args:
        found: what this process found, by place.
        label: what was looked for; the same in all processes.

    Raises:
        ResultsError: the processes were not looking for the same.
    """
    if count() == 1:
        return found
    join()
    parts: list[Any] | None = [None] * count() if rank() == 0 else None
    dist.gather_object((label, found), parts)
    if parts is None:
        return None
    if {name for name, _ in parts} != {label}:
        raise ResultsError(f"the processes train different networks: {sorted({name for name, _ in parts})}. Start them all alike.")
    return {place: value for _, part in parts for place, value in part.items()}


def told(value: Any) -> Any:
    """What the first process says, in all of them."""
    if count() == 1:
        return value
    join()
    box = [value]
    dist.broadcast_object_list(box)
    return box[0]


def joined() -> None:
    """Meet the other processes at once, if there are any."""
    if count() > 1:
        join()


def join() -> None:
    """Meet the other processes; they may be busy for days before they answer."""
    if not dist.is_initialized():
        dist.init_process_group("gloo", timeout=timedelta(days=7))
        atexit.register(part)


def end() -> None:
    """End a process that is one of several, at once and well; nothing where there is only one.

    Threads of torch's process groups may outlive the interpreter and then abort the process, one time in five, after all is done
    and even if the group was taken down. So the interpreter is not left to end by itself.
    """
    if count() > 1:
        part()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def part() -> None:
    """Leave the group, if there is one."""
    if dist.is_initialized():
        dist.destroy_process_group()
