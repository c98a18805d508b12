"""Squared rows per block against sums written out, however the samples come."""

import torch

from cases import normal
from liegg.discovery.layers import block_squares
from liegg.polarization import sample_sketch

CPU = torch.device("cpu")
BLOCK = torch.tensor([0, 2, 1, 2, 0, 0, 2])


def test_blocks_are_sums_over_their_samples():
    for output_columns in [0, 2]:
        for rows_per_sample in [1, 9]:
            rows = normal(7, rows_per_sample, 5)
            state = block_squares.init(4, 5, CPU)
            for some in (slice(0, 3), slice(3, 7)):
                before = state.squares.clone()
                state_after = block_squares.add_rows(state, rows[some], BLOCK[some], output_columns)
                assert torch.equal(state.squares, before)  # a batch may be repeated
                state = state_after
            for i in range(4):
                own = rows[BLOCK.eq(i)].flatten(0, 1)
                torch.testing.assert_close(state.squares[i], own.mT @ own)
            sizes = rows[..., output_columns:].square().sum((1, 2))
            torch.testing.assert_close(state.motion, sizes.sum())
            torch.testing.assert_close(state.concentration, sizes.square().sum())
            torch.testing.assert_close(state.largest, sizes.max())


def test_empty_blocks_are_left_out():
    rows = normal(7, 2, 3)
    state = block_squares.add_rows(block_squares.init(4, 3, CPU), rows, BLOCK)
    moments = normal(4, 3, 3)
    counts = torch.bincount(BLOCK, minlength=4)
    parts = block_squares.finalise(state, moments, counts, sample_sketch.init())
    assert parts.samples == (3, 1, 3)
    assert len(parts.rows) == 3
    torch.testing.assert_close(parts.moments, moments[:3])
