"""Right singular pairs by both paths against scipy; canonical bases; signs."""

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import normal
from liegg._utils.linalg import (
    canonical_basis,
    fix_signs,
    orthonormal_rows,
    rank,
    right_singular,
    svd,
    symmetric_eigen,
    without_zero_rows,
)
from liegg.algebra import so
from liegg.decision.noise_floor import numerical_floor
from liegg.decision.thresholds import Thresholds
from liegg.spectrum.spectrum import paper_spectrum


def matrix_of(values, rows, columns, seed=0):
    """Matrix without structure with the given singular values (as many as the smaller side)."""
    size = min(rows, columns)
    left, right = (
        torch.linalg.qr(normal(rows, rows, seed=seed))[0],
        torch.linalg.qr(normal(columns, columns, seed=seed + 1))[0],
    )
    return left[:, :size] * torch.tensor(values, dtype=torch.float64) @ right[:size]


MATRICES = {
    "well conditioned": matrix_of(np.linspace(1, 2, 40), 60, 40),
    "condition 1e12": matrix_of(np.logspace(0, -12, 40), 60, 40),
    "exactly singular": matrix_of([*np.linspace(1, 0.1, 30), *[0.0] * 10], 60, 40),
    "zeros behind a long slope": matrix_of([*np.logspace(0, -3.2, 30), *[0.0] * 10], 60, 40),
    "cluster at the border of the small end": matrix_of([1.0] * 20 + [1e-3] * 20, 60, 40),
    "rank one": matrix_of([1.0, *[0.0] * 39], 60, 40),
    "wide": matrix_of(np.logspace(0, -9, 15), 15, 40),
    "one row": normal(1, 40),
    "zero": torch.zeros(60, 40, dtype=torch.float64),
    "zero columns": torch.cat([normal(60, 30), torch.zeros(60, 10, dtype=torch.float64)], dim=1),
    "large": 1e100 * matrix_of(np.logspace(0, -6, 40), 60, 40),
    "small": 1e-100 * matrix_of(np.logspace(0, -6, 40), 60, 40),
    "one column": normal(5, 1),
}


@pytest.fixture(params=MATRICES.values(), ids=list(MATRICES))
def matrix(request):
    return request.param


@pytest.mark.parametrize("full", [True, False])
def test_where_lapack_does_not_converge_the_transpose_is_decomposed(matrix, full, monkeypatch):
    plain, calls, kind = torch.linalg.svd, [], vars(torch.linalg)["LinAlgError"]

    def fails_at_first(*given, **more):
        calls.append(1)
        if len(calls) == 1:
            raise kind("The algorithm failed to converge")
        return plain(*given, **more)

    expected = torch.linalg.svdvals(matrix)
    monkeypatch.setattr(torch.linalg, "svd", fails_at_first)
    left, values, right = svd(matrix, full_matrices=full)
    rounding = 1e-13 * float(expected.max())
    torch.testing.assert_close(values, expected, rtol=1e-13, atol=rounding)
    count = len(values)
    product = left[:, :count] * values @ right[:count]
    torch.testing.assert_close(product, matrix, rtol=0.0, atol=10 * rounding)
    rows, columns = matrix.shape
    sides = (rows, columns) if full else (count, count)
    assert (left.shape, right.shape) == ((rows, sides[0]), (sides[1], columns))


@pytest.fixture(params=[10**9, 0], ids=["svd", "eigh and refined"])
def pairs(request, matrix):
    return right_singular(matrix, full_limit=request.param)


def reference(matrix):
    values = scipy.linalg.svdvals(matrix.numpy())
    return np.sort(np.concatenate([values, np.zeros(matrix.shape[1] - len(values))]))


def test_right_singular_pairs(matrix, pairs):
    """Values of scipy in ascending order, a complete orthonormal basis, and every vector with its value.

    Zeros are found at the rounding of the matrix: far below what RᵀR alone could show (1e-8), and below the verdict's floor, so that
    a symmetry is called exact.
    """
    values, basis = pairs
    known = reference(matrix)
    np.testing.assert_allclose(values, known, rtol=0, atol=1e-12 * known[-1])
    assert bool((values >= 0).all())
    assert bool((values.diff() >= 0).all())
    identity = torch.eye(matrix.shape[1], dtype=torch.float64)
    torch.testing.assert_close(basis @ basis.mT, identity, rtol=0, atol=1e-13)
    largest = max(float(values[-1]), 1e-300)
    lengths = (matrix / largest @ basis.mT).norm(dim=0)
    torch.testing.assert_close(lengths, values / largest, rtol=0, atol=1e-12)
    zeros = int((known <= 1e-14 * known[-1]).sum())
    assert float(values[:zeros].sum()) <= 1e-14 * float(values[-1])
    assert numerical_floor(2.0**-52, Thresholds()) > 1e-14**2


def test_the_null_space_is_scipys():
    matrix = MATRICES["zeros behind a long slope"]
    null = scipy.linalg.null_space(matrix.numpy(), rcond=1e-12)
    for limit in (0, 10**9):
        found = right_singular(matrix, full_limit=limit)[1][:10].numpy()
        # An angle of eps over the smallest value that is not zero (1e-3.2) is all that rounding allows.
        assert np.max(scipy.linalg.subspace_angles(found.T, null)) < 1e-11


def test_signs_are_fixed(matrix):
    basis = paper_spectrum(matrix, matrix.shape[1], 10).basis
    largest = basis.gather(1, basis.abs().argmax(1, keepdim=True))
    assert bool((largest > 0).all())


def test_the_squared_matrix_alone_would_not_do():
    """Why the small end is solved again: eigenvalues of RᵀR lose everything below 1e-8 of the largest value."""
    matrix = MATRICES["condition 1e12"]
    naive = torch.linalg.eigvalsh(matrix.mT @ matrix).clamp_min(0).sqrt()
    assert float((naive - torch.from_numpy(reference(matrix))).abs().max()) > 1e-9
    refined = right_singular(matrix, full_limit=0)[0]
    np.testing.assert_allclose(
        refined, reference(matrix), rtol=1e-4, atol=0
    )  # even 1e-12 has four digits


@given(d=st.integers(1, 6), seed=st.integers(0, 10_000))
@settings(deadline=None, max_examples=30)
def test_canonical_basis_depends_on_the_span_alone(d, seed):
    rows = orthonormal_rows(normal(d, 9, seed=seed))
    turn = torch.linalg.qr(normal(d, d, seed=seed + 1))[0]
    basis = canonical_basis(rows)
    torch.testing.assert_close(canonical_basis(turn @ rows), basis, rtol=0, atol=1e-10)
    torch.testing.assert_close(
        basis @ basis.mT, torch.eye(d, dtype=torch.float64), rtol=0, atol=1e-13
    )
    torch.testing.assert_close(
        basis.mT @ basis, rows.mT @ rows, rtol=0, atol=1e-13
    )  # the same projector


def test_canonical_rotations_are_the_textbook_ones():
    """All coordinates tie here, so rounding must not choose among them."""
    for seed in range(5):
        turn = torch.linalg.qr(normal(10, 10, seed=seed))[0]
        basis = canonical_basis(turn @ so(5).flatten(1) / 2**0.5)
        expected = [[i, j] for i in range(5) for j in range(i + 1, 5)]
        assert [
            b.unflatten(0, (5, 5)).triu().abs().gt(1e-12).nonzero().squeeze(0).tolist()
            for b in basis
        ] == expected
        torch.testing.assert_close(
            basis.abs().max(1).values, torch.full((10,), 0.5**0.5, dtype=torch.float64)
        )


def test_canonical_basis_of_nothing():
    assert canonical_basis(torch.zeros(0, 4)).shape == (0, 4)


def test_signs():
    for row, expected in [
        ([0.0, -2.0, 1.0], [0.0, 2.0, -1.0]),
        ([0.0, 2.0, -1.0], [0.0, 2.0, -1.0]),
        ([-1.0, 1.0], [1.0, -1.0]),
        ([1.0, -1.0], [1.0, -1.0]),
        (
            [-1.0, 1.0 + 1e-12],
            [1.0, -1.0 - 1e-12],
        ),  # rounding does not decide which of two equal entries leads
        ([0.0, 0.0], [0.0, 0.0]),
    ]:
        assert fix_signs(torch.tensor([row], dtype=torch.float64)).tolist() == [expected]


def test_signs_of_nothing():
    assert fix_signs(torch.zeros(0, 3)).shape == (0, 3)


def test_rank():
    for values, expected in [([3.0, 1e-3, 1e-12], 2), ([0.0, 0.0], 0), ([], 0), ([5.0], 1)]:
        assert rank(torch.tensor(values), 1e-6) == expected


def scattered(sizes, seed=0):
    """A symmetric matrix of blocks that do not touch, its rows and columns in random order."""
    blocks = [normal(size, size, seed=seed + i) for i, size in enumerate(sizes)]
    matrix = torch.block_diag(*[block + block.mT for block in blocks])
    order = torch.randperm(len(matrix), generator=torch.Generator().manual_seed(seed))
    return matrix[order][:, order]


def test_eigenvalues_of_parts_that_do_not_touch():
    for sizes in [[3] * 100, [1] * 300, [1, 2, 3, 4] * 30, [20] * 13 + [1], [300]]:
        matrix = scattered(sizes)
        values, vectors = symmetric_eigen(matrix)
        torch.testing.assert_close(values, torch.linalg.eigvalsh(matrix), rtol=0, atol=1e-12)
        torch.testing.assert_close(
            vectors @ torch.diag(values) @ vectors.mT, matrix, rtol=0, atol=1e-12
        )
        torch.testing.assert_close(
            vectors.mT @ vectors, torch.eye(len(matrix), dtype=torch.float64), rtol=0, atol=1e-12
        )


def test_a_chain_is_one_part():
    """Neighbours touch: labels have to travel along all of it."""
    side = 400
    matrix = torch.diag(torch.ones(side - 1, dtype=torch.float64), 1)
    matrix = matrix + matrix.mT
    order = torch.randperm(side, generator=torch.Generator().manual_seed(0))
    exact = 2 * torch.cos(torch.pi * torch.arange(side, 0, -1, dtype=torch.float64) / (side + 1))
    torch.testing.assert_close(
        symmetric_eigen(matrix[order][:, order])[0], exact, rtol=0, atol=1e-12
    )


def test_zero_rows_of_a_large_factor_say_nothing():
    rows = torch.cat([normal(3, 600), torch.zeros(7, 600, dtype=torch.float64)])
    assert without_zero_rows(rows).shape == (3, 600)
    assert without_zero_rows(torch.zeros(5, 600)).shape == (1, 600)
    assert without_zero_rows(torch.zeros(5, 6)).shape == (5, 6)  # small ones stay as they are


def test_few_rows_of_many_columns():
    matrix = normal(20, 700)
    values, vectors = right_singular(matrix)
    torch.testing.assert_close(
        values[-20:], torch.linalg.svdvals(matrix).flip(0), rtol=1e-13, atol=0
    )
    assert bool((values[:-20] == 0).all())
    torch.testing.assert_close(
        vectors @ vectors.mT, torch.eye(700, dtype=torch.float64), rtol=0, atol=1e-12
    )
    assert float((matrix @ vectors[:-20].mT).abs().max()) < 1e-12
