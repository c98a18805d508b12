"""The pass over the data where several processes read a share of it each, or one that is taken up where it was left."""

from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from liegg._utils.device import fitted
from liegg._utils.random import seeded
from liegg._utils.version import __version__
from liegg.inputs.batches import Batches
from liegg.polarization.checkpoint import EVERY, Checkpoint, own
from liegg.polarization.distributed import Group, agree, together, told
from liegg.polarization.fingerprint import checksum, fingerprint, weights_of
from liegg.polarization.state import Tally, from_tensors, to_tensors
from liegg.polarization.streaming import AROUND, Pass, empty, read

END = 2**62
"""Number of the next sample where all were read and nobody knows how many they are: beyond any data."""


class PassOptions(NamedTuple):
    """How the data is read.

    Attributes:
        progress: called with the number of samples after each batch.
        group: the processes that share it out; None for one alone.
        path: file to keep what was read in; None for none.
        every: seconds between two writings, at least.
    """

    progress: Callable[[int], object] | None = None
    group: Group | None = None
    path: Path | None = None
    every: float = EVERY

    @property
    def plain(self) -> bool:
        """Whether one process reads all, at one go."""
        return self.group is None and self.path is None


def shared(
    made: Pass,
    batches: Batches,
    asked: dict[str, Any],
    way: PassOptions,
    *,
    seed: int,
    buffers: bool = True,
) -> tuple[Tally, tuple[str, ...]]:
    """What is kept of all the data, whoever read it and however often it was begun.

    What a loader draws it draws under the same seed, from its beginning, in every process and every time.

    Args:
        made: how the pass is made.
        batches: all the data.
        asked: what was asked, as JSON can hold it; must be the same in all processes, and when it is taken up again.
        way: how it is read.
        seed: of what a loader draws.
        buffers: whether the model's buffers must be the same to the bit; those that are taken from data on a GPU need not be.

    Returns:
        The record, and notes.

    Raises:
        ProcessError: the processes were asked different things, or one was lost.
        CheckpointError: the file is damaged, of another analysis, or cannot be written.
    """
    group, none = way.group, empty(made)
    mark = fingerprint(
        made.first,
        fitted(made.model, made.first[:AROUND]),
        asked
        | _seen(made, batches, seed, buffers)
        | {
            "samples": batches.count,
            "batch_size": batches.size,
            "plan": made.how.route,
            "blocks": made.blocks,
            "processes": 1 if group is None else group.size,
            "versions": [__version__, torch.__version__],
        },
    )
    if group is not None:
        agree(group, mark)
        none = from_tensors(
            told(group, to_tensors(none)), none
        )  # sums that are merged begin with the very same numbers
        batches = batches.share(group.rank, group.size)
    begun = to_tensors(none)

    def fresh() -> Tally:
        return from_tensors(begun, none)

    stored = None
    if way.path is not None:
        path = own(way.path, *((0, 1) if group is None else (group.rank, group.size)))
        stored = Checkpoint(path, mark | {"device": made.first.device.type}, way.every)
    kept, passed, notes = _read(made, batches, fresh, stored, way.progress, seed)
    return (
        (kept, notes) if group is None else together(group, kept, fresh, passed=passed, notes=notes)
    )


def _seen(made: Pass, batches: Batches, seed: int, buffers: bool) -> dict[str, Any]:
    """Checksums of what the first samples do not show: weights, labels, and samples from all over the data."""
    weights = weights_of(made.model.function)
    labels = (
        None
        if made.dealer is None or made.dealer.groups is None
        else checksum([made.dealer.groups])
    )
    with seeded(seed):
        spread: list[Tensor] = batches.spread()
    return {
        "weights": weights["weights"],
        "buffers": weights["buffers"] if buffers else None,
        "groups": labels,
        "spread": checksum(spread),
    }


def _read(
    made: Pass,
    batches: Batches,
    fresh: Callable[[], Tally],
    stored: Checkpoint | None,
    progress: Callable[[int], object] | None,
    seed: int,
) -> tuple[Tally, int | None, tuple[str, ...]]:
    """What is kept of a share, the number of all samples where those of the others were passed over, and notes."""
    before = None if stored is None else stored.load(fresh())
    kept, position = (fresh(), batches.start) if before is None else before
    if before is not None and progress is not None:
        progress(kept.samples)
    if position >= END:
        return kept, None, ()
    counted: list[int] = []
    left = replace(batches, start=position)
    with (
        seeded(seed),
        closing(left.numbered(passed=counted.append)) as numbered,
        nullcontext() if stored is None else stored.patient(),
    ):
        kept = read(
            made,
            kept,
            numbered,
            progress=progress,
            after=None if stored is None else stored.tell,
            before=position,
        )
    end = (
        batches.stop
        if batches.stop is not None
        else END
        if batches.count is None
        else batches.count
    )
    notes = () if stored is None else stored.end(kept, end)
    return kept, counted[0] if batches.count is None else None, notes
