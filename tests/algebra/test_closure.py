"""Closure under the bracket: residuals, what noise explains, generated algebras, the nearest algebra."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import normal, regular
from liegg._utils.errors import ArgumentError
from liegg.algebra import (
    aff,
    closure_residual,
    diagonal,
    gl,
    orthonormal,
    principal_angles,
    se,
    shear,
    sl,
    so,
    sp,
    su,
    translation,
    u,
)
from liegg.algebra.bracket import jacobi_residual, killing_eigenvalues, structure_constants
from liegg.algebra.closure import closure, generated, nearest_closed
from liegg.algebra.subspace import canonical, grassmann_distance

SEMISIMPLE = {"so(3)": so(3), "so(1,3)": so(1, 3), "sp(4)": sp(4), "su(3)": su(3), "sl(3)": sl(3)}
OTHERS = {
    "se(3)": se(3),
    "aff(2)": aff(2),
    "u(2)": u(2),
    "diagonal(4)": diagonal(4),
    "shear(4)": shear(4),
}


def conjugated(generators, condition=3.0, seed=7):
    p = regular(generators.shape[1], seed=seed, condition=condition)
    return p @ generators @ torch.linalg.inv(p)


def noisy(generators, size, seed=0):
    """Unit generators off by matrices of Frobenius norm about `size`."""
    basis = orthonormal(generators)
    return basis + size * normal(*basis.shape, seed=seed) / basis.shape[1]


def signs(generators):
    values = killing_eigenvalues(structure_constants(orthonormal(generators)))
    return int((values > 1e-4).sum()), int((values < -1e-4).sum())


# Residuals


def test_an_algebra_is_closed():
    for generators in (SEMISIMPLE | OTHERS).values():
        for condition in [1.0, 100.0]:
            found = closure(conjugated(generators, condition))
            assert found.closed
            assert found.explained == 0
            assert max(found.largest, found.rms, found.noise) < 1e-11


def test_residuals_are_the_distances_of_the_brackets():
    generators = normal(4, 3, 3)
    found, basis = closure(generators), canonical(generators).numpy()
    span = basis.reshape(4, 9).T
    distances = np.zeros((4, 4))
    for i, j in np.ndindex(4, 4):
        target = (basis[i] @ basis[j] - basis[j] @ basis[i]).ravel()
        distances[i, j] = np.linalg.norm(
            target - span @ np.linalg.lstsq(span, target, rcond=None)[0]
        )
    np.testing.assert_allclose(found.residuals, distances, atol=1e-12)
    assert found.largest == pytest.approx(distances.max())
    assert found.rms == pytest.approx(math.sqrt(np.square(distances[np.triu_indices(4, 1)]).mean()))


def test_a_pair_with_a_known_residual():
    found = closure(sl(2)[:2])  # [E12, E21] = diag(1, -1), all of it outside
    assert found.residuals.tolist() == [[0, pytest.approx(2**0.5)], [pytest.approx(2**0.5), 0]]
    assert (found.largest, found.rms) == pytest.approx((2**0.5, 2**0.5))
    assert not found.closed


@given(seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=15)
def test_closure_is_of_the_span_not_of_the_basis(seed):
    generators = normal(3, 3, 3, seed=seed)
    one, other = (
        closure(generators),
        closure(torch.einsum("ab,bij->aij", regular(3, seed=seed), generators)),
    )
    torch.testing.assert_close(one.residuals, other.residuals, rtol=0, atol=1e-9)
    assert one.noise == pytest.approx(other.noise)


def test_where_closure_says_nothing():
    for generators in [torch.zeros(0, 3, 3), torch.zeros(2, 3, 3), normal(1, 3, 3), gl(2), gl(1)]:
        found = closure(generators, uncertainty=0.01)
        assert found.closed
        assert math.isnan(found.noise)
        assert max(found.rms, found.largest, found.explained) < 1e-15


# Noise


def test_explained_is_the_rms_that_noise_causes():
    for generators in (SEMISIMPLE | OTHERS).values():
        exact, size = conjugated(generators), 1e-5
        caused = math.sqrt(
            sum(closure(noisy(exact, size, seed=seed)).rms ** 2 for seed in range(40)) / 40
        )
        assert closure(exact, uncertainty=size).explained == pytest.approx(caused, rel=0.25)


def test_noise_is_seen_in_the_brackets_and_explained():
    for generators in (SEMISIMPLE | OTHERS).values():
        for size in [1e-4, 1e-2]:
            off = noisy(conjugated(generators), size, seed=2)
            assert closure(off).noise == pytest.approx(size, rel=0.6)
            assert closure(off, uncertainty=size).closed
            assert not closure(off, uncertainty=size / 10).closed
            assert not closure(off).closed


def test_a_span_without_structure_is_not_explained_by_small_noise():
    found = closure(normal(5, 4, 4), uncertainty=0.02)
    assert not found.closed
    assert found.noise > 0.2


# Generated algebras


def test_dimension_of_the_algebra_generated():
    for generators, dimension in [
        (sl(2)[:2], 3),
        (
            torch.stack([shear(4)[0], shear(4)[3], shear(4)[5]]),
            6,
        ),  # E12, E23, E34 generate the strictly upper triangular
        (torch.cat([se(3)[:3], translation(3)[:1]]), 6),  # all rotations and one translation
        (so(4)[[0, 3, 5]], 6),  # turns of x₁x₂, x₂x₃, x₃x₄
        (so(4)[[0, 5]], 2),  # turns of x₁x₂ and x₃x₄ commute
        (normal(2, 4, 4), 16),  # two matrices without structure generate all
        (torch.zeros(0, 3, 3), 0),
        (torch.zeros(2, 3, 3), 0),
    ]:
        found = generated(generators)
        assert found.shape == (dimension, *generators.shape[1:])
        torch.testing.assert_close(
            torch.einsum("aij,bij->ab", found, found), torch.eye(dimension, dtype=torch.float64)
        )
        assert closure_residual(found) < 1e-12
        if dimension:
            assert (
                principal_angles(found.flatten(1), orthonormal(generators).flatten(1)).max() < 1e-12
            )  # the generators are inside


def test_two_elements_generate_a_semisimple_algebra():
    for generators in SEMISIMPLE.values():
        for condition in [3.0, 100.0]:
            whole = conjugated(generators, condition)
            two = torch.einsum("ab,bij->aij", normal(2, len(whole)), orthonormal(whole))
            assert grassmann_distance(generated(two), whole) < 1e-8


# The nearest algebra


def test_nearest_algebra_of_a_noisy_one():
    for generators in (SEMISIMPLE | {"se(3)": se(3)}).values():
        for size in [1e-3, 1e-2]:
            exact = conjugated(generators)
            off = noisy(exact, size)
            found = nearest_closed(off)
            assert found.converged
            assert found.residual <= 1e-12
            assert closure_residual(found.generators) < 1e-10
            assert jacobi_residual(structure_constants(found.generators)) < 1e-10
            angles = principal_angles(found.generators.flatten(1), orthonormal(off).flatten(1))
            assert found.moved == pytest.approx(float(angles.max()))
            assert found.moved < 3 * size
            assert principal_angles(found.generators.flatten(1), exact.flatten(1)).max() < 2 * size
            # The algebra without noise is one candidate; the nearest is no farther.
            assert grassmann_distance(found.generators, off) < 1.001 * grassmann_distance(
                exact, off
            )


def test_nearest_algebra_of_a_semisimple_one_is_of_its_kind():
    for generators in SEMISIMPLE.values():
        for size in [1e-3, 1e-2]:
            exact = conjugated(generators)
            assert signs(nearest_closed(noisy(exact, size)).generators) == signs(exact)


def test_nearest_algebra_of_one_that_is_not_semisimple():
    for generators in OTHERS.values():
        found = nearest_closed(noisy(conjugated(generators), 1e-2))
        assert found.converged
        assert closure_residual(found.generators) < 1e-10
        assert found.moved < 0.03


def test_nearest_algebra_of_so8():
    found = nearest_closed(noisy(conjugated(so(8)), 1e-2))
    assert found.converged
    assert closure_residual(found.generators) < 1e-10
    assert signs(found.generators) == (0, 28)


def test_an_algebra_stays_where_it_is():
    for generators in (SEMISIMPLE | OTHERS).values():
        found = nearest_closed(conjugated(generators))
        assert found.converged
        assert found.moved < 1e-11
        assert grassmann_distance(found.generators, conjugated(generators)) < 1e-11


def test_what_is_always_closed_stays():
    for generators in [torch.zeros(0, 3, 3), normal(1, 3, 3), gl(2)]:
        found = nearest_closed(generators)
        assert found.converged
        assert found.generators.shape == generators.shape
        assert found.moved < 1e-7


def test_too_few_steps_are_told():
    off = noisy(so(4), 1e-2)
    found = nearest_closed(off, steps=0)
    assert not found.converged
    assert found.moved < 1e-14
    assert found.residual == pytest.approx(closure(off).rms)
    residuals = [nearest_closed(off, steps=steps).residual for steps in range(4)]
    assert residuals == sorted(residuals, reverse=True)
    assert residuals[3] < 1e-4 * residuals[0]


# Errors


def test_errors():
    for call, text in [
        (lambda: closure(torch.zeros(2, 3, 4)), r"expected matrices \[d, n, n\]"),
        (
            lambda: closure(so(3), uncertainty=-1.0),
            "uncertainty is -1.0; expected the relative error",
        ),
        (lambda: generated(so(3) * 1j), "expected real matrices"),
        (lambda: nearest_closed(so(3) * torch.inf), "contains NaN or infinity"),
        (
            lambda: nearest_closed(so(3), tolerance=-1.0),
            "tolerance is -1.0 and steps 50; expected neither negative",
        ),
        (lambda: nearest_closed(so(3), steps=-1), "tolerance is 1e-12 and steps -1"),
    ]:
        with pytest.raises(ArgumentError, match=text):
            call()
