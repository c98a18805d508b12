"""The stated error of nearly dependent generators grows with what makes them independent."""

import pytest
import torch

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg.algebra.given import span_of


def shears(difference):
    """Two commuting shears of R³, the second nearly the first."""
    one, two = torch.zeros(2, 3, 3, dtype=torch.float64)
    one[0, 2] = two[1, 2] = 1
    return torch.stack([one, one + difference * two])


@pytest.mark.parametrize("difference", [0.1, 1e-3])
def test_the_error_of_a_difference_is_divided_by_it(difference):
    """The singular values of two unit rows at an angle are √(1 ± cos)."""
    angle = torch.atan(torch.tensor(difference, dtype=torch.float64))
    expected = 1 / (float((1 - angle.cos()).sqrt()) + 1e-8)
    assert span_of(shears(difference)).growth(1e-8) == pytest.approx(expected, rel=1e-6)
    found = liegg.identify(shears(difference), uncertainty=1e-8)
    assert found.uncertainty == pytest.approx(1e-8 * expected, rel=1e-6)
    assert Diagnosis.NEARLY_DEPENDENT in [note.diagnosis for note in found.notes]


def test_orthonormal_generators_keep_the_stated_error():
    found = liegg.identify(liegg.so(3), uncertainty=1e-3)
    assert found.uncertainty == pytest.approx(1e-3, rel=1e-12)
    assert not found.notes
    # Errors that are smaller than the stated one make no difference to it.
    generators = liegg.so(3) + 1e-3 * torch.eye(3, dtype=torch.float64)
    assert liegg.identify(generators, uncertainty=0.01).uncertainty == 0.01


@pytest.mark.parametrize("seed", range(20))
def test_commuting_shears_with_noise_are_not_surely_affine(seed):
    """Noise of the stated size, in a basis at an angle of 1/25: the difference of both decides the name."""
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randn(2, 3, 3, generator=generator, dtype=torch.float64)
    noise = 1e-5 * noise / noise.flatten(1).norm(dim=1)[:, None, None]
    found = liegg.identify(shears(0.04) + noise, uncertainty=1e-5)
    assert found.name == "R²" or not found.confident
