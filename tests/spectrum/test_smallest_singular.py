"""Smallest singular pairs against scipy: clusters, null spaces, slopes; residuals that bound."""

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import normal
from liegg.spectrum.smallest_singular import SOLVED_RESIDUAL, smallest_singular

SIDE, COUNT = 300, 12


def matrix_of(values, seed=0):
    """Square matrix without structure with the given singular values, as an R factor."""
    left, right = (torch.linalg.qr(normal(SIDE, SIDE, seed=seed + k))[0] for k in (0, 1))
    return torch.linalg.qr(left * torch.as_tensor(values, dtype=torch.float64) @ right, mode="r").R


def padded(small, first=0.3):
    return [*small, *np.linspace(first, 2, SIDE - len(small))]


VALUES = {
    "a gap": padded(np.linspace(0.01, 0.05, COUNT)),
    "no gap": np.linspace(0.1, 2, SIDE),
    "null space": padded([0.0] * COUNT),
    "null space larger than asked for": padded([0.0] * 100),
    "null space smaller than asked for": padded([0.0] * 5),
    "nulls and near nulls": padded([0.0, 0.0, 1e-9, 1e-8, 1e-5, 1e-4]),
    "null space below a slope": [0.0] * 5 + list(np.logspace(-3.2, 0, SIDE - 5)),
    "cluster cut in two": padded([0.01] * 60),
    "two clusters": padded([1e-3] * 6 + [1e-2] * 6),
    "all alike": [1.0] * SIDE,
    "large": list(1e100 * np.linspace(0.1, 1, SIDE)),
    "small": list(1e-100 * np.linspace(0.1, 1, SIDE)),
    "zero": [0.0] * SIDE,
}


@pytest.mark.parametrize("values", VALUES.values(), ids=list(VALUES))
def test_pairs_are_scipys_with_residuals_of_their_own(values):
    values = np.sort(values)
    matrix = matrix_of(values)
    found = smallest_singular(matrix, COUNT, full_limit=0)
    exact = np.sort(scipy.linalg.svdvals(matrix.numpy()))[:COUNT]
    np.testing.assert_allclose(found.values, exact, rtol=0, atol=1e-13 * values[-1])
    assert bool((found.values.diff() >= 0).all())
    one = torch.eye(COUNT, dtype=torch.float64)
    torch.testing.assert_close(found.vectors @ found.vectors.mT, one, rtol=0, atol=1e-13)
    largest = max(float(values[-1]), 1e-100)
    scaled, images = found.values / largest, matrix / largest @ found.vectors.mT
    torch.testing.assert_close(images.norm(dim=0), scaled, rtol=0, atol=1e-14)
    gap = matrix.mT / largest @ images - found.vectors.mT * scaled.square()
    torch.testing.assert_close(found.residuals / largest**2, gap.norm(dim=0), rtol=1e-6, atol=1e-14)
    assert float(found.residuals.max()) <= 10 * SOLVED_RESIDUAL * largest**2


def test_the_null_space_is_scipys():
    matrix = matrix_of(VALUES["null space below a slope"])
    null = scipy.linalg.null_space(matrix.numpy(), rcond=1e-12)
    found = smallest_singular(matrix, COUNT, full_limit=0).vectors[:5].numpy()
    assert np.max(scipy.linalg.subspace_angles(found.T, null)) < 1e-10


@given(nulls=st.integers(0, 30), seed=st.integers(0, 10_000), count=st.integers(1, 20))
@settings(deadline=None, max_examples=15)
def test_an_exact_value_lies_within_every_residual(nulls, seed, count):
    spread = (
        torch.rand(SIDE - nulls, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        .sort()
        .values
        + 1e-3
    )
    matrix = matrix_of([*[0.0] * nulls, *spread.tolist()], seed=seed)
    found = smallest_singular(matrix, count, full_limit=0)
    squares = np.sort(scipy.linalg.svdvals(matrix.numpy())) ** 2
    for value, residual in zip(found.values.square(), found.residuals, strict=True):
        assert np.abs(squares - float(value)).min() <= float(residual) + 1e-14


def test_without_any_gap_it_goes_on_until_it_is_there():
    """The lower edge of a random matrix: values so close to each other that the residual shrinks by little in each step."""
    matrix = torch.linalg.qr(normal(12_000, 600), mode="r").R
    exact = torch.linalg.svdvals(matrix)
    found = smallest_singular(matrix, 20)
    assert found.steps > 20
    assert float(found.residuals.max()) <= SOLVED_RESIDUAL * float(exact[0]) ** 2
    torch.testing.assert_close(found.values, exact.flip(0)[:20], rtol=1e-12, atol=0)


def test_the_same_vectors_twice():
    one, other = (
        smallest_singular(matrix_of(VALUES["a gap"]), COUNT, full_limit=0) for _ in range(2)
    )
    torch.testing.assert_close(one.values, other.values, rtol=1e-9, atol=1e-12)
    overlap = (one.vectors @ other.vectors.mT).abs()
    torch.testing.assert_close(overlap, torch.eye(COUNT).double(), rtol=0, atol=1e-6)
    assert one.steps > 0


def test_the_seed_alone_decides_which_part_of_a_null_space_is_found():
    """Of 100 exact zeros 12 are wanted: any 12 are right, and the first vectors choose them."""
    matrix = matrix_of(VALUES["null space larger than asked for"])
    spans = {}
    for name, seed, state in (("one", 0, 1), ("again", 0, 2), ("another", 3, 1)):
        torch.manual_seed(state)  # the caller's own generator has no part in it
        spans[name] = smallest_singular(matrix, COUNT, full_limit=0, seed=seed).vectors
    overlap = {name: torch.linalg.svdvals(spans["one"] @ spans[name].mT) for name in spans}
    assert float(overlap["again"].min()) > 1 - 1e-6
    assert float(overlap["another"].min()) < 0.9


def test_few_columns_are_solved_for_whole():
    matrix = normal(20, 10)
    found = smallest_singular(matrix, 50)
    assert (len(found.values), found.steps) == (10, 0)
    np.testing.assert_allclose(
        found.values, np.sort(scipy.linalg.svdvals(matrix.numpy())), atol=1e-13
    )
