"""The decision on hand-made lists of defects, and the directions that come of it."""

import math
import re

import pytest
import torch

from cases import normal
from liegg import algebra
from liegg._errors import ArgumentError
from liegg.defect import Defects
from liegg.verdict import decide, found_directions, numerical_floor

FLOOR = 1e-27


def solved(values, *, trivial=0, sensitivity=1.0, directions=None):
    columns = len(values) + trivial
    eye = torch.eye(columns, dtype=torch.float64)
    chosen = eye[: len(values)] if directions is None else directions
    return Defects(torch.tensor(values, dtype=torch.float64), chosen, eye[len(values) :], sensitivity)


def decided(values, *, samples=100, floor=FLOOR, **rest):
    knobs = {name: rest.pop(name) for name in ("threshold", "minimum_gap", "resolution", "eliminated") if name in rest}
    return decide(solved(values, **rest), samples=samples, floor=floor, **knobs)


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
        ([1e-30, 1e-30, 0.01, 0.3, 1.0], 2),  # a direction of small defect beside two exact ones is not one of them
        ([1e-30, 1e-30, 1e-3, 2e-3, 1.0, 1.5], 4),  # learned symmetries beside exact ones are counted with them
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


def test_a_dtype_too_coarse_for_the_threshold_is_warned_of():
    decision = decided([1e-3, 1.0, 1.0], floor=0.6)
    assert decision.warnings[-1].startswith("rounding alone can cause a defect of 0.6 in this dtype, more than the threshold 0.03")


@pytest.mark.parametrize(
    ("knobs", "text"),
    [
        ({"threshold": 0.0}, "threshold=0.0: expected a positive defect, for example threshold=0.03."),
        ({"minimum_gap": 0.5}, "minimum_gap=0.5: expected a ratio of 1 or more, for example minimum_gap=10."),
        ({"resolution": -1.0}, "resolution=-1.0: expected 0 or a small defect, for example resolution=0.0001."),
        ({"threshold": float("nan")}, "threshold=nan: expected a positive defect"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs, text):
    with pytest.raises(ArgumentError, match=re.escape(text)):
        decided([0.1, 1.0], **knobs)


def test_the_floor_needs_a_positive_factor():
    with pytest.raises(ArgumentError, match=r"floor_factor=0\.0: expected a positive number of rounding units"):
        numerical_floor(torch.float32, factor=0.0)


def test_knobs_decide_and_are_recorded():
    values = [0.02, 0.15, 1.0]
    assert decided(values).nullity == 0
    loose = decided(values, minimum_gap=5.0)
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
    decision = decided([0.0] * 3 + [0.5, 0.8, 1.0, 1.2, 1.4, 1.6], samples=samples, eliminated=eliminated)
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


def test_a_constant_model_is_invariant_and_warned_of():
    decision = decided([0.0, 0.0], sensitivity=0.0, samples=1)
    assert (decision.nullity, decision.exact, decision.undecided) == (2, 2, 0)
    assert decision.warnings == (
        "nothing but rounding moves the output in any candidate direction: it is constant on this data, or invariant under all",
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
        ([0.0, 0.0, 1.0], "2 of 3 directions are symmetries: all at the numerical floor 1e-27, the next is 1e+27 times larger"),
        ([1e-3, 2e-3, 1.0], "2 of 3 directions are symmetries: defects up to 0.002, the next is 500 times larger"),
        ([0.0, 0.0], "2 of 2 directions are symmetries: all at the numerical floor 1e-27, no direction is left"),
        ([0.5, 1.0], "no symmetry: the smallest defect is 0.5, above the threshold 0.03"),
        ([0.01, 0.02, 0.1],
         "no symmetry: 2 defects lie below the threshold 0.03 (from 0.01), but none is followed by a gap of 10 times"),
    ],
)  # fmt: skip
def test_reasons(values, reason):
    assert decided(values).reasons == (reason,)


@pytest.mark.parametrize(("dtype", "eps"), [(torch.float64, 2.0**-52), (torch.float32, 2.0**-23)])
def test_floor_is_a_hundred_rounding_units_squared(dtype, eps):
    assert numerical_floor(dtype) == pytest.approx((100 * eps) ** 2, rel=1e-12)
    assert numerical_floor(dtype, factor=1.0) == pytest.approx(eps**2, rel=1e-12)


def rotated(seed):
    """so(4) exact in a random basis, one approximate direction, the rest."""
    turn = torch.linalg.qr(normal(6, 6, seed=seed))[0]
    frame = torch.linalg.qr(torch.cat([algebra.so(4).flatten(1), normal(10, 16)]).mT)[0].mT
    return solved([0.0] * 6 + [1e-3] + [1.0] * 9, directions=torch.cat([turn @ frame[:6], frame[6:]]))


def test_found_directions_are_orthonormal_and_exact_ones_come_first():
    case = rotated(0)
    found = found_directions(case, decided(case.values.tolist()))
    torch.testing.assert_close(found @ found.mT, torch.eye(7, dtype=torch.float64), rtol=0, atol=1e-13)
    inside = found[:6] @ case.directions[:6].mT
    torch.testing.assert_close(inside @ inside.mT, torch.eye(6, dtype=torch.float64), rtol=0, atol=1e-13)
    torch.testing.assert_close(found[6].abs(), case.directions[6].abs(), rtol=0, atol=1e-13)


def test_found_directions_do_not_depend_on_the_basis_of_the_exact_ones():
    one, two = (found_directions(c, decided(c.values.tolist())) for c in (rotated(1), rotated(2)))
    torch.testing.assert_close(one, two, rtol=0, atol=1e-12)


def test_found_directions_have_deterministic_signs():
    case = rotated(3)
    flipped = Defects(case.values, -case.directions, case.trivial, 1.0)
    decision = decided(case.values.tolist())
    torch.testing.assert_close(found_directions(flipped, decision), found_directions(case, decision), rtol=0, atol=1e-12)


def test_oblique_directions_come_out_orthonormal_in_order():
    """Directions of a generalised problem are orthogonal in M, not in the Frobenius product; each keeps the span up to it."""
    oblique = torch.nn.functional.normalize(normal(4, 6), dim=1)
    found = found_directions(solved([1e-4, 2e-4, 3e-4, 1.0, 1.0, 1.0], directions=torch.cat([oblique, oblique[:2]])),
                             decided([1e-4, 2e-4, 3e-4, 1.0, 1.0, 1.0]))  # fmt: skip
    torch.testing.assert_close(found @ found.mT, torch.eye(3, dtype=torch.float64), rtol=0, atol=1e-13)
    for k in (1, 2, 3):
        assert torch.linalg.matrix_rank(torch.cat([found[:k], oblique[:k]])) == k
