# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false, reportAttributeAccessIssue=false
"""Motions that come back, nearly do, or never do."""

import math
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import liegg
from cases import normal, regular
from liegg.discovery.verification.measure import Question
from liegg.discovery.verification.orbits import grid, orbit
from liegg.inputs.model import Model


def turns(*frequencies: float) -> Tensor:
    """Generator that turns one plane after the other, each at its own frequency."""
    blocks = [torch.tensor([[0.0, -w], [w, 0.0]], dtype=torch.float64) for w in frequencies]
    return torch.block_diag(*blocks)


def samples(n: int) -> Question:
    return Question(Model(lambda x: x, "same"), liegg.Linear(n), None, normal(50, n))


def follow(matrix: Tensor, **knobs: float):
    return orbit(samples(len(matrix)), matrix.flatten(), **knobs)


def test_a_rotation_comes_back_after_a_turn_whatever_the_basis():
    basis = regular(2)
    for matrix in (turns(0.5), basis @ turns(0.5) @ torch.linalg.inv(basis)):
        found = follow(matrix)
        assert found.period == pytest.approx(4 * math.pi)
        assert found.longest == found.period
        assert not found.both_ways


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 5), st.integers(1, 5))
def test_the_period_of_two_frequencies_is_that_of_their_greatest_common_divisor(p, q):
    assert follow(turns(p, q)).period == pytest.approx(2 * math.pi / math.gcd(p, q))


def test_incommensurable_rotations_are_followed_for_one_turn_of_the_slowest():
    found = follow(turns(1.0, math.sqrt(2)))
    assert found.period is None
    assert found.longest == pytest.approx(2 * math.pi)
    assert found.both_ways
    assert found.slow


def test_a_very_slow_rotation_is_cut_after_twelve_of_the_fastest():
    found = follow(turns(0.078, 1.0))
    assert found.longest == pytest.approx(24 * math.pi)


def test_a_rotation_that_grows_a_little_nearly_comes_back():
    found = follow(turns(1.0) + 0.01 * torch.eye(2, dtype=torch.float64))
    assert found.period == pytest.approx(2 * math.pi)
    assert found.both_ways
    x = samples(2)
    gap = math.expm1(0.02 * math.pi) * float(x.x.square().sum(1).mean().sqrt()) / x.spread
    assert found.gap == pytest.approx(gap)


OPEN = {
    "boost": torch.tensor([[0.0, 1.0], [1.0, 0.0]]),
    "scaling": torch.eye(2),
    "shear": torch.tensor([[0.0, 1.0], [0.0, 0.0]]),
    "nilpotent": torch.diag(torch.ones(4), 1),
    "spiral": torch.tensor([[0.5, -1.0], [1.0, 0.5]]),
}


def test_other_motions_are_followed_until_the_samples_have_gone_as_far_as_they_are_spread():
    for matrix in OPEN.values():
        matrix = matrix.double()
        question = samples(len(matrix))
        found = orbit(question, matrix.flatten())
        speed = float((question.x @ matrix.mT).square().sum(1).mean().sqrt())
        spread = float((question.x - question.x.mean(0)).square().sum(1).mean().sqrt())
        assert found.period is None
        assert found.both_ways
        assert found.speed == pytest.approx(speed, rel=1e-6)
        assert found.longest == pytest.approx(spread / speed, rel=1e-6)


def test_a_screw_does_not_come_back():
    screw = torch.zeros(4, 4, dtype=torch.float64)
    screw[:2, :2], screw[2, 3] = turns(1.0), 1.0
    question = Question(Model(lambda x: x, "same"), liegg.Affine(3), None, normal(50, 3))
    found = orbit(question, screw[:3].flatten())
    assert found.period is None
    assert found.longest == pytest.approx(question.spread / found.speed)


def test_motions_without_matrices_are_followed_as_far_as_the_data_is_wide():
    class Turn(liegg.Action):
        size = 1

        def fields(self, x):
            return torch.stack([-x[:, 1], x[:, 0]], dim=1)[:, None]

    question = Question(Model(lambda x: x, "same"), Turn(), None, normal(50, 2))
    found = orbit(question, torch.ones(1, dtype=torch.float64))
    assert (found.period, found.both_ways) == (None, True)
    assert found.speed == pytest.approx(float(question.x.square().sum(1).mean().sqrt()), rel=1e-6)
    assert found.longest == pytest.approx(question.spread / found.speed)


def test_a_motion_of_nothing_has_no_speed():
    assert follow(torch.zeros(2, 2, dtype=torch.float64)).speed == 0
    still = Question(Model(lambda x: x, "same"), liegg.Linear(2), None, torch.zeros(5, 2))
    assert orbit(still, turns(1.0).flatten()).speed == 0


def test_how_far_to_go_can_be_said():
    found = follow(turns(1.0), longest=0.25)
    assert found.longest * found.speed == pytest.approx(0.25 * samples(2).spread)
    assert found.period == pytest.approx(2 * math.pi)


def test_the_grid_ascends_from_a_thousandth_to_the_end():
    for points in (4, 5, 25, 100):
        times = grid(7.0, points)
        assert len(times) == points
        assert bool((times.diff() > 0).all())
        assert (float(times[0]), float(times[-1])) == pytest.approx((0.007, 7.0))


def test_the_usual_grid_holds_the_quarters_of_a_turn():
    near = partial(torch.isclose, grid(360.0, 25))
    assert all(
        bool(near(torch.tensor(angle, dtype=torch.float64)).any())
        for angle in (90.0, 180.0, 270.0, 360.0)
    )
