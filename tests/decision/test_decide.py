"""The decision on hand-made lists of defects, and the directions that come of it."""

import dataclasses
import math
import re

import pytest
import torch

from cases import normal
from liegg import algebra
from liegg._utils.errors import ArgumentError
from liegg.decision.decide import (
    decide,
    found_directions,
    numerical_floor,
    rounding_bound,
    trusted_floor,
)
from liegg.decision.grades import FLOOR_FACTOR, STRONG, Thresholds
from liegg.spectrum.defects import Defects

FLOOR = 1e-27


def solved(values, *, trivial=0, sensitivity=1.0, directions=None):
    columns = len(values) + trivial
    eye = torch.eye(columns, dtype=torch.float64)
    chosen = eye[: len(values)] if directions is None else directions
    return Defects(
        torch.tensor(values, dtype=torch.float64), chosen, eye[len(values) :], sensitivity
    )


def decided(values, *, samples=100, floor=FLOOR, **rest):
    made = {
        name: rest.pop(name) for name in ("trivial", "sensitivity", "directions") if name in rest
    }
    names = {field.name for field in dataclasses.fields(Thresholds)}
    thresholds = Thresholds(**{name: rest.pop(name) for name in tuple(rest) if name in names})
    return decide(
        solved(values, **made), samples=samples, floor=floor, thresholds=thresholds, **rest
    )


@pytest.mark.parametrize(
    ("values", "nullity", "exact"),
    [
        ([0.0, 0.0, 1.0, 2.0], 2, 2),  # exact
        ([1e-30, 1e-28, 1.0, 2.0], 2, 2),  # at the floor, whatever their ratio
        ([1e-4, 2e-3, 1.0, 2.0], 2, 0),  # approximate, set apart
        ([1e-30, 1e-3, 1.0, 2.0], 2, 1),  # one exact, one approximate
        ([0.02, 0.1, 0.5, 2.0], 0, 0),  # below the threshold without a gap
        ([0.05, 1.0, 1.5, 2.0], 0, 0),  # a gap above the threshold
        ([0.5, 0.6, 1.0, 2.0], 0, 0),  # nothing
        ([1.0, 1.0, 1.0, 1.0], 0, 0),  # orthonormal columns
        ([0.03, 0.3, 1.0, 2.0], 1, 0),  # both borders belong to the symmetry
        ([0.0, 0.0, 0.0, 0.0], 4, 4),  # nothing left
        ([1e-4, 1e-4, 1e-4, 1e-4], 4, 0),  # nothing left, approximate: an equivariant map
        ([1e-28, 5e-27, 2.5e-26, 1.0], 3, 1),  # a slope from the floor upwards; the last gap counts
    ],
)
def test_count(values, nullity, exact):
    decision = decided(values)
    assert (decision.nullity, decision.exact, decision.undecided) == (nullity, exact, 0)


def test_exact_directions_without_a_gap_are_not_counted_as_found():
    decision = decided([1e-28, 5e-28, 2e-27, 0.9], threshold=1e-27)
    assert (decision.nullity, decision.exact) == (0, 0)
    assert found_directions(solved([1e-28, 5e-28, 2e-27, 0.9]), decision).shape == (0, 4)


def test_a_coarse_floor_does_not_hide_a_clear_gap():
    assert decided([1e-6, 1.5e-6, 1.2, 1.5], floor=0.6).nullity == 2


@pytest.mark.parametrize(
    ("values", "gap"),
    [
        ([0.0, 0.5, 1.0], 0.5 / FLOOR),  # a zero stands at the floor
        ([1e-3, 0.5, 1.0], 500.0),
        ([0.0, 0.0, 0.0], math.inf),
        ([0.5, 1.0, 1.5], 0.5 / FLOOR),  # none counted: the first over the floor
        ([], math.inf),
    ],
)
def test_gap(values, gap):
    assert decided(values).gap == pytest.approx(gap)


@pytest.mark.parametrize(
    ("values", "nullity"),
    [
        (
            [1e-30, 1e-30, 0.01, 0.3, 1.0],
            2,
        ),  # a direction of small defect beside two exact ones is not one of them
        (
            [1e-30, 1e-30, 1e-3, 2e-3, 1.0, 1.5],
            4,
        ),  # learned symmetries beside exact ones are counted with them
        ([1e-30, 5e-5, 1.0, 1.5], 2),  # below the resolution all are alike
        ([2e-3, 5e-3, 1.1, 1.2], 2),  # as a trained network has it
    ],
)
def test_the_widest_gap_decides(values, nullity):
    assert decided(values).nullity == nullity


def test_the_resolution_is_a_knob():
    values = [1e-30, 1e-30, 1e-3, 2e-3, 1.0]
    assert decided(values, resolution=0.0).nullity == 2
    assert decided(values, resolution=1e-2).resolution == 1e-2


@pytest.mark.parametrize(
    ("knobs", "text"),
    [
        (
            {"threshold": 0.0},
            "threshold=0.0: expected a positive defect, for example threshold=0.03.",
        ),
        (
            {"minimum_gap": 0.5},
            "minimum_gap=0.5: expected a ratio of 1 or more, for example minimum_gap=10.",
        ),
        (
            {"resolution": -1.0},
            "resolution=-1.0: expected 0 or a small defect, for example resolution=0.0001.",
        ),
        ({"threshold": float("nan")}, "threshold=nan: expected a positive defect"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs, text):
    with pytest.raises(ArgumentError, match=re.escape(text)):
        decided([0.1, 1.0], **knobs)


def test_the_floor_needs_a_positive_factor():
    with pytest.raises(
        ArgumentError, match=r"floor_factor=0\.0: expected a positive number of rounding units"
    ):
        numerical_floor(1e-7, Thresholds(floor_factor=0.0))


def test_knobs_decide_and_are_recorded():
    values = [0.02, 0.15, 1.0]
    assert decided(values, clear=0.1).nullity == 0
    loose = decided(values, minimum_gap=5.0, clear=0.1)
    assert (loose.nullity, loose.minimum_gap, loose.threshold, loose.floor) == (1, 5.0, 0.03, FLOOR)
    assert decided([0.02, 0.15, 1.5], minimum_gap=5.0, threshold=0.2).nullity == 2
    assert decided(values, minimum_gap=5.0, threshold=0.01).nullity == 0


@pytest.mark.parametrize(
    ("samples", "eliminated", "nullity", "undecided"),
    [
        (6, 0, 0, 3),  # six constraints from six samples: a seventh might bring another
        (7, 0, 3, 0),  # seven samples, six constraints: none is missing
        (7, 1, 0, 3),  # one constraint went to the output generators
        (8, 1, 3, 0),
        (3, 4, 0, 3),
    ],
)
def test_too_few_samples_leave_zeros_undecided(samples, eliminated, nullity, undecided):
    decision = decided(
        [0.0] * 3 + [0.5, 0.8, 1.0, 1.2, 1.4, 1.6], samples=samples, eliminated=eliminated
    )
    assert (decision.nullity, decision.exact, decision.undecided) == (nullity, nullity, undecided)


def test_undecided_says_how_many_samples_it_takes():
    decision = decided([0.0, 1.0, 1.0, 1.0], samples=3, eliminated=2)
    assert decision.warnings == (
        "3 samples cannot decide 4 directions: 1 are not constrained by any sample. Use more than 6 samples.",
    )
    assert decision.reasons == ()
    assert decision.gap == 1.0


def test_few_samples_are_warned_of():
    assert decided([0.0, 1.0, 1.0, 1.0], samples=7).warnings == (
        "only 7 samples for 4 directions: small defects may be chance. Use 8 or more.",
    )
    assert decided([0.0, 1.0, 1.0, 1.0], samples=8).warnings == ()


def test_what_nothing_moves_is_undecided_and_what_only_the_candidates_do_not_move_is_not():
    constant = decided(
        [0.0, 0.0], sensitivity=0.0, samples=1, degenerate=True, told=["it is constant"]
    )
    assert (constant.nullity, constant.exact, constant.undecided) == (0, 0, 2)
    assert (constant.warnings, constant.grades) == (("it is constant",), ("none", "none"))
    assert (
        constant.sentence == "Nothing can be said about 2 of 2 directions; no symmetry is claimed."
    )
    invariant = decided([0.0, 0.0], sensitivity=0.0, samples=1)
    assert (invariant.nullity, invariant.exact, invariant.undecided) == (2, 2, 0)
    assert invariant.warnings[0].startswith(
        "no candidate direction moves the output beyond rounding, though other changes of the"
    )


def test_trivial_directions_are_never_counted():
    decision = decided([0.0, 1.0], trivial=3)
    assert (decision.nullity, decision.trivial) == (1, 3)
    assert decision.warnings[0].startswith("3 directions do not move the data")
    nothing = decided([], trivial=3)
    assert (nothing.nullity, nothing.trivial, nothing.reasons) == (0, 3, ())


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (
            [0.0, 0.0, 1.0],
            "2 of 3 directions are symmetries: all at the numerical floor 1e-27, the next is 1e+27 times larger",
        ),
        (
            [1e-3, 2e-3, 1.0],
            "2 of 3 directions are symmetries: defects up to 0.002, the next is 500 times larger",
        ),
        (
            [0.0, 0.0],
            "2 of 2 directions are symmetries: all at the numerical floor 1e-27, no direction is left",
        ),
        ([0.5, 1.0], "no symmetry: the smallest defect is 0.5, above the threshold 0.03"),
        (
            [0.01, 0.02, 0.1],
            "no symmetry: 2 defects lie below the threshold 0.03 (from 0.01), but none is set apart from the rest by a gap of 10 "
            "times (more before a small one) and by its interval",
        ),
    ],
)
def test_reasons(values, reason):
    assert decided(values).reasons[0] == reason


@pytest.mark.parametrize("unit", [2.0**-23, 2.0**-30])
def test_the_floor_is_so_many_rounding_units_squared_and_grows_with_the_conditioning(unit):
    assert numerical_floor(unit, Thresholds()) == pytest.approx(
        (FLOOR_FACTOR * unit) ** 2, rel=1e-12
    )
    assert numerical_floor(unit, Thresholds(floor_factor=1.0), conditioning=7.0) == pytest.approx(
        7 * unit**2, rel=1e-12
    )
    assert numerical_floor(unit, Thresholds(), conditioning=0.1) == numerical_floor(
        unit, Thresholds()
    )


def test_the_floor_is_at_least_that_of_the_solution_itself():
    assert numerical_floor(2.0**-52) == pytest.approx((100 * 2.0**-52) ** 2, rel=1e-12)


def test_exact_is_never_less_than_strong():
    assert numerical_floor(2.0**-7, Thresholds(), conditioning=10.0) == STRONG
    assert numerical_floor(2.0**-7, Thresholds(strong=1e-2), conditioning=10.0) == 1e-2


def test_what_rounding_can_do_is_not_limited_by_strong():
    assert rounding_bound(2.0**-7, Thresholds(), conditioning=10.0) == pytest.approx(
        10 * (FLOOR_FACTOR / 128) ** 2, rel=1e-12
    )
    assert rounding_bound(2.0**-52) == numerical_floor(2.0**-52)


@pytest.mark.parametrize("conditioning", [0.5, 1.0, 7.0, 1e4, 1e9])
def test_what_is_rounding_unseen_lies_below_the_floor_and_in_float64_is_all_of_it(conditioning):
    """The error of the solution itself, 100 units times the conditioning, is larger there than what is granted to the model."""
    floors = {
        unit: numerical_floor(unit, conditioning=conditioning)
        for unit in (2.0**-52, 2.0**-23, 2.0**-10, 2.0**-7)
    }
    trusted = {unit: trusted_floor(unit, conditioning=conditioning) for unit in floors}
    assert all(trusted[unit] <= floors[unit] for unit in floors)
    assert trusted[2.0**-52] == floors[2.0**-52]
    assert trusted[2.0**-23] == pytest.approx((FLOOR_FACTOR * 2.0**-23) ** 2, rel=1e-12)
    assert trusted[2.0**-10] == pytest.approx((FLOOR_FACTOR * 2.0**-10) ** 2, rel=1e-12)
    assert trusted[2.0**-7] == STRONG


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([], "Nothing can be said: no candidate direction moves the data."),
        ([0.0, 1.0, 1.0], "1 exact symmetry: nothing but rounding moves the output along it."),
        ([0.0, 0.0, 1.0], "2 exact symmetries: nothing but rounding moves the output along them."),
        (
            [0.0, 1e-4, 2.5e-3, 1.0],
            "1 exact + 1 strong + 1 approximate symmetries: the output moves by at most 5 % of what it does "
            "along an average direction.",
        ),
        (
            [0.25, 1.0, 2.0],
            "No symmetry: the nearest candidate moves the output by 50 % of what an average direction does (1 weak "
            "candidate).",
        ),
        (
            [0.81, 1.0, 2.0],
            "No symmetry: the nearest candidate moves the output by 90 % of what an average direction does.",
        ),
    ],
)
def test_the_sentence(values, sentence):
    assert decided(values).sentence == sentence


def test_what_the_data_does_not_cover_is_said_with_what_would_help():
    def warned(**more):
        return " ".join(decided([1e-3, 1.0, 2.0], **more).warnings)

    assert warned() == ""
    assert "nearly linear on this data (it bends by 10 % between samples)" in warned(
        nonlinearity=0.01
    )
    assert "Data that spreads further would tell" in warned(nonlinearity=0.01)
    assert warned(nonlinearity=0.5) == ""
    assert decided([0.9, 1.0, 2.0], nonlinearity=0.01).warnings == ()  # nothing was claimed
    assert "90 % of the data's squared size lies along one axis" in warned(along_one=0.9)
    assert "Add samples in other directions" in warned(along_one=0.9)
    barely = dataclasses.replace(solved([1e-3, 1.0], trivial=3), barely=2)
    said = decide(barely, samples=100, floor=FLOOR).warnings
    assert said[0].startswith("1 direction does not move the data")
    assert said[1].startswith(
        "2 directions move the data by less than 0.001 % of the possible: it covers too little there"
    )


def test_a_direction_near_a_boundary_is_said_to_be():
    decision = decided([0.028, 1.0, 1.2])
    assert decision.grades[0] == "approximate"
    assert decision.borderline == ("threshold", "", "")
    assert decision.reasons[-1] == "direction 1 near a boundary (threshold)"
    assert decided([0.01, 1.0, 1.2]).borderline == ("", "", "")


def test_an_interval_that_reaches_the_next_direction_takes_the_symmetry_away():
    bounds = torch.tensor([[1e-3, 2e-3], [0.5, 2.0]], dtype=torch.float64)
    assert decided([1.5e-3, 1.0], bounds=bounds).nullity == 1
    wide = torch.tensor([[1e-4, 0.6], [0.5, 2.0]], dtype=torch.float64)
    assert decided([1.5e-3, 1.0], bounds=wide).nullity == 0


def rotated(seed):
    """so(4) exact in a random basis, one approximate direction, the rest."""
    turn = torch.linalg.qr(normal(6, 6, seed=seed))[0]
    frame = torch.linalg.qr(torch.cat([algebra.so(4).flatten(1), normal(10, 16)]).mT)[0].mT
    return solved(
        [0.0] * 6 + [1e-3] + [1.0] * 9, directions=torch.cat([turn @ frame[:6], frame[6:]])
    )


def test_found_directions_are_orthonormal_and_exact_ones_come_first():
    case = rotated(0)
    found = found_directions(case, decided(case.values.tolist()))
    torch.testing.assert_close(
        found @ found.mT, torch.eye(7, dtype=torch.float64), rtol=0, atol=1e-13
    )
    inside = found[:6] @ case.directions[:6].mT
    torch.testing.assert_close(
        inside @ inside.mT, torch.eye(6, dtype=torch.float64), rtol=0, atol=1e-13
    )
    torch.testing.assert_close(found[6].abs(), case.directions[6].abs(), rtol=0, atol=1e-13)


def test_found_directions_do_not_depend_on_the_basis_of_the_exact_ones():
    one, two = (found_directions(c, decided(c.values.tolist())) for c in (rotated(1), rotated(2)))
    torch.testing.assert_close(one, two, rtol=0, atol=1e-12)


def test_found_directions_have_deterministic_signs():
    case = rotated(3)
    flipped = Defects(case.values, -case.directions, case.trivial, 1.0)
    decision = decided(case.values.tolist())
    torch.testing.assert_close(
        found_directions(flipped, decision), found_directions(case, decision), rtol=0, atol=1e-12
    )


def test_oblique_directions_come_out_orthonormal_in_order():
    """Directions of a generalised problem are orthogonal in M, not in the Frobenius product; each keeps the span up to it."""
    oblique = torch.nn.functional.normalize(normal(4, 6), dim=1)
    found = found_directions(
        solved([1e-4, 2e-4, 3e-4, 1.0, 1.0, 1.0], directions=torch.cat([oblique, oblique[:2]])),
        decided([1e-4, 2e-4, 3e-4, 1.0, 1.0, 1.0]),
    )
    torch.testing.assert_close(
        found @ found.mT, torch.eye(3, dtype=torch.float64), rtol=0, atol=1e-13
    )
    for k in (1, 2, 3):
        assert torch.linalg.matrix_rank(torch.cat([found[:k], oblique[:k]])) == k


def test_of_the_smallest_alone_a_count_needs_a_defect_after_it():
    """The last may be followed by one that is hardly larger; only what lies at the floor is a symmetry whatever comes next."""
    values = [1e-4, 1e-4, 0.5]
    assert decided(values, unsolved=20).nullity == decided([*values, 1.0]).nullity == 2
    assert decided(values[:2], unsolved=20).nullity == 0
    assert decided(values[:2]).nullity == 2
    assert decided([0.0, 1e-4], unsolved=20).nullity == 1
    assert decided([0.0, 0.0], unsolved=20).nullity == 2


def test_at_least():
    found = decided([0.0, 0.0], unsolved=20)
    assert (
        found.sentence
        == "At least 2 exact symmetries: nothing but rounding moves the output along them."
    )
    assert found.reasons == (
        "2 of 22 directions are symmetries: all at the numerical floor 1e-27, the next was not solved for",
    )
    assert found.gap == 1.0
    assert found.warnings == (
        "the largest of the 2 defects solved for, 0, is below the threshold: there may be more symmetries. Pass bottom=4",
    )
    assert decided([0.0, 0.5], unsolved=20).sentence.startswith("1 exact symmetry")
    assert decided([0.0, 0.5], unsolved=20).warnings == ()
    assert decided([0.0, 0.0, 1e-4, 2e-3], unsolved=20).sentence.startswith(
        "At least 2 exact symmetries"
    )


def test_too_few_samples_for_those_that_were_not_solved_for():
    """How many lie at the floor is not known, so neither is the number of constraints: all others may be."""
    found = decided([0.0, 0.0], unsolved=20, samples=20)
    assert (found.nullity, found.undecided) == (0, 2)
    assert (
        "20 samples cannot decide 22 directions: at least 2 are not constrained by any sample. Use more than 22"
        in found.warnings[0]
    )
    assert decided([0.0, 0.0], unsolved=20, samples=21).nullity == 2


def test_all_directions_need_no_work():
    every = solved([0.0] * 40, directions=torch.linalg.qr(normal(40, 40)).Q)
    found = found_directions(every, decide(every, samples=100, floor=FLOOR))
    assert torch.equal(found, torch.eye(40, dtype=torch.float64))


def test_very_many_directions_keep_the_basis_they_were_solved_in(monkeypatch):
    monkeypatch.setattr("liegg.decision.decide.CANONICAL", 10)
    rows = torch.linalg.qr(normal(6, 4)).Q.mT.contiguous()
    some = solved([0.0] * 4, trivial=2, directions=rows)
    found = found_directions(some, decide(some, samples=100, floor=FLOOR))
    torch.testing.assert_close(found.abs(), rows.abs(), rtol=0, atol=1e-14)
