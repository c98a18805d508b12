"""The paper's spectrum from the R factor, against a plain SVD of all rows."""

import numpy as np
import pytest
import torch

import oracle
from cases import normal, regular
from liegg.polarization.r_factor import init, update
from liegg.spectrum.spectrum import spectrum

ROWS = {
    "tall": normal(80, 9) @ regular(9, condition=1e4),
    "rank 5": normal(80, 5) @ normal(5, 9, seed=1),
    "fewer rows than columns": normal(4, 9),
    "zero": torch.zeros(20, 9, dtype=torch.float64),
}


@pytest.fixture(params=ROWS.values(), ids=list(ROWS))
def rows(request):
    return request.param


def found(rows, samples=40):
    return spectrum(update(init(rows.shape[1]), rows).r, samples)


def test_values_are_those_of_the_whole_matrix(rows):
    values, _ = oracle.spectrum(rows.numpy(), 40)
    np.testing.assert_allclose(found(rows).values, values, rtol=1e-8, atol=1e-14 * values[-1])


def test_the_basis_is_complete_and_each_direction_has_its_variance(rows):
    result = found(rows)
    torch.testing.assert_close(
        result.basis @ result.basis.mT, torch.eye(9, dtype=torch.float64), rtol=0, atol=1e-13
    )
    variance = (rows @ result.basis.mT).square().sum(0) / 40
    torch.testing.assert_close(
        result.values, variance, rtol=1e-8, atol=1e-14 * float(variance.max())
    )


def test_the_null_space_is_that_of_the_whole_matrix():
    rows = ROWS["rank 5"]
    _, basis = oracle.spectrum(rows.numpy(), 40)
    assert oracle.angle(found(rows).basis[:4].numpy(), basis[:4]) < 1e-13


def test_the_same_rows_give_the_same_basis_with_the_same_signs():
    one, two = found(ROWS["tall"]), found(ROWS["tall"].clone())
    torch.testing.assert_close(one.values, two.values, rtol=1e-12, atol=0)
    torch.testing.assert_close(one.basis, two.basis, rtol=0, atol=1e-10)


def test_directions_have_deterministic_signs():
    """The entry of largest magnitude is positive, whatever the signs of the rows."""
    rows = normal(30, 6, seed=5)
    flipped = rows * torch.where(torch.arange(30) % 2 == 0, 1.0, -1.0)[:, None]
    for factor in (torch.linalg.qr(rows).R, torch.linalg.qr(flipped).R, -torch.linalg.qr(rows).R):
        basis = spectrum(factor, 30).basis
        largest = basis.abs().argmax(1, keepdim=True)
        assert bool((basis.gather(1, largest) > 0).all())
