"""Shares with intervals: known answers and coverage."""

import math

import pytest
import torch

from liegg.discovery.about.shares import mean_difference, proportion


@pytest.mark.parametrize("p", [0.02, 0.3, 0.9])
def test_intervals_of_shares_cover(p):
    drawn = torch.Generator().manual_seed(0)
    shares = [proportion((torch.rand(64, generator=drawn) < p).double(), 0.95) for _ in range(400)]
    covered = sum(share.low <= p <= share.high for share in shares) / 400
    assert covered > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 400)


def test_paired_differences_are_sharper_than_independent_ones():
    drawn = torch.Generator().manual_seed(1)
    common = torch.rand(100, generator=drawn)
    other = common + 0.1 + 0.01 * torch.rand(100, generator=drawn)
    paired = mean_difference(other, common, paired=True, level=0.95)
    alone = mean_difference(other, common, paired=False, level=0.95)
    assert 0.1 < paired.low < paired.high < 0.11
    assert alone.high - alone.low > 5 * (paired.high - paired.low)


def test_few_samples_decide_nothing():
    few = mean_difference(torch.ones(7), torch.zeros(7), paired=True, level=0.95)
    assert math.isnan(few.value)
    lost = torch.full((9,), math.inf)
    assert math.isnan(mean_difference(lost, torch.zeros(9), paired=True, level=0.95).low)
