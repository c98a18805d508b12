"""Intervals of effects and ratios, grades, angles that a network keeps."""

import math

import pytest
import torch

from liegg.decision.thresholds import Thresholds
from liegg.discovery.group.effects import Interval, grade, mean_interval, ratio_interval
from liegg.discovery.group.grids import FOLDS, kept_rotations
from liegg.results.group_symmetries import Angle


@pytest.mark.parametrize("power", [1, 2])
def test_intervals_of_means_cover(power):
    drawn = torch.Generator().manual_seed(0)
    value = torch.randn(400_000, generator=drawn).double().square().pow(power).mean()
    inside = 0
    for _ in range(300):
        some = torch.randn(128, generator=drawn).double().square().pow(power)
        found = mean_interval(some, 0.95)
        inside += found.low <= float(value) <= found.high
    # Skewed data with few samples cover a little less.
    assert inside / 300 > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 300) - 0.03 * (power - 1)


def test_ratios_are_paired():
    drawn = torch.Generator().manual_seed(0)
    below = torch.rand(200, generator=drawn).double() + 0.1
    found = ratio_interval(0.01 * below, below, 0.95)
    assert found.value == pytest.approx(0.01)
    assert found.high < 0.0101


def test_few_samples_have_no_interval_and_infinite_changes_no_end():
    ones = torch.ones(4, dtype=torch.float64)
    assert mean_interval(ones, 0.95).high == math.inf
    lost = torch.tensor([1.0, math.inf] * 20, dtype=torch.float64)
    assert mean_interval(lost, 0.95) == Interval(math.inf, math.inf, math.inf)
    assert mean_interval(0 * ones, 0.95) == Interval(0.0, 0.0, 0.0)


def test_grades_need_a_small_defect_and_a_small_effect():
    for effect, defect, wanted in [
        (1e-15, 1e-9, "exact"),
        (0.02, 5e-4, "strong"),
        (0.2, 5e-4, "approximate"),
        (0.1, 0.02, "approximate"),
        (0.3, 0.3, "weak"),
        (0.5, 0.02, "weak"),
        (1.4, 1.0, "none"),
        (2.0, 1e-3, "none"),
    ]:
        assert grade(effect, Interval(defect, defect, defect), 1e-12, Thresholds()) == wanted


def test_the_upper_end_of_the_interval_decides():
    assert grade(0.1, Interval(0.02, 0.001, 0.2), 1e-12, Thresholds()) == "weak"


def angles(effect):
    shares = sorted({i / k for k in FOLDS for i in range(1, k)})
    return tuple(
        Angle(degrees=360 * s, effect=effect(360 * s), interval=(0.0, 1.0), changed=None)
        for s in shares
    )


def test_the_largest_fold_that_returns_is_kept():
    eight = angles(lambda d: 0.01 if round(d, 6) % 45 == 0 else 0.1)
    assert kept_rotations(eight, 0.05) == (8, 0.01)
    assert kept_rotations(angles(lambda d: 0.2), 0.05) is None
    # Where all angles return there is no finite group to name.
    assert kept_rotations(angles(lambda d: 0.01), 0.05) is None
    assert kept_rotations((), 0.05) is None
