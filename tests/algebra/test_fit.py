"""Fits with free coordinates: recovery, families, closure, and what noise of a known size does to the distance."""

import math

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, kstest

from cases import normal, regular
from liegg.algebra import (
    aff,
    closure_residual,
    diagonal,
    direct_sum,
    gl,
    heis,
    orthonormal,
    scaling,
    se,
    shear,
    sl,
    so,
    sp,
    su,
    translation,
    u,
)
from liegg.algebra.fit import Fit, chi_square, fit

# Algebra, and n² less the dimension of its normaliser: of what is left over when only the algebra is kept.
FAMILIES = {
    **{f"so({n})": (so(n), n * (n + 1) // 2 - 1) for n in (2, 3, 4, 5)},  # a metric up to scale
    "so(1,3)": (so(1, 3), 9),
    "so(2) ⊕ R": (torch.cat([so(2), scaling(2)]), 2),
    "sl(3,R)": (sl(3), 0),
    "gl(3,R)": (gl(3), 0),
    "scaling(3)": (scaling(3), 0),
    **{
        f"sp({2 * m},R)": (sp(2 * m), m * (2 * m - 1) - 1) for m in (1, 2, 3)
    },  # an area form up to scale
    **{f"translation({n})": (translation(n), n) for n in (1, 2, 3)},  # a covector up to scale
    "aff(2)": (aff(2), 2),
    "se(3)": (se(3), 3 + 5),  # a covector, and a metric on the space where it vanishes
    "shear(4)": (shear(4), 6),  # a full flag
    "heis(5)": (heis(5), 5),  # a line in a hyperplane
    "diagonal(3)": (diagonal(3), 6),  # an unordered set of lines
    "gl(2,C)": (gl(2, "C"), 8),  # a complex structure: gl(4,R) over gl(2,C)
    "u(2)": (u(2), 11),  # normaliser u(2) and scalings
    "su(2)": (su(2), 9),  # normaliser su(2) and the quaternions that commute with it
    "so(3) ⊕ so(2)": (direct_sum(so(3), so(2)), 25 - 4 - 2),
}
WITH_NOISE = (
    "so(3)",
    "so(1,3)",
    "sp(4,R)",
    "se(3)",
    "shear(4)",
    "u(2)",
    "so(3) ⊕ so(2)",
    "translation(2)",
    "sl(3,R)",
)
SOME_FAMILIES = [FAMILIES[name][0] for name in WITH_NOISE]


def conjugated(generators, condition=3.0, seed=7):
    p = regular(generators.shape[1], seed=seed, condition=condition)
    return p @ generators @ torch.linalg.inv(p)


def turned(generators, size, seed=0):
    """The same algebra in coordinates changed by a matrix near the identity."""
    n = generators.shape[1]
    turn = torch.linalg.matrix_exp(size * normal(n, n, seed=seed) / n)
    return turn @ generators @ torch.linalg.inv(turn)


def noisy(generators, size, seed=0):
    basis = orthonormal(generators)
    return orthonormal(basis + size * normal(*basis.shape, seed=seed) / basis.shape[1])


# Quantiles


def test_quantiles_of_chi_square():
    for chance in [1e-6, 1e-4, 1e-3, 0.01, 0.1, 0.4, 0.5, 0.9, 0.99, 0.999, 0.9999]:
        for freedom in (1, 2, 3, 5, 8, 12, 20, 50, 400):
            assert chi_square(freedom, chance) == pytest.approx(chi2.ppf(chance, freedom), rel=0.1)


def test_quantiles_in_the_lower_tail_with_few_degrees_of_freedom():
    for chance in [1e-6, 1e-4, 1e-3]:
        for freedom in (1, 2, 3):
            assert chi_square(freedom, chance) == pytest.approx(
                chi2.ppf(chance, freedom), rel=0.006
            )


@given(freedom=st.integers(1, 200), one=st.floats(1e-8, 0.9999), other=st.floats(1e-8, 0.9999))
@settings(deadline=None)
def test_quantiles_grow_with_the_chance(freedom, one, other):
    low, high = sorted((one, other))
    assert 0 < chi_square(freedom, low) <= chi_square(freedom, high)


# Exact algebras


def test_a_turned_start_comes_back():
    for generators, orbit in FAMILIES.values():
        exact = conjugated(generators, 30.0)
        span = orthonormal(exact)
        start = turned(exact, 0.1)
        found = fit(start, span)
        assert found.distance < 1e-12
        assert found.angle < 1e-12
        assert closure_residual(found.generators) < 1e-12
        if orbit:
            assert found.stretch < 2
            assert fit(start, span, steps=0).distance > 1e-3  # the turn did move it


def test_dimension_of_the_family():
    for generators, orbit in FAMILIES.values():
        for condition in (1.0, 30.0):
            span = orthonormal(conjugated(generators, condition))
            found = fit(span, span)
            d, n, _ = generators.shape
            assert (found.orbit, found.freedom) == (orbit, d * (n * n - d) - orbit)


def test_generators_are_orthonormal_and_the_start_may_be_any_basis():
    span = orthonormal(conjugated(so(1, 3)))
    start = turned(conjugated(so(1, 3)), 0.1)
    one, other = (
        fit(member, span)
        for member in (start, torch.einsum("ab,bij->aij", regular(6, condition=9.0), start))
    )
    torch.testing.assert_close(
        torch.einsum("aij,bij->ab", one.generators, one.generators),
        torch.eye(6, dtype=torch.float64),
    )
    assert abs(one.distance - other.distance) < 1e-12


def test_an_algebra_that_is_there_already_is_not_moved():
    span = orthonormal(so(4))
    found = fit(so(4), span)
    assert (found.stretch, found.orbit) == (1.0, 9)
    assert found.distance < 1e-15


def test_nothing_is_fitted_to_nothing():
    found = fit(
        torch.zeros(0, 3, 3, dtype=torch.float64), torch.zeros(0, 3, 3, dtype=torch.float64)
    )
    assert (found.distance, found.angle, found.orbit, found.freedom) == (0, 0, 0, 0)


# Distances


def test_distance_and_angle_are_those_of_the_principal_angles():
    for generators in SOME_FAMILIES:
        span, member = noisy(generators, 0.05), turned(generators, 0.2)
        for steps in (0, 25):
            found = fit(member, span, steps=steps)
            angles = scipy.linalg.subspace_angles(
                found.generators.flatten(1).T.numpy(), span.flatten(1).T.numpy()
            )
            assert found.angle == pytest.approx(angles.max(), rel=1e-6, abs=1e-12)
            assert found.distance == pytest.approx(
                np.sqrt(np.square(np.sin(angles)).sum()), rel=1e-6, abs=1e-12
            )


def test_more_steps_are_never_worse():
    for generators in [so(3), so(1, 2), se(2)]:
        # Stretched a thousandfold in unrelated directions: whole Gauss–Newton steps would often miss.
        for seed in (2, 6):
            span, start = (conjugated(generators, 1000.0, seed=seed + more) for more in (0, 50))
            distances = [fit(start, orthonormal(span), steps=steps).distance for steps in range(14)]
            assert distances == sorted(distances, reverse=True)


def test_the_fit_of_a_noisy_span_is_an_algebra_no_farther_than_the_true_one():
    for generators in SOME_FAMILIES:
        for size in [1e-4, 3e-2]:
            exact = conjugated(generators)
            span = noisy(exact, size)
            found = fit(turned(exact, 0.05), span)
            assert closure_residual(found.generators) < 1e-12
            assert found.distance <= fit(exact, span, steps=0).distance * (1 + 1e-9)
            # No small change of the coordinates brings it nearer.
            nudged = [
                fit(turned(found.generators, 1e-3, seed=seed), span, steps=0).distance
                for seed in range(8)
            ]
            assert min(nudged) > found.distance * (1 - 1e-4)


# Noise


def test_distances_under_noise_are_chi_square():
    for generators in SOME_FAMILIES:
        exact, size, n = conjugated(generators), 1e-3, generators.shape[1]
        fits = [fit(exact, noisy(exact, size, seed=seed), steps=6) for seed in range(30)]
        freedom = fits[0].freedom
        assert {one.freedom for one in fits} == {freedom}
        values = [(n * one.distance / size) ** 2 for one in fits]
        # The mean of 30 draws is off by more than 4 of its deviations, √(2·freedom/30), once in 16 000 times.
        assert abs(np.mean(values) - freedom) < 4 * math.sqrt(2 * freedom / 30)
        assert kstest(values, chi2(freedom).cdf).pvalue > 1e-3
        for one in fits:
            assert one.needs() < size < one.at_most()
            assert one.needs(0.5) == pytest.approx(one.at_most(0.5), rel=1e-9)


def made(distance, freedom, n=3):
    return Fit(so(n), distance, distance, orbit=0, freedom=freedom, stretch=1.0)


def test_uncertainties_by_hand():
    one = made(0.02, 5)
    assert one.needs(0.05) == pytest.approx(3 * 0.02 / chi2.ppf(0.95, 5) ** 0.5, rel=0.01)
    assert one.at_most(0.05) == pytest.approx(3 * 0.02 / chi2.ppf(0.05, 5) ** 0.5, rel=0.01)
    assert one.needs() < one.needs(0.05) < one.at_most(0.05) < one.at_most()


def test_misfit_is_in_units_of_a_single_noisy_number():
    assert made(0.02, 5).misfit(0.03) == pytest.approx(
        4.0
    )  # entries are off by 0.03 / 3, the distance is twice that


def test_where_every_span_belongs_to_the_family():
    found = fit(gl(2), orthonormal(gl(2)))
    assert found.freedom == 0
    assert (found.needs(), found.at_most(), found.coincidence) == (0.0, math.inf, 0.0)


def test_luck_is_the_share_of_spans_as_near():
    assert made(0.1, 3).coincidence == pytest.approx(1e-3)
    assert made(1.7, 3).coincidence == 1.0
    assert made(0.0, 3).coincidence == 0.0
