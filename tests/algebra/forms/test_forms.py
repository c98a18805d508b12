"""What a span preserves, and what commutes with it: complex structures, Hermitian forms, invariant subspaces."""

import math

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import normal, regular
from liegg._utils.errors import ArgumentError
from liegg.algebra import (
    diagonal,
    gl,
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
from liegg.algebra.forms.commutant import complex_structures, hermitian_forms, invariant_subspaces
from liegg.algebra.forms.forms import oriented, preserved_forms, signature
from liegg.algebra.subspace import grassmann_distance


def conjugation(n, condition, seed):
    """A matrix without structure whose singular values spread evenly in size, or by even ratios for odd seeds."""
    if seed % 2 == 0:
        return regular(n, seed=seed, condition=condition)
    one, other = (
        torch.linalg.qr(normal(n, n, seed=seed))[0],
        torch.linalg.qr(normal(n, n, seed=seed + 1))[0],
    )
    return one @ torch.diag(condition ** torch.linspace(0, 1, n, dtype=torch.float64)) @ other


def conjugated(generators, condition, seed=7):
    p = conjugation(generators.shape[1], condition, seed)
    return p @ generators @ torch.linalg.inv(p)


def noisy(generators, size, seed=0):
    """Unit generators off by matrices of Frobenius norm about `size`."""
    basis = orthonormal(generators)
    return basis + size * normal(*basis.shape, seed=seed) / basis.shape[1]


def as_given(generators, condition, size, seed):
    generators = conjugated(generators, condition, seed)
    return noisy(generators, size, seed) if size else generators


given_as = pytest.mark.parametrize(
    ("condition", "size", "seed"),
    [(1.0, 0.0, 7), (100.0, 0.0, 7), (100.0, 0.0, 20), (3.0, 1e-2, 20)],
)


def blocks(one, other):
    """Direct sum: each algebra acts on its own coordinates."""
    return torch.cat(
        [
            torch.nn.functional.pad(one, (0, other.shape[1]) * 2),
            torch.nn.functional.pad(other, (one.shape[1], 0) * 2),
        ]
    )


def copies(generators, k):
    return torch.stack([torch.block_diag(*[a] * k) for a in generators])


def turn(n):
    """Multiplication by i on C^n."""
    return u(n)[-1]


def su_pq(p, q):
    """Complex traceless matrices that preserve diag(+1 × p, −1 × q) on C^(p+q): the form times the antihermitian ones."""
    sign = torch.tensor(([1.0] * p + [-1.0] * q) * 2, dtype=torch.float64)
    all_of_u = torch.diag(sign) @ u(p + q)
    imaginary_trace = torch.einsum("aij,ji->a", all_of_u, turn(p + q))
    kernel = torch.linalg.svd(imaginary_trace[None])[2][1:]
    return torch.einsum("ka,aij->kij", kernel, all_of_u)


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
every_case = pytest.mark.parametrize(("generators", "expected"), CASES.values(), ids=CASES.keys())


@every_case
@given_as
def test_how_many_of_each_kind(generators, expected, condition, size, seed):
    given = as_given(generators, condition, size, seed)
    assert counts(preserved_forms(given, uncertainty=size)) == expected


@every_case
def test_each_is_preserved_and_orthonormal(generators, expected):
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


@every_case
def test_the_commutant_holds_the_identity_and_is_that_of_scipy(generators, expected):
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


@pytest.mark.parametrize("n", [1, 3, 4])
def test_nothing_preserves_everything(n):
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


@pytest.mark.parametrize(
    ("p", "q"),
    [
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
    ],
)
@given_as
def test_the_metric_of_rotations_and_boosts(p, q, condition, size, seed):
    n = p + q
    given = as_given(so(p, q), condition, size, seed)
    back = torch.linalg.inv(conjugation(n, condition, seed))
    true = back.mT @ torch.diag(torch.tensor([1.0] * p + [-1.0] * q, dtype=torch.float64)) @ back
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


@given_as
def test_the_area_form_of_symplectic_maps(condition, size, seed):
    back = torch.linalg.inv(conjugation(4, condition, seed))
    eye, zero = torch.eye(2, dtype=torch.float64), torch.zeros(2, 2, dtype=torch.float64)
    true = back.mT @ torch.cat([torch.cat([zero, eye], 1), torch.cat([-eye, zero], 1)]) @ back
    found = preserved_forms(as_given(sp(4), condition, size, seed), uncertainty=size)
    angle = grassmann_distance(found.antisymmetric.flatten(1), true.reshape(1, -1))
    assert angle < (5 * found.errors["antisymmetric"] if size else 1e-8)


# How it is decided


KINDS = {
    "symmetric": (so(5), lambda f: f.symmetric),
    "antisymmetric": (sp(4), lambda f: f.antisymmetric),
    "vectors": (torch.nn.functional.pad(so(3), (0, 1, 0, 1)), lambda f: f.fixed_vectors),
    "covectors": (se(3), lambda f: f.fixed_covectors),
    "commutant": (blocks(so(3), so(3)), lambda f: f.commutant),
}


@pytest.mark.parametrize("kind", KINDS)
def test_noise_shows_as_its_constant_says(kind):
    generators, read = KINDS[kind]
    generators, size = orthonormal(generators), 1e-4
    n = generators.shape[1]
    x = read(preserved_forms(generators))[-1]
    if kind == "commutant":
        x = x - x.trace() / n * torch.eye(n, dtype=torch.float64)
        x = x / x.norm()
    off = size * normal(2000, n, n) / n
    residual = {
        "symmetric": lambda: off.mT @ x + x @ off,
        "antisymmetric": lambda: off.mT @ x + x @ off,
        "vectors": lambda: off @ x,
        "covectors": lambda: off.mT @ x,
        "commutant": lambda: off @ x - x @ off,
    }[kind]()
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
        preserved_forms(noisy(generators, size, seed=seed), uncertainty=size) for seed in range(10)
    ]
    null = len(read(preserved_forms(generators)))
    last = [float(f.residuals[kind][null - 1]) for f in found]
    assert all(len(read(f)) == null for f in found)
    assert max(last) < 1.5 * math.sqrt(square) * size
    assert np.mean(last) > 0.5 * math.sqrt(square) * size


@pytest.mark.parametrize("kind", KINDS)
def test_errors_expected_are_those_made(kind):
    generators, read = KINDS[kind]
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


@pytest.mark.parametrize(
    ("signs", "expected"),
    [
        ((1, 1), (2, 0)),
        ((-1, -1), (2, 0)),
        ((1, -1, -1), (1, 2)),
        ((1, 1, -1), (1, 2)),
        ((-1, 0), (1, 0)),
        ((0, 1), (1, 0)),
    ],
)
def test_orientation(signs, expected):
    assert signature(oriented(torch.diag(torch.tensor(signs, dtype=torch.float64))))[:2] == expected


def test_orientation_of_a_neutral_form_is_that_of_its_first_largest_entry():
    form = torch.tensor([[0.0, -2.0], [-2.0, 0.0]], dtype=torch.float64)
    assert torch.equal(oriented(form), -form)
    assert torch.equal(oriented(-form), -form)


# Complex structures and Hermitian forms


def commutant(generators, size=0.0):
    found = preserved_forms(generators, uncertainty=size)
    return found.commutant, max(1e-8, 2 * found.errors["commutant"])


HERMITIAN = {
    "u(1)": (u(1), (1, 0, 0)),
    "u(2)": (u(2), (2, 0, 0)),
    "u(3)": (u(3), (3, 0, 0)),
    "su(2)": (su(2), (2, 0, 0)),
    "su(3)": (su(3), (3, 0, 0)),
    "su(4)": (su(4), (4, 0, 0)),
    "su(1,1)": (su_pq(1, 1), (1, 1, 0)),
    "su(1,2)": (su_pq(1, 2), (1, 2, 0)),
    "su(2,1)": (su_pq(2, 1), (1, 2, 0)),
    "su(2,2)": (su_pq(2, 2), (2, 2, 0)),
    "su(1,3)": (su_pq(1, 3), (1, 3, 0)),
}


@pytest.mark.parametrize(("generators", "expected"), HERMITIAN.values(), ids=HERMITIAN.keys())
@given_as
def test_complex_structure_and_hermitian_form(generators, expected, condition, size, seed):
    given = as_given(generators, condition, size, seed)
    inside, tolerance = commutant(given, size)
    structure = complex_structures(inside, tolerance=tolerance)
    assert structure is not None
    scale = float(structure.norm()) ** 2
    assert (
        float((structure @ structure + torch.eye(len(structure), dtype=torch.float64)).norm())
        < 1e-11 * scale
    )
    basis = orthonormal(given)
    assert float((basis @ structure - structure @ basis).norm()) < (10 * size + 1e-9) * float(
        structure.norm()
    ) * len(basis)
    found = hermitian_forms(given, structure, uncertainty=size)
    assert found.signatures == (expected,)
    form = found.forms[0]
    assert float((structure.mT @ form @ structure - form).norm()) < 1e-10 * scale
    assert float((basis.mT @ form + form @ basis).norm()) < (10 * size + 1e-9) * len(basis)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("condition", [1.0, 100.0])
def test_multiplication_by_i_is_found_where_it_is_the_only_one(n, condition):
    p = conjugation(2 * n, condition, 8)
    true = p @ turn(n) @ torch.linalg.inv(p)
    found = complex_structures(commutant(conjugated(u(n), condition, 8))[0])
    assert found is not None
    assert grassmann_distance(found.reshape(1, -1), true.reshape(1, -1)) < 1e-9
    assert min((found - true).norm(), (found + true).norm()) < 1e-8 * true.norm()


@pytest.mark.parametrize(
    ("generators", "exists"),
    [
        (copies(sl(2), 2), True),  # the commutant is M₂(R), which holds turns
        (copies(so(3), 4), True),  # M₄(R)
        (copies(su(2), 2), True),  # M₂(H)
        (blocks(u(1), u(1)), True),  # C ⊕ C: both planes must turn
        (blocks(u(1), u(2)), True),
        (torch.zeros(0, 4, 4), True),
        (copies(so(3), 3), False),  # odd dimension
        (blocks(so(3), so(3)), False),  # R ⊕ R
        (
            blocks(u(1), torch.nn.functional.pad(so(3), (0, 1, 0, 1))),
            False,
        ),  # C ⊕ R ⊕ R: one plane turns, the rest cannot
        (sp(4), False),
        (shear(4), False),  # nilpotent
        (translation(3), False),
        (diagonal(4), False),
    ],
    ids=[
        "sl2x2",
        "so3x4",
        "su2x2",
        "u1+u1",
        "u1+u2",
        "none",
        "so3x3",
        "so3+so3",
        "u1+so3+1",
        "sp4",
        "shear4",
        "translation3",
        "diagonal4",
    ],
)
@given_as
def test_where_there_is_a_complex_structure(generators, exists, condition, size, seed):
    inside, tolerance = commutant(
        as_given(generators, condition, size, seed) if len(generators) else generators, size
    )
    found = complex_structures(inside, tolerance=tolerance)
    assert (found is not None) == exists
    if found is not None:
        eye = torch.eye(len(found), dtype=torch.float64)
        assert float((found @ found + eye).norm()) < 1e-10 * float(found.norm()) ** 2


def test_several_hermitian_forms():
    structure = turn(2)[[0, 2, 1, 3]][:, [0, 2, 1, 3]]  # each plane of u(1) + u(1) turns
    found = hermitian_forms(blocks(u(1), u(1)), structure)
    assert found.forms.shape == (2, 4, 4)
    assert len(found.signatures) == 2
    assert hermitian_forms(sl(2), turn(1)).forms.shape == (0, 2, 2)


# Invariant subspaces


DECOMPOSED = {
    "so(3)+so(3)": (blocks(so(3), so(3)), [3, 3]),
    "so(3)+so(2)": (blocks(so(3), so(2)), [3, 2]),
    "se(3)": (se(3), [4]),
    "so(3)+axis": (torch.nn.functional.pad(so(3), (0, 1, 0, 1)), [3, 1]),
    "so(3)+plane": (torch.nn.functional.pad(so(3), (0, 2, 0, 2)), [3, 1, 1]),
    "u(2)": (u(2), [4]),
    "su(2)": (su(2), [4]),
    "su(3)": (su(3), [6]),
    "sl(2) twice": (copies(sl(2), 2), [2, 2]),
    "su(1,1)": (su_pq(1, 1), [2, 2]),  # C² is two copies of R² of sl(2, R)
    "so(3) thrice": (copies(so(3), 3), [3, 3, 3]),
    "su(2) twice": (copies(su(2), 2), [4, 4]),
    "su(3) twice": (copies(su(3), 2), [6, 6]),
    "diagonal(4)": (diagonal(4), [1, 1, 1, 1]),
    "scaling(3)": (scaling(3), [1, 1, 1]),
    "shear(4)": (shear(4), [4]),
    "translation(3)": (translation(3), [4]),
    "se(2)+se(2)": (blocks(se(2), se(2)), [3, 3]),
    "shear(3) twice": (copies(shear(3), 2), [3, 3]),
    "gl(4)": (gl(4), [4]),
}


@pytest.mark.parametrize(("generators", "sizes"), DECOMPOSED.values(), ids=DECOMPOSED.keys())
@given_as
def test_invariant_subspaces(generators, sizes, condition, size, seed):
    given = as_given(generators, condition, size, seed)
    parts = invariant_subspaces(given, uncertainty=size)
    assert [part.shape[1] for part in parts] == sizes
    for part in parts:
        torch.testing.assert_close(part.mT @ part, torch.eye(part.shape[1], dtype=torch.float64))
        moved = orthonormal(given) @ part
        assert float((moved - part @ (part.mT @ moved)).norm()) < (20 * size + 1e-8) * math.sqrt(
            len(given)
        )
    assert (
        np.linalg.matrix_rank(torch.cat(parts, 1).numpy(), tol=1e-6) == given.shape[1]
    )  # together they are the space


def test_the_subspaces_are_those_of_the_blocks_in_their_order():
    one, other = invariant_subspaces(blocks(so(3), so(3)))
    eye = torch.eye(6, dtype=torch.float64)
    assert grassmann_distance(one.mT, eye[:3]) < 1e-12
    assert grassmann_distance(other.mT, eye[3:]) < 1e-12


def test_without_generators_every_line_is_invariant():
    assert [part.shape[1] for part in invariant_subspaces(torch.zeros(0, 3, 3))] == [1, 1, 1]


# Errors


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: preserved_forms(torch.zeros(2, 3, 4)), r"expected matrices \[d, n, n\]"),
        (lambda: preserved_forms(so(3) * torch.nan), "generator 0 holds NaN or infinity"),
        (
            lambda: preserved_forms(so(3), uncertainty=-0.5),
            "uncertainty is -0.5; expected the relative error",
        ),
        (lambda: invariant_subspaces(so(3) * 1j), "expected real matrices"),
        (
            lambda: signature(torch.tensor([[0.0, 1.0], [0.0, 0.0]])),
            r"shape \(2, 2\) that is not symmetric; expected a symmetric",
        ),
        (
            lambda: hermitian_forms(u(2), torch.eye(4)),
            "whose square should be minus the identity; expected one from complex_structures",
        ),
        (lambda: hermitian_forms(u(2), turn(1)), r"shape \(2, 2\) for matrices 4 × 4"),
    ],
)
def test_errors(call, text):
    with pytest.raises(ArgumentError, match=text):
        call()
