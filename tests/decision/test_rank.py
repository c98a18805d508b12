"""The rank rule: the count is the rule in words, for one spectrum and for many at once."""

import inspect
import math

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import liegg
from cases import normal
from liegg.decision.rank import RULE, Evidence, count, evidence, levels, rule
from spectra import FLOOR, SOME_THRESHOLDS, USUAL, case_of, column, counted, spectra


@pytest.mark.parametrize(
    ("values", "number"),
    [
        ([], 0),
        ([0.0, 0.0, 1.0, 2.0], 2),  # exact
        ([1e-30, 1e-28, 1.0, 2.0], 2),  # at the floor, whatever their ratio
        ([1e-4, 2e-3, 1.0, 2.0], 2),  # separated by a gap
        ([0.02, 0.1, 0.5, 2.0], 0),  # below the threshold without a gap
        ([9e-4, 5e-3, 0.03, 0.2], 1),  # strong, whatever comes after
        ([2e-4, 9e-4, 0.019, 0.1, 1.0], 2),  # a gap before a small defect
        ([0.05, 1.0, 1.5, 2.0], 0),  # a gap above the threshold
        ([1.0, 1.0, 1.0, 1.0], 0),  # orthonormal columns
        ([0.03, 0.3, 1.0, 2.0], 1),  # both borders belong to the symmetry
        ([0.0, 0.0, 0.0, 0.0], 4),  # none is left
        ([1e-4, 1e-4, 1e-4, 1e-4], 4),  # none is left, approximate: an equivariant map
        ([1e-28, 5e-27, 2.5e-26, 1.0], 3),  # rising from the floor; the last gap counts
        ([1e-30, 1e-30, 0.01, 0.3, 1.0], 3),  # a small defect beside two exact ones
        ([0.02, 0.02, 0.02, 1.0, 1.0], 3),
        ([1e-30, 0.02, 0.02, 1.0, 1.0], 3),  # more symmetric, so not fewer
        ([0.0284, 0.0308, 0.0335, 1.03], 0),  # weak together
        ([1e-30, 1e-30, 1e-3, 2e-3, 1.0, 1.5], 4),  # learned symmetries beside exact ones
        ([1e-30, 5e-5, 1.0, 1.5], 2),  # below the resolution all are equal
        ([2e-3, 5e-3, 1.1, 1.2], 2),  # as a trained network has it
    ],
)
def test_counts_by_hand(values, number):
    assert counted(case_of(values)) == number


def test_of_the_smallest_alone_a_count_needs_a_defect_after_it():
    """What was not solved for may be no larger than the last: only exact and strong directions count whatever follows."""
    for values, number in (
        ([2e-3, 2e-3, 0.5], 2),
        ([2e-3, 2e-3], 0),
        ([1e-4, 1e-4], 2),
        ([0.0, 2e-3], 1),
        ([0.0, 0.0], 2),
    ):
        following = values[-1] if values[-1] > FLOOR else math.inf
        assert counted(case_of(values)._replace(following=following)) == number, values


def test_evidence_without_intervals_is_the_defects_themselves():
    values = column(0.1, 1.0)
    case = evidence(values, floor=FLOOR)
    assert case.low.tolist() == case.high.tolist() == values.tolist()
    assert case.control == case.following == math.inf


def test_evidence_has_no_interval_at_the_floor_or_where_none_is_known():
    bounds = column(1e-9, 1.0, 0.05, 0.2, math.nan, math.nan, 0.5, math.inf).reshape(4, 2)
    case = evidence(column(1e-28, 0.1, 0.5, 1.0), bounds, floor=FLOOR)
    assert case.low.tolist() == [1e-28, 0.05, 0.5, 1.0]
    assert case.high.tolist() == [1e-28, 0.2, 0.5, 1.0]


@given(
    st.lists(spectra(most=5).filter(lambda case: len(case.values) == 4), min_size=1, max_size=4),
    SOME_THRESHOLDS,
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_many_are_counted_as_each_alone(cases, thresholds):
    values, low, high = (
        torch.stack([getattr(c, name) for c in cases]) for name in ("values", "low", "high")
    )
    numbers = rule(FLOOR, thresholds)
    together = count(Evidence(values, low, high, FLOOR), numbers)
    alone = [int(count(Evidence(c.values, c.low, c.high, FLOOR), numbers)) for c in cases]
    assert together.tolist() == alone
    none = torch.zeros(3, 0, dtype=torch.float64)
    assert count(Evidence(none, none, none, FLOOR), numbers).tolist() == [0] * 3


def levels_by_hand(case, thresholds):
    """The rule in words, one number of directions after the other."""
    tiny, floor = torch.finfo(torch.float64).tiny, case.floor
    least = max(min(floor, thresholds.threshold / thresholds.minimum_gap), tiny)
    factor = max(1.0, case.response * thresholds.threshold / thresholds.effect**2)
    values, low, high = case.values.tolist(), case.low.tolist(), case.high.tolist()
    found = [0, 0, 0, 0]
    for k in range(1, len(values) + 1):
        last, following = values[k - 1], values[k] if k < len(values) else math.inf
        gap = max(following, least) / max(last, least) >= thresholds.minimum_gap
        apart = max(*high[:k], floor) < min(low[k:], default=math.inf)
        is_exact = last <= min(floor, thresholds.threshold)
        if is_exact:
            found[0] = k
        if is_exact or max(high[:k]) * factor <= thresholds.strong:
            found[1] = k
        for level, limit in ((2, thresholds.threshold), (3, thresholds.weak)):
            left = level == 2 or following < math.inf
            if gap and apart and left and (last * factor <= limit or last <= floor):
                found[level] = k
    return [max(found[: level + 1]) for level in range(4)]


responses = st.sampled_from([0.0, 1.0, 30.0, 1e4])


@given(spectra(), SOME_THRESHOLDS, responses)
@settings(max_examples=200, deadline=None)
def test_the_levels_are_the_rule_in_words(case, thresholds, response):
    case = case._replace(response=response)
    found = levels(case, rule(case.floor, thresholds)).tolist()
    assert found == levels_by_hand(case, thresholds)
    assert found[2] == counted(case, thresholds)


@given(spectra(), st.data())
@settings(max_examples=200, deadline=None)
def test_a_more_exact_symmetry_never_makes_a_level_smaller(case, data):
    case = evidence(case.values, floor=case.floor)
    before = levels(case, rule(case.floor, USUAL)).tolist()
    for number in before:
        if not number:
            continue
        place = data.draw(st.integers(0, number - 1))
        values = case.values.clone()
        values[place] *= data.draw(st.floats(0, 1))
        after = levels(
            evidence(values.sort().values, floor=case.floor), rule(case.floor, USUAL)
        ).tolist()
        assert all(now >= then for now, then in zip(after, before, strict=True) if then >= number)


@given(spectra(), st.lists(st.floats(0.0, 10.0), max_size=4))
@settings(max_examples=100, deadline=None)
def test_exact_and_strong_directions_keep_their_level_whatever_comes_after(case, more):
    case = evidence(case.values, floor=case.floor)
    numbers = rule(case.floor, USUAL)
    strong = int(levels(case, numbers)[1])
    longer = torch.cat([case.values[:strong], column(*more)]).sort().values
    assert int(levels(evidence(longer, floor=case.floor), numbers)[1]) >= strong


def test_a_group_that_crosses_a_threshold_stays_together():
    """No sweep of a group of near defects splits it: all of it goes from one level to the next."""
    for step in range(400):
        size = 1e-5 * 10 ** (step / 100)
        ends = levels(
            evidence(column(0.9 * size, size, 1.1 * size, 4.0, 4.1), floor=FLOOR),
            rule(FLOOR, USUAL),
        ).tolist()
        assert set(ends[2:]) <= {0, 3}, size


@given(spectra(), st.floats(1.0, 1e6))
@settings(max_examples=100, deadline=None)
def test_a_larger_effect_never_makes_a_level_larger(case, response):
    numbers = rule(case.floor, USUAL)
    small, large = (levels(case._replace(response=r), numbers) for r in (response, 2 * response))
    assert bool((large <= small).all())


def test_the_effect_decides_where_it_is_the_larger():
    """δ² = 0.01 is below the threshold; with a response of 10 the effect is √0.1, above 0.3."""
    values = column(0.01, 1.0, 1.2)
    for response, number in ((0.0, 1), (8.9, 1), (9.1, 0)):
        assert counted(evidence(values, floor=FLOOR, response=response)) == number
    exact = evidence(column(1e-30, 1.0), floor=FLOOR, response=1e9)
    assert counted(exact) == 1


def test_numbers_of_the_rule_are_those_of_the_thresholds():
    expected = [FLOOR, *(getattr(USUAL, name) for name in RULE[1:])]
    assert rule(FLOOR, USUAL).tolist() == expected


def test_another_rule_is_one_function(monkeypatch):
    """Count, grades and interval follow `levels` when its code alone is exchanged."""

    def everything(case, numbers):
        shape = torch.broadcast_shapes(case.values.shape[:-1], numbers.shape[:-1])
        return torch.full((*shape, 4), case.values.shape[-1])

    x = normal(200, 3)
    before = liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(3)).decision
    rule_itself = inspect.unwrap(levels)
    monkeypatch.setattr(rule_itself, "__code__", everything.__code__)
    after = liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(3)).decision
    assert (before.nullity, after.nullity) == (3, 9)
    assert set(after.grades) == {"exact"}
    assert after.certainty is not None
    assert after.certainty.nullity == (9, 9)
