"""What finite transformations change in a decision: grades by hand, and a record without contradictions."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from liegg._utils.diagnoses import Diagnosis
from liegg.decision.decide import DataFacts, decide
from liegg.decision.grades import COUNTED, GRADES
from liegg.decision.intervals import Certainty
from liegg.decision.rank import evidence
from liegg.decision.thresholds import Thresholds
from liegg.decision.verified import FiniteChange, finite_grade, verified
from liegg.spectrum.defects import Defects

FLOOR = 1e-26


def decided(*grades, borderline=None):
    """A decision with these grades, whatever the rank rule says."""
    values = torch.linspace(0.1, 1.0, len(grades), dtype=torch.float64)
    eye = torch.eye(len(grades), dtype=torch.float64)
    decision = decide(
        Defects(values, eye, eye[:0], 1.0),
        evidence(values, floor=FLOOR),
        DataFacts(samples=1000),
        Thresholds(),
    )
    count = sum(grade in COUNTED for grade in grades)
    return replace(
        decision,
        nullity=count,
        exact=grades.count("exact"),
        grades=grades,
        borderline=borderline or ((),) * len(grades),
        certainty=Certainty((count, count), 1.0, 0.01, 0.95, 32, 200),
        uncertainty=0.01,
        reasons=(
            Diagnosis.GAP_AFTER(gap=20.0),
            Diagnosis.BORDERLINE(count=1, places="2", names="threshold"),
        ),
        warnings=(Diagnosis.NOT_MOVED(count=1),),
    )


def members(remarks):
    return [remark.diagnosis for remark in remarks]


@pytest.mark.parametrize(
    ("grade", "change", "expected"),
    [
        ("exact", 1e-20, "exact"),  # at the floor
        ("exact", 1.9e-3, "strong"),
        ("exact", 2.1e-3, "approximate"),
        ("exact", 0.061, "weak"),
        ("exact", 0.61, "none"),
        ("strong", 1e-20, "strong"),  # never a better grade than its own
        ("strong", 0.029, "strong"),
        ("strong", 0.031, "approximate"),
        ("strong", 0.061, "weak"),
        ("approximate", 0.059, "approximate"),
        ("approximate", 0.061, "weak"),
        ("approximate", math.inf, "none"),
    ],
)
def test_grades_by_hand(grade, change, expected):
    assert finite_grade(grade, FiniteChange(change, floor=1e-15), Thresholds()) == expected


def test_the_change_is_relative_to_an_average_direction():
    """Where an average direction changes the output by r = 0.01, a change of 0.001 is a tenth of it, not a thousandth."""
    assert finite_grade("approximate", FiniteChange(1e-3, reference=0.01), Thresholds()) == "weak"
    assert finite_grade("approximate", FiniteChange(1e-3), Thresholds()) == "approximate"
    assert finite_grade("exact", FiniteChange(1e-9, reference=0.0), Thresholds()) == "none"
    assert finite_grade("exact", FiniteChange(0.0, reference=0.0), Thresholds()) == "exact"


def test_an_exact_direction_is_exact_farther_out_too():
    one = FiniteChange(0.0, floor=1e-15, farther=0.2)
    assert finite_grade("exact", one, Thresholds()) == "strong"
    assert finite_grade("strong", one, Thresholds()) == "strong"  # which claims nothing there


def test_the_users_thresholds_decide():
    wide = Thresholds(threshold=0.2)
    assert finite_grade("approximate", FiniteChange(0.39), wide) == "approximate"
    assert finite_grade("approximate", FiniteChange(0.41), wide) == "weak"


def test_nothing_changes_if_all_hold():
    decision = decided("exact", "exact", "approximate", "none")
    changes = [FiniteChange(0.0), FiniteChange(0.0), FiniteChange(0.03)]
    verdict = verified(decision, changes)
    assert verdict.decision is decision
    assert verdict.order == (0, 1, 2, 3)


def test_a_direction_that_fails_is_not_counted_and_comes_after_the_others():
    decision = decided("exact", "exact", "exact", "none", "none")
    verdict = verified(decision, [FiniteChange(0.7), FiniteChange(0.0), FiniteChange(0.1)])
    new = verdict.decision
    assert (new.nullity, new.exact) == (1, 1)
    assert new.grades == ("exact", "weak", "none", "none", "none")
    assert verdict.order == (1, 2, 0, 3, 4)
    assert new.nullity_interval == (1, 1)
    assert new.sentence.diagnosis is Diagnosis.VERIFIED_SYMMETRIES
    assert "1 exact symmetry" in new.sentence
    assert members(new.warnings)[0] is Diagnosis.FAILS_AT_FINITE_SIZE
    assert new.warnings[0].values["percent"] == "84"  # the root of 0.7
    assert members(new.reasons)[-1] is Diagnosis.HOLD_AT_FINITE_SIZE
    assert new.reasons[-1].values == {"holding": 1, "count": 3, "nullity": 1, "motion": 0.5}


def test_if_none_holds_the_sentence_says_so():
    verdict = verified(
        decided("strong", "strong", "none", "none"), [FiniteChange(0.2), FiniteChange(math.inf)]
    )
    new = verdict.decision
    assert (new.nullity, new.exact, new.uncertainty) == (0, 0, 0.0)
    assert new.sentence.diagnosis is Diagnosis.NONE_VERIFIED
    assert ">999 %" in new.sentence
    assert new.nullity_interval == (0, 0)


def test_equivariance_has_words_of_its_own():
    changes = [FiniteChange(0.2), FiniteChange(0.0)]
    verdict = verified(decided("exact", "exact", "none"), changes, equivariance=True)
    assert verdict.decision.sentence.diagnosis is Diagnosis.VERIFIED_EQUIVARIANCES


def test_places_of_other_remarks_do_not_survive_a_new_order():
    borderline = ((), ("threshold",), ())
    decision = decided("exact", "approximate", "none", borderline=borderline)
    new = verified(decision, [FiniteChange(1.0), FiniteChange(0.0)]).decision
    assert members(new.reasons) == [Diagnosis.HOLD_AT_FINITE_SIZE]
    assert members(new.warnings) == [Diagnosis.FAILS_AT_FINITE_SIZE, Diagnosis.NOT_MOVED]
    assert new.borderline == (("threshold",), (), ())


def test_exact_directions_that_do_not_close_alone_are_lowered_with_the_others():
    decision = decided("exact", "exact", "exact", "none")
    changes = [FiniteChange(0.0), FiniteChange(0.0), FiniteChange(0.01)]
    new, order, shares = verified(decision, changes, closed=lambda places: places[:1])
    assert new.grades == ("exact", "approximate", "approximate", "none")
    assert (new.exact, new.levels, order) == (1, (1, 1, 3, 3), (0, 1, 2, 3))
    assert shares == (0.0, 0.0, 0.01, 0.0)
    assert new.reasons[-1].values["holding"] == 1


def test_exact_directions_that_do_not_close_are_undecided_if_nothing_else_counts():
    decision = decided("exact", "exact", "exact", "none")
    changes = [FiniteChange(0.0), FiniteChange(0.7), FiniteChange(0.0)]
    new, order, _ = verified(decision, changes, closed=lambda places: ())
    assert (new.nullity, new.exact, new.undecided) == (0, 0, 2)
    assert order == (0, 2, 1, 3)
    assert new.shown_grades == ("undecided", "undecided", "none", "none")
    assert new.sentence.diagnosis is Diagnosis.UNDECIDED
    assert new.nullity_interval is None


def test_one_change_for_each():
    with pytest.raises(ValueError, match="1 changes for 2 counted"):
        verified(decided("exact", "exact", "none"), [FiniteChange(0.0)])


@given(st.lists(st.floats(0, 3), min_size=3, max_size=3), st.floats(0.01, 1))
@settings(max_examples=60, deadline=None)
def test_the_record_never_contradicts_itself(changes, reference):
    decision = decided("exact", "strong", "approximate", "weak", "none")
    finite = [FiniteChange(change, reference, 1e-12) for change in changes]
    new, order, _ = verified(decision, finite)
    assert sorted(order) == [0, 1, 2, 3, 4]
    places = [GRADES.index(grade) for grade in new.grades]
    assert places == sorted(places)
    assert new.nullity == sum(place < GRADES.index("weak") for place in places)
    assert new.exact == new.grades.count("exact")
    assert new.certainty is not None
    assert new.certainty.nullity[0] <= new.nullity <= new.certainty.nullity[1]
    for place, grade in zip(order, new.grades, strict=True):
        assert GRADES.index(grade) >= GRADES.index(decision.grades[place])
    # Worse finite changes never give more symmetries.
    worse = [one._replace(change=2 * one.change) for one in finite]
    assert verified(decision, worse).decision.nullity <= new.nullity
