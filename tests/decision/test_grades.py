"""Grades and counts on hand-made spectra; every limit matters; what has no mark does not change with a limit."""

import math
from dataclasses import fields, replace
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cases import normal
from liegg._utils.errors import ArgumentError
from liegg.decision.grades import (
    CLEAR,
    CLOSE,
    COVERAGE,
    FLOOR_FACTOR,
    GAP,
    GRADES,
    LEVEL,
    LINEAR,
    RESOLUTION,
    STRONG,
    THRESHOLD,
    WEAK,
    WIDER,
    Evidence,
    LimitOptions,
    Thresholds,
    count,
    counts,
    evidence,
    grade,
    threshold_sensitivity,
)
from liegg.spectrum.defects import TRIVIAL_TOLERANCE

FLOOR = 1e-27
USUAL = Thresholds(
    threshold=0.03, minimum_gap=10.0, resolution=1e-4, strong=1e-3, weak=0.5, clear=0.3
)
SHORT = {"exact": "E", "strong": "S", "approximate": "A", "weak": "w", "none": "-"}


def column(*values):
    return torch.tensor(values, dtype=torch.float64)


def case_of(values, *, wide: Any = 1.0, floor=FLOOR, control=math.inf):
    """Evidence with intervals from each defect over `wide` to that times `wide`, one for all or one to each."""
    wide = column(*wide) if isinstance(wide, list) else column(*[wide] * len(values))
    return evidence(
        column(*values),
        torch.stack([column(*values) / wide, column(*values) * wide], 1),
        floor=floor,
        control=control,
    )


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
        (
            [0.001, 0.029, 0.28, 1.0],
            "www-",
        ),  # a gap that ends below what is clear must be wider, and the next is none
        ([0.0, 0.0, 0.0], "EEE"),
        ([1e-4, 1e-4, 1e-4], "SSS"),  # nothing is left to be set apart from
        (
            [1e-30, 1e-30, 0.01, 0.31, 1.0],
            "EEww-",
        ),  # a small defect beside exact ones is not one of them
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
        ([0.02, 0.12, 0.9], {"minimum_gap": 5.0}, "ww-"),  # the gap of 6 ends below what is clear
        ([0.02, 0.12, 0.9], {"minimum_gap": 5.0, "clear": 0.1}, "Aw-"),
        ([0.02, 0.32, 0.9], {"clear": 0.6}, "ww-"),
        (
            [1e-5, 2e-3, 0.05, 1.0],
            {"resolution": 1e-3, "clear": 0.0},
            "SAw-",
        ),  # alike below the resolution: gap of 25 beats 2
        (
            [1e-5, 2e-3, 0.05, 1.0],
            {"resolution": 1e-6, "clear": 0.0},
            "Sww-",
        ),  # gap of 200 beats 25
        ([5e-4, 1.0], {"strong": 4e-4}, "A-"),
        ([2e-3, 1.0], {"strong": 2e-3}, "S-"),
        ([0.6, 1.0], {"weak": 0.7}, "w-"),
        ([0.3, 1.0], {"weak": 0.2}, "--"),
        ([1e-4, 1.0], {"strong": 0.0}, "A-"),
        ([0.3, 1.0], {"weak": 0.0}, "--"),
    ],
)
def test_every_limit_matters(values, thresholds, expected):
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


def test_exact_directions_need_no_clear_gap():
    """The next defect, 0.05, lies below `clear`: a learned symmetry in front of it would need a gap of 60, an exact one of 10."""
    assert graded([0.0, 0.05, 0.06]) == "Eww"
    assert graded([2e-3, 0.05, 0.06]) == "www"
    assert graded([2e-3, 0.05, 0.06], replace(USUAL, clear=0.05)) == "Aww"
    assert graded([2e-3, 0.05, 0.06], floor=3e-3) == "Eww"


def test_directions_at_the_floor_without_a_gap_are_not_exact():
    assert graded([1e-28, 5e-28, 2e-27, 0.9], replace(USUAL, threshold=1e-27, clear=0.0)) == "www-"


def test_a_coarse_floor_does_not_hide_a_clear_gap():
    assert graded([1e-6, 1.5e-6, 1.2, 1.5], floor=0.6) == "EE--"


def test_evidence_without_intervals_is_the_defects_themselves():
    values = column(0.1, 1.0)
    case = evidence(values, floor=FLOOR)
    assert torch.equal(case.low, values)
    assert torch.equal(case.high, values)
    assert case.control == math.inf


def test_evidence_shrinks_what_is_at_the_floor_or_not_known():
    bounds = column(1e-9, 1.0, 0.05, 0.2, math.nan, math.nan, 0.5, math.inf).reshape(4, 2)
    case = evidence(column(1e-28, 0.1, 0.5, 1.0), bounds, floor=FLOOR)
    assert case.low.tolist() == [1e-28, 0.05, 0.5, 1.0]
    assert case.high.tolist() == [1e-28, 0.2, 0.5, 1.0]


# Thresholds.


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"threshold": 0.0},
            f"threshold=0.0: expected a positive defect, for example threshold={THRESHOLD}.",
        ),
        ({"threshold": math.nan}, "threshold=nan: expected a positive defect"),
        ({"threshold": math.inf}, "threshold=inf: expected a positive defect"),
        (
            {"minimum_gap": 0.5},
            f"minimum_gap=0.5: expected a ratio of 1 or more, for example minimum_gap={GAP:g}.",
        ),
        ({"minimum_gap": math.inf}, "minimum_gap=inf: expected a ratio of 1 or more"),
        (
            {"resolution": -1.0},
            f"resolution=-1.0: expected 0 or a small defect, for example resolution={RESOLUTION}.",
        ),
        (
            {"floor_factor": 0.0},
            f"floor_factor=0.0: expected a positive number of rounding units, for example {FLOOR_FACTOR:g}.",
        ),
        (
            {"floor_factor": math.nan},
            "floor_factor=nan: expected a positive number of rounding units",
        ),
        (
            {"trivial_tolerance": 1.0},
            f"expected a share between 0 and 1, for example {TRIVIAL_TOLERANCE:g}.",
        ),
        ({"trivial_tolerance": 0.0}, "trivial_tolerance=0.0: expected a share between 0 and 1"),
        (
            {"strong": -1.0},
            f"strong=-1.0: expected 0 or a positive number, for example strong={STRONG}.",
        ),
        (
            {"weak": math.nan},
            f"weak=nan: expected 0 or a positive number, for example weak={WEAK}.",
        ),
        (
            {"clear": math.inf},
            f"clear=inf: expected 0 or a positive number, for example clear={CLEAR}.",
        ),
        (
            {"linear": -0.1},
            f"linear=-0.1: expected 0 or a positive number, for example linear={LINEAR}.",
        ),
        (
            {"coverage": 1.0},
            f"coverage=1.0: expected a share from 0 to 1, for example coverage={COVERAGE:g}.",
        ),
        ({"coverage": -1e-3}, "coverage=-0.001: expected a share from 0 to 1"),
        (
            {"level": 1.0},
            f"level=1.0: expected the share of intervals that cover, for example level={LEVEL}.",
        ),
        ({"level": 0.4}, "level=0.4: expected the share of intervals that cover"),
        (
            {"treshold": 0.1},
            "there is no argument 'treshold'. The thresholds are threshold, minimum_gap, resolution, floor_factor, "
            "trivial_tolerance, strong, weak, clear, coverage, linear, level.",
        ),
    ],
)
def test_limits_that_make_no_sense_are_refused(options, text):
    with pytest.raises(ArgumentError) as caught:
        Thresholds.of(options)
    assert text in str(caught.value)


def test_every_limit_is_checked():
    """Not a number is no limit at all."""
    for field in fields(Thresholds):
        with pytest.raises(ArgumentError, match=f"^{field.name}=nan"):
            Thresholds.of({field.name: math.nan})


def test_limits_from_keywords():
    assert Thresholds.of({}) == Thresholds()
    assert Thresholds.of({"threshold": 0.1, "level": 0.9}) == replace(
        Thresholds(), threshold=0.1, level=0.9
    )
    assert set(LimitOptions.__annotations__) == {field.name for field in fields(Thresholds)}


# Laws.

EXPONENTS = st.floats(-6, 1)


@st.composite
def spectra(draw, *, most=7):
    """Ascending defects over seven decades, some at the floor, with intervals of any width, and a control."""
    size = draw(st.integers(1, most))
    values = sorted(10**e for e in draw(st.lists(EXPONENTS, min_size=size, max_size=size)))
    exact = draw(st.integers(0, size))
    values[:exact] = [1e-29] * exact
    wide = [10**w for w in draw(st.lists(st.floats(0, 0.7), min_size=size, max_size=size))]
    control = draw(st.sampled_from([math.inf, 0.3, 0.8]))
    return case_of(
        values,
        wide=draw(st.sampled_from([1.0, wide])),
        floor=draw(st.sampled_from([1e-27, 1e-11, 1e-4])),
        control=control,
    )


@st.composite
def all_limits(draw):
    """Thresholds around the usual ones, by a factor of 30."""

    def around(name):
        return getattr(USUAL, name) * 10 ** draw(st.floats(-1.5, 1.5))

    names = ("threshold", "resolution", "strong", "weak", "clear")
    return Thresholds(
        **{name: around(name) for name in names}, minimum_gap=max(1.0, around("minimum_gap"))
    )


SOME_LIMITS = st.just(USUAL) | all_limits()


@given(
    st.lists(spectra(most=5).filter(lambda case: len(case.values) == 4), min_size=1, max_size=4),
    SOME_LIMITS,
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_many_are_counted_as_each_alone(cases, thresholds):
    values, low, high = (
        torch.stack([getattr(c, name) for c in cases]) for name in ("values", "low", "high")
    )
    together = counts(values, low, high, FLOOR, thresholds)
    assert together.tolist() == [count(replace(c, floor=FLOOR), thresholds) for c in cases]
    assert (
        counts(
            torch.zeros(3, 0).double(),
            torch.zeros(3, 0).double(),
            torch.zeros(3, 0).double(),
            FLOOR,
            thresholds,
        ).tolist()
        == [0] * 3
    )


def count_by_hand(case, thresholds):
    """The rule in words, one candidate count after the other."""
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


@given(spectra(), SOME_LIMITS)
@settings(max_examples=200, deadline=None)
def test_the_count_is_the_rule_in_words(case, thresholds):
    assert count(case, thresholds) == count_by_hand(case, thresholds)


@given(spectra(), SOME_LIMITS)
@settings(max_examples=60, deadline=None)
def test_grades_are_the_rule_in_words(case, thresholds):
    number = count(case, thresholds)
    for i, name in enumerate(grade(case, thresholds)):
        value, high = float(case.values[i]), float(case.high[i])
        if i < number:
            assert name == (
                "exact"
                if value <= case.floor
                else "strong"
                if high <= thresholds.strong
                else "approximate"
            )
        else:
            assert name == ("weak" if high <= thresholds.weak and high < case.control else "none")


@given(spectra(), SOME_LIMITS, st.sampled_from([2.0**-9, 2.0**-3, 2.0**5]))
@settings(max_examples=60, deadline=None)
def test_grades_have_no_scale_of_their_own(case, thresholds, scale):
    names = ("threshold", "resolution", "strong", "weak", "clear")
    scaled = Evidence(
        case.values * scale,
        case.low * scale,
        case.high * scale,
        case.floor * scale,
        case.control * scale,
    )
    assert grade(
        scaled, replace(thresholds, **{name: getattr(thresholds, name) * scale for name in names})
    ) == grade(case, thresholds)


@given(spectra(), SOME_LIMITS)
@settings(max_examples=60, deadline=None)
def test_without_intervals_a_smaller_defect_has_no_worse_grade(case, thresholds):
    """With them it may: a strong symmetry can lie behind an approximate one whose interval is wider."""
    places = [
        GRADES.index(name)
        for name in grade(replace(case, low=case.values, high=case.values), thresholds)
    ]
    assert places == sorted(places)


def test_of_counted_directions_none_is_better_than_one_before_it_but_weak_ones_may_be():
    assert graded([5e-4, 6e-4, 1.0], wide=[3.0, 1.1, 1.0]) == "AA-"
    assert graded([0.3, 0.4, 1.0], wide=[2.0, 1.1, 1.0]) == "-w-"


@given(spectra(), SOME_LIMITS, st.floats(1.0, 30.0))
@settings(max_examples=60, deadline=None)
def test_wider_intervals_never_make_more_strong_or_weak(case, thresholds, times):
    known = case.values > case.floor
    wider = replace(
        case,
        low=torch.where(known, case.low / times, case.low),
        high=torch.where(known, case.high * times, case.high),
    )
    before, after = grade(case, thresholds), grade(wider, thresholds)
    if after[: count(wider, thresholds)].count("strong") > before.count("strong"):
        assert count(wider, thresholds) > count(
            case, thresholds
        )  # the widest gap was closed by an interval, and a later one decides
    for one, other in zip(before, after, strict=True):
        assert not (one == "none" and other == "weak")


# Close calls.

MOVED = ("strong", "threshold", "weak", "minimum_gap", "clear", "resolution", "floor_factor")


def with_moved(case, thresholds, name, times):
    """A limit times a factor; the floor goes with the square of its own."""
    if name == "floor_factor":
        return replace(case, floor=case.floor * times**2), thresholds
    moved = getattr(thresholds, name) * times
    return case, replace(thresholds, **{name: max(moved, 1.0) if name == "minimum_gap" else moved})


@given(spectra(), SOME_LIMITS)
@example(
    case_of([9e-4 / 1.04, 1.0]), replace(USUAL, strong=1e-3)
)  # 0.85 of the limit lies below, 1/1.15 of it does not
@example(
    case_of([5.256e-4, 5.928e-4, 6.35e-3, 0.06907], floor=5e-4), USUAL
)  # exact at a floor 10 % higher, not at 15 %
@settings(max_examples=60, deadline=None)
def test_no_limit_moved_by_15_percent_changes_a_grade_without_a_mark(case, thresholds):
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
    """The same with intervals that are so many times as wide, as at another level; in logarithms, about their middles."""
    middle, half = (
        (case.low * case.high).sqrt(),
        (case.high / case.low.clamp_min(1e-300)).sqrt() ** times,
    )
    there = case.high > case.low
    return replace(
        case,
        low=torch.where(there, middle / half, case.low),
        high=torch.where(there, middle * half, case.high),
    )


@given(spectra(most=4), SOME_LIMITS)
@example(
    case_of([10**-3.25, 1.0, 1.0], wide=[10**0.25, 1.0, 1.0]), replace(USUAL, weak=0.5)
)  # an end on the limit itself
@settings(max_examples=20, deadline=None)
def test_marks_are_earned(case, thresholds):
    """A mark names a limit that changes the grade within the factor, or an interval with another grade at one of its ends."""
    own, marks = grade(case, thresholds), threshold_sensitivity(case, thresholds)
    steps = [1 + sign * 0.05 * step for sign in (1, -1) for step in (1, 2, 3)]
    for i, mark in enumerate(marks):
        for name in mark.split(", ") if mark else ():
            if name == "level":
                assert any(
                    grade(stretched(case, times), thresholds)[i] != own[i]
                    for times in (WIDER, 1 / WIDER)
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
        ([0.029, 0.31, 1.0], {}, ["threshold, minimum_gap, clear", "", ""]),
        ([0.02, 0.21, 1.0], {}, ["", "", ""]),
        ([0.023, 0.28, 1.0], {}, ["minimum_gap, clear", "", ""]),
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
    assert list(threshold_sensitivity(case_of(values, **rest), USUAL)) == marks


def test_a_smaller_factor_marks_less():
    case = case_of([9.2e-4, 0.028, 0.45, 1.0])
    some, more = (
        threshold_sensitivity(case, USUAL, factor=1.01),
        threshold_sensitivity(case, USUAL, factor=CLOSE),
    )
    assert not any(some)
    assert any(more)


def test_nothing_has_no_marks():
    assert threshold_sensitivity(case_of([]), USUAL) == ()


def test_normal_spectra_are_mostly_clear():
    """What most runs look like: no marks on exact symmetries beside generic directions far from every limit."""
    values = torch.cat(
        [torch.full((3,), 1e-31, dtype=torch.float64), (0.8 + 0.5 * normal(6).abs()).sort().values]
    )
    assert threshold_sensitivity(evidence(values, floor=FLOOR), USUAL) == ("",) * 9
