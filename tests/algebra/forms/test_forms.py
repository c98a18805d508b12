"""What a span preserves: forms, vectors, covectors, volume; how it is decided."""

import math

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.forms.spans import (
    GIVEN_AS,
    as_given,
    blocks,
    conjugated,
    conjugation,
    copies,
    noisy,
    su_pq,
)
from cases import normal, regular
from liegg._utils.errors import ArgumentError
from liegg.algebra import diagonal, gl, orthonormal, scaling, se, sl, so, sp, su, translation, u
from liegg.algebra.forms.forms import oriented, preserved_forms, signature
from liegg.algebra.subspace import grassmann_distance


def counts(found):
    return (
        len(found.symmetric),
        len(found.antisymmetric),
        len(found.fixed_vectors),
        len(found.fixed_covectors),
        len(found.commutant),
        found.traceless,
    )


# Generators; numbers of symmetric and antisymmetric forms, fixed vectors and covectors; dimension of the commutant; volume kept.
# Forms of an irreducible representation: pairs of it with its dual, so as many as the commutant has dimensions, or none.
CASES = {
    "so(3)": (so(3), (1, 0, 0, 0, 1, True)),
    "so(1,3)": (so(1, 3), (1, 0, 0, 0, 1, True)),
    "so(2)": (so(2), (1, 1, 0, 0, 2, True)),
    "so(1,1)": (so(1, 1), (1, 1, 0, 0, 2, True)),
    "sp(4)": (sp(4), (0, 1, 0, 0, 1, True)),
    "sl(2)": (sl(2), (0, 1, 0, 0, 1, True)),
    "sl(3)": (sl(3), (0, 0, 0, 0, 1, True)),
    "gl(3)": (gl(3), (0, 0, 0, 0, 1, False)),
    "u(2)": (u(2), (1, 1, 0, 0, 2, True)),
    "su(2)": (su(2), (1, 3, 0, 0, 4, True)),
    "su(3)": (su(3), (1, 1, 0, 0, 2, True)),
    "su(1,2)": (su_pq(1, 2), (1, 1, 0, 0, 2, True)),
    "se(2)": (se(2), (1, 0, 0, 1, 1, True)),
    "se(3)": (se(3), (1, 0, 0, 1, 1, True)),
    # Qh = 0 for translations leaves forms of the last coordinate alone, and ω(x, last) for each x.
    "translation(3)": (translation(3), (1, 3, 3, 1, 4, True)),
    "so(3)+so(3)": (blocks(so(3), so(3)), (2, 0, 0, 0, 2, True)),
    "so(3)+axis": (torch.nn.functional.pad(so(3), (0, 1, 0, 1)), (2, 0, 1, 1, 2, True)),
    "diagonal(3)": (diagonal(3), (0, 0, 0, 0, 3, False)),
    "scaling(3)": (scaling(3), (0, 0, 0, 0, 9, False)),
    "three copies": (
        copies(so(3), 3),
        (6, 3, 0, 0, 9, True),
    ),  # (so(3)'s form) ⊗ any form of the three
}


def test_how_many_of_each_kind():
    for generators, expected in CASES.values():
        for condition, size, seed in GIVEN_AS:
            given = as_given(generators, condition, size, seed)
            assert counts(preserved_forms(given, uncertainty=size)) == expected


def test_each_is_preserved_and_orthonormal():
    for generators, _expected in CASES.values():
        a = conjugated(generators, 3.0)
        found = preserved_forms(a)
        for q in (*found.symmetric, *found.antisymmetric):
            assert (a.mT @ q + q @ a).norm() < 1e-11
        for t in found.commutant:
            assert (a @ t - t @ a).norm() < 1e-11
        assert (found.fixed_vectors @ a.mT).norm() < 1e-11
        assert (found.fixed_covectors @ a).norm() < 1e-11
        torch.testing.assert_close(found.symmetric, found.symmetric.mT)
        torch.testing.assert_close(found.antisymmetric, -found.antisymmetric.mT)
        for basis in (
            found.symmetric,
            found.antisymmetric,
            found.commutant,
            found.fixed_vectors,
            found.fixed_covectors,
        ):
            rows = basis.flatten(1)
            torch.testing.assert_close(rows @ rows.mT, torch.eye(len(rows), dtype=torch.float64))


def test_the_commutant_holds_the_identity_and_is_that_of_scipy():
    for generators, _expected in CASES.values():
        a = conjugated(generators, 3.0).numpy()
        eye = np.eye(a.shape[1])
        _, values, right = scipy.linalg.svd(
            np.concatenate([np.kron(h, eye) - np.kron(eye, h.T) for h in a])
        )
        oracle = right[values < 1e-10]
        found = preserved_forms(torch.as_tensor(a)).commutant
        assert grassmann_distance(found.flatten(1), torch.as_tensor(oracle)) < 1e-10
        inside = torch.cat([found.flatten(1), torch.as_tensor(eye).reshape(1, -1)])
        assert np.linalg.matrix_rank(inside.numpy(), tol=1e-10) == len(found)


def test_nothing_preserves_everything():
    for n in [1, 3, 4]:
        for generators in (torch.zeros(0, n, n), torch.zeros(2, n, n)):
            found = preserved_forms(generators, uncertainty=0.1)
            assert counts(found) == (n * (n + 1) // 2, n * (n - 1) // 2, n, n, n * n, True)
            assert set(found.gap.values()) == {math.inf}


def test_float32_and_any_basis_of_the_span():
    mixed = torch.einsum("ab,bij->aij", regular(6), so(1, 3))
    torch.testing.assert_close(
        preserved_forms(mixed).metric, preserved_forms(so(1, 3).float()).metric
    )


# Metrics


def test_the_metric_of_rotations_and_boosts():
    for p, q in [
        (2, 0),
        (3, 0),
        (5, 0),
        (8, 0),
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 2),
        (2, 3),
        (1, 4),
        (3, 1),
        (4, 2),
    ]:
        for condition, size, seed in GIVEN_AS:
            n = p + q
            given = as_given(so(p, q), condition, size, seed)
            back = torch.linalg.inv(conjugation(n, condition, seed))
            true = (
                back.mT
                @ torch.diag(torch.tensor([1.0] * p + [-1.0] * q, dtype=torch.float64))
                @ back
            )
            found = preserved_forms(given, uncertainty=size)
            metric = found.metric
            assert metric is not None
            assert signature(metric) == ((p, q, 0) if q == 0 or p <= q else (q, p, 0))
            assert abs(float(torch.linalg.det(metric))) == pytest.approx(1.0)
            angle = grassmann_distance(metric.reshape(1, -1), true.reshape(1, -1))
            assert angle < (5 * found.errors["symmetric"] if size else 1e-8)


def test_no_metric_where_there_is_not_exactly_one_regular_form():
    assert preserved_forms(sl(3)).metric is None  # none
    assert preserved_forms(blocks(so(3), so(3))).metric is None  # two
    assert preserved_forms(se(3)).metric is None  # degenerate: the square of the fixed covector
    assert preserved_forms(noisy(se(3), 1e-2), uncertainty=1e-2).metric is None


def test_the_fixed_covector_of_motions_is_the_last_coordinate():
    p = conjugation(4, 10.0, 7)
    covector = torch.linalg.inv(p)[-1:]
    found = preserved_forms(conjugated(se(3), 10.0))
    assert grassmann_distance(found.fixed_covectors, covector) < 1e-11
    assert (
        grassmann_distance(found.symmetric.flatten(1), (covector.mT @ covector).reshape(1, -1))
        < 1e-11
    )


def test_the_area_form_of_symplectic_maps():
    for condition, size, seed in GIVEN_AS:
        back = torch.linalg.inv(conjugation(4, condition, seed))
        eye, zero = torch.eye(2, dtype=torch.float64), torch.zeros(2, 2, dtype=torch.float64)
        true = back.mT @ torch.cat([torch.cat([zero, eye], 1), torch.cat([-eye, zero], 1)]) @ back
        found = preserved_forms(as_given(sp(4), condition, size, seed), uncertainty=size)
        angle = grassmann_distance(found.antisymmetric.flatten(1), true.reshape(1, -1))
        assert angle < (5 * found.errors["antisymmetric"] if size else 1e-8)


# How it is decided


PRESERVED_KINDS = {
    "symmetric": (so(5), lambda f: f.symmetric),
    "antisymmetric": (sp(4), lambda f: f.antisymmetric),
    "vectors": (torch.nn.functional.pad(so(3), (0, 1, 0, 1)), lambda f: f.fixed_vectors),
    "covectors": (se(3), lambda f: f.fixed_covectors),
    "commutant": (blocks(so(3), so(3)), lambda f: f.commutant),
}


def test_noise_shows_as_its_constant_says():
    for kind in PRESERVED_KINDS:
        generators, read = PRESERVED_KINDS[kind]
        generators, size = orthonormal(generators), 1e-4
        n = generators.shape[1]
        x = read(preserved_forms(generators))[-1]
        if kind == "commutant":
            x = x - x.trace() / n * torch.eye(n, dtype=torch.float64)
            x = x / x.norm()
        off = size * normal(2000, n, n) / n
        if kind.endswith("symmetric"):
            residual = off.mT @ x + x @ off
        elif kind == "commutant":
            residual = off @ x - x @ off
        else:
            residual = (off if kind == "vectors" else off.mT) @ x
        square = {
            "symmetric": 2 * (n + 1) / n**2,
            "antisymmetric": 2 * (n - 1) / n**2,
            "commutant": 2 / n,
        }.get(kind, 1 / n)
        assert float(residual.flatten(1).square().sum(1).mean()) == pytest.approx(
            square * size**2, rel=0.1
        )
        # The decision uses three times that: just above it nothing is null any more.
        found = [
            preserved_forms(noisy(generators, size, seed=seed), uncertainty=size)
            for seed in range(10)
        ]
        null = len(read(preserved_forms(generators)))
        last = [float(f.residuals[kind][null - 1]) for f in found]
        assert all(len(read(f)) == null for f in found)
        assert max(last) < 1.5 * math.sqrt(square) * size
        assert np.mean(last) > 0.5 * math.sqrt(square) * size


def test_errors_expected_are_those_made():
    for kind in PRESERVED_KINDS:
        generators, read = PRESERVED_KINDS[kind]
        exact, size = conjugated(generators, 2.0), 1e-4
        true = read(preserved_forms(exact)).flatten(1)
        made, expected = [], []
        for seed in range(20):
            found = preserved_forms(noisy(exact, size, seed=seed), uncertainty=size)
            rows = read(found).flatten(1)
            made.append(float((rows - rows @ true.mT @ true).norm()) / math.sqrt(len(rows)))
            expected.append(found.errors[kind])
        assert np.sqrt(np.mean(np.square(made))) == pytest.approx(np.mean(expected), rel=0.6)


def test_what_noise_does_not_explain_is_not_preserved():
    off = noisy(so(4), 1e-2)
    assert len(preserved_forms(off).symmetric) == 0
    assert len(preserved_forms(off, uncertainty=1e-3).symmetric) == 0
    assert len(preserved_forms(off, uncertainty=1e-2).symmetric) == 1


def test_residuals_and_gap():
    found = preserved_forms(so(1, 3))
    for kind, values in found.residuals.items():
        assert bool((values.diff() >= 0).all()), kind
    assert {kind: len(values) for kind, values in found.residuals.items()} == {
        "symmetric": 10,
        "antisymmetric": 6,
        "vectors": 4,
        "covectors": 4,
        "commutant": 16,
        "trace": 1,
    }
    assert found.gap["symmetric"] > 1e12
    noise = preserved_forms(noisy(so(1, 3), 1e-2), uncertainty=1e-2)
    values = noise.residuals["symmetric"]
    assert noise.gap["symmetric"] == pytest.approx(float(values[1] / values[0]))
    assert noise.gap["vectors"] == pytest.approx(
        float(noise.residuals["vectors"][0]) / (3 * 1e-2 / 2)
    )  # over the threshold
    assert found.residuals["vectors"].tolist() == pytest.approx(
        [0.5] * 4
    )  # 6 unit generators: the sum of AᵀA is 6/4


# Signatures


@given(
    signs=st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=6).filter(any),
    seed=st.integers(0, 100),
)
@settings(deadline=None, max_examples=30)
def test_signature_does_not_depend_on_the_basis(signs, seed):
    p = regular(len(signs), seed=seed, condition=10.0)
    form = p.mT @ torch.diag(torch.tensor(signs, dtype=torch.float64)) @ p
    assert signature((form + form.mT) / 2) == (signs.count(1), signs.count(-1), signs.count(0))


def test_signature_tolerance_is_relative():
    form = torch.diag(torch.tensor([1e-3, -1e-6, 1e-9], dtype=torch.float64))
    assert signature(form, 1e-2) == (1, 0, 2)
    assert signature(form, 1e-4) == (1, 1, 1)
    assert signature(form) == (2, 1, 0)
    assert signature(torch.zeros(2, 2)) == (0, 0, 2)


def test_orientation():
    for signs, expected in [
        ((1, 1), (2, 0)),
        ((-1, -1), (2, 0)),
        ((1, -1, -1), (1, 2)),
        ((1, 1, -1), (1, 2)),
        ((-1, 0), (1, 0)),
        ((0, 1), (1, 0)),
    ]:
        assert (
            signature(oriented(torch.diag(torch.tensor(signs, dtype=torch.float64))))[:2]
            == expected
        )


def test_orientation_of_a_neutral_form_is_that_of_its_first_largest_entry():
    form = torch.tensor([[0.0, -2.0], [-2.0, 0.0]], dtype=torch.float64)
    assert torch.equal(oriented(form), -form)
    assert torch.equal(oriented(-form), -form)


def test_errors():
    for call, text in [
        (lambda: preserved_forms(torch.zeros(2, 3, 4)), r"expected matrices \[d, n, n\]"),
        (lambda: preserved_forms(so(3) * torch.nan), "generator 0 contains NaN or infinity"),
        (
            lambda: preserved_forms(so(3), uncertainty=-0.5),
            "uncertainty is -0.5; expected the relative error",
        ),
        (
            lambda: signature(torch.tensor([[0.0, 1.0], [0.0, 0.0]])),
            r"shape \(2, 2\) that is not symmetric; expected a symmetric",
        ),
    ]:
        with pytest.raises(ArgumentError, match=text):
            call()
