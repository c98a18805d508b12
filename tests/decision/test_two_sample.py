"""The energy test: size under equal distributions, power under others."""

import torch

from liegg.decision.two_sample import PERMUTATIONS, energy_test


def _normal(count: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, 2, generator=generator, dtype=torch.float64)


def test_equal_distributions_are_rejected_as_rarely_as_stated() -> None:
    p = [
        energy_test(_normal(40, seed), _normal(40, 1000 + seed), seed=seed)[1] for seed in range(60)
    ]
    assert sum(value <= 0.1 for value in p) <= 14  # 6 on average, standard deviation 2.3
    assert all(value >= 1 / (1 + PERMUTATIONS) for value in p)


def test_a_shift_is_seen_and_the_distance_has_no_units() -> None:
    x, y = _normal(100, 0), _normal(100, 1) + 1
    distance, p = energy_test(x, y, seed=0)
    assert p == 1 / (1 + PERMUTATIONS)
    scaled, _ = energy_test(1000 * x, 1000 * y, seed=0)
    torch.testing.assert_close(scaled, distance)


def test_constant_samples_do_not_differ() -> None:
    ones = torch.ones(30, 2, dtype=torch.float64)
    assert energy_test(ones, ones, seed=0) == (0.0, 1.0)
