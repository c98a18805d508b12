"""The processes that `torchrun` or SLURM started: their numbers, their devices, how they meet and end."""

import atexit
import os
import sys
from datetime import timedelta

import torch
import torch.distributed as dist

from liegg._utils.errors import ProcessError
from liegg.polarization.distributed import communication_error

TRAINING_TIMEOUT = 7 * 24 * 3600.0
"""Seconds that processes wait for each other while each trains its own networks: a week."""

ADDRESS = """export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_PORT=29500"""
"""What a SLURM script must set before `srun`."""


def rank() -> int:
    """Rank of this process; 0 if it is the only one."""
    return _environment("RANK", "SLURM_PROCID", default=0)


def world_size() -> int:
    """Number of processes, from the environment that `torchrun` or a SLURM step sets."""
    return _environment("WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", default=1)


def local_rank() -> int:
    """Rank of this process among those of its machine."""
    return _environment("LOCAL_RANK", "SLURM_LOCALID", default=0)


def _environment(name: str, *slurm: str, default: int) -> int:
    """A number of the environment; SLURM's variables count only inside a step, where each task is a process."""
    in_step = "SLURM_STEP_ID" in os.environ and "WORLD_SIZE" not in os.environ
    names = (name, *slurm) if in_step else (name,)
    return int(next((os.environ[each] for each in names if each in os.environ), default))


def local_device(device: str) -> str:
    """Device of this process: with several processes, `"cuda"` becomes one of the visible GPUs."""
    if device != "cuda" or world_size() == 1:
        return device
    return f"cuda:{local_rank() % (torch.cuda.device_count() or local_rank() + 1)}"


def join(timeout: float = TRAINING_TIMEOUT) -> None:
    """Form the default process group; does nothing for a single process, or if the group exists.

    Args:
        timeout: seconds to wait for the other processes.

    Raises:
        ProcessError: the address is not set, or the other processes did not come.
    """
    if world_size() == 1 or dist.is_initialized():
        return
    missing = [name for name in ("MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
    if missing:
        raise ProcessError(
            f"this is process {rank()} of {world_size()}, but {' and '.join(missing)} are not set, "
            f"so the processes cannot find each other. Type, before srun:\n{ADDRESS}"
        )
    try:
        dist.init_process_group(
            "gloo", timeout=timedelta(seconds=timeout), rank=rank(), world_size=world_size()
        )
    except RuntimeError as error:
        address = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
        raise ProcessError(
            f"process {rank()} of {world_size()} did not meet the others at {address} within "
            f"{timeout:g} s ({communication_error(error)}). Check that all processes were started with the same "
            "MASTER_ADDR and MASTER_PORT."
        ) from error
    atexit.register(leave)


def end() -> None:
    """End this process at once with exit code 0 if it is one of several; else do nothing.

    Threads of torch's process groups can outlive the interpreter and then abort the process, about one time in five, even
    after the group was destroyed. So the interpreter does not shut down by itself.
    """
    if world_size() > 1:
        leave()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def leave() -> None:
    """Destroy the default process group, if there is one."""
    if dist.is_initialized():
        dist.destroy_process_group()
