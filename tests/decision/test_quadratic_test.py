"""Sums of squares against chance: known quantiles, size, coverage."""

import math

import pytest
import torch
from scipy.stats import chi2

from liegg.decision.quadratic_test import QuadraticTest


def test_a_chi_square_variable_has_its_own_p_value() -> None:
    test = QuadraticTest(float(chi2.isf(0.05, 7)), 7.0, 7.0)
    assert test.p_value == pytest.approx(0.05)
    assert test.deviation == pytest.approx(math.sqrt(14))
    assert test.bounds(0.95)[0] == pytest.approx(0.0, abs=1.0)


def test_intervals_hold_the_noncentrality() -> None:
    generator = torch.Generator().manual_seed(0)
    shift = torch.zeros(9, dtype=torch.float64)
    shift[0] = 6.0
    draws = torch.randn(60, 9, generator=generator, dtype=torch.float64) + shift
    bounds = [QuadraticTest(float(s), 9.0, 9.0).bounds(0.95) for s in draws.square().sum(1)]
    covered = sum(low <= 36 <= high for low, high in bounds)
    assert 50 <= covered <= 60  # 57 on average, standard deviation 1.7


def test_a_seen_change_is_seen_as_often_as_stated() -> None:
    test = QuadraticTest(0.0, 9.0, 9.0)
    shift = torch.zeros(9, dtype=torch.float64)
    shift[0] = math.sqrt(test.seen(0.001, 0.95))
    generator = torch.Generator().manual_seed(1)
    draws = torch.randn(4000, 9, generator=generator, dtype=torch.float64) + shift
    limit = float(chi2.isf(0.001, 9))
    seen = float((draws.square().sum(1) > limit).double().mean())
    assert abs(seen - 0.95) < 0.015


def test_without_noise_any_change_is_seen() -> None:
    assert QuadraticTest(1.0, 0.0, 1.0).ratio == math.inf
