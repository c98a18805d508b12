"""Several processes, as `torchrun` or SLURM starts them: each takes its share, the first gathers what all found."""

import atexit
import os
import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from liegg._utils.errors import ProcessError, ResultsError
from liegg.polarization.distributed import communication_error

DAYS = 7 * 24 * 3600.0
"""Seconds that processes wait for each other where they train networks, each its own: a week."""

ADDRESS = """export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_PORT=29500"""
"""What a SLURM script must say before `srun`."""


def rank() -> int:
    """Number of this process; 0 where there is only one."""
    return _told("RANK", "SLURM_PROCID", default=0)


def count() -> int:
    """Number of processes, from the environment that `torchrun` sets, or `srun` for a step of a SLURM job."""
    return _told("WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", default=1)


def local() -> int:
    """Number of this process among those of its machine."""
    return _told("LOCAL_RANK", "SLURM_LOCALID", default=0)


def _told(name: str, *slurm: str, default: int) -> int:
    """A number of the environment; what SLURM says counts inside a step only, where there is a process for each task."""
    names = (
        (name, *slurm)
        if "SLURM_STEP_ID" in os.environ and "WORLD_SIZE" not in os.environ
        else (name,)
    )
    return int(next((os.environ[each] for each in names if each in os.environ), default))


def device_here(device: str) -> str:
    """Device of this process: `"cuda"` becomes one of the GPUs that it sees where there are several processes."""
    if device != "cuda" or count() == 1:
        return device
    return f"cuda:{local() % (torch.cuda.device_count() or local() + 1)}"


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
        raise ResultsError(
            f"the processes train different networks: {sorted({name for name, _ in parts})}. Start them all alike."
        )
    return {place: value for _, part in parts for place, value in part.items()}


def told(value: Any) -> Any:
    """What the first process says, in all of them."""
    if count() == 1:
        return value
    join()
    box = [value]
    dist.broadcast_object_list(box)
    return box[0]


def joined(timeout: float = DAYS) -> None:
    """Meet the other processes at once, if there are any; they may be so many seconds late."""
    if count() > 1:
        join(timeout)


def join(timeout: float = DAYS) -> None:
    """Meet the other processes; they may be busy for days before they answer.

    Args:
        timeout: seconds to wait for them.

    Raises:
        ProcessError: it is not known where they meet, or they did not come.
    """
    if dist.is_initialized():
        return
    missing = [name for name in ("MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
    if missing:
        raise ProcessError(
            f"this is process {rank()} of {count()}, but {' and '.join(missing)} are not set, so that it is not known where they "
            f"meet. Type, before srun:\n{ADDRESS}"
        )
    try:
        dist.init_process_group(
            "gloo", timeout=timedelta(seconds=timeout), rank=rank(), world_size=count()
        )
    except RuntimeError as error:
        where = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
        raise ProcessError(
            f"process {rank()} of {count()} did not meet the others at {where} within {timeout:g} s ({communication_error(error)}). Look "
            "whether all were started, with the same MASTER_ADDR and MASTER_PORT."
        ) from error
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
