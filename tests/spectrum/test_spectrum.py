"""The paper's spectrum against a plain SVD of all rows; variance, bias, and angles to a reference."""

import numpy as np
import pytest
import torch

import oracle
from cases import normal, regular
from liegg import algebra
from liegg.actions import Affine, Linear
from liegg.polarization.r_factor import init, update
from liegg.spectrum.spectrum import (
    Spectrum,
    angles_to,
    paper_spectrum,
    symmetry_bias,
    symmetry_variance,
)

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
    return paper_spectrum(update(init(rows.shape[1]), rows).r, rows.shape[1], samples)


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
        basis = paper_spectrum(factor, factor.shape[1], 30).basis
        largest = basis.abs().argmax(1, keepdim=True)
        assert bool((basis.gather(1, largest) > 0).all())


SPECTRUM = paper_spectrum(torch.linalg.qr(normal(30, 16))[1], 16, 30)


def test_variance_is_the_smallest_value():
    assert symmetry_variance(Spectrum(torch.tensor([0.25, 1.0]), torch.eye(2))) == 0.25


def test_bias_is_the_distance_to_the_algebra():
    bias = symmetry_bias(SPECTRUM, Linear(4), algebra.so(4))
    symmetric = SPECTRUM.basis.unflatten(
        1, (4, 4)
    )  # the distance of v to the antisymmetric matrices is |v + vᵀ|/2
    np.testing.assert_allclose(
        bias, (symmetric + symmetric.mT).flatten(1).norm(dim=1) / 2, rtol=1e-12
    )


def test_biases_of_a_complete_basis_add_up():
    # Σ |v - Pv|² over an orthonormal basis is the dimension outside the algebra.
    for reference in (algebra.so(4), algebra.sl(4), algebra.scaling(4)):
        total = symmetry_bias(SPECTRUM, Linear(4), reference).square().sum()
        assert float(total) == pytest.approx(16 - len(reference))


def test_bias_is_zero_inside_and_one_across():
    planar = (
        torch.tensor(
            [[0, -1, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [1, 0, 0, -1]], dtype=torch.float64
        )
        / 2**0.5
    )
    bias = symmetry_bias(Spectrum(torch.zeros(4), planar), Linear(2), algebra.so(2))
    np.testing.assert_allclose(bias, [0, 1, 1, 1], atol=1e-15)


def test_any_basis_of_the_reference_will_do():
    mixed = torch.einsum("ab,bij->aij", regular(6), algebra.so(4))
    torch.testing.assert_close(
        symmetry_bias(SPECTRUM, Linear(4), mixed),
        symmetry_bias(SPECTRUM, Linear(4), algebra.so(4).float()),
    )


def test_affine_references_are_homogeneous():
    units = Spectrum(
        torch.zeros(6), torch.eye(6, dtype=torch.float64)
    )  # columns 1 and 2 linear, column 3 the translation
    np.testing.assert_allclose(
        symmetry_bias(units, Affine(2), algebra.se(2)), [1, 0.5**0.5, 0, 0.5**0.5, 1, 0], atol=1e-15
    )
    np.testing.assert_allclose(
        symmetry_bias(units, Affine(2), algebra.so(2)), [1, 0.5**0.5, 1, 0.5**0.5, 1, 1], atol=1e-15
    )


def test_angles_to_a_reference():
    tilted = torch.cat(
        [
            algebra.so(3)[:1].flatten(1),
            (algebra.so(3)[1] + torch.eye(3) * (2 / 3) ** 0.5).flatten()[None],
        ]
    )
    np.testing.assert_allclose(
        angles_to(tilted, Linear(3), algebra.so(3)), [0, np.pi / 4], atol=1e-14
    )
