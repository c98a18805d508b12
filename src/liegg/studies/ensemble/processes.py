"""Several processes, as `torchrun` or SLURM starts them: each takes its share, the first gathers what all found."""

from collections.abc import Sequence
from typing import Any

import torch.distributed as dist

from liegg._utils.errors import ResultsError
from liegg.polarization.launcher import end, join, rank
from liegg.polarization.launcher import local_device as device_here
from liegg.polarization.launcher import world_size as count

__all__ = ["count", "device_here", "end", "gather", "join", "rank", "share", "told"]


def share(items: Sequence[Any]) -> list[int]:
    """Places of the items that this process takes: every k-th, so that all get networks of every size."""
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
