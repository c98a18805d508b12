"""Grades on hand-made spectra; every threshold matters; an unmarked grade does not change when one is moved."""

from dataclasses import replace

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cases import normal
from liegg.decision.grades import (
    BORDERLINE_FACTOR,
    GRADES,
    OTHER_LEVELS,
    grade,
    threshold_sensitivity,
)
from liegg.decision.rank import Evidence, evidence, levels, rule
from spectra import FLOOR, SCALED, SOME_THRESHOLDS, USUAL, case_of, counted, spectra

SHORT = {"exact": "E", "strong": "S", "approximate": "A", "weak": "w", "none": "-"}


def graded(values, thresholds=None, **rest):
    return "".join(SHORT[name] for name in grade(case_of(values, **rest), thresholds or USUAL))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], ""),
        ([0.0, 0.0, 1.0, 2.0], "EE--"),
        ([1e-30, 1e-28, 1.0, 2.0], "EE--"),  # at the floor, whatever their ratio
        ([1e-4, 9e-4, 1.0, 2.0], "SS--"),
        ([1e-4, 2e-3, 1.0, 2.0], "SA--"),
        ([1e-30, 5e-4, 2e-3, 1.0], "ESA-"),
        ([0.02, 0.1, 0.4, 2.0], "www-"),  # below the threshold, but no gap
        ([0.05, 1.0, 1.5, 2.0], "w---"),  # a gap, but above the threshold
        ([0.6, 0.7, 1.0, 2.0], "----"),
        ([0.03, 0.3, 1.0, 2.0], "Aw--"),  # all borders belong to the better side
        ([1e-3, 0.5, 1.0, 2.0], "Sw--"),
        ([0.001, 0.029, 0.28, 1.0], "Sww-"),  # strong without a gap; the next has none either
        ([0.0284, 0.0308, 0.0335, 1.03], "www-"),
        ([0.0, 0.0, 0.0], "EEE"),
        ([1e-4, 1e-4, 1e-4], "SSS"),  # nothing is left to be set apart from
        ([1e-30, 1e-30, 0.01, 0.31, 1.0], "EEAw-"),  # a small defect beside exact ones
        (
            [1e-30, 1e-30, 1e-3, 2e-3, 1.0, 1.5],
            "EESA--",
        ),  # learned ones beside exact ones are counted with them
    ],
)
def test_grades_by_hand(values, expected):
    assert graded(values) == expected


@pytest.mark.parametrize(
    ("values", "thresholds", "expected"),
    [
        ([0.02, 1.0, 1.0], {"threshold": 0.01}, "w--"),
        ([0.05, 1.0, 1.0], {"threshold": 0.06}, "A--"),
        ([0.02, 1.0, 1.0], {"minimum_gap": 60.0}, "w--"),
        ([0.02, 0.12, 0.9], {"minimum_gap": 5.0}, "Aw-"),
        ([0.02, 0.12, 0.9], {"minimum_gap": 7.0}, "ww-"),
        ([5e-4, 1.0], {"strong": 4e-4}, "A-"),
        ([2e-3, 1.0], {"strong": 2e-3}, "S-"),
        ([0.6, 1.0], {"weak": 0.7}, "w-"),
        ([0.3, 1.0], {"weak": 0.2}, "--"),
        ([1e-4, 1.0], {"strong": 0.0}, "A-"),
        ([0.3, 1.0], {"weak": 0.0}, "--"),
    ],
)
def test_every_threshold_matters(values, thresholds, expected):
    assert graded(values, replace(USUAL, **thresholds)) == expected


@pytest.mark.parametrize(
    ("values", "rest", "expected"),
    [
        ([9e-4, 1.0], {"wide": 1.2}, "A-"),  # strong with all of its interval, or not at all
        ([9e-4, 1.0], {"wide": 1.1}, "S-"),
        ([0.029, 1.0], {"wide": 2.0}, "A-"),  # the threshold asks the defect alone
        ([0.02, 0.5], {"wide": 6.0}, "w-"),  # intervals that meet: not set apart
        ([0.02, 0.5], {"wide": 4.9}, "A-"),
        (
            [0.02, 0.5, 0.6],
            {"wide": [1.0, 1.0, 31.0]},
            "ww-",
        ),  # any of the rest may reach down, not only the next
        (
            [0.002, 0.02, 0.6],
            {"wide": [400.0, 1.0, 1.0]},
            "-w-",
        ),  # any of the first may reach up, not only the last
        ([0.45, 1.0], {"wide": 1.2}, "--"),  # weak with all of its interval
        ([0.4, 1.0], {"control": 0.39}, "--"),  # random directions reach as far down
        ([0.4, 1.0], {"control": 0.41}, "w-"),
        ([0.4, 1.0], {"control": 0.41, "wide": 1.1}, "--"),
        ([0.02, 1.0], {"control": 0.01}, "A-"),  # what is set apart by a gap needs no control
        ([1e-29, 0.02, 1.0], {"wide": 100.0}, "E--"),  # rounding has no sampling error
    ],
)
def test_intervals_and_controls(values, rest, expected):
    assert graded(values, **rest) == expected


def test_exact_and_strong_directions_need_no_gap():
    assert graded([0.0, 0.05, 0.06]) == "Eww"
    assert graded([9e-4, 2e-3, 5e-3, 0.02]) == "SAAA"  # nothing is left after the last
    assert graded([9e-4, 2e-3, 5e-3, 0.02, 0.1]) == "Swwww"
    assert graded([2e-3, 0.05, 0.06], floor=3e-3) == "Eww"


def test_a_grade_needs_a_small_effect_too():
    """A response of 900 makes every squared effect 900 times the defect; largest: 0.3 for a symmetry."""
    for defect, letter in ((3e-6, "S"), (5e-5, "A"), (2e-4, "w"), (0.02, "-")):
        case = case_of([defect, 1.0])._replace(response=900.0)
        assert SHORT[grade(case, USUAL)[0]] == letter


def test_a_coarse_floor_does_not_hide_a_clear_gap():
    assert graded([1e-6, 1.5e-6, 1.2, 1.5], floor=0.6) == "EE--"


@given(spectra(), SOME_THRESHOLDS)
@settings(max_examples=60, deadline=None)
def test_grades_are_the_levels_and_weak_neighbours(case, thresholds):
    ends = levels(case, rule(case.floor, thresholds)).tolist()
    for i, name in enumerate(grade(case, thresholds)):
        high = float(case.high[i])
        inside = [level for level, end in zip(GRADES, ends, strict=False) if i < end]
        near = "weak" if high <= thresholds.weak and high < case.control else "none"
        assert name == (inside[0] if inside else near)


@given(spectra(), SOME_THRESHOLDS, st.sampled_from([2.0**-9, 2.0**-3, 2.0**5]))
@settings(max_examples=60, deadline=None)
def test_grades_have_no_scale_of_their_own(case, thresholds, scale):
    scaled = Evidence(
        case.values * scale,
        case.low * scale,
        case.high * scale,
        case.floor * scale,
        case.control * scale,
    )
    assert grade(
        scaled, replace(thresholds, **{name: getattr(thresholds, name) * scale for name in SCALED})
    ) == grade(case, thresholds)


@given(spectra(), SOME_THRESHOLDS)
@settings(max_examples=60, deadline=None)
def test_without_intervals_a_smaller_defect_has_no_worse_grade(case, thresholds):
    """With them it may: a strong symmetry can lie behind an approximate one whose interval is wider."""
    places = [
        GRADES.index(name)
        for name in grade(case._replace(low=case.values, high=case.values), thresholds)
    ]
    assert places == sorted(places)


def test_of_counted_directions_none_is_better_than_one_before_it_but_weak_ones_may_be():
    assert graded([5e-4, 6e-4, 1.0], wide=[3.0, 1.1, 1.0]) == "AA-"
    assert graded([0.3, 0.4, 1.0], wide=[2.0, 1.1, 1.0]) == "-w-"


@given(spectra(), SOME_THRESHOLDS, st.floats(1.0, 30.0))
@settings(max_examples=60, deadline=None)
def test_wider_intervals_never_make_more_strong_or_weak(case, thresholds, times):
    known = case.values > case.floor
    wider = case._replace(
        low=torch.where(known, case.low / times, case.low),
        high=torch.where(known, case.high * times, case.high),
    )
    before, after = grade(case, thresholds), grade(wider, thresholds)
    if after[: counted(wider, thresholds)].count("strong") > before.count("strong"):
        assert counted(wider, thresholds) > counted(
            case, thresholds
        )  # the widest gap was closed by an interval, and a later one decides
    for one, other in zip(before, after, strict=True):
        assert not (one == "none" and other == "weak")


# Borderline grades.

MOVED = ("strong", "threshold", "weak", "minimum_gap", "effect", "floor_factor")


def with_moved(case, thresholds, name, times):
    """A threshold times a factor; the floor goes with the square of its own."""
    if name == "floor_factor":
        return case._replace(floor=case.floor * times**2), thresholds
    moved = getattr(thresholds, name) * times
    return case, replace(thresholds, **{name: max(moved, 1.0) if name == "minimum_gap" else moved})


@given(spectra(), SOME_THRESHOLDS)
@example(
    case_of([9e-4 / 1.04, 1.0]), replace(USUAL, strong=1e-3)
)  # 0.85 of the threshold lies below, 1/1.15 of it does not
@example(
    case_of([5.256e-4, 5.928e-4, 6.35e-3, 0.06907], floor=5e-4), USUAL
)  # exact at a floor 10 % higher, not at 15 %
@settings(max_examples=60, deadline=None)
def test_no_threshold_moved_by_15_percent_changes_a_grade_without_a_mark(case, thresholds):
    own, marks = grade(case, thresholds), threshold_sensitivity(case, thresholds)
    for name in MOVED:
        for times in (0.8500001, 0.9, 0.95, 1.05, 1.1, 1.1499999):
            for before, after, mark in zip(
                own, grade(*with_moved(case, thresholds, name, times)), marks, strict=True
            ):
                assert before == after or name in mark, (
                    f"{name} times {times}: {before} becomes {after}, marked {mark!r}"
                )


def stretched(case, times):
    """The same with intervals that are wider by a factor, as at another level; in logarithms, about their middles."""
    middle, half = (
        (case.low * case.high).sqrt(),
        (case.high / case.low.clamp_min(1e-300)).sqrt() ** times,
    )
    there = case.high > case.low
    return case._replace(
        low=torch.where(there, middle / half, case.low),
        high=torch.where(there, middle * half, case.high),
    )


@given(spectra(most=4), SOME_THRESHOLDS)
@example(
    case_of([10**-3.25, 1.0, 1.0], wide=[10**0.25, 1.0, 1.0]), replace(USUAL, weak=0.5)
)  # an end on the threshold itself
@settings(max_examples=20, deadline=None)
def test_marks_are_earned(case, thresholds):
    """A mark names a threshold that changes the grade within the factor, or an interval with another grade at one of its ends."""
    own, marks = grade(case, thresholds), threshold_sensitivity(case, thresholds)
    steps = [1 + sign * 0.05 * step for sign in (1, -1) for step in (1, 2, 3)]
    for i, mark in enumerate(marks):
        for name in mark:
            if name == "level":
                assert any(
                    grade(stretched(case, times), thresholds)[i] != own[i] for times in OTHER_LEVELS
                )
            elif name != "interval":
                assert any(
                    grade(*with_moved(case, thresholds, name, times))[i] != own[i]
                    for times in steps
                )
            else:
                assert bool((case.high > case.low).any())


@pytest.mark.parametrize(
    ("values", "rest", "marks"),
    [
        ([1e-4, 1.0], {}, ["", ""]),
        ([9e-4, 1.0], {}, ["strong", ""]),
        ([1.1e-3, 1.0], {}, ["strong", ""]),
        ([0.028, 1.0], {}, ["threshold", ""]),
        ([0.032, 1.0], {}, ["threshold", ""]),
        ([0.45, 1.0], {}, ["weak", ""]),
        ([0.029, 0.31, 1.0], {}, ["threshold, minimum_gap", "", ""]),
        ([0.02, 0.21, 1.0], {}, ["minimum_gap", "", ""]),
        ([0.02, 0.25, 1.0], {}, ["", "", ""]),
        ([1.2e-27, 1.0], {}, ["floor_factor", ""]),
        ([0.9e-27, 1.0], {}, ["floor_factor", ""]),
        ([5e-4, 1.0], {"wide": [1.0, 2.5]}, ["", "interval"]),  # from 0.4 to 2.5: may be weak
        (
            [5e-4, 1.0],
            {"wide": [3.0, 1.0]},
            ["interval", ""],
        ),  # high above strong: approximate; at its low end strong
        ([0.02, 1.0], {"wide": [1.6, 1.0]}, ["interval", ""]),  # reaches above the threshold
        ([0.02, 1.0], {"wide": [1.4, 1.0]}, ["", ""]),
    ],
)
def test_marks_by_hand(values, rest, marks):
    names = threshold_sensitivity(case_of(values, **rest), USUAL)
    assert [", ".join(own) for own in names] == marks


def test_a_smaller_margin_marks_less(monkeypatch):
    case = case_of([9.2e-4, 0.028, 0.45, 1.0])
    assert BORDERLINE_FACTOR == 1.15
    assert any(threshold_sensitivity(case, USUAL))
    monkeypatch.setattr("liegg.decision.grades.BORDERLINE_FACTOR", 1.01)
    assert not any(threshold_sensitivity(case, USUAL))


def test_nothing_has_no_marks():
    assert threshold_sensitivity(case_of([]), USUAL) == ()


def test_normal_spectra_are_mostly_clear():
    """What most runs look like: no marks on exact symmetries beside generic directions far from every threshold."""
    values = torch.cat(
        [torch.full((3,), 1e-31, dtype=torch.float64), (0.8 + 0.5 * normal(6).abs()).sort().values]
    )
    assert threshold_sensitivity(evidence(values, floor=FLOOR), USUAL) == ((),) * 9
