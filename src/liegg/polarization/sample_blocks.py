r"""Samples assigned to a bounded number of blocks; the rows of each block are kept apart.

The sum over the blocks describes all the data; the differences between blocks give its uncertainty.
Memory is that of one factor per block, whatever the number of samples.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import group_by_block
from liegg.polarization import gram, r_factor
from liegg.polarization.evidence import SampleEvidence
from liegg.polarization.gram import Gram
from liegg.polarization.r_factor import BLOCK_COLUMNS, RFactor

BLOCKS, FEWEST_BLOCKS = 32, 12
"""Number of blocks for few candidates, and the fewest that give a meaningful interval."""

SHARED_COLUMNS = 2048
"""Columns of all blocks together up to which there are more than the fewest blocks."""

ALL_BLOCK_NUMBERS = 2**22
"""Most numbers in the factors of all blocks: 32 MB, which 591 candidates fill."""

PENDING = 256
"""Fewest rows of a block per QR."""

TALL = 4
"""Rows per sample, in multiples of the columns, above which they are reduced before the blocks.

A few samples with many rows would fill only a fraction of the padded memory of all blocks."""


class Parts(NamedTuple):
    """What is known of each block after the pass, on the CPU.

    Attributes:
        rows: rows of each block, as an R factor or as a Gram matrix with both triangles.
        moments: summed moments of each block.
        samples: number of samples in each block.
        evidence: how it is distributed over the samples.
    """

    rows: tuple[RFactor | Gram, ...]
    moments: Float[Tensor, "p s s"]
    samples: tuple[int, ...]
    evidence: SampleEvidence = SampleEvidence()


def count_for(columns: int) -> int:
    """Number of blocks for a number of columns; 1 if memory does not allow enough of them."""
    columns = max(1, columns)
    count = min(BLOCKS, max(FEWEST_BLOCKS, SHARED_COLUMNS // columns))
    return count if count * columns**2 <= ALL_BLOCK_NUMBERS else 1


@dataclass(frozen=True, eq=False)
class BlockAssigner:
    """Assigns samples to blocks by their content, or the samples of a group together by its label.

    Copies of a sample are in one block, and the order of the samples does not matter.

    Attributes:
        count: number of blocks.
        groups: hash of the label of every sample; None for independent samples.
    """

    count: int
    groups: Int[Tensor, " n"] | None = None

    def assign(self, first: int, hashes: Int[Tensor, " b"]) -> Int[Tensor, " b"]:
        """Block of each of some samples.

        Args:
            first: position of the first of them in the data, which finds their labels.
            hashes: from `sample_hashes`, on the CPU.

        Raises:
            ArgumentError: there are fewer labels than samples.
        """
        if self.groups is None:
            return hashes % self.count
        labels = self._block_of_label[first : first + len(hashes)]
        if len(labels) < len(hashes):
            raise ArgumentError(
                f"groups has {len(self.groups)} labels, but the data has more samples. "
                "Give one to each sample."
            )
        return labels

    @cached_property
    def _block_of_label(self) -> Int[Tensor, " n"]:
        """Block of every label: its place among the sorted hashes, so that blocks are of like size."""
        labels = torch.zeros(0, dtype=torch.int64) if self.groups is None else self.groups
        return labels.unique(return_inverse=True)[1] % self.count

    def check_count(self, samples: int) -> None:
        """Raise `ArgumentError` if there are more labels than samples."""
        if self.groups is not None and samples < len(self.groups):
            raise ArgumentError(
                f"groups has {len(self.groups)} labels for {samples} samples. "
                "Give one to each sample."
            )


def as_groups(groups: Any) -> Int[Tensor, " n"] | None:
    """Hashes of labels, equal where the labels are; labels can be anything that can be compared.

    >>> one, other, same = as_groups(["a", "b", "a"]).tolist()
    >>> one == same, one == other
    (True, False)
    """
    if groups is None:
        return None
    if isinstance(groups, str) or not hasattr(groups, "__len__") or getattr(groups, "ndim", 1) != 1:
        raise ArgumentError(
            "groups must be a list or an array with one label for every sample, "
            "for example [0, 0, 1, 1]."
        )
    labels = groups.tolist() if hasattr(groups, "tolist") else list(groups)
    # Tensors of equal value are not equal dictionary keys.
    labels = [
        label.tolist() if isinstance(label, Tensor | np.ndarray) else label for label in labels
    ]
    if any(isinstance(label, float) and math.isnan(label) for label in labels):
        raise ArgumentError(
            "groups holds NaN, which does not equal itself. Give every sample a label."
        )
    try:
        hashes = {label: _label_hash(label) for label in dict.fromkeys(labels)}
    except TypeError as error:
        raise ArgumentError(
            f"groups holds a label that cannot be compared ({error}). Use numbers or strings."
        ) from error
    return torch.tensor([hashes[label] for label in labels], dtype=torch.int64)


def _label_hash(label: Any) -> int:
    """A signed 64-bit hash of a label, the same in every process; 1, 1.0 and True are one label."""
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, int) or (isinstance(label, float) and label.is_integer()):
        label = int(label)
    digest = blake2b(repr(label).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


class BlockRows(NamedTuple):
    """Rows of every block during the pass; its tensors are updated in place.

    Attributes:
        factors: R factor of each block.
        squares: Gram matrix of each block.
        pending: rows that wait for a QR.
        exact: number of rows in `factors` and `pending`, per block.
        squared: number of rows in `squares`, per block.
        samples: number of samples, per block.
    """

    factors: Float[Tensor, "p g g"]
    squares: Float[Tensor, "p g g"]
    pending: Float[Tensor, "p _ g"]
    exact: Int[Tensor, " p"]
    squared: Int[Tensor, " p"]
    samples: Int[Tensor, " p"]


def init(count: int, columns: int, device: torch.device) -> BlockRows:
    """No rows."""
    factors = torch.zeros(count, columns, columns, dtype=torch.float64, device=device)
    counts = torch.zeros(count, dtype=torch.int64)
    return BlockRows(factors, factors.clone(), factors[:, :0], counts, counts, counts)


class RowBatch(NamedTuple):
    """Rows of some samples, arranged by block.

    Attributes:
        rows: rows of each block, padded with zeros; or their Gram matrices, if `summed`.
        samples: number of samples, per block.
        rows_per_sample: rows of one sample.
        squared: whether they go into Gram matrices.
        summed: whether `rows` are Gram matrices already.
    """

    rows: Float[Tensor, "p _ g"]
    samples: Int[Tensor, " p"]
    rows_per_sample: int
    squared: bool
    summed: bool


def arrange(
    rows: Float[Tensor, "b k g"], block: Int[Tensor, " b"], count: int, *, squared: bool
) -> RowBatch:
    """Arrange rows by block; most of the memory that adding them takes is allocated here.

    Args:
        rows: rows of some samples.
        block: block of each sample.
        count: number of blocks.
        squared: whether the rows may be squared.
    """
    samples, rows_per_sample = torch.bincount(block, minlength=count), rows.shape[1]
    tall = rows_per_sample >= TALL * rows.shape[2]
    if squared and tall:
        arranged = group_by_block(rows.mT @ rows, block, count).sum(1)
    else:
        reduced = torch.linalg.qr(rows, mode="r").R if tall else rows
        arranged = group_by_block(reduced, block, count).flatten(1, 2)
    return RowBatch(arranged, samples, rows_per_sample, squared, summed=squared and tall)


def update(state: BlockRows, batch: RowBatch) -> BlockRows:
    """Add the rows of some samples to their blocks."""
    rows = batch.samples * batch.rows_per_sample
    state = state._replace(samples=state.samples + batch.samples)
    if batch.squared:
        if batch.summed:
            state.squares.add_(batch.rows)
        else:  # in place: new memory for all blocks would cost more than the sum
            state.squares.baddbmm_(batch.rows.mT, batch.rows)
        return state._replace(squared=state.squared + rows)
    pending = torch.cat([state.pending, batch.rows], dim=1)
    state = state._replace(pending=pending, exact=state.exact + rows)
    full = pending.shape[1] >= max(BLOCK_COLUMNS * pending.shape[2], PENDING)
    return flush(state) if full else state


def flush(state: BlockRows) -> BlockRows:
    """Fold the rows that still wait."""
    if not state.pending.shape[1]:
        return state
    # At least as many rows as columns, so the factors are square.
    stacked = torch.cat([state.factors, state.pending], dim=1)
    factors = torch.linalg.qr(stacked, mode="r").R
    return state._replace(factors=factors, pending=factors[:, :0])


def merge(one: BlockRows, other: BlockRows) -> BlockRows:
    """Rows of the samples of both."""
    one, other = flush(one), flush(other)
    return flush(one._replace(pending=other.factors))._replace(
        squares=one.squares + other.squares,
        exact=one.exact + other.exact,
        squared=one.squared + other.squared,
        samples=one.samples + other.samples,
    )


def finalise(
    state: BlockRows, moments: Float[Tensor, "p s s"]
) -> tuple[RFactor | Gram, Parts, str]:
    """All rows in one, those of every block that has samples, and how they were accumulated.

    Args:
        state: rows of all samples.
        moments: moments of each block.
    """
    state = flush(state)
    used = state.samples.nonzero().flatten().tolist()
    factors, squares = state.factors.cpu(), state.squares.cpu()
    exact, squared = state.exact.tolist(), state.squared.tolist()
    folded = factors[state.exact > 0].flatten(0, 1)
    stacked = r_factor.update(r_factor.init(factors.shape[2]), folded)
    whole, accumulator = gram.join(
        stacked._replace(rows=sum(exact)), Gram(squares.sum(0), sum(squared))
    )
    blocks = [
        gram.join(RFactor(factors[i], exact[i]), Gram(squares[i], squared[i]))[0] for i in used
    ]
    rows = tuple(
        block if isinstance(whole, Gram) else RFactor(block.r, block.rows) for block in blocks
    )
    parts = Parts(rows, moments.cpu()[used], tuple(state.samples[used].tolist()))
    return whole, parts, accumulator
