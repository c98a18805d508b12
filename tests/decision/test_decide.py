"""The decision on hand-made lists of defects."""

import dataclasses
import math

import pytest
import torch

from liegg._utils.diagnoses import Diagnosis, Kind
from liegg._utils.text import runs
from liegg.decision.decide import DataFacts, decide, reduced, with_certainty
from liegg.decision.gap import mixing_angle
from liegg.decision.intervals import Certainty
from liegg.decision.rank import evidence
from liegg.decision.thresholds import Thresholds
from spectra import FLOOR, decided, solved


def members(remarks):
    return [remark.diagnosis for remark in remarks]


def test_counts():
    """The rule itself is tested with `liegg.decision.rank`."""
    for values, expected in (
        ([0.0, 0.0, 1.0, 2.0], (2, 2)),
        ([1e-4, 2e-3, 1.0, 2.0], (2, 0)),  # approximate, separated
        ([1e-30, 1e-3, 1.0, 2.0], (2, 1)),  # one exact, one approximate
        ([0.02, 0.1, 0.5, 2.0], (0, 0)),
        ([0.0, 0.0, 0.0, 0.0], (4, 4)),
        ([1e-28, 5e-27, 2.5e-26, 1.0], (3, 1)),  # rising from the floor; the last gap counts
    ):
        decision = decided(values)
        assert (decision.nullity, decision.exact) == expected, values
        assert decision.undecided == 0


def test_a_coarse_floor_does_not_hide_a_clear_gap():
    assert decided([1e-6, 1.5e-6, 1.2, 1.5], floor=0.6).nullity == 2


def test_the_gap():
    for values, gap in (
        ([0.0, 0.5, 1.0], 0.5 / FLOOR),  # a zero is at the floor
        ([1e-3, 0.5, 1.0], 500.0),
        ([0.0, 0.0, 0.0], math.inf),
        ([0.5, 1.0, 1.5], 2.0),  # none counted: the widest
        ([0.05, 0.06, 1.2], 20.0),  # none counted: after the weak ones
        ([], math.inf),
    ):
        assert decided(values).gap == pytest.approx(gap), values


def test_thresholds_decide_and_are_recorded():
    values = [0.02, 0.15, 1.0]
    for expected, thresholds in (
        (0, Thresholds()),
        (1, Thresholds(minimum_gap=5.0)),
        (0, Thresholds(minimum_gap=5.0, threshold=0.01)),
    ):
        decision = decided(values, thresholds=thresholds)
        assert (decision.nullity, decision.thresholds, decision.floor) == (
            expected,
            thresholds,
            FLOOR,
        )
    loose = Thresholds(minimum_gap=5.0, threshold=0.2)
    assert decided([0.02, 0.15, 1.5], thresholds=loose).nullity == 2


@pytest.mark.parametrize(
    ("samples", "eliminated", "nullity", "undecided"),
    [
        (6, 0, 0, 3),  # six constraints from six samples: a seventh might add another
        (7, 0, 3, 0),  # seven samples, six constraints: none is missing
        (7, 1, 0, 3),  # one constraint went to the output generators
        (8, 1, 3, 0),
        (3, 4, 0, 3),
    ],
)
def test_too_few_samples_leave_zeros_undecided(samples, eliminated, nullity, undecided):
    values = [0.0] * 3 + [0.5, 0.8, 1.0, 1.2, 1.4, 1.6]
    decision = decided(values, samples=samples, eliminated=eliminated)
    assert (decision.nullity, decision.exact, decision.undecided) == (nullity, nullity, undecided)
    # Copies are not evidence, and one of those that differ may be 0.
    for rest in ({"distinct": samples + 1}, {"active": samples + 1}):
        doubled = decided(values, samples=samples + 50, eliminated=eliminated, **rest)
        assert (doubled.nullity, doubled.undecided) == (nullity, undecided)
    known = decided(values, samples=samples, eliminated=eliminated, saturated=lambda: True)
    assert (known.nullity, known.undecided) == (3, 0)  # samples of many rows may suffice


def test_undecided_says_how_many_samples_are_needed():
    decision = decided([0.0, 1.0, 1.0, 1.0], samples=3, eliminated=2)
    (warning,) = decision.warnings
    assert warning.diagnosis is Diagnosis.TOO_FEW_SAMPLES
    assert warning.values == {
        "samples": 3,
        "different": False,
        "total": 4,
        "undecided": 1,
        "lower_bound": False,
        "needed": 6,
    }
    assert (decision.sentence.diagnosis, decision.reasons, decision.gap) == (
        Diagnosis.UNDECIDED,
        (),
        1.0,
    )
    assert set(decision.grades) == {"none"}


def test_few_samples_are_warned_of():
    (warning,) = decided([0.0, 1.0, 1.0, 1.0], samples=7).warnings
    assert warning.diagnosis is Diagnosis.FEW_SAMPLES
    assert (warning.values["samples"], warning.values["needed"]) == (7, 8)
    assert decided([0.0, 1.0, 1.0, 1.0], samples=8).warnings == ()
    (copies,) = decided([0.0, 1.0, 1.0, 1.0], samples=80, distinct=7).warnings
    assert copies.values["different"]


def test_what_nothing_moves_is_undecided_and_what_only_the_candidates_do_not_move_is_not():
    still = solved([0.0, 0.0], sensitivity=0.0)
    warning = Diagnosis.TEXT(text="it is constant")
    constant = decided(still, samples=1, degenerate=True, warnings=[warning])
    assert (constant.nullity, constant.exact, constant.undecided) == (0, 0, 2)
    assert (constant.warnings, constant.grades) == ((warning,), ("none", "none"))
    assert constant.sentence.diagnosis is Diagnosis.UNDECIDED
    assert constant.sentence.values == {"undecided": 2, "total": 2}
    invariant = decided(still, samples=1)
    assert (invariant.nullity, invariant.exact, invariant.undecided) == (2, 2, 0)
    assert members(invariant.warnings) == [Diagnosis.INVARIANT_UNDER_ALL]


def test_trivial_directions_are_never_counted():
    decision = decided(solved([0.0, 1.0], trivial=3))
    assert (decision.nullity, decision.trivial) == (1, 3)
    assert members(decision.warnings) == [Diagnosis.NOT_MOVED]
    assert decision.warnings[0].values == {"count": 3}
    nothing = decided(solved([], trivial=3))
    assert (nothing.nullity, nothing.trivial, nothing.reasons) == (0, 3, ())
    assert nothing.sentence.diagnosis is Diagnosis.NOTHING_MOVES


@pytest.mark.parametrize(
    ("values", "reasons", "numbers"),
    [
        (
            [0.0, 0.0, 1.0],
            [Diagnosis.COUNTED_AT_FLOOR, Diagnosis.GAP_AFTER, Diagnosis.NONE_VIOLATES],
            {
                "nullity": 2,
                "total": 3,
                "floor": FLOOR,
                "gap": 1 / FLOOR,
                "samples": 100,
                "share": 0.03,
            },
        ),
        (
            [2e-3, 4e-3, 1.0],
            [Diagnosis.COUNTED_ABOVE_FLOOR, Diagnosis.GAP_AFTER],
            {"nullity": 2, "total": 3, "largest": 4e-3, "gap": 250.0},
        ),
        (
            [0.0, 0.0],
            [Diagnosis.COUNTED_AT_FLOOR, Diagnosis.NONE_LEFT, Diagnosis.NONE_VIOLATES],
            {"nullity": 2, "total": 2, "floor": FLOOR, "samples": 100, "share": 0.03},
        ),
        ([0.5, 1.0], [Diagnosis.SMALLEST_ABOVE_THRESHOLD], {"smallest": 0.5, "threshold": 0.03}),
        (
            [0.01, 0.02, 0.1, 0.9],
            [Diagnosis.NO_GAP],
            {"below": 2, "threshold": 0.03, "smallest": 0.01, "minimum_gap": 10.0},
        ),
    ],
)
def test_reasons(values, reasons, numbers):
    found = decided(values).reasons
    assert members(found) == reasons
    assert {k: v for reason in found for k, v in reason.values.items()} == pytest.approx(numbers)


@pytest.mark.parametrize(
    ("values", "member", "numbers"),
    [
        ([], Diagnosis.NOTHING_MOVES, {}),
        ([0.0, 1.0, 1.0], Diagnosis.EXACT, {"nullity": 1, "lower_bound": False}),
        ([0.0, 0.0, 1.0], Diagnosis.EXACT, {"nullity": 2, "lower_bound": False}),
        (
            [0.0, 1e-4, 2.5e-3, 1.0],
            Diagnosis.SYMMETRIES,
            {"nullity": 3, "grades": "1 exact + 1 strong + 1 approximate", "percent": "5"},
        ),
        ([0.25, 1.0, 2.0], Diagnosis.WEAK_CANDIDATES, {"weak": 1, "percent": "50"}),
        ([0.81, 1.0, 2.0], Diagnosis.NO_SYMMETRY, {"percent": "90"}),
        ([0.992, 1.0, 2.0], Diagnosis.NO_SYMMETRY, {"percent": "99.6"}),  # three digits near 100
        ([0.01, 0.02, 0.1, 0.9], Diagnosis.NO_CLEAR_COUNT, {"below": 2, "percent": "10"}),
        ([0.04, 0.09, 1.0, 1.1], Diagnosis.WEAK_CLUSTER, {"weak": 2, "percent": "30"}),
    ],
)
def test_the_verdict(values, member, numbers):
    sentence = decided(values).sentence
    assert (sentence.diagnosis, sentence.diagnosis.kind) == (member, Kind.VERDICT)
    assert numbers.items() <= sentence.values.items()


def test_the_verdict_of_equivariance():
    exact, near = (decided(values, eliminated=1) for values in ([0.0, 1.0], [2.5e-3, 1.0]))
    assert exact.sentence.diagnosis is Diagnosis.EXACT_EQUIVARIANCE
    assert near.sentence.diagnosis is Diagnosis.EQUIVARIANCES
    assert near.sentence.values["percent"] == "5"


def test_what_the_data_does_not_cover_is_warned_of():
    def warned(values=(1e-3, 1.0, 2.0), **facts):
        return list(decided(list(values), **facts).warnings)

    assert warned() == warned(nonlinearity=0.5) == []
    (linear,) = warned(nonlinearity=0.01)
    assert linear.diagnosis is Diagnosis.NEARLY_LINEAR
    assert linear.values["percent"] == pytest.approx(10.0)
    assert warned((0.9, 1.0, 2.0), nonlinearity=0.01) == []  # nothing was claimed
    (cone,) = warned(along_one_axis=0.9)
    assert cone.diagnosis is Diagnosis.NARROW_CONE
    assert cone.values["percent"] == pytest.approx(90.0)
    sizes = torch.tensor([1.0, 0.0, 1e4], dtype=torch.float64)  # squares; one is zero throughout
    (units,) = warned(feature_sizes=sizes, along_one_axis=0.9)
    assert units.diagnosis is Diagnosis.MIXED_UNITS
    assert units.values["ratio"] == pytest.approx(100.0)
    flat, hardly = decided(solved([1e-3, 1.0], trivial=3, barely=2)).warnings
    assert (flat.diagnosis, flat.values) == (Diagnosis.NOT_MOVED, {"count": 1})
    assert (hardly.diagnosis, hardly.values["count"]) == (Diagnosis.BARELY_MOVED, 2)
    assert hardly.values["percent"] == pytest.approx(1e-3)


def test_units_matter_only_for_what_is_not_exact():
    def warned(values, **facts):
        return members(decided(values, **facts).warnings)

    sizes = torch.tensor([1.0, 36.0], dtype=torch.float64)  # squares
    for facts, member in (
        ({"feature_sizes": sizes}, Diagnosis.MIXED_UNITS),
        ({"principal_ratio": 6.0}, Diagnosis.MIXED_SIZES),
    ):
        assert warned([1e-3, 1.0, 2.0], **facts) == [member]
        assert warned([0.0, 1.0, 2.0], **facts) == []


def test_a_small_defect_with_a_large_effect_is_not_counted_and_says_so():
    solution = solved([0.01, 1.0, 1.2])
    case = evidence(solution.values, floor=FLOOR, response=16.0)
    decision = decide(solution, case, DataFacts(samples=100), Thresholds())
    assert (decision.nullity, decision.response) == (0, 16.0)
    assert decision.reasons[-1].diagnosis is Diagnosis.EFFECT_TOO_LARGE
    assert decision.reasons[-1].values["effect"] == pytest.approx(0.4)


def test_a_decision_with_fewer_symmetries():
    solution, facts = solved([0.0, 2e-3, 1.0, 1.2]), DataFacts(samples=100)
    case = evidence(solution.values, floor=FLOOR)
    whole = decide(solution, case, facts, Thresholds())
    warning = Diagnosis.LEVEL_NOT_CLOSED(directions=1, residual=0.3)
    fewer = reduced(whole, solution.values, facts, 1, warning=warning)
    assert (whole.nullity, fewer.nullity, fewer.levels) == (2, 1, (1, 1, 1, 2))
    assert fewer.grades == ("exact", "weak", "none", "none")
    assert fewer.sentence.diagnosis is Diagnosis.EXACT
    assert fewer.warnings == (warning,)
    assert fewer.gap == pytest.approx(2e-3 / FLOOR)


def test_a_borderline_direction_is_named():
    decision = decided([0.028, 1.0, 1.2])
    assert decision.grades[0] == "approximate"
    assert decision.borderline == (("threshold",), (), ())
    assert decision.reasons[-1].diagnosis is Diagnosis.BORDERLINE
    assert decision.reasons[-1].values == {"count": 1, "places": "1", "names": "threshold"}
    assert decided([0.01, 1.0, 1.2]).borderline == ((), (), ())


def test_an_interval_that_reaches_the_next_direction_takes_the_symmetry_away():
    for low, nullity in ((2e-3, 1), (0.6, 0)):
        bounds = torch.tensor([[1e-4, low], [0.5, 2.0]], dtype=torch.float64)
        assert decided([1.5e-3, 1.0], bounds=bounds).nullity == nullity


def test_intervals_are_added_to_a_decision_but_not_to_an_undecided_one():
    sure = Certainty((1, 2), 0.7, 0.25, 0.95, 32, 100)
    decision = decided([1e-4, 1.0, 1.2])
    assert decision.nullity_interval is None
    assert decision.uncertainty == pytest.approx(1e-2)  # √(1e-4 / 1)
    certain = with_certainty(decision, sure)
    assert (certain.certainty, certain.nullity_interval, certain.uncertainty) == (
        sure,
        (1, 2),
        0.25,
    )
    small = with_certainty(decision, dataclasses.replace(sure, angle=1e-5))
    assert small.uncertainty == pytest.approx(1e-2)
    assert with_certainty(decision, None) is decision
    undecided = decided([0.0, 1.0, 1.0, 1.0], samples=3)
    assert with_certainty(undecided, sure) is undecided
    assert with_certainty(decided([0.9, 1.0]), sure).uncertainty == 0.0  # nothing was found


def test_of_the_smallest_alone_a_count_needs_a_defect_after_it():
    """The last may be followed by one that is hardly larger; only exact and strong directions count whatever follows."""
    values = [2e-3, 2e-3, 0.5]
    assert decided(values, unsolved=20).nullity == decided([*values, 1.0]).nullity == 2
    assert decided(values[:2], unsolved=20).nullity == 0
    assert decided(values[:2]).nullity == 2
    assert decided([0.0, 2e-3], unsolved=20).nullity == 1
    assert decided([1e-4, 1e-4], unsolved=20).nullity == 2
    assert decided([0.0, 0.0], unsolved=20).nullity == 2


def test_a_lower_bound():
    found = decided([0.0, 0.0], unsolved=20)
    assert found.is_lower_bound
    assert found.sentence.diagnosis is Diagnosis.EXACT
    assert found.sentence.values == {"nullity": 2, "lower_bound": True}
    assert members(found.reasons) == [
        Diagnosis.COUNTED_AT_FLOOR,
        Diagnosis.NEXT_UNSOLVED,
        Diagnosis.NONE_VIOLATES,
    ]
    assert found.gap == 1.0
    (warning,) = found.warnings
    assert warning.diagnosis is Diagnosis.MORE_MAY_FOLLOW
    assert warning.values == {"solved": 2, "largest": 0.0, "suggested": 4}
    assert decided([0.0, 0.0, 0.5], unsolved=20).warnings == ()  # the last one counts
    inside = decided([0.0, 0.5], unsolved=20)
    assert (inside.is_lower_bound, inside.sentence.values["lower_bound"]) == (False, False)
    assert inside.warnings == ()
    some = decided([0.0, 0.0, 2e-3, 4e-3], unsolved=20)
    assert (some.nullity, some.is_lower_bound) == (2, False)
    assert some.sentence.values["lower_bound"]  # defects below the threshold go on to the end


def test_too_few_samples_for_those_that_were_not_solved_for():
    """How many lie at the floor is not known, nor the number of constraints: all others may be."""
    found = decided([0.0, 0.0], unsolved=20, samples=20)
    assert (found.nullity, found.undecided) == (0, 2)
    assert found.warnings[0].diagnosis is Diagnosis.TOO_FEW_SAMPLES
    values = found.warnings[0].values
    assert (values["lower_bound"], values["total"], values["needed"]) == (True, 22, 22)
    assert decided([0.0, 0.0], unsolved=20, samples=21).nullity == 2


def test_runs():
    assert runs([]) == ""
    assert runs([2]) == "2"
    assert runs([1, 2, 3, 7, 9, 10]) == "1–3, 7, 9–10"


def test_a_cluster_that_goes_on_is_warned_of():
    """The gap after the weak ones is wider than that after those that count, which are then only a part."""
    cut = decided([1e-3, 2e-3, 0.025, 0.3, 9.0, 10.0])
    assert (cut.nullity, cut.levels[3]) == (3, 4)
    (warning,) = [w for w in cut.warnings if w.diagnosis is Diagnosis.CLUSTER_GOES_ON]
    assert warning.values["directions"] == 1
    assert warning.values["gap"] == pytest.approx(30)
    whole = decided([1e-3, 2e-3, 0.02, 0.5, 5.1, 9.0])
    assert (whole.nullity, whole.levels[3]) == (3, 4)
    assert Diagnosis.CLUSTER_GOES_ON not in members(whole.warnings)


def test_some_of_the_directions_at_the_floor_are_off_by_no_more_than_all_of_them():
    values = torch.tensor([1e-30, 1e-31, 1e-32, 0.5], dtype=torch.float64)
    every = mixing_angle(values, 3, 1e-28)
    assert mixing_angle(values, 1, 1e-28) == every == pytest.approx((1e-28 / 0.5) ** 0.5)
