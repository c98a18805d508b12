"""Samples are assigned to blocks by their content or by their labels."""

import functools
import operator

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import liegg
from cases import normal, square
from liegg._utils.errors import ArgumentError
from liegg.actions import Linear
from liegg.polarization.sample_blocks import (
    ALL_BLOCK_NUMBERS,
    BLOCKS,
    FEWEST_BLOCKS,
    BlockAssigner,
    as_groups,
    count_for,
)
from liegg.polarization.sample_digest import sample_hashes


def pieces_of(total, sizes):
    """Consecutive slices of the given sizes, over and over, until the total is reached."""
    start, out = 0, []
    while start < total:
        stop = min(total, start + sizes[len(out) % len(sizes)])
        out.append(slice(start, stop))
        start = stop
    return out


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5),
    count=st.integers(1, 7),
    seed=st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_copies_are_in_one_block_whatever_the_order_and_the_batches(sizes, count, seed):
    """Every sample three times, shuffled: its block is the one that it has alone."""
    generator, total = torch.Generator().manual_seed(seed), sum(sizes)
    x = normal(total, 3, seed=seed)
    assigner = BlockAssigner(count)
    alone = torch.cat([assigner.assign(0, sample_hashes(sample)) for sample in x.split(1)])
    order = torch.arange(total).repeat(3)[torch.randperm(3 * total, generator=generator)]
    pieces = pieces_of(3 * total, sizes)
    assigned = torch.cat(
        [assigner.assign(piece.start, sample_hashes(x[order][piece])) for piece in pieces]
    )
    assert assigned.tolist() == alone[order].tolist()
    assigner.check_count(total)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_blocks_are_of_like_size(dtype):
    """1 600 different samples in 32 blocks: 50 each, with the scatter of a multinomial."""
    grid = torch.cartesian_prod(torch.arange(40.0), torch.arange(40.0))
    for data in (normal(1600, 4), grid, 1 + torch.finfo(dtype).eps * grid):
        x = data.to(dtype)
        sizes = torch.bincount(BlockAssigner(32).assign(0, sample_hashes(x)), minlength=32)
        expected = len(x.unique(dim=0)) / 32
        chi_square = float((sizes - 50).double().square().sum() / 50) * expected / 50
        assert 10 < chi_square < 65  # 31 degrees of freedom


def test_data_with_a_period_is_spread_like_any_other():
    """Every 32nd sample is of one kind; dealt in turn, each kind would fill one block."""
    kinds = BlockAssigner(32).assign(0, sample_hashes(normal(3200, 2))).reshape(100, 32)
    assert min(len(kinds[:, kind].unique()) for kind in range(32)) > 20


@given(
    labels=st.lists(
        st.integers(-3, 3) | st.sampled_from(["a", "b", None]), min_size=1, max_size=30
    ),
    count=st.integers(1, 5),
    step=st.integers(1, 7),
)
@settings(max_examples=60, deadline=None)
def test_groups_stay_together_in_blocks_of_like_size_whatever_the_order(labels, count, step):
    def blocks(labels):
        assigner = BlockAssigner(count, as_groups(labels))
        pieces = pieces_of(len(labels), [step])
        hashes = torch.zeros(len(labels), dtype=torch.int64)
        parts = [assigner.assign(piece.start, hashes[piece]).tolist() for piece in pieces]
        assigner.check_count(len(labels))
        return dict(
            zip(labels, functools.reduce(operator.iadd, parts, []), strict=True)
        ), functools.reduce(operator.iadd, parts, [])

    own, assigned = blocks(labels)
    assert assigned == [own[label] for label in labels]
    assert blocks(labels[::-1])[0] == own
    groups = [list(own.values()).count(block) for block in range(count)]
    assert max(groups) - min(groups) <= 1


def test_equal_labels_of_different_types_are_one_label():
    one, two = as_groups([1, "b", 1.5]), as_groups([True, "b", np.float32(1.5)])
    whole = as_groups([1.0, np.str_("b"), 1.5])
    assert one is not None
    assert two is not None
    assert whole is not None
    assert one.tolist() == two.tolist() == whole.tolist()
    assert as_groups([float("inf"), -0.0, 0]) is not None


def test_labels_may_be_of_any_kind():
    for labels in (
        ["x", "y", "x"],
        ("x", "y", "x"),
        [3, 7, 3],
        [0.5, 0.25, 0.5],
        [(1, 2), (2, 1), (1, 2)],
        np.array(["x", "y", "x"]),
        np.array([3, 7, 3], dtype=np.int16),
        torch.tensor([3, 7, 3]),
        [torch.tensor(3), torch.tensor(7), torch.tensor(3)],  # as a dataset returns them
        [np.int64(3), np.int64(7), 3],
        [True, False, True],
    ):
        found = as_groups(labels)
        assert found is not None
        assert found.unique(return_inverse=True)[1].tolist() in ([0, 1, 0], [1, 0, 1])


def test_no_groups_are_none():
    assert as_groups(None) is None


@pytest.mark.parametrize(
    ("groups", "text"),
    [
        (
            3,
            "groups must be a list or an array with one label for every sample, for example [0, 0, 1, 1].",
        ),
        ("aab", "groups must be a list or an array with one label for every sample"),
        (torch.zeros(4, 2), "groups must be a list or an array with one label for every sample"),
        (np.zeros(()), "groups must be a list or an array with one label for every sample"),
        (
            [[0], [1]],
            "groups holds a label that cannot be compared (unhashable type: 'list'). Use numbers or strings.",
        ),
    ],
)
def test_labels_that_are_none_are_refused(groups, text):
    with pytest.raises(ArgumentError) as caught:
        as_groups(groups)
    assert text in str(caught.value)


def test_too_few_labels_are_refused():
    assigner = BlockAssigner(4, as_groups([0, 0, 1]))
    assigner.assign(0, torch.zeros(2, dtype=torch.int64))
    with pytest.raises(ArgumentError) as caught:
        assigner.assign(2, torch.zeros(2, dtype=torch.int64))
    assert (
        str(caught.value)
        == "groups has 3 labels, but the data has more samples. Give one to each sample."
    )


def test_too_many_labels_are_refused():
    assigner = BlockAssigner(4, as_groups([0, 0, 1]))
    with pytest.raises(ArgumentError) as caught:
        assigner.check_count(2)
    assert str(caught.value) == "groups has 3 labels for 2 samples. Give one to each sample."


@pytest.mark.parametrize("samples", [19, 21])
def test_discover_wants_a_label_for_every_sample(samples):
    with pytest.raises(ArgumentError, match=f"groups has {samples} labels"):
        liegg.discover(square, normal(20, 2), Linear(2), run=liegg.Run(groups=list(range(samples))))


def test_how_many_blocks():
    columns = (0, 1, 64, 65, 128, 170, 171, 591, 592, 10**6)
    assert [count_for(n) for n in columns] == [32, 32, 32, 31, 16, 12, 12, 12, 1, 1]


@given(st.integers(0, 5000))
def test_blocks_are_enough_and_within_memory_or_one(columns):
    count = count_for(columns)
    assert count == 1 or (
        FEWEST_BLOCKS <= count <= BLOCKS and count * columns**2 <= ALL_BLOCK_NUMBERS
    )
    assert count_for(columns + 1) <= count
