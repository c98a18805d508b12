"""Bases with few entries, in small integers."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.words.spans import CATALOGUE, angle, disturbed, matrix, mixed
from cases import normal, regular
from liegg._utils.errors import ArgumentError
from liegg.algebra import sl, so, su
from liegg.algebra.words.sparse import _eliminate, pivots, sparse_basis


def test_every_mixed_algebra_comes_back_in_small_integers():
    for generators in CATALOGUE.values():
        found = sparse_basis(mixed(generators))
        assert found.dtype == torch.float64
        assert set(found.unique().tolist()) <= {-2.0, -1.0, 0.0, 1.0, 2.0}
        assert angle(found, generators) < 1e-13
        assert int(found.ne(0).sum()) <= int(generators.ne(0).sum())


def test_the_basis_depends_on_the_span_alone():
    for generators in CATALOGUE.values():
        assert torch.equal(
            sparse_basis(mixed(generators, seed=1)), sparse_basis(mixed(generators, seed=2))
        )


def test_noise_is_rounded_away():
    for generators in CATALOGUE.values():
        assert torch.equal(
            sparse_basis(disturbed(generators, 1e-2), uncertainty=1e-2), sparse_basis(generators)
        )


def test_rotations_are_those_of_the_catalogue():
    assert torch.equal(sparse_basis(mixed(so(5))), so(5))


def test_traceless_matrices_are_units_and_differences_of_the_diagonal():
    found = sparse_basis(mixed(sl(3)))
    ones, twos = (
        found[found.ne(0).flatten(1).sum(1) == 1],
        found[found.ne(0).flatten(1).sum(1) == 2],
    )
    assert torch.equal(
        ones.sum(0), torch.ones(3, 3, dtype=torch.float64) - torch.eye(3, dtype=torch.float64)
    )
    assert [t.diagonal().tolist() for t in twos] == [[1, 0, -1], [0, 1, -1]]


def test_fractions_become_integers():
    # Rotations that preserve x² + 2y² + 3z²: QA antisymmetric, A_ij / A_ji = -q_j / q_i.
    weights = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    found = sparse_basis(mixed(so(3) / weights[:, None]))
    expected = [matrix(3, _21=1, _12=-2), matrix(3, _31=1, _13=-3), matrix(3, _32=2, _23=-3)]
    assert torch.equal(found, torch.stack(expected))


def test_without_integers_the_largest_entry_is_one():
    found = sparse_basis(torch.tensor([[[0.0, -5.0], [math.pi, 0.0]]], dtype=torch.float64))
    np.testing.assert_allclose(found[0], [[0, -1], [math.pi / 5, 0]], atol=1e-15)


def test_sums_with_other_generators_leave_fewer_entries():
    # Overlapping bands: their echelon form has 4 rows of up to 7 entries, the bands have 3 each.
    bands = torch.zeros(4, 9, dtype=torch.float64)
    for k in range(4):
        bands[k, k : k + 3] = torch.tensor([1.0, 1.0, 2.0])
    found = sparse_basis(mixed(bands.unflatten(1, (3, 3)).mT))
    assert int(found.ne(0).sum()) == 12
    assert angle(found, bands.unflatten(1, (3, 3)).mT) < 1e-12


@given(n=st.integers(1, 4), d=st.integers(0, 8), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=25)
def test_spans_without_structure_are_kept(n, d, seed):
    generators = normal(min(d, n * n), n, n, seed=seed)
    found = sparse_basis(generators)
    assert angle(found, generators) < 1e-7
    torch.testing.assert_close(sparse_basis(mixed(generators)), found, atol=1e-6, rtol=0)


def test_noise_moves_a_span_without_zeros_by_no_more_than_the_noise():
    for uncertainty in [1e-3, 1e-2, 1e-1]:
        for n in [3, 5]:
            p = regular(n, condition=10)
            given_ = disturbed(p @ so(n) @ torch.linalg.inv(p), uncertainty)
            assert angle(sparse_basis(given_, uncertainty=uncertainty), given_) < 3 * uncertainty


def test_real_entries_are_not_taken_for_noise():
    tilted = torch.stack([matrix(3, _12=1, _13=0.1), matrix(3, _32=1)])
    found = sparse_basis(disturbed(tilted, 1e-3), uncertainty=1e-3)
    np.testing.assert_allclose(sorted(found[found != 0]), [0.1, 1, 1], atol=3e-3)


def test_single_precision_is_an_uncertainty():
    assert torch.equal(sparse_basis(mixed(su(3)).float()), sparse_basis(su(3)))


def test_dependent_generators_are_reduced():
    assert torch.equal(sparse_basis(torch.cat([so(3), so(3).sum(0, keepdim=True)])), so(3))


def test_a_frame_is_undone():
    for condition in [1.0, 10.0, 100.0]:
        s = regular(4, condition=condition)
        assert torch.equal(
            sparse_basis(mixed(s @ so(1, 3) @ torch.linalg.inv(s)), frame=s), sparse_basis(so(1, 3))
        )


def test_noise_is_followed_through_a_frame():
    for seed in range(3):
        s = regular(4, condition=10.0, seed=seed)
        seen = disturbed(s @ so(1, 3) @ torch.linalg.inv(s), 1e-2, seed=seed)
        assert torch.equal(sparse_basis(seen, frame=s, uncertainty=1e-2), sparse_basis(so(1, 3)))


def test_pivots_take_axes_inside_first_and_the_first_of_equals():
    inside = torch.tensor([[0.0, 0.0, 1.0], [0.5**0.5, -(0.5**0.5), 0.0]], dtype=torch.float64)
    assert pivots((inside.mT @ inside).numpy(), 2) == [2, 0]


def test_errors():
    for make, text in [
        (lambda: sparse_basis(so(3), uncertainty=-1.0), r"uncertainty is -1\.0; expected"),
        (lambda: sparse_basis(torch.zeros(2, 3, 4)), r"expected matrices \[d, n, n\]"),
        (lambda: sparse_basis(math.nan * so(3)), r"generator 0 contains NaN or infinity"),
    ]:
        with pytest.raises(ArgumentError, match=text):
            make()


def test_a_long_row_is_shortened_by_another():
    rows = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]])
    assert _eliminate(rows).tolist() == [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]
