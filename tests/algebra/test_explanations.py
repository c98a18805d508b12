"""Reasons in sentences: exact texts, for records made by hand and for known algebras."""

import math

import pytest
import torch

from liegg.algebra import diagonal, gl, heis, scaling, se, sl, so, sp, su, translation, u
from liegg.algebra.closure import Closure
from liegg.algebra.explanations import closure_reason, fit_reason, form_reason, open_reason, rivals
from liegg.algebra.families.candidates import Candidate
from liegg.algebra.families.record import Model
from liegg.algebra.fit import CHANCE, Fit, chi_square

FLOOR = 1e-9


def candidate(name, *, angle, needs, orbit=5, freedom=13):
    """A candidate that is so many degrees away and needs an uncertainty of so many degrees."""
    distance = math.radians(needs) * chi_square(freedom, 1 - CHANCE) ** 0.5 / 3
    return Candidate(
        Model(name, so(3)), Fit(so(3), distance, math.radians(angle), orbit, freedom, 1.0)
    )


def closed(rms, noise, d=3):
    return Closure(torch.zeros(d, d, dtype=torch.float64), rms, rms, 0.0, noise, closed=True)


# Rivals


def test_a_rival_beyond_the_uncertainty():
    chosen, other = (
        candidate("so(3)", angle=0.5, needs=0.3),
        candidate("heis(3)", angle=45, needs=12),
    )
    (found,) = rivals([chosen, other], chosen, math.radians(0.5), FLOOR)
    assert found.name == "heis(3)"
    assert (found.angle, found.needs) == pytest.approx((math.radians(45), math.radians(12)))
    assert found.reason == "45° away, which would take an uncertainty of 12°, 24 times as much"


def test_a_rival_of_exact_matrices_is_not_compared_with_rounding():
    chosen, other = candidate("so(3)", angle=0, needs=0), candidate("heis(3)", angle=45, needs=12)
    (found,) = rivals([other, chosen], chosen, FLOOR, FLOOR)
    assert found.reason == "45° away, which would take an uncertainty of 12°"


def test_a_rival_of_a_larger_family():
    chosen, other = (
        candidate("se(2)", angle=1, needs=0.5, orbit=4),
        candidate("so(3)", angle=0.7, needs=0.4),
    )
    (found,) = rivals([chosen, other], chosen, math.radians(1), FLOOR)
    assert found.reason == (
        "0.7° away, which the uncertainty explains as well, but of a larger family (5 parameters, se(2) has 4): "
        "the simpler one is named"
    )


def test_rivals_where_none_was_chosen():
    near, far = candidate("se(2)", angle=1, needs=0.5), candidate("so(3)", angle=20, needs=10)
    found = rivals([far, near], None, math.radians(1), FLOOR)
    assert [one.name for one in found] == ["se(2)", "so(3)"]
    assert found[0].reason == "1° away, which the uncertainty explains"
    assert found[1].reason == "20° away, which would take an uncertainty of 10°, 10 times as much"


def test_rivals_come_nearest_first_without_the_chosen_one():
    chosen = candidate("b", angle=1, needs=1)
    others = [
        candidate(name, angle=1, needs=needs) for name, needs in (("c", 3), ("a", 2), ("d", 4))
    ]
    assert [one.name for one in rivals([*others, chosen], chosen, 1e-3, FLOOR)] == ["a", "c", "d"]
    assert rivals([chosen], chosen, 1e-3, FLOOR) == ()


# Closure and fit


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (closed(0.0, math.nan), "closed under the bracket, as every span of its dimension"),
        (closed(3e-16, 1e-15), "closed under the bracket to 3e-16"),
        (
            closed(0.0123, math.radians(0.7)),
            "brackets leave the span by 0.012, as they do when generators are off by 0.7°",
        ),
    ],
)
def test_how_closed(found, text):
    assert closure_reason(found) == text


def test_why_it_is_no_algebra():
    start = "not closed under the bracket: brackets leave the span by 0.46, which only generators off by 29° would explain"
    assert (
        open_reason(closed(0.46, math.radians(29)), 9)
        == f"{start}; with their brackets they span 9 dimensions"
    )
    assert open_reason(closed(0.46, math.radians(29)), 3) == start


def test_how_near():
    one = candidate("so(3)", angle=0.14, needs=0.08)
    assert fit_reason(one, math.radians(0.25), FLOOR) == (
        "the nearest so(3) is 0.14° away, which an uncertainty of 0.08° explains; 0.25° was allowed"
    )
    exact = candidate("so(3)", angle=math.degrees(3e-15), needs=0)
    assert fit_reason(exact, FLOOR, FLOOR) == "in suitable coordinates the span is so(3), to 3e-15"
    assert (
        fit_reason(candidate("so(3)", angle=0, needs=0), FLOOR, FLOOR)
        == "in suitable coordinates the span is so(3), to 1e-16"
    )


# What is preserved

PRESERVED = {
    "so(3)": (so(3), "an inner product, volume"),
    "so(1,3)": (so(1, 3), "a metric of signature (1, 3), volume"),
    "so(3,1)": (so(3, 1), "a metric of signature (1, 3), volume"),
    "so(2)": (
        so(2),
        "an inner product, an antisymmetric form, volume; besides scalings, a map commutes with it",
    ),
    "sp(4,R)": (sp(4), "an antisymmetric form, volume"),
    "sl(3,R)": (sl(3), "volume"),
    "gl(3,R)": (gl(3), "no form, no vector, not even volume"),
    "scaling(2)": (
        scaling(2),
        "no form, no vector, not even volume",
    ),  # all maps commute with it, which says nothing
    "diagonal(2)": (
        diagonal(2),
        "no form, no vector, not even volume; besides scalings, a map commutes with it",
    ),
    "u(2)": (
        u(2),
        "an inner product, an antisymmetric form, volume; besides scalings, a map commutes with it",
    ),
    # Quaternions act from the other side: three imaginary units, and with each an area form.
    "su(2)": (
        su(2),
        "an inner product, 3 independent antisymmetric forms, volume; besides scalings, 3 independent maps commute with it",
    ),
    "sl(2,C)": (
        sl(2, "C"),
        "2 independent antisymmetric forms, volume; besides scalings, a map commutes with it",
    ),
    "se(2)": (se(2), "a symmetric form, a covector, volume"),  # the square of the covector
    "heis(5)": (
        # The covector z is fixed, and x, y only ever change by multiples of it: z², z∧x, z∧y.
        heis(5),
        "a symmetric form, 2 independent antisymmetric forms, every vector of a subspace R, a covector, volume; "
        "besides scalings, a map commutes with it",
    ),
    "translation(2)": (
        translation(2),
        "a symmetric form, 2 independent antisymmetric forms, every vector of a subspace R², a covector, volume; "
        "besides scalings, 2 independent maps commute with it",
    ),
}


@pytest.mark.parametrize(("generators", "text"), PRESERVED.values(), ids=PRESERVED.keys())
def test_what_is_preserved(generators, text):
    assert form_reason(generators) == f"preserves {text}"
