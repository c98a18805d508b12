"""Radius by interpolation, and what is averaged."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import liegg
from cases import normal
from liegg.discovery.verification.curves import curve, follow, radius
from liegg.discovery.verification.measure import Directions, Question
from liegg.discovery.verification.orbits import Orbit
from liegg.inputs.model import Model

TIMES = torch.tensor([0.5, 1.0, 2.0, 4.0], dtype=torch.float64)


@given(st.floats(1e-3, 10))
def test_a_parabola_crosses_where_it_does(scale):
    assert radius(TIMES, scale * TIMES**2, 0.1) == pytest.approx(min((0.1 / scale) ** 0.5, 4.0))


def test_what_comes_back_below_does_not_count():
    change = torch.tensor([0.0, 0.16, 0.0, 0.0], dtype=torch.float64)
    assert radius(TIMES, change, 0.04) == pytest.approx(0.75)


def test_an_infinite_change_ends_at_the_time_before():
    assert radius(TIMES, torch.tensor([0.0, 0.0, torch.inf, 0.0], dtype=torch.float64), 0.04) == 1.0
    assert radius(TIMES, torch.full((4,), torch.inf, dtype=torch.float64), 0.04) == 0.0


def test_elements_and_controls_are_averaged():
    # f(x) = x on R: shifting by s changes it by s², over the variance.
    question = Question(Model(lambda x: x[:, 0], "place"), liegg.Affine(1), None, normal(50, 1))
    shifts = Directions(torch.tensor([[0.0, 1.0], [0.0, 2.0]], dtype=torch.float64), None)
    stronger = shifts.scaled(3.0)
    found = curve(
        question, shifts, stronger, Orbit(1.0, 2.0, None, both_ways=False), points=6, fraction=1e6
    )
    unit = found.times.square() / question.variance
    assert torch.allclose(found.change, 2.5 * unit)
    assert torch.allclose(found.control_low, 9 * unit)
    assert torch.allclose(found.control_high, 36 * unit)
    assert torch.allclose(found.control_mean, 22.5 * unit)
    assert found.radius == found.control_radius == found.longest == 2.0
    assert found.speed == pytest.approx(1 / question.spread)


def test_the_radius_of_the_controls_is_their_median():
    question = Question(Model(lambda x: x[:, 0], "place"), liegg.Affine(1), None, normal(50, 1))
    shifts = torch.tensor([[0.0, 1.0], [0.0, 2.0], [0.0, 8.0]], dtype=torch.float64)
    found = curve(
        question,
        Directions(shifts[:1], None),
        Directions(shifts, None),
        Orbit(1.0, 2.0, None, both_ways=False),
        points=25,
        fraction=1.0 / question.variance,
    )
    assert (found.radius, found.control_radius) == (pytest.approx(1.0), pytest.approx(0.5))


def test_both_ways_is_the_larger():
    question = Question(
        Model(lambda x: torch.exp(x[:, 0]), "growth"), liegg.Affine(1), None, normal(50, 1)
    )
    shift = Directions(torch.tensor([[0.0, 1.0]], dtype=torch.float64), None)
    one, other, both = (
        follow(question, some, TIMES, both_ways=ways)[0]
        for some, ways in ((shift, False), (shift.scaled(-1.0), False), (shift, True))
    )
    assert bool((one > other).all())
    torch.testing.assert_close(both, one, rtol=1e-12, atol=0.0)  # a few roundings of exp
