"""Squared rows of a layer per block of samples, from which intervals of given directions are made."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.device import to_device
from liegg._utils.linalg import group_by_block
from liegg.polarization.evidence import Unevenness, sample_evidence
from liegg.polarization.gram import Gram
from liegg.polarization.sample_blocks import Parts
from liegg.polarization.sample_sketch import SampleSketch


class BlockSquares(NamedTuple):
    """Rows of every block, squared, and how unequal the samples are.

    Attributes:
        squares: Gram matrix of the rows of each block.
        motion: sum over the samples of the squared size of their rows.
        concentration: sum of its squares.
        largest: the largest.
    """

    squares: Float[Tensor, "p q q"]
    motion: Float[Tensor, ""]
    concentration: Float[Tensor, ""]
    largest: Float[Tensor, ""]


def init(count: int, columns: int, device: torch.device) -> BlockSquares:
    """No rows."""
    squares = torch.zeros(count, columns, columns, dtype=torch.float64, device=device)
    zero = squares.new_zeros(())
    return BlockSquares(squares, zero, zero, zero)


def add_squares(
    state: BlockSquares,
    squares: Float[Tensor, "b q q"],
    block: Int[Tensor, " b"],
    output_columns: int = 0,
) -> BlockSquares:
    """Add samples by the Gram matrices of their rows; otherwise as `add_rows`."""
    more = torch.zeros_like(state.squares)
    more.index_add_(0, to_device(block, more.device), squares.to(more))
    return _added(state, more, squares.diagonal(dim1=1, dim2=2)[:, output_columns:].sum(1))


def add_rows(
    state: BlockSquares,
    rows: Float[Tensor, "b k q"],
    block: Int[Tensor, " b"],
    output_columns: int = 0,
) -> BlockSquares:
    """Add samples by their rows; the old state is not changed.

    Args:
        state: the rows so far.
        rows: rows of some samples.
        block: block of each sample, on the CPU.
        output_columns: columns of the output generators, which come first and say nothing about the sample.
    """
    if rows.shape[1] >= rows.shape[2]:  # few samples would leave most of the padded memory empty
        return add_squares(state, rows.mT @ rows, block, output_columns)
    grouped = group_by_block(rows, block, len(state.squares)).flatten(1, 2)
    return _added(state, grouped.mT @ grouped, rows[..., output_columns:].square().sum((1, 2)))


def _added(
    state: BlockSquares, squares: Float[Tensor, "p q q"], motion: Float[Tensor, " b"]
) -> BlockSquares:
    return BlockSquares(
        state.squares + squares,
        state.motion + motion.sum(),
        state.concentration + motion.square().sum(),
        torch.maximum(state.largest, motion.max()),
    )


def finalise(
    state: BlockSquares,
    moments: Float[Tensor, "p s s"],
    samples: Int[Tensor, " p"],
    sketch: SampleSketch,
) -> Parts:
    """What is known of each block that has samples, on the CPU.

    Args:
        state: rows of all samples.
        moments: moments of each block.
        samples: number of samples of each block.
        sketch: the sketch of all samples.
    """
    used = samples.nonzero().flatten().tolist()
    squares, counts = state.squares.cpu(), samples.tolist()
    uneven = Unevenness(sum(counts), state.motion, state.concentration, state.largest)
    return Parts(
        tuple(Gram(squares[i], counts[i]) for i in used),
        moments.cpu()[used],
        tuple(counts[i] for i in used),
        sample_evidence(uneven, sketch, None),
    )
