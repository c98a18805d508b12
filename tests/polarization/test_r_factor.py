"""The R factor: the same for any batching, order and merge tree; what it resolves that a Gram matrix does not."""

from functools import reduce
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import normal
from liegg.polarization.r_factor import RFactor, init, merge, update

ROWS = normal(60, 6)


def factor(rows) -> RFactor:
    return update(init(rows.shape[1]), rows)


def assert_factor_of(state: RFactor, rows):
    assert state.rows == len(rows)
    torch.testing.assert_close(state.r.mT @ state.r, rows.mT @ rows, rtol=1e-12, atol=1e-12)
    assert torch.equal(state.r, state.r.triu())
    assert bool((state.r.diagonal() >= 0).all())


def test_is_the_cholesky_factor():
    torch.testing.assert_close(
        factor(ROWS).r, torch.linalg.cholesky(ROWS.mT @ ROWS).mT, rtol=1e-12, atol=1e-12
    )


@given(cuts=st.lists(st.integers(0, 60), max_size=8), order=st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=40)
def test_any_batching_order_and_merge_tree(cuts, order):
    bounds = [0, *sorted(cuts), 60]
    pieces = [ROWS[i:j] for i, j in pairwise(bounds)]
    order.shuffle(pieces)
    one_by_one = reduce(update, pieces, init(6))
    forest = [factor(piece) for piece in pieces]
    while len(forest) > 1:  # merge two at random until one is left
        i = order.randrange(len(forest) - 1)
        forest[i : i + 2] = [merge(forest[i], forest[i + 1])]
    for state in (one_by_one, forest[0]):
        assert state.rows == 60
        torch.testing.assert_close(state.r, factor(ROWS).r, rtol=1e-12, atol=1e-12)


def test_merge_commutes_and_has_a_unit():
    one, other = factor(ROWS[:20]), factor(ROWS[20:])
    torch.testing.assert_close(merge(one, other).r, merge(other, one).r, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(merge(one, init(6)).r, one.r, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("count", [0, 1, 3, 5])
def test_fewer_rows_than_columns(count):
    state = factor(ROWS[:count])
    assert_factor_of(state, ROWS[:count])
    assert state.r.shape == (6, 6)
    assert not state.r[count:].any()


def test_dependent_columns():
    rows = torch.cat([ROWS, ROWS[:, :2] @ normal(2, 3)], dim=1)
    assert_factor_of(factor(rows), rows)
    assert float(torch.linalg.svdvals(factor(rows).r)[-3:].max()) < 1e-14 * 10


def test_float32_rows_are_folded_as_float64():
    state = factor(ROWS.float())
    assert state.r.dtype == torch.float64
    assert_factor_of(state, ROWS.float().double())


def test_the_state_given_is_not_changed():
    state = factor(ROWS[:20])
    before = state.r.clone()
    update(state, ROWS[20:])
    merge(state, state)
    assert torch.equal(state.r, before)


def test_a_float32_gram_matrix_fails_where_the_factor_does_not():
    """Columns (1, 1) and (1, 1 + ε), ε = 2⁻²³, are exact in float32; their smallest singular value is about ε/2 = 6e-8.

    The Gram matrix [[2, 2 + ε], [2 + ε, 2 + 2ε + ε²]] is not: 2 + ε rounds to 2, and the smallest singular value comes out at
    √ε = 3e-4, five thousand times too large. With 1 - ε/2 in place of 1 + ε the same rounding makes it imaginary: a false zero.
    """
    step = 2.0**-23
    rows = torch.tensor([[1.0, 1.0], [1.0, 1.0 + step]])
    true = step / 2
    gram = torch.linalg.eigvalsh(rows.mT @ rows)[0].sqrt()
    assert float(gram) > 1000 * true
    assert float(torch.linalg.svdvals(factor(rows).r)[-1]) == pytest.approx(true, rel=1e-6)

    rows = torch.tensor([[1.0, 1.0], [1.0, 1.0 - step / 2]])
    assert float(torch.linalg.det((rows.mT @ rows).double())) <= 0  # true: (ε/2)², positive
    assert float(torch.linalg.svdvals(factor(rows).r)[-1]) == pytest.approx(step / 4, rel=1e-6)
