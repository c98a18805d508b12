"""Figures of the image studies: the drawn algebra is the learned one, and rotates counter-clockwise."""

import torch

import liegg
from liegg.studies.figures.spectra import sample_generators


def test_samples_of_equal_networks_are_the_rotation_itself() -> None:
    found = (liegg.so(2) / 2**0.5).expand(4, 2, 2)
    torch.testing.assert_close(sample_generators(found, 3, seed=0), liegg.so(2).expand(3, 2, 2))


def test_samples_have_the_mean_and_the_spread_of_the_networks() -> None:
    generator = torch.Generator().manual_seed(0)
    found = liegg.so(2) / 2**0.5 + 0.1 * torch.randn(
        8, 2, 2, generator=generator, dtype=torch.float64
    )
    samples = sample_generators(found, 40_000, seed=1).flatten(1) / 2**0.5
    torch.testing.assert_close(samples.mean(0), found.flatten(1).mean(0), rtol=0, atol=3e-3)
    torch.testing.assert_close(samples.T.cov(), found.flatten(1).T.cov(), rtol=0, atol=5e-4)


def test_a_positive_angle_rotates_counter_clockwise() -> None:
    image = torch.zeros(1, 9, 9, dtype=torch.float64)
    image[0, 4, 7] = 1.0  # right of the centre
    generator = sample_generators((liegg.so(2) / 2**0.5).expand(2, 2, 2), 1, seed=0)[0]
    moved = liegg.Image("linear", border="zeros").act(torch.pi / 2 * generator, image)[0]
    assert divmod(int(moved.argmax()), 9) == (1, 4)  # above it
