"""The bracket, the closure of a span, structure constants and the Killing form."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import normal, regular
from liegg._utils.errors import ArgumentError
from liegg.algebra import (
    aff,
    bracket,
    closure_residual,
    diagonal,
    gl,
    orthonormal,
    se,
    shear,
    sl,
    so,
    sp,
    su,
    u,
)
from liegg.algebra.bracket import (
    adjoint,
    jacobi_residual,
    killing_eigenvalues,
    killing_form,
    structure_constants,
)


def test_rotations_multiply_like_the_cross_product():
    z, y, x = (
        so(3) * torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)[:, None, None]
    )  # turns about the third, second, first axis
    assert torch.equal(bracket(x, y), z)
    assert torch.equal(bracket(y, z), x)
    assert torch.equal(bracket(z, x), y)


def test_antisymmetric_and_jacobi():
    a, b, c = normal(3, 4, 4)
    torch.testing.assert_close(bracket(a, b), -bracket(b, a))
    jacobi = bracket(a, bracket(b, c)) + bracket(b, bracket(c, a)) + bracket(c, bracket(a, b))
    torch.testing.assert_close(jacobi, torch.zeros_like(jacobi), atol=1e-12, rtol=0)


def test_stacks_are_bracketed_one_by_one():
    a, b = normal(5, 3, 3), normal(5, 3, 3, seed=1)
    torch.testing.assert_close(bracket(a, b)[2], a[2] @ b[2] - b[2] @ a[2])


def test_an_algebra_is_closed_in_any_basis_and_after_conjugation():
    for condition in [1.0, 10.0]:
        p = regular(3, condition=condition)
        mixed = torch.einsum("ab,bij->aij", regular(3, seed=4), p @ so(3) @ torch.linalg.inv(p))
        assert closure_residual(mixed) < 1e-13


def test_a_part_of_an_algebra_is_not_closed():
    assert closure_residual(sl(2)[:2]) == pytest.approx(
        2**0.5
    )  # [E12, E21] = diag(1, -1), all of it outside


def test_nothing_is_closed():
    assert closure_residual(torch.zeros(0, 3, 3)) == 0.0


def test_size_of_the_generators_does_not_matter():
    assert closure_residual(1e-3 * sl(2)[:2]) == pytest.approx(2**0.5)


# Structure constants

ALGEBRAS = {
    "so(3)": so(3),
    "so(1,3)": so(1, 3),
    "so(5)": so(5),
    "sl(3)": sl(3),
    "gl(2)": gl(2),
    "sp(4)": sp(4),
    "u(2)": u(2),
    "su(3)": su(3),
    "se(3)": se(3),
    "aff(2)": aff(2),
    "shear(4)": shear(4),
    "diagonal(3)": diagonal(3),
}


def mixed(generators, seed=0, condition=3.0):
    """The same algebra in another basis of itself and of space."""
    d, n, _ = generators.shape
    p = regular(n, seed=seed + 1, condition=condition)
    return torch.einsum("ab,bij->aij", regular(d, seed=seed), p @ generators @ torch.linalg.inv(p))


def brackets_by_hand(generators):
    g = generators.numpy()
    return np.stack([np.stack([a @ b - b @ a for b in g]) for a in g])


def test_constants_give_the_brackets_back():
    for generators in ALGEBRAS.values():
        generators = mixed(generators)
        found = torch.einsum("ijk,kab->ijab", structure_constants(generators), generators)
        np.testing.assert_allclose(found, brackets_by_hand(generators), atol=1e-11)


def test_constants_of_rotations_are_the_cross_product():
    z, y, x = so(3) * torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)[:, None, None]
    constants = structure_constants(torch.stack([x, y, z]))
    levi_civita = [
        [[(i - j) * (j - k) * (k - i) / 2 for k in range(3)] for j in range(3)] for i in range(3)
    ]
    np.testing.assert_allclose(constants, levi_civita, atol=1e-14)


def test_constants_of_an_open_span_are_those_of_least_squares():
    generators = normal(4, 3, 3)
    columns = generators.flatten(1).numpy().T
    oracle = np.linalg.lstsq(columns, brackets_by_hand(generators).reshape(16, 9).T, rcond=None)[
        0
    ].T.reshape(4, 4, 4)
    np.testing.assert_allclose(structure_constants(generators), oracle, atol=1e-12)


def test_constants_are_antisymmetric_to_the_last_bit():
    constants = structure_constants(mixed(so(5)))
    assert torch.equal(constants, -constants.transpose(0, 1))


def test_constants_of_an_abelian_algebra_are_exactly_zero():
    for condition in [3.0, 100.0]:
        assert not structure_constants(mixed(diagonal(5), condition=condition)).any()
        assert not structure_constants(1e-9 * mixed(diagonal(5), condition=condition)).any()


def test_small_constants_are_not_taken_for_rounding():
    torch.testing.assert_close(
        structure_constants(1e-9 * so(3)), 1e-9 * structure_constants(so(3)), rtol=1e-12, atol=0
    )


def test_constants_are_float64_whatever_comes_in():
    assert structure_constants(so(3).float()).dtype == torch.float64
    assert structure_constants(torch.zeros(0, 3, 3)).shape == (0, 0, 0)


def test_errors():
    for generators, text in [
        (
            torch.cat([so(3), so(3)[:1]]),
            "4 generators span 3 dimensions; expected independent ones",
        ),
        (torch.zeros(2, 3, 3), "2 generators span 0 dimensions"),
        (torch.zeros(2, 3, 4), r"expected matrices \[d, n, n\]"),
        (so(3) * torch.nan, "generator 0 contains NaN"),
        (
            torch.ones(5, 2, 2) * torch.arange(1.0, 6.0)[:, None, None],
            "5 generators span 1 dimensions",
        ),
    ]:
        with pytest.raises(ArgumentError, match=text):
            structure_constants(generators)


# The adjoint representation


def test_adjoint_brackets_coefficients():
    for generators in ALGEBRAS.values():
        generators, d = mixed(generators), len(generators)
        x = normal(d)
        element = torch.einsum("k,kab->ab", x, generators)
        found = torch.einsum(
            "ik,kab->iab", adjoint(structure_constants(generators)) @ x, generators
        )
        torch.testing.assert_close(found, bracket(generators, element[None]), rtol=0, atol=1e-10)


def test_adjoint_is_a_representation():
    constants = structure_constants(mixed(sp(4)))
    ad = adjoint(constants)
    torch.testing.assert_close(
        bracket(ad[:, None], ad[None]),
        torch.einsum("ijk,kab->ijab", constants, ad),
        rtol=0,
        atol=1e-10,
    )


# Jacobi


def test_jacobi_holds_in_an_algebra():
    for generators in ALGEBRAS.values():
        assert jacobi_residual(structure_constants(mixed(generators))) < 1e-12


def test_jacobi_against_loops():
    c = normal(3, 3, 3)
    c = (c - c.transpose(0, 1)).numpy()
    largest = max(
        abs(
            sum(
                c[i, j, k] * c[k, l, m] + c[j, l, k] * c[k, i, m] + c[l, i, k] * c[k, j, m]
                for k in range(3)
            )
        )
        for i in range(3)
        for j in range(3)
        for l in range(3)  # noqa: E741
        for m in range(3)
    )
    assert jacobi_residual(torch.as_tensor(c)) == pytest.approx(largest / abs(c).max() ** 2)
    assert largest > 0.1


def test_jacobi_of_nothing():
    assert jacobi_residual(torch.zeros(0, 0, 0)) == 0.0
    assert jacobi_residual(torch.zeros(3, 3, 3)) == 0.0


# Killing form


def test_killing_forms_of_the_books():
    for generators, factor in [
        (so(3), 1),
        (so(5), 3),
        (so(1, 3), 2),
        (sl(2), 4),
        (sl(3), 6),
        (sp(4), 6),
    ]:
        # K(x, y) = (n - 2) tr(xy) for so(n), 2n tr(xy) for sl(n), (n + 2) tr(xy) for sp(n), n the size of the matrices.
        generators = mixed(generators)
        oracle = factor * torch.einsum("aij,bji->ab", generators, generators)
        torch.testing.assert_close(
            killing_form(structure_constants(generators)), oracle, rtol=0, atol=1e-9
        )


def test_signs_of_the_killing_form():
    for generators, signs in [
        (so(4), (0, 6, 0)),
        (so(1, 3), (3, 3, 0)),
        (sl(3), (5, 3, 0)),
        (u(2), (0, 3, 1)),
        (se(3), (0, 3, 3)),
        (shear(3), (0, 0, 3)),
    ]:
        for condition in [1.0, 100.0]:
            values = killing_eigenvalues(
                structure_constants(orthonormal(mixed(generators, condition=condition)))
            )
            assert bool((values.diff() >= 0).all())
            assert (
                int((values > 1e-8).sum()),
                int((values < -1e-8).sum()),
                int((values.abs() <= 1e-8).sum()),
            ) == signs


@given(seed=st.integers(0, 1000), name=st.sampled_from(sorted(ALGEBRAS)))
@settings(deadline=None, max_examples=20)
def test_killing_form_is_invariant(seed, name):
    constants = structure_constants(mixed(ALGEBRAS[name], seed=seed))
    form, ad = killing_form(constants), adjoint(constants)
    # K([z, x], y) + K(x, [z, y]) = 0 for all x, y, z.
    torch.testing.assert_close(ad.mT @ form + form @ ad, torch.zeros_like(ad), rtol=0, atol=1e-7)
