# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false
"""Integration of velocities: known solutions, samples that leave every region, and what it costs."""

import pytest
import torch
from torch import Tensor

import liegg
from liegg.actions.flow import LAST_FLOW_STEPS, flow


class Squares(liegg.Action):
    """Velocities 1, y and y² of numbers, whose flows are known."""

    size = 3

    def fields(self, x: Tensor) -> Tensor:
        return torch.stack([torch.ones_like(x), x, x**2], dim=1)


def numbers(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)[:, None]


def test_several_motions_at_once_are_the_motions_one_by_one():
    h = torch.tensor([[1, 0, 0], [0, 1, 0], [0, 0, 0.5], [0.2, -1, 0.3]], dtype=torch.float64)
    x = numbers(-2, 0.25, 1.5)
    found = Squares().act_all(h, x)
    one_by_one = torch.stack([Squares().act(row, x) for row in h])
    torch.testing.assert_close(found, one_by_one, rtol=1e-8, atol=1e-9)
    exact = torch.stack([x + 1, x * torch.e, x / (1 - x / 2)])
    torch.testing.assert_close(found[:3], exact, rtol=1e-8, atol=1e-9)


def test_every_sample_has_its_own_velocity_however_many_are_left():
    rates = numbers(0.1, 5.0, -3.0, 0.0)  # these converge after different numbers of steps
    found = flow(lambda y, which: rates[which] * y, numbers(1, 1, 1, 1))
    torch.testing.assert_close(found, rates.exp(), rtol=1e-8, atol=1e-9)


def test_only_samples_that_have_not_converged_are_integrated_again():
    asked = []

    def velocity(y: Tensor, which: Tensor) -> Tensor:
        asked.append(len(which))
        return y**2

    found = flow(velocity, numbers(*[0.1] * 99, 2.0))  # the last one is infinite at time 1/2
    assert found[:99].allclose(numbers(0.1) / 0.9)
    assert bool(found[99].isnan())
    assert sum(asked) < 99 * 4 * 60 + 4 * 2 * LAST_FLOW_STEPS / 4


def test_fast_contraction_in_float32_converges_though_few_steps_overflow():
    found = flow(lambda y, _: -200 * y, torch.full((1, 1), 3.0))
    assert float(found) == pytest.approx(0, abs=1e-5)


def test_no_samples_stay_none():
    assert flow(lambda y, _: y, torch.zeros(0, 2)).shape == (0, 2)
