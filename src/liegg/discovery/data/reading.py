"""The passes over a data set: in one process, or shared by several."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from jaxtyping import Bool, Float, Int
from torch import Tensor

from liegg._utils.errors import ArgumentError, ProcessError
from liegg.actions import Action
from liegg.decision.distribution import SAMPLES_PER_COMBINATION
from liegg.discovery.data.classes import Classes
from liegg.discovery.data.verdict import FEWEST_DECIDED
from liegg.inputs.batches import Batches
from liegg.polarization import row_means, span_means
from liegg.polarization.displacement import Workspace
from liegg.polarization.distributed import all_gather, check_agreement, merge_all
from liegg.polarization.row_means import RowMeans, covariance_samples
from liegg.polarization.sample_blocks import BlockAssigner
from liegg.polarization.sample_digest import sample_hashes
from liegg.polarization.span_means import SpanMeans
from liegg.polarization.test_functions import TestFunctions

RUNS = 32
"""Runs of consecutive samples, which tell whether samples depend on those before them."""

HASH_RESOLUTION = 2**20
"""Resolution of the share of samples from which a covariance is taken."""

FURTHER_SAMPLES, FURTHER_COVERED = 2**18, 5000
"""Samples on which further test functions are tried, and from which their covariance is taken, at most: seconds on one core."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Reading:
    """What every pass over the data needs.

    Attributes:
        batches: all samples, in float64 on the CPU.
        action: the candidate generators.
        first: some samples, the same in every process.
        classes: class of every sample.
        assigner: assigns samples to blocks.
        group: the processes that share the samples; None for a single one.
        progress: called with the number of samples after each batch.
    """

    batches: Batches
    action: Action
    first: Float[Tensor, "b ..."]
    classes: Classes
    assigner: BlockAssigner
    group: Any = None
    progress: Callable[[int], object] | None = None

    def shared(self) -> Iterator[tuple[int, Float[Tensor, "b ..."], Int[Tensor, " b"]]]:
        """The batches of this process: position of the first sample, samples, and their hashes."""
        batches = self.batches
        if self.group is not None:
            batches = batches.share(dist.get_rank(), dist.get_world_size())
        for number, x in batches.numbered():
            yield number, x, sample_hashes(x).cpu()

    def chosen(self, hashes: Int[Tensor, " b"], count: int) -> Bool[Tensor, " b"]:
        """About this many of all samples, whoever reads them."""
        share = HASH_RESOLUTION
        if self.batches.count:
            share = min(share, -(-count * HASH_RESOLUTION // self.batches.count))
        return (hashes // self.assigner.count) % HASH_RESOLUTION < share

    def merged(self, state: Any, like: Any, merge: Callable[[Any, Any], Any]) -> Any:
        """The sums of all processes."""
        return state if self.group is None else merge_all(self.group, state, like, merge)

    def check_alike(self, **settings: Any) -> None:
        """Raise `ProcessError` unless every process was given the same data and question."""
        if self.group is None:
            return
        few = sample_hashes(self.first).tolist()[:FEWEST_DECIDED]
        check_agreement(
            self.group, settings | {"action": self.action.settings(), "first samples": few}
        )
        counts = all_gather(self.group, self.batches.count)
        if len(set(counts)) > 1:
            raise ProcessError(
                f"the processes have data of different lengths ({', '.join(map(str, counts))}). Give each the complete data: liegg "
                "splits it."
            )


def means_of(reading: Reading, functions: TestFunctions) -> RowMeans:
    """One pass: means of the derivatives, with their covariance."""
    action, classes, assigner = reading.action, reading.classes, reading.assigner
    # Samples with labels in groups= may depend on each other within groups only.
    runs = RUNS if assigner.groups is None and reading.batches.count else 1
    workspace, blocks = Workspace(action), assigner.count * runs
    empty = row_means.init(functions, action, reading.first, blocks, classes=classes.count)
    state, covered = empty, covariance_samples(len(empty.squared))
    for number, x, hashes in reading.shared():
        run = (number + torch.arange(len(x))) * runs // (reading.batches.count or 1)
        block = assigner.assign(number, hashes) * runs + run.clamp_max(runs - 1)
        covers, label = reading.chosen(hashes, covered), classes.of(number, len(x))
        state = row_means.update(
            state, functions, workspace, x, block=block, covers=covers, label=label, first=number
        )
        if reading.progress is not None:
            reading.progress(len(x))
    state = reading.merged(state, empty, row_means.merge)
    if (count := state.inputs.samples) < FEWEST_DECIDED:
        raise ArgumentError(
            f"the data has {count} samples; at least {FEWEST_DECIDED} are needed to tell a symmetry from chance, and "
            f"{SAMPLES_PER_COMBINATION * functions.size} to use all test functions."
        )
    classes.check_count(count)
    assigner.check_count(count)
    return row_means.finalise(state, action, reading.first, runs=runs)


def span_means_of(
    reading: Reading, families: Sequence[TestFunctions], along: Float[Tensor, "g d"]
) -> list[SpanMeans]:
    """One pass: means of the derivatives of several families, with the covariance along some directions.

    Args:
        reading: the data.
        families: the test functions.
        along: coefficients of the directions, as columns.
    """
    action, classes = reading.action, reading.classes
    empty = [
        span_means.init(one.size * classes.count, action.size, along.shape[1]) for one in families
    ]
    states = list(empty)
    most = [
        min(FURTHER_COVERED, covariance_samples(len(one.squared) * len(families))) for one in empty
    ]
    for number, x, hashes in reading.shared():
        kept = reading.chosen(hashes, FURTHER_SAMPLES)
        label = classes.of(number, len(x))
        x, hashes, label = x[kept], hashes[kept], None if label is None else label[kept]
        for place, functions in enumerate(families):
            states[place] = span_means.update(
                states[place],
                functions,
                action,
                along,
                x=x,
                covers=reading.chosen(hashes, most[place]),
                most=most[place],
                label=label,
            )
    return [
        span_means.finalise(reading.merged(state, one, span_means.merge))
        for state, one in zip(states, empty, strict=True)
    ]
