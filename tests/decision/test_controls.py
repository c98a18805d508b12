"""Controls: random directions against brute force, re-initialised models against the rule by hand."""

import math

import numpy as np
import pytest
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import normal, regular
from liegg._utils.diagnoses import Diagnosis
from liegg.decision.controls import (
    RANDOM_DIRECTIONS,
    RARE_SHARE,
    compare_with_reinitialised,
    random_directions,
)


def column(*values):
    return torch.tensor(values, dtype=torch.float64)


# Random directions.


def test_random_directions_against_explicit_ones():
    """Directions of unit motion in an explicit pair (A, M), each one's defect by its quadratic forms."""
    values = column(0.001, 0.2, 0.9, 1.4, 2.5)
    frame = regular(5, condition=4.0)
    a, m = frame.mT @ torch.diag(values) @ frame, frame.mT @ frame
    root = torch.linalg.cholesky(m)
    h = torch.linalg.solve_triangular(
        root.mT, torch.nn.functional.normalize(normal(20000, 5), dim=1).mT, upper=True
    ).mT
    torch.testing.assert_close(
        torch.einsum("di,ij,dj->d", h, m, h), torch.ones(20000, dtype=torch.float64)
    )
    found = torch.einsum("di,ij,dj->d", h, a, h)
    control = random_directions(values, seed=0, draws=20000)
    assert control.low == pytest.approx(float(found.quantile(RARE_SHARE)), rel=0.03)
    assert control.median == pytest.approx(float(found.median()), rel=0.02)
    assert (control.share, control.draws) == (RARE_SHARE, 20000)


def test_two_directions_in_closed_form():
    """u₁² of a random unit vector of the plane has the arcsine distribution: its p-quantile is sin²(πp/2)."""
    control = random_directions(column(0.0, 1.0), seed=3, share=0.2, draws=40000)
    assert control.low == pytest.approx(math.sin(math.pi * 0.1) ** 2, rel=0.05)
    assert control.median == pytest.approx(0.5, rel=0.02)


@given(st.lists(st.floats(0, 3), min_size=1, max_size=6), st.floats(1e-3, 1e3), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_random_directions_lie_between_the_extremes_and_scale(values, scale, seed):
    one = random_directions(column(*values), seed=seed)
    assert min(values) - 1e-12 <= one.low <= one.median <= max(values) + 1e-12
    other = random_directions(scale * column(*values), seed=seed)
    assert (other.low, other.median) == pytest.approx(
        (scale * one.low, scale * one.median), rel=1e-9, abs=1e-300
    )
    assert one.draws == RANDOM_DIRECTIONS


def test_one_direction_is_its_own_control():
    assert random_directions(column(0.7), seed=0).low == pytest.approx(0.7, rel=1e-12)


def test_seeds_decide_and_the_callers_generator_is_left_alone():
    values, before = column(0.1, 1.0, 2.0), torch.get_rng_state()
    one, same, other = (random_directions(values, seed=seed).low for seed in (1, 1, 2))
    assert one == pytest.approx(same, rel=1e-12)
    assert one != pytest.approx(other, rel=1e-6)
    assert torch.equal(torch.get_rng_state(), before)


def test_no_direction_that_moves_has_no_control():
    control = random_directions(column(), seed=0)
    assert (control.low, control.median, control.draws) == (math.inf, math.inf, 0)


# Re-initialised models.


def learned(high, *draws):
    return compare_with_reinitialised(
        column(*high), [column(*draw) for draw in draws], [column(*draw) for draw in draws]
    ).learned


def test_learned_is_what_lies_clearly_below_every_draw():
    assert learned([1e-4, 0.5, 2.0], *[[d, d, d] for d in (0.4, 0.5, 0.6, 0.55, 0.45)]) == (
        True,
        False,
        False,
    )


def test_the_border_is_the_prediction_interval_of_a_further_draw():
    """exp(mean - t₉₅ √(1 + 1/n) s) of the logarithms, by scipy; a direction just below it is learned."""
    for draws in (2, 3, 5, 10):
        others = np.exp(0.3 * normal(draws, seed=4).numpy())
        t = scipy.stats.t.ppf(0.95, draws - 1)
        width = t * math.sqrt(1 + 1 / draws) * np.log(others).std(ddof=1)
        border = math.exp(np.log(others).mean() - width)
        assert border < others.min()
        along = [[float(f), float(f)] for f in others]
        assert learned([border * 0.99, border * 1.01], *along) == (True, False), draws


def test_never_above_a_draw_that_was_made():
    """Alike but for one far below: below the spread of the logarithms is not enough, nor is being below most."""
    fresh = [0.5, 0.500001, 0.500002, 0.500001, 0.5]
    assert learned([0.4999], *[[f] for f in fresh]) == (True,)
    assert learned([0.5], *[[f] for f in fresh]) == (False,)
    # Of ten draws one may lie below the prediction interval of the rest, which ends at 0.26 here; up to six it cannot.
    assert learned([0.25, 0.19], *[[0.5, 0.5]] * 9, [0.2, 0.2]) == (False, True)


def test_what_reinitialised_models_have_too_was_not_learned():
    assert learned([0.0, 1e-30], *[[0.0, 1e-30]] * 5) == (False, False)  # by architecture, exact
    assert learned([0.0], [0.1], [0.1], [0.2]) == (True,)


def test_a_draw_that_says_nothing_makes_no_claim():
    assert learned([1e-6, 1e-6], [math.nan, 0.5], [0.5, 0.5], [0.5, 0.5]) == (False, True)
    assert learned([math.nan], [0.5], [0.4], [0.5]) == (False,)


@given(st.lists(st.floats(-6, 3), min_size=3, max_size=6), st.floats(-9, 3), st.floats(-3, 3))
@settings(max_examples=60, deadline=None)
def test_units_do_not_matter_and_smaller_is_never_less_learned(fresh, high, shift):
    def found(high, move):
        return learned([10 ** (high + move)], *[[10 ** (f + move)] for f in fresh])[0]

    if found(high, 0.0):
        assert found(high - 1.0, 0.0)
        assert 10**high < min(10**f for f in fresh)
    if found(high - 0.01, 0.0) == found(high + 0.01, 0.0):  # not within rounding of the border
        assert found(high, shift) == found(high, 0.0)


def test_what_was_compared_with_is_stored():
    own = [column(0.5, 0.7), column(0.6, math.nan)]
    control = compare_with_reinitialised(
        column(0.1, 0.2),
        [column(1.0, 2.0), column(3.0, 4.0)],
        own,
        (Diagnosis.TEXT(text="scale was kept"),),
    )
    assert control.along.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert control.own[0].tolist() == [0.5, 0.7]
    assert math.isnan(control.own[1, 1])
    assert control.notes == ("scale was kept",)
    assert len(control.learned) == 2


def test_reinitialised_models_may_choose_their_directions_too():
    """Along the model's smallest direction they have a large defect, but each has another as small as the model's."""
    high, along, own = (
        column(0.01),
        [column(1.0), column(0.9), column(1.1)],
        [column(0.012), column(0.008), column(0.011)],
    )
    assert compare_with_reinitialised(high, along, own).learned == (False,)
    assert compare_with_reinitialised(column(1e-4), along, own).learned == (True,)
    assert compare_with_reinitialised(high, along, own, same_direction_only=True).learned == (
        True,
    )  # theirs are those of a nearly linear function


def test_what_lies_below_the_floor_is_alike():
    along = [column(1e-15), column(2e-15), column(3e-15)]
    assert compare_with_reinitialised(column(1e-30), along, along).learned == (True,)
    assert compare_with_reinitialised(column(1e-30), along, along, floor=1e-4).learned == (False,)
