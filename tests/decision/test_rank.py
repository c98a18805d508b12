"""The rank rule: the count is the rule in words, for one spectrum and for many at once."""

import math

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from liegg.decision.rank import RULE, Evidence, count, evidence, rule
from spectra import FLOOR, SOME_THRESHOLDS, USUAL, case_of, column, counted, spectra


@pytest.mark.parametrize(
    ("values", "number"),
    [
        ([], 0),
        ([0.0, 0.0, 1.0, 2.0], 2),  # exact
        ([1e-30, 1e-28, 1.0, 2.0], 2),  # at the floor, whatever their ratio
        ([1e-4, 2e-3, 1.0, 2.0], 2),  # separated by a gap
        ([0.02, 0.1, 0.5, 2.0], 0),  # below the threshold without a gap
        ([0.05, 1.0, 1.5, 2.0], 0),  # a gap above the threshold
        ([1.0, 1.0, 1.0, 1.0], 0),  # orthonormal columns
        ([0.03, 0.3, 1.0, 2.0], 1),  # both borders belong to the symmetry
        ([0.0, 0.0, 0.0, 0.0], 4),  # none is left
        ([1e-4, 1e-4, 1e-4, 1e-4], 4),  # none is left, approximate: an equivariant map
        ([1e-28, 5e-27, 2.5e-26, 1.0], 3),  # rising from the floor; the last gap counts
        ([1e-30, 1e-30, 0.01, 0.3, 1.0], 2),  # a small defect beside two exact ones
        ([1e-30, 1e-30, 1e-3, 2e-3, 1.0, 1.5], 4),  # learned symmetries beside exact ones
        ([1e-30, 5e-5, 1.0, 1.5], 2),  # below the resolution all are equal
        ([2e-3, 5e-3, 1.1, 1.2], 2),  # as a trained network has it
    ],
)
def test_counts_by_hand(values, number):
    assert counted(case_of(values)) == number


def test_of_the_smallest_alone_a_count_needs_a_defect_after_it():
    """What was not solved for may be no larger than the last: only a direction at the floor counts whatever follows."""
    for values, number in (
        ([1e-4, 1e-4, 0.5], 2),
        ([1e-4, 1e-4], 0),
        ([0.0, 1e-4], 1),
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


def count_by_hand(case, thresholds):
    """The rule in words, one possible count after the other."""
    tiny, most = torch.finfo(torch.float64).tiny, thresholds.threshold / thresholds.minimum_gap
    values, low, high = case.values.tolist(), case.low.tolist(), case.high.tolist()
    best, chosen = (0.0, 0.0), 0
    for k in range(1, len(values) + 1):
        last, following = values[k - 1], values[k] if k < len(values) else math.inf

        def gap(least, last=last, following=following):
            return max(following, least, tiny) / max(last, least, tiny)

        exempt = last <= case.floor or following >= thresholds.clear
        needed = thresholds.minimum_gap * (1.0 if exempt else thresholds.clear / following)
        apart = max(max(high[:k]), case.floor) < min(low[k:], default=math.inf)
        really, alike = (
            gap(min(case.floor, most)),
            gap(min(max(case.floor, thresholds.resolution), most)),
        )
        possible = last <= max(thresholds.threshold, case.floor) and really >= needed and apart
        if possible and (alike, really) >= best:
            best, chosen = (alike, really), k
    return chosen


@given(spectra(), SOME_THRESHOLDS)
@settings(max_examples=200, deadline=None)
def test_the_count_is_the_rule_in_words(case, thresholds):
    assert counted(case, thresholds) == count_by_hand(case, thresholds)


def test_numbers_of_the_rule_are_those_of_the_thresholds():
    expected = [FLOOR, *(getattr(USUAL, name) for name in RULE[1:])]
    assert rule(FLOOR, USUAL).tolist() == expected
