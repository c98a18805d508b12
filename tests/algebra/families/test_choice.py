"""Which candidate is named: the smallest family that noise admits, and how sure that is."""

import math

import pytest
import torch

from liegg.algebra.families.candidates import PLAUSIBLE_STRETCH, Candidate
from liegg.algebra.families.choice import LARGER_FAMILY_CHANCE, margin_of, simplest
from liegg.algebra.families.record import Member
from liegg.algebra.fit import Fit, chi_square

NOISE = 0.01


def candidate(
    name: str, orbit: int, needs: float, *, stretch: float = 1.0, freedom: int = 10
) -> Candidate:
    """A candidate of 3 × 3 matrices that an uncertainty of `needs` just explains."""
    distance = needs * chi_square(freedom, 1 - 1e-4) ** 0.5 / 3
    generators = torch.zeros(2, 3, 3, dtype=torch.float64)
    return Candidate(
        Member(name, generators, stretch=stretch),
        Fit(generators, distance, distance, orbit, freedom, 1.0),
    )


def test_the_smallest_family_that_noise_admits_is_named():
    small, large, far = (
        candidate("small", 3, 0.009),
        candidate("large", 5, 0.008),
        candidate("far", 1, 0.02),
    )
    assert simplest([large, far, small], NOISE, 1.0) is small
    assert simplest([far], NOISE, 1.0) is None


def test_of_equal_families_the_nearest_is_named():
    one, other = candidate("one", 3, 0.009), candidate("other", 3, 0.004)
    assert simplest([one, other], NOISE, 1.0) is other


def test_a_larger_family_is_named_where_its_freedom_does_not_explain_how_much_better_it_fits():
    small = candidate("small", 3, 0.0099)
    limit = (
        small.fit.misfit(NOISE) - chi_square(2, 1 - LARGER_FAMILY_CHANCE)
    ) ** 0.5 / small.fit.misfit(NOISE) ** 0.5
    as_explained, better = (
        candidate("large", 5, 0.0099 * limit * 1.01),
        candidate("large", 5, 0.0099 * limit * 0.99),
    )
    assert simplest([small, as_explained], NOISE, 1.0) is small
    assert simplest([small, better], NOISE, 1.0) is better


def test_stretched_look_alikes_are_not_named():
    assert simplest([candidate("stretched", 3, 0.001, stretch=1e3)], NOISE, 1.0) is None
    assert simplest([candidate("stretched", 3, 1e-7, stretch=1e3)], 1e-6, 1.0) is not None


def test_luck_is_not_named():
    lucky = candidate("lucky", 3, 0.009, freedom=1)
    assert lucky.fit.coincidence > 1e-4
    assert simplest([lucky], NOISE, 1.0) is lucky
    assert simplest([lucky], NOISE, 1e-4) is None


def test_the_margin_is_what_another_name_as_simple_would_need():
    chosen = candidate("chosen", 3, 0.009)
    assert margin_of(chosen, [chosen], NOISE) == math.inf
    assert margin_of(
        chosen, [chosen, candidate("simpler", 2, 0.05), candidate("equal", 3, 0.03)], NOISE
    ) == pytest.approx(3.0)
    assert margin_of(chosen, [chosen, candidate("larger", 4, 0.011)], NOISE) == math.inf


def test_a_larger_family_that_fits_leaves_it_open_unless_it_is_stretched():
    for stretch, margin in [(PLAUSIBLE_STRETCH * 0.9, 1.0), (PLAUSIBLE_STRETCH * 1.1, math.inf)]:
        chosen, larger = (
            candidate("chosen", 3, 0.009),
            candidate("larger", 5, 0.0089, stretch=stretch),
        )
        assert margin_of(chosen, [chosen, larger], NOISE) == margin
