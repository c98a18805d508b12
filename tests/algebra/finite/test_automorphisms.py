"""Automorphisms of tables of pairs, against enumeration and known graphs."""

import itertools

import numpy as np
import pytest

from liegg.algebra.finite import permutation_group
from liegg.algebra.finite.automorphisms import table_automorphisms


def shuffled(table, seed=0):
    order = np.random.default_rng(seed).permutation(len(table))
    return table[order][:, order][:, :, None].astype(float)


def ring(n, *, directed):
    step = np.roll(np.eye(n), 1, 1)
    return step if directed else step + step.T


def petersen():
    """Pairs of five, joined where they have no member in common."""
    pairs = list(itertools.combinations(range(5), 2))
    return np.array([[not set(a) & set(b) for b in pairs] for a in pairs])


CASES = {
    "directed ring": (ring(9, directed=True), 9),
    "ring": (ring(9, directed=False), 18),
    "ring of 24": (ring(24, directed=True), 24),
    "two rings": (
        np.block(
            [[ring(4, directed=True), np.zeros((4, 5))], [np.zeros((5, 4)), ring(5, directed=True)]]
        ),
        20,
    ),
    "Petersen": (petersen(), 120),
    "path": (np.eye(6, k=1), 1),
    "four and three equal": (np.diag([1.0] * 4 + [2.0] * 3), 144),
}


@pytest.mark.parametrize("name", CASES)
def test_known_groups_are_generated(name):
    table, order = CASES[name]
    table = shuffled(table)
    found = list(table_automorphisms(table, 1e-9))
    for one in found:
        moved = table[list(one)][:, list(one)]
        assert (moved == table).all()
    assert permutation_group(found, len(table)).order == order


@pytest.mark.parametrize("seed", range(4))
def test_random_tables_against_enumeration(seed):
    table = shuffled(np.random.default_rng(seed).integers(0, 2, (5, 5)))
    every = [
        one
        for one in itertools.permutations(range(5))
        if (table[list(one)][:, list(one)] == table).all()
    ]
    assert permutation_group(list(table_automorphisms(table, 1e-9)), 5).order == len(every)


def test_noise_within_the_tolerance_is_forgiven():
    table = shuffled(ring(8, directed=True))
    noisy = table + 1e-3 * np.random.default_rng(0).standard_normal(table.shape)
    assert permutation_group(list(table_automorphisms(noisy, 0.05)), 8).order == 8
    assert list(table_automorphisms(noisy, 1e-9)) == []


def test_only_movable_rows_are_listed():
    table = shuffled(np.diag([1.0] * 4))
    assert list(table_automorphisms(table, 1e-9, movable=[0])) == []


def test_a_search_without_end_stops():
    design = np.random.default_rng(0).integers(0, 2, (16, 16))
    table = shuffled(np.kron(np.eye(2), design + design.T), 1)
    assert isinstance(list(table_automorphisms(table, 2.0)), list)
