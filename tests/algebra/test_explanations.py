"""Reasons: members and numbers, for records made by hand and for known algebras."""

import math

import pytest
import torch

from liegg._utils.diagnoses import Diagnosis
from liegg.algebra import (
    diagonal,
    gl,
    heis,
    preserved_forms,
    scaling,
    se,
    sl,
    so,
    sp,
    su,
    translation,
    u,
)
from liegg.algebra.closure import Closure
from liegg.algebra.explanations import closure_reason, fit_reason, form_reasons, open_reason, rivals
from liegg.algebra.families.candidates import Candidate
from liegg.algebra.families.record import Member
from liegg.algebra.fit import REFUSAL_CHANCE, Fit, chi_square

FLOOR = 1e-9


def candidate(name, *, angle, needs, orbit=5, freedom=13):
    """A candidate `angle` degrees away that needs an uncertainty of `needs` degrees."""
    distance = math.radians(needs) * chi_square(freedom, 1 - REFUSAL_CHANCE) ** 0.5 / 3
    return Candidate(
        Member(name, so(3)), Fit(so(3), distance, math.radians(angle), orbit, freedom, 1.0)
    )


def closed(rms, noise, d=3):
    return Closure(torch.zeros(d, d, dtype=torch.float64), rms, rms, 0.0, noise, closed=True)


def said(remark, member, **values):
    """Whether a remark is of a member and has these values, numbers to rounding."""
    return remark.diagnosis is member and all(
        remark.values[name] == (pytest.approx(value) if isinstance(value, float) else value)
        for name, value in values.items()
    )


# Rivals


def test_a_rival_beyond_the_uncertainty():
    choice = candidate("so(3)", angle=0.5, needs=0.3)
    other = candidate("heis(3)", angle=45, needs=12)
    (rival,) = rivals([choice, other], choice, math.radians(0.5), FLOOR)
    assert rival.name == "heis(3)"
    assert (rival.angle, rival.needs) == pytest.approx((math.radians(45), math.radians(12)))
    numbers = {"degrees": 45.0, "needs": 12.0}
    assert said(rival.reason, Diagnosis.RIVAL_NEEDS_MORE_NOISE, **numbers, factor=24.0)
    (rival,) = rivals([choice, other], choice, FLOOR, FLOOR)  # exact matrices: no multiple
    assert said(rival.reason, Diagnosis.RIVAL_NEEDS_ERROR, **numbers)


def test_a_rival_of_a_larger_family():
    choice = candidate("se(2)", angle=1, needs=0.5, orbit=4)
    other = candidate("so(3)", angle=0.7, needs=0.4)
    (rival,) = rivals([choice, other], choice, math.radians(1), FLOOR)
    numbers = {"degrees": 0.7, "parameters": 5, "simpler": "se(2)", "fewer": 4}
    assert said(rival.reason, Diagnosis.RIVAL_OF_LARGER_FAMILY, **numbers)


def test_rivals_where_none_was_chosen():
    near, far = candidate("se(2)", angle=1, needs=0.5), candidate("so(3)", angle=20, needs=10)
    first, second = rivals([far, near], None, math.radians(1), FLOOR)
    assert (first.name, second.name) == ("se(2)", "so(3)")
    assert said(first.reason, Diagnosis.RIVAL_FITS, degrees=1.0)
    assert said(second.reason, Diagnosis.RIVAL_NEEDS_MORE_NOISE, degrees=20.0, factor=10.0)


def test_rivals_come_nearest_first_without_the_chosen_one():
    choice = candidate("b", angle=1, needs=1)
    others = [
        candidate(name, angle=1, needs=needs) for name, needs in (("c", 3), ("a", 2), ("d", 4))
    ]
    assert [one.name for one in rivals([*others, choice], choice, 1e-3, FLOOR)] == ["a", "c", "d"]
    assert rivals([choice], choice, 1e-3, FLOOR) == ()


# Closure and fit


def test_how_closed():
    assert said(closure_reason(closed(0.0, math.nan)), Diagnosis.CLOSED_BY_DIMENSION)
    assert said(closure_reason(closed(3e-16, 1e-15)), Diagnosis.CLOSED, rms=3e-16)
    noisy = closure_reason(closed(0.0123, math.radians(0.7)))
    assert said(noisy, Diagnosis.CLOSED_WITHIN_NOISE, rms=0.0123, degrees=0.7)


def test_why_it_is_not_an_algebra():
    reason = open_reason(closed(0.46, math.radians(29)), 9)
    numbers = {"rms": 0.46, "degrees": 29.0, "generated": 9}
    assert said(reason, Diagnosis.NOT_CLOSED_WITHIN_NOISE, **numbers)
    assert said(open_reason(closed(0.46, math.inf), 3), Diagnosis.NOT_CLOSED, rms=0.46, generated=3)


def test_how_near():
    reason = fit_reason(candidate("so(3)", angle=0.14, needs=0.08), math.radians(0.25), FLOOR)
    numbers = {"degrees": 0.14, "needs": 0.08, "allowed": 0.25}
    assert said(reason, Diagnosis.FITS_WITHIN_NOISE, name="so(3)", **numbers)
    exact = fit_reason(candidate("so(3)", angle=math.degrees(3e-15), needs=0), FLOOR, FLOOR)
    assert said(exact, Diagnosis.FITS_EXACTLY, name="so(3)", angle=3e-15)
    equal = fit_reason(candidate("so(3)", angle=0, needs=0), FLOOR, FLOOR)
    assert said(equal, Diagnosis.FITS_EXACTLY, angle=1e-16)


# What is preserved: symmetric forms, antisymmetric forms, vectors, covectors, volume; maps that commute

PRESERVED = {
    "so(3)": (so(3), (1, 0, 0, 0, True), 0),
    "so(1,3)": (so(1, 3), (1, 0, 0, 0, True), 0),
    "so(2)": (so(2), (1, 1, 0, 0, True), 1),
    "sp(4,R)": (sp(4), (0, 1, 0, 0, True), 0),
    "sl(3,R)": (sl(3), (0, 0, 0, 0, True), 0),
    "gl(3,R)": (gl(3), (0, 0, 0, 0, False), 0),
    # All maps commute with scalings, which says nothing.
    "scaling(2)": (scaling(2), (0, 0, 0, 0, False), 0),
    "diagonal(2)": (diagonal(2), (0, 0, 0, 0, False), 1),
    "u(2)": (u(2), (1, 1, 0, 0, True), 1),
    # Quaternions act from the other side: three imaginary units, and with each an area form.
    "su(2)": (su(2), (1, 3, 0, 0, True), 3),
    "sl(2,C)": (sl(2, "C"), (0, 2, 0, 0, True), 1),
    "se(2)": (se(2), (1, 0, 0, 1, True), 0),  # the square of the covector
    # The covector z is fixed, and x, y only ever change by multiples of it: z², z∧x, z∧y.
    "heis(5)": (heis(5), (1, 2, 1, 1, True), 1),
    "translation(2)": (translation(2), (1, 2, 2, 1, True), 2),
}
KINDS = ("symmetric_form", "antisymmetric_form", "vector", "covector", "volume")


def test_what_is_preserved():
    for generators, counts, maps in PRESERVED.values():
        reasons = form_reasons(preserved_forms(generators))
        assert said(reasons[0], Diagnosis.PRESERVES, **dict(zip(KINDS, counts, strict=True)))
        assert len(reasons) == (2 if maps else 1)
        assert not maps or said(reasons[1], Diagnosis.COMMUTANT, maps=maps)


def test_the_words_of_what_is_preserved():
    assert (
        form_reasons(preserved_forms(so(3, 1)))[0].values["what"]
        == "a metric of signature (1, 3), volume"
    )
    assert (
        form_reasons(preserved_forms(gl(3)))[0].values["what"]
        == "no form, no vector, not even volume"
    )
    assert form_reasons(preserved_forms(translation(2)))[0].values["what"] == (
        "a symmetric form, 2 independent antisymmetric forms, every vector of a subspace R², "
        "a covector, volume"
    )
