"""The statistics of the claims against scipy's own and against counted chances."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from liegg.studies.claims.record import TooFewError
from liegg.studies.claims.statistics import Correlation, chance, rank_correlation, smaller

RANDOM = np.random.default_rng(0)


def test_with_one_group_it_is_spearman_s():
    x, y = RANDOM.integers(0, 5, 40), RANDOM.normal(size=40)
    known: Any = stats.spearmanr(x, y)
    found = rank_correlation(x, y)
    assert (found.rho, found.p) == pytest.approx((known.statistic, known.pvalue), rel=1e-9)
    assert found.groups == 1


def test_what_differs_between_groups_drops_out():
    """Within each group the second falls as the first rises; over all it rises."""
    groups = np.repeat([1, 2, 3], 5)
    x = np.tile(np.arange(5), 3) + 10 * groups
    y = 100 * groups - x
    assert rank_correlation(x, y).rho > 0.5
    found = rank_correlation(x, y, groups)
    assert (found.negative, found.groups) == (3, 3)
    assert found.rho == pytest.approx(-1)
    assert found.p < 1e-9
    assert found.falls


def test_groups_of_any_size_weigh_by_their_networks():
    groups = np.array([1] * 4 + [2] * 12)
    x = np.concatenate([np.arange(4), np.arange(12)])
    y = np.concatenate([np.arange(4), -np.arange(12)])
    found = rank_correlation(x, y, groups)
    assert (found.negative, found.groups) == (1, 2)
    assert -1 < found.rho < -0.5


@pytest.mark.parametrize(
    ("rho", "p", "falls"),
    [(-0.5, 0.049, True), (-0.5, 0.051, False), (0.5, 0.001, False), (-0.5, 0.05, False)],
)
def test_falling_is_negative_and_not_by_chance(rho, p, falls):
    assert Correlation(rho, p, 0, 1).falls is falls


def test_only_groups_that_clearly_fall_are_counted():
    """Five values: one swap leaves Spearman's -0.9, p = 0.04; two leave -0.8, p = 0.10. Two values and equal ones tell nothing."""
    orders = [[5, 4, 3, 1, 2], [4, 5, 3, 1, 2], [1, 2, 3, 4, 5], [2, 1], [7, 7, 7]]
    groups = np.concatenate([[group] * len(order) for group, order in enumerate(orders)])
    found = rank_correlation(
        np.concatenate([np.arange(len(order)) for order in orders]), np.concatenate(orders), groups
    )
    assert (found.negative, found.groups) == (1, 5)


def test_two_networks_are_too_few():
    with pytest.raises(TooFewError, match=r"^too few networks: 2, a correlation needs 3$"):
        rank_correlation(np.array([1, 2]), np.array([2.0, 1.0]))


@pytest.mark.parametrize("groups", [None, np.array([0, 1, 2, 3, 4])])
def test_a_quantity_that_never_changes_is_refused(groups):
    x, y = (np.ones(5), np.arange(5)) if groups is None else (np.arange(5), np.arange(5))
    with pytest.raises(
        TooFewError,
        match=r"^nothing to correlate: a quantity is the same in all networks that are compared$",
    ):
        rank_correlation(x, y, groups)


def test_networks_that_could_never_reach_the_level_are_too_few():
    """Two sizes of two networks each: their clearest order has Spearman's -0.89 and p = 0.11."""
    with pytest.raises(
        TooFewError,
        match=r"^too few networks: the clearest order of 4 has p = 0.11, not below 0.05$",
    ):
        rank_correlation(np.array([1, 1, 2, 2]), np.array([4.0, 2.0, 1.0, 3.0]))


def test_the_clearest_order_is_the_opposite_one():
    """One network apart in either quantity: in the same order they hardly correlate, in opposite order perfectly."""
    found = rank_correlation(np.array([0] * 9 + [1]), np.array([1] * 9 + [0]))
    assert found.rho == pytest.approx(-1)


def test_smaller_counts_the_orders():
    """Four values all below four others: one order of 70."""
    assert smaller([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]) == pytest.approx(1 / 70)
    assert smaller([5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0]) == pytest.approx(1)


def test_smaller_refuses_what_could_never_be_told_apart():
    with pytest.raises(TooFewError, match=r"^too few networks: with 3 and 3 no p is below 0.05$"):
        smaller([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    with pytest.raises(TooFewError, match=r"with 0 and 8 no p"):
        smaller([], [1.0] * 8)


def test_equal_values_are_not_smaller():
    assert smaller([1.0] * 8, [1.0] * 8) == 1


@pytest.mark.parametrize(
    ("p", "text"),
    [(1.0, "p = 1.00"), (0.01, "p = 0.01"), (0.0099, "p = 1e-02"), (0.0, "p < 1e-99")],
)
def test_chances_in_words(p, text):
    assert chance(p) == text
