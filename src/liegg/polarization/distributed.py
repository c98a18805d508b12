"""Several processes, by `torch.distributed`: each reads a share; states are merged.

Errors propagate through the next collective call: every collective begins with an `all_gather` of
whether a process failed, and a failing process takes part in exactly one more.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from liegg._utils.checks import checksum
from liegg._utils.device import call_within_memory
from liegg._utils.diagnoses import Remark
from liegg._utils.errors import ProcessError
from liegg._utils.random import seeded
from liegg._utils.version import __version__
from liegg.inputs.batches import Batches
from liegg.polarization.checkpoint import (
    CHECKPOINT_SECONDS,
    END,
    Checkpoint,
    difference,
    fingerprint,
    rank_path,
    weight_checksums,
)
from liegg.polarization.state import PassState, from_tensors, merge, to_tensors
from liegg.polarization.streaming import OUTPUT_CENTRE_SAMPLES, PassPlan, init, update

Result = TypeVar("Result")

TIMEOUT_SECONDS = 1800.0
"""Most seconds that a process which has read its share waits for the others."""

JOIN_SECONDS = 120.0
"""Most seconds that a process waits for the others at the start, in case one never comes."""

Group = Any
"""Process group of torch for messages between all processes, on the CPU."""


class PassOptions(NamedTuple):
    """How the data is read.

    Attributes:
        progress: called with the number of samples after each batch.
        group: the processes that share the data; None for a single one.
        path: checkpoint file; None for none.
        every: least number of seconds between two checkpoints.
    """

    progress: Callable[[int], object] | None = None
    group: Group | None = None
    path: Path | None = None
    every: float = CHECKPOINT_SECONDS

    @property
    def plain(self) -> bool:
        """Whether one process reads all data in one go."""
        return self.group is None and self.path is None


def join(*, timeout: float = TIMEOUT_SECONDS) -> Group | None:
    """The processes of the caller's initialised process group; None if there is only one.

    Every process must call it, within `JOIN_SECONDS`. Messages use a separate gloo group, so the
    caller's own messages are not affected.

    Args:
        timeout: seconds to wait for the others afterwards.

    Raises:
        ProcessError: the others did not come.
    """
    if not dist.is_available() or not dist.is_initialized() or dist.get_world_size() == 1:
        return None
    with _explain_lost():
        brief = timedelta(seconds=min(JOIN_SECONDS, timeout))
        meeting: Any = dist.new_group(backend="gloo", timeout=brief)
        group = dist.new_group(backend="gloo", timeout=timedelta(seconds=timeout))
        dist.destroy_process_group(meeting)
    return group


def leave(group: Group | None) -> None:
    """Leave the group; the caller's own group stays."""
    if group is not None and dist.is_initialized():
        dist.destroy_process_group(group)


def run_collectively(group: Group | None, work: Callable[[], Result]) -> Result:
    """Run the same work in all processes; if it fails in one, all raise.

    Args:
        group: the processes; None for a single one.
        work: may call collectives.

    Raises:
        ProcessError: it failed in another process, or one was lost; the message says which and why.
    """
    if group is None:
        return work()
    try:
        result = work()
    except ProcessError:  # the others know of it, or are lost
        raise
    except Exception as error:
        try:
            _gather(group, (f"{type(error).__name__}: {error}", None))
        except ProcessError as lost:
            raise error from lost
        raise
    all_gather(group, None)
    return result


def all_gather(group: Group, value: Any) -> list[Any]:
    """The values of all processes.

    Raises:
        ProcessError: a process failed, or was lost.
    """
    values = _gather(group, ("", value))
    for rank, (failure, _) in enumerate(values):
        if failure:
            raise ProcessError(f"process {rank} of {len(values)} failed: {failure}")
    return [value for _, value in values]


def check_agreement(group: Group, settings: dict[str, Any]) -> None:
    """Raise `ProcessError` in every process unless all have the same settings.

    Args:
        group: the processes.
        settings: what must be equal; the message names the first that is not. May be a
            `fingerprint`.
    """
    every = all_gather(group, settings)
    for rank, other in enumerate(every):
        if reason := difference(every[0], other):
            raise ProcessError(
                f"process {rank} of {len(every)} differs from process 0 ({reason}). Start all of "
                "them with the same arguments and the complete data: liegg splits it."
            )


def merge_all(group: Group, state: Any, like: Any, merged: Callable[[Any, Any], Any]) -> Any:
    """Merge the states of all processes, in the same order in each of them; two are held at a time.

    Args:
        group: the processes.
        state: the state of this process's share; no rows are pending.
        like: a state of no samples.
        merged: merges two of them.

    Raises:
        ProcessError: another process failed or was lost.
    """

    def share(rank: int) -> Any:
        all_gather(group, None)
        message: list[Any] = [to_tensors(state) if rank == dist.get_rank() else None]
        with _explain_lost():
            dist.broadcast_object_list(message, src=rank, group=group)
        return from_tensors(message[0], like)

    return reduce(merged, map(share, range(dist.get_world_size())))


def accumulate(
    plan: PassPlan,
    batches: Batches,
    settings: dict[str, Any],
    options: PassOptions,
    *,
    seed: int,
    check_buffers: bool = True,
) -> tuple[PassState, tuple[Remark, ...]]:
    """Accumulate the state over the complete data, across processes and resumed runs.

    A loader draws under the same seed, from its beginning, in every process and every run.

    Args:
        plan: how the pass is made.
        batches: all the data.
        settings: the question, as JSON values; equal in all processes and resumed runs.
        options: how the data is read.
        seed: seed of what a loader draws.
        check_buffers: whether the model's buffers must be equal bit for bit; buffers that are
            computed from data on a GPU need not be.

    Returns:
        The state, and notes.

    Raises:
        ProcessError: the processes differ, or one was lost.
        CheckpointError: the file is damaged, of another analysis, or cannot be written.
    """
    group, empty = options.group, init(plan)
    rank, size = (0, 1) if group is None else (dist.get_rank(), dist.get_world_size())
    mark = _fingerprint(plan, batches, settings, processes=size, seed=seed, buffers=check_buffers)
    if group is not None:
        check_agreement(group, mark)
        # Sums can be merged only if they start from the same shift, which other machines may round
        # differently.
        shift = all_gather(group, empty.diagnostics.shift.cpu())[0].to(plan.first.device)
        empty = empty._replace(diagnostics=empty.diagnostics._replace(shift=shift))
        batches = batches.share(rank, size)
    checkpoint = None
    if options.path is not None:
        path = rank_path(options.path, rank, size)
        device = {"device": plan.first.device.type}
        checkpoint = Checkpoint(path, mark | device, options.every)
    state, count, notes = _read_share(
        plan, batches, empty, checkpoint, progress=options.progress, seed=seed
    )
    if group is None:
        return state, notes
    every = all_gather(group, (count, notes))
    counts = {rank: count for rank, (count, _) in enumerate(every) if count is not None}
    if len(set(counts.values())) > 1:
        lengths = ", ".join(f"{count} in process {rank}" for rank, count in counts.items())
        raise ProcessError(
            f"the processes have data of different lengths ({lengths}). "
            "Give each the complete data: liegg splits it."
        )
    remarks = dict.fromkeys(note for _, notes in every for note in notes)
    return merge_all(group, state, empty, merge), tuple(remarks)


def _fingerprint(
    plan: PassPlan,
    batches: Batches,
    settings: dict[str, Any],
    *,
    processes: int,
    seed: int,
    buffers: bool,
) -> dict[str, Any]:
    """Fingerprint of a pass, with checksums of what the first samples do not show."""
    weights = weight_checksums(plan.model.function)
    groups = None if plan.assigner is None else plan.assigner.groups
    with seeded(seed):
        spread: list[Tensor] = batches.evenly_spaced()
    more = {
        "weights": weights["weights"],
        "buffers": weights["buffers"] if buffers else None,
        "groups": None if groups is None else checksum(groups),
        "spread": checksum(*spread),
        "samples": batches.count,
        "batch_size": batches.size,
        "plan": plan.row_plan.route,
        "blocks": plan.blocks,
        "processes": processes,
        "versions": [__version__, torch.__version__],
    }
    outputs = call_within_memory(plan.model, plan.first[:OUTPUT_CENTRE_SAMPLES])
    return fingerprint(plan.first, outputs, settings | more)


def _read_share(
    plan: PassPlan,
    batches: Batches,
    state: PassState,
    checkpoint: Checkpoint | None,
    *,
    progress: Callable[[int], object] | None,
    seed: int,
) -> tuple[PassState, int | None, tuple[Remark, ...]]:
    """State of a share, number of all samples if that had to be counted, and notes."""
    counts: list[int] = []
    with seeded(seed), closing(batches.numbered(on_end=counts.append)) as numbered:
        if checkpoint is None:
            state, notes = update(plan, state, numbered, progress=progress, start=batches.start), ()
        else:
            end = next((end for end in (batches.stop, batches.count) if end is not None), END)
            state, notes = _read_stored(
                plan, numbered, state, checkpoint, start=batches.start, end=end, progress=progress
            )
    return state, counts[0] if batches.count is None else None, notes


def _read_stored(
    plan: PassPlan,
    numbered: Iterable[tuple[int, Tensor]],
    state: PassState,
    checkpoint: Checkpoint,
    *,
    start: int,
    end: int,
    progress: Callable[[int], object] | None,
) -> tuple[PassState, tuple[Remark, ...]]:
    """State of a share from `start` to `end` that is resumed and stored, and notes."""
    position = start
    stored = checkpoint.load(state)
    if stored is not None:
        state, position = stored
        if progress is not None:
            progress(state.inputs.samples)
    with checkpoint.defer_interrupt():
        state = update(
            plan,
            state,
            checkpoint.unread(numbered, position),
            progress=progress,
            after=checkpoint.save_if_due,
            start=position,
        )
        return state, checkpoint.finish(state, end)


def _gather(group: Group, message: tuple[str, Any]) -> list[tuple[str, Any]]:
    """The messages of all processes: a failure, or empty, and a value."""
    messages: list[Any] = [None] * dist.get_world_size()
    with _explain_lost():
        dist.all_gather_object(messages, message, group=group)
    return messages


@contextmanager
def _explain_lost() -> Iterator[None]:
    """Turn torch's communication errors into `ProcessError`; only messages belong inside."""
    try:
        yield
    except RuntimeError as error:
        raise ProcessError(
            f"process {dist.get_rank()} of {dist.get_world_size()} lost the others: one of them "
            f"died, or does not run the same analysis ({communication_error(error)}). Make the call in all "
            "processes, allow slow ones more time with timeout=, or pass processes='alone' to use "
            "only this one."
        ) from error


def communication_error(error: Exception) -> str:
    """Torch's reason for a lost connection, without source locations and guesses.

    >>> text = "[../gloo/tcp/pair.cc:547] Connection closed by peer [::1]:7. This is typically"
    >>> communication_error(RuntimeError(text))
    'Connection closed by peer [::1]:7'
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    plain = re.sub(r"\[[^\]\s]*\.\w+:\d+\]\s*", "", lines[0])
    return plain.partition("This is typically")[0].strip(" .") or type(error).__name__
