"""Widths from parameter counts, and networks put into groups."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liegg.studies.ensemble.members import Member, groups, memory, parameters, width_for


@given(st.integers(1, 6), st.integers(1, 1200), st.integers(1, 40), st.integers(800, 300_000))
def test_no_other_width_comes_nearer(depth: int, inputs: int, outputs: int, count: int) -> None:
    least = parameters((inputs, *[1] * depth, outputs))
    width = width_for(max(count, least), depth, inputs, outputs)

    def miss(w: int) -> int:
        return abs(parameters((inputs, *[w] * depth, outputs)) - max(count, least))

    assert width >= 1
    assert miss(width) <= miss(width + 1)
    assert width == 1 or miss(width) <= miss(width - 1)


MANY = [
    Member((20, *[width] * depth, 3), seed, 100, 5)
    for depth in (1, 3)
    for width in (4, 9, 10, 40)
    for seed in (1, 2)
]


def widths(group: list[int]) -> set[tuple[int, ...]]:
    return {MANY[place].sizes for place in group}


def padded(group: list[int]) -> int:
    return len(group) * max(MANY[place].parameters for place in group)


@pytest.mark.parametrize("overhead", [0, 100, 10**9])
def test_every_network_is_in_one_group_of_its_depth(overhead: int) -> None:
    found = groups(MANY, overhead=overhead, memory_limit=10**9, batch_size=10)
    assert sorted(place for group in found for place in group) == list(range(len(MANY)))
    assert all(len({len(sizes) for sizes in widths(group)}) == 1 for group in found)


def test_where_launches_cost_little_only_equal_shapes_share_a_group() -> None:
    found = groups(MANY, overhead=1, memory_limit=10**9, batch_size=10)
    assert [len(group) for group in found] == [2] * 8
    assert all(len(widths(group)) == 1 for group in found)


def test_where_launches_cost_much_all_of_a_depth_share_a_group() -> None:
    assert [
        len(group) for group in groups(MANY, overhead=10**9, memory_limit=10**9, batch_size=10)
    ] == [8, 8]


def test_no_other_split_is_cheaper() -> None:
    """Against all 2⁷ ways to cut the eight networks of one depth, in the order of their widths."""
    one_depth = list(range(8))
    for overhead in (50, 150, 400, 1500):
        found = groups(MANY[:8], overhead=overhead, memory_limit=10**9, batch_size=10)
        costs = []
        for cuts in range(2**7):
            parts, begin = [], 0
            for place in range(1, 9):
                if place == 8 or cuts >> (place - 1) & 1:
                    parts.append(one_depth[begin:place])
                    begin = place
            costs.append(sum(overhead + padded(part) for part in parts))
        assert sum(overhead + padded(group) for group in found) == min(costs)


def test_memory_is_bounded() -> None:
    limit = 3 * memory((20, 40, 40, 40, 3), 1, 10)
    found = groups(MANY, overhead=10**9, memory_limit=limit, batch_size=10)
    assert len(found) > 2
    for group in found:
        widest = [max(column) for column in zip(*widths(group), strict=True)]
        assert memory(widest, len(group), 10) <= limit
