"""Groups of permutations of slots, against explicit enumeration and known orders."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liegg._utils.errors import ArgumentError
from liegg.algebra.finite import SlotGroup, permutation_group, permutation_words
from liegg.algebra.finite.catalog import of_permutations
from liegg.algebra.finite.schreier import Chain


def swap(n, i, j):
    order = list(range(n))
    order[i], order[j] = j, i
    return tuple(order)


def cycle(n, *slots):
    order = list(range(n))
    for one, other in zip(slots, (*slots[1:], slots[0]), strict=True):
        order[one] = other
    return tuple(order)


MATHIEU = [cycle(11, *range(11)), (0, 1, 6, 9, 5, 3, 10, 2, 8, 4, 7)]

CASES = {
    "S₁₀": ([swap(10, i, i + 1) for i in range(9)], 10, math.factorial(10)),
    "S₁₀₀": ([swap(100, 0, i) for i in range(1, 100)], 100, math.factorial(100)),
    "S₃₀₀": ([swap(300, 0, 1), cycle(300, *range(300))], 300, math.factorial(300)),
    "S₃ × S₂": ([swap(5, 0, 1), swap(5, 1, 2), swap(5, 3, 4)], 5, 12),
    "C₆": ([cycle(6, *range(6))], 6, 6),
    "C₁₂₈": ([cycle(128, *range(128))], 128, 128),
    "D₈": ([cycle(8, *range(8)), tuple(range(8))[::-1]], 8, 16),
    "A₅": ([cycle(5, 0, 1, 2), cycle(5, 2, 3, 4)], 5, 60),
    "A₁₀₀": ([cycle(100, 0, 1, i) for i in range(2, 100)], 100, math.factorial(100) // 2),
    "S₂ ≀ S₃": ([swap(6, 0, 1), (2, 3, 0, 1, 4, 5), (2, 3, 4, 5, 0, 1)], 6, 48),
    "S₃ ≀ C₄": ([swap(12, 0, 1), swap(12, 1, 2), (*range(3, 12), 0, 1, 2)], 12, 6**4 * 4),
    "S₃": ([(2, 3, 0, 1, 4, 5), (2, 3, 4, 5, 0, 1)], 6, 6),
    "C₄ × C₃": ([cycle(7, 0, 1, 2), cycle(7, 3, 4, 5, 6)], 7, 12),
    "group of order 7920 on 11 slots": (MATHIEU, 11, 7920),
    "Dih(C₃ × C₃)": ([(1, 0, 2, 4, 3, 5), cycle(6, 0, 1, 2), cycle(6, 3, 4, 5)], 6, 18),
    "trivial": ([tuple(range(4))], 4, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_known_groups(name):
    generators, n, order = CASES[name]
    group = permutation_group(generators, n)
    assert (group.name, group.order, group.degree) == (name, order, n)
    assert group.generators == tuple(generators)
    moved = {i for one in generators for i in range(n) if one[i] != i}
    assert set().union(*map(set, group.orbits)) == moved


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 6).flatmap(lambda n: st.lists(st.permutations(range(n)), max_size=3)))
def test_orders_against_enumeration(generators):
    n = len(generators[0]) if generators else 3
    elements = {tuple(range(n))}
    while True:
        products = {tuple(a[i] for i in b) for a in elements for b in generators} | elements
        if products == elements:
            break
        elements = products
    group, chain = permutation_group(generators, n), Chain(generators, n)
    assert group.order == chain.order == len(elements)
    for order in itertools.permutations(range(n)):
        assert (order in group) == (order in chain) == (order in elements)


def test_a_random_permutation_of_many_slots_keeps_the_group():
    random = tuple(np.random.default_rng(0).permutation(200).tolist())
    group = permutation_group([swap(200, 0, i) for i in range(1, 200)] + [random], 200)
    assert group.name == "S₂₀₀"
    even = permutation_group([cycle(100, 0, 1, i) for i in range(2, 100)] + [swap(100, 3, 4)], 100)
    assert even.name == "S₁₀₀"


@pytest.mark.parametrize("name", CASES)
def test_members_are_told_from_others(name):
    generators, n, order = CASES[name]
    group = permutation_group(generators, n)
    assert all(one in group for one in generators)
    for one, other in itertools.product(generators[:3], repeat=2):
        assert tuple(one[i] for i in other) in group
    others = [swap(n, 0, n - 1), cycle(n, 0, 1, n - 1), cycle(n, *range(n))]
    for one in others:
        assert (one in group) == (permutation_group([*generators, one], n).order == order)


def test_words_of_permutations():
    assert permutation_words(swap(4, 1, 2), noun="atom") == "swaps atoms 2 and 3"
    assert permutation_words(range(3)) == "identity"
    assert permutation_words((1, 0, 3, 2)) == "swaps slots 1 and 2 and swaps slots 3 and 4"
    assert permutation_words(cycle(20, *range(20))) == "shifts all slots by 1"
    assert permutation_words(range(19, -1, -1)) == "reverses the order of the slots"
    mixed = np.random.default_rng(0).permutation(30)
    assert permutation_words(mixed.tolist()).startswith("permutes ")


def test_titles_list_the_slots():
    assert permutation_group(CASES["S₃ × S₂"][0], 5).title() == "S₃ × S₂ on the slots 1–3; 4–5"
    assert permutation_group(CASES["S₃"][0], 6).title() == "S₃ on the slots 1, 3, 5; 2, 4, 6"
    assert permutation_group([], 3).title() == "no permutation of 3 slots"


def test_a_record_comes_back_from_json():
    for noun in ("slot", "atom"):
        group = permutation_group(CASES["S₁₀₀"][0], 100, noun=noun)
        assert SlotGroup.from_dict(json.loads(json.dumps(group.to_dict()))) == group


def test_tables_of_permutations_multiply_like_them():
    table = of_permutations([[1, 0, 2], [1, 2, 0]])
    assert len(table) == 6


@pytest.mark.parametrize("generators", [[(0, 0, 1)], [(0, 1)], [(0, 1, 3)]])
def test_what_is_no_permutation_is_refused(generators):
    with pytest.raises(ArgumentError, match=r"expected a permutation of 0, \.\.\., 2"):
        permutation_group(generators, 3)
    with pytest.raises(ArgumentError, match="expected the number of slots"):
        permutation_group([], 0)
