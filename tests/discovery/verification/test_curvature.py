"""Curvature of functions whose slope is known, at every steepness and precision."""

import pytest
import torch
from torch import Tensor

import liegg
from cases import normal
from liegg.discovery.verification.curves import curvature
from liegg.discovery.verification.measure import Directions, Question
from liegg.inputs.model import Model

TURN = Directions(torch.tensor([[0.0, -1.0, 1.0, 0.0]], dtype=torch.float64), None)


def wave(frequency: float, tilt: float = 1.0):
    return lambda x: x.square().sum(1) + tilt * torch.sin(frequency * x[:, 0])


def exact(x: Tensor, frequency: float, tilt: float = 1.0) -> float:
    """Mean of (tilt ω cos(ω x₀) x₁)², the squared slope along the turn, over the variance."""
    x = x.double()
    slope = tilt * frequency * torch.cos(frequency * x[:, 0]) * x[:, 1]
    return float(slope.square().mean() / wave(frequency, tilt)(x).var(correction=0))


def asked(frequency: float, tilt: float = 1.0, dtype: torch.dtype = torch.float64) -> Question:
    return Question(
        Model(wave(frequency, tilt), "wave"),
        liegg.Linear(2),
        None,
        normal(200, 2, seed=3).to(dtype),
    )


@pytest.mark.parametrize(
    ("dtype", "frequency", "close"),
    [
        (torch.float64, 0.1, 1e-9),
        (torch.float64, 1.0, 1e-9),
        (torch.float64, 30.0, 1e-7),
        (torch.float32, 1.0, 1e-3),
        (torch.float32, 10.0, 1e-1),
    ],
)
def test_measured_is_the_squared_slope(dtype, frequency, close):
    question = asked(frequency, dtype=dtype)
    found = curvature(question, TURN, 1.0)
    expected = exact(question.x, frequency)
    assert found.measured == pytest.approx(expected, rel=close)
    assert abs(found.measured - expected) <= max(10 * found.numerical_error, 1e-12 * expected)
    assert not found.exact
    assert (found.predicted, found.ratio, found.agrees) == (None, None, None)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_nothing_but_rounding_is_at_the_floor(dtype):
    found = curvature(asked(1.0, tilt=0.0, dtype=dtype), TURN, 1.0, predicted=0.0, analysed=100)
    assert found.exact
    assert found.agrees
    assert found.ratio is None


def test_a_weak_tilt_is_told_from_rounding():
    found = curvature(asked(1.0, tilt=1e-4, dtype=torch.float32), TURN, 1.0)
    assert not found.exact
    assert found.measured == pytest.approx(exact(asked(1.0).x, 1.0, 1e-4), rel=0.2)


def test_the_standard_error_is_that_of_a_mean_over_both_sets_of_samples():
    question = asked(1.0)
    slope = (torch.cos(question.x[:, 0]) * question.x[:, 1]).square()
    expected = float(slope.std()) * (1 / 200 + 1 / 50) ** 0.5 / question.variance
    assert curvature(
        question, TURN, 1.0, predicted=1.0, analysed=50
    ).standard_error == pytest.approx(expected, rel=1e-6)


def test_agreement_is_within_three_standard_errors():
    question = asked(1.0)
    found = curvature(question, TURN, 1.0)
    for times, agrees in ((2.9, True), (-2.9, True), (3.1, False), (-3.1, False)):
        predicted = (found.measured + times * found.standard_error) * question.variance
        again = curvature(question, TURN, 1.0, predicted=predicted)
        assert again.agrees is agrees
        assert again.ratio == pytest.approx(found.measured * question.variance / predicted)


def test_a_prediction_at_the_floor_beside_a_slope_does_not_agree():
    found = curvature(asked(1.0), TURN, 1.0, predicted=0.0, predicted_floor=1e-20, analysed=100)
    assert (found.agrees, found.ratio) == (False, None)
