"""Controls: random directions against brute force, control models against ranks by hand."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import normal, regular
from liegg._utils.diagnoses import Diagnosis
from liegg.decision.controls import (
    CONTROL_DRAWS,
    RANDOM_DIRECTIONS,
    RARE_SHARE,
    compare_with_reinitialised,
    random_directions,
    rank_test,
    reordered,
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


# Control models.


def ranked(values, along, own=None, *, count=None, counts=None, **options):
    """The test of hand-made defects: every model finds as many directions as are given, unless said otherwise."""
    along = torch.tensor(along, dtype=torch.float64)
    own = along if own is None else torch.tensor(own, dtype=torch.float64)
    count = len(values) if count is None else count
    counts = [count] * len(own) if counts is None else counts
    return rank_test(column(*values), along, own, [count, *counts], **options)


def levels(draws, low=0.4, high=0.6):
    return torch.linspace(low, high, draws, dtype=torch.float64)[:, None].tolist()


@pytest.mark.parametrize("draws", [2, 5, 19, 99])
def test_below_every_draw_p_is_as_small_as_it_can_be(draws):
    test = ranked([0.01], levels(draws))
    assert test.p == pytest.approx(1 / (1 + draws))
    assert test.smallest_p == pytest.approx(1 / (1 + draws))
    assert test.learned == (draws >= CONTROL_DRAWS)
    expected = Diagnosis.LEARNED if draws >= CONTROL_DRAWS else Diagnosis.TOO_FEW_DRAWS
    assert test.remark.diagnosis is expected
    assert str(test) == str(test.remark)


def test_the_p_value_counts_the_draws_that_are_as_symmetric():
    for below in range(6):
        value = 0.4 + 0.2 * (below - 0.5) / 4 if below else 0.3
        assert ranked([value], levels(5)).p == pytest.approx((1 + below) / 6), below


def test_five_draws_cannot_decide_and_say_so():
    remark = ranked([1e-4], levels(5)).remark
    assert remark.values["p"] == "0.17"
    assert "cannot go below 0.17 with 5" in remark


def test_the_worse_of_both_comparisons_decides():
    """Along the model's direction draws have a large defect, but each has another as small as the model's."""
    along, own = levels(19, 0.9, 1.1), levels(19, 0.008, 0.012)
    assert not ranked([0.0101], along, own).learned
    assert ranked([1e-3], along, own).learned
    assert ranked([0.0101], along, own, same_span_only=True).learned
    assert not ranked([1e-3], own=along, along=levels(19, 1e-4, 2e-3)).learned


def test_one_test_on_the_mean_of_the_span():
    """Direction by direction the first is below all draws, the mean of both is not."""
    along = [[0.4, 0.4 + 0.01 * i] for i in range(19)]
    assert ranked([0.3], [row[:1] for row in along]).learned
    test = ranked([0.3, 0.6], along)
    assert not test.learned
    assert test.dimension == 2
    assert test.model == pytest.approx(0.45)
    assert test.along[3] == pytest.approx((0.4 + 0.43) / 2)


def test_what_control_models_have_too_was_not_learned():
    assert ranked([0.0, 1e-30], [[0.0, 1e-30]] * 19, floor=1e-4).p == 1.0
    assert ranked([1e-30], levels(19, 1e-15, 1e-14)).learned
    assert ranked([1e-30], levels(19, 1e-15, 1e-14), floor=1e-4).p == 1.0
    # One direction by architecture, two learned: the span is still more symmetric than theirs.
    others = [[1e-30, 0.3 + 0.01 * i, 0.5] for i in range(19)]
    assert ranked([1e-30, 1e-3, 1e-3], others, counts=[1] * 19, floor=1e-4).learned


def test_a_draw_that_says_nothing_makes_no_claim():
    others = levels(19)
    others[4] = [math.nan]
    assert ranked([1e-6], others).p == pytest.approx(2 / 20)
    assert ranked([math.nan], levels(19)).p == 1.0
    assert rank_test(column(), torch.zeros(3, 0), torch.zeros(3, 0), [0] * 4).p == 1.0


def test_at_least_one_direction_is_compared():
    test = ranked([0.01, 0.9], [[0.5, 0.9]] * 10 + [[0.6, 1.0]] * 9, count=0)
    assert (test.dimension, test.learned) == (1, True)


@given(st.integers(0, 10**6), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_units_do_not_matter_and_smaller_is_never_less_learned(seed, count):
    generator = torch.Generator().manual_seed(seed)
    own = torch.rand(9, 4, generator=generator, dtype=torch.float64).sort(1).values
    along = own + torch.rand(9, 4, generator=generator, dtype=torch.float64)
    values = own.mean(0) * 0.5
    counts = [count, *torch.randint(0, 5, (9,), generator=generator).tolist()]
    test = rank_test(values, along, own, counts)
    scaled = rank_test(37.5 * values, 37.5 * along, 37.5 * own, counts)
    assert test.p == pytest.approx(scaled.p)
    assert rank_test(0.1 * values, along, own, counts).p <= test.p


def test_under_the_null_the_choice_of_the_number_favours_nobody():
    """Models that are drawn alike, each with the number of directions before its widest gap: p ≤ 0.05 in 5 % of 2000."""
    generator = torch.Generator().manual_seed(0)
    learned = simple = 0
    for _ in range(2000):
        models = (
            torch.rand(20, 5, generator=generator, dtype=torch.float64).log().sort(1).values.exp()
        )
        counts = ((models[:, 1:] / models[:, :-1]).argmax(1) + 1).tolist()
        along = torch.ones(19, 5, dtype=torch.float64)
        learned += rank_test(models[0], along, models[1:], counts).learned
        means = models[:, : counts[0]].mean(1)
        simple += bool((means[0] < means[1:]).all())
    assert learned / 2000 < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2000)
    assert simple > 1.2 * learned  # what the ranks of the means alone would claim


def test_what_was_compared_with_is_stored():
    own = [column(0.5, 0.7), column(0.6, math.nan)]
    control = compare_with_reinitialised(
        column(0.1, 0.2),
        [column(1.0, 2.0), column(3.0, 4.0)],
        own,
        [1, 0, 2],
        notes=(Diagnosis.TEXT(text="scale was kept"),),
    )
    assert control.along.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert control.own[0].tolist() == [0.5, 0.7]
    assert math.isnan(control.own[1, 1])
    assert control.notes == ("scale was kept",)
    assert control.learned == (False, False)
    assert control.counts == (0, 2)


def test_all_directions_of_the_span_were_learned_or_none():
    along = [column(0.5, 0.6 + 0.01 * i, 0.7) for i in range(19)]
    control = compare_with_reinitialised(column(1e-3, 2e-3, 0.7), along, along, [2] + [0] * 19)
    assert control.learned == (True, True, False)
    # Verification leaves the second direction only: it comes first now.
    order = torch.tensor([1, 0, 2])
    moved = reordered(control, column(2e-3, 1e-3, 0.7), order, 1, floor=0.0)
    assert moved.learned == (True, False, False)
    assert moved.along[3].tolist() == [0.6 + 0.03, 0.5, 0.7]
    assert moved.test is not None
    assert (moved.test.dimension, moved.test.model) == (1, 2e-3)
