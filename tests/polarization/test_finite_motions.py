"""Derivatives compared with samples that are really moved."""

import pytest
import torch

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg.inputs.model import Model
from liegg.polarization.finite_motions import finite_motions, squared_changes
from liegg.polarization.plan import Plan
from signals import bumps

AFFINE: liegg.Action = liegg.Image("affine")
PLAN = Plan("each", "vjp")
WEIGHTS = normal(144, 3, seed=7)


def linear(x):
    return x.flatten(1) @ WEIGHTS


def network(x):
    return torch.tanh(linear(x))


SMOOTH, NOISE = bumps((12, 12), width=2.0, samples=64), normal(64, 12, 12)


def found(function, x, action: liegg.Action = AFFINE, plan=PLAN):
    return finite_motions(Model(function, "f"), action, x, plan)


def test_smooth_images_agree():
    assert found(network, 0.02 * SMOOTH) is None
    assert found(linear, SMOOTH, liegg.Image(liegg.so(2)).row_action) is None


def test_a_linear_model_agrees_on_shears_and_translations_whatever_the_images():
    """Both ends of a motion differ by twice the secant, to the pixels at the border."""
    action = liegg.Image("affine", border="periodic")
    steps = action.steps((12, 12))
    promised, real, _ = squared_changes(Model(linear, "f"), action, PLAN, steps, x=NOISE)
    shifts = [2, 5]
    torch.testing.assert_close(promised[shifts], real[shifts], rtol=1e-10, atol=0)


def test_a_model_that_saturates_within_a_pixel_is_told():
    """The derivative of white noise is large, but outputs of tanh end at 1: no motion changes them so."""
    remark = found(lambda x: torch.tanh(5 * linear(x)), NOISE)
    assert remark is not None
    assert remark.diagnosis is Diagnosis.MOTIONS_DISAGREE
    ratio = remark.values["derivative"] / remark.values["real"]
    assert max(ratio, 1 / ratio) > 2
    assert remark.values["n"] == 4


def test_a_response_that_the_derivative_does_not_show_is_told():
    """A step function has no derivative, but moving the images changes it."""
    remark = found(lambda x: torch.round(linear(x)) + 0 * linear(x), SMOOTH)
    assert remark is not None
    assert remark.values["derivative"] == 0 < remark.values["real"]


def test_what_only_rounding_moves_is_not_compared():
    flat = torch.arange(64.0, dtype=torch.float64)[:, None, None].expand(64, 12, 12)
    assert found(linear, flat) is None


def test_other_actions_are_not_moved():
    calls = []

    def count(x):
        calls.append(len(x))
        return x

    assert finite_motions(Model(count, "f"), liegg.Linear(3), normal(9, 3), PLAN) is None
    paper = liegg.Image(derivative="paper")
    assert finite_motions(Model(count, "f"), paper, normal(9, 8, 8), PLAN) is None
    assert calls == []


@pytest.mark.parametrize("outputs", ["each", "sum", 2])
def test_every_treatment_of_the_outputs(outputs):
    steps = AFFINE.steps((12, 12))
    plan = Plan(outputs, "vjp", seed=3)
    promised, real, _ = squared_changes(
        Model(linear, "f"), AFFINE, plan, steps, x=0.02 * SMOOTH[:6]
    )
    torch.testing.assert_close(promised, real, rtol=0.2, atol=0.05 * float(real.max()))


def test_steps_of_products_and_restrictions():
    both = liegg.Product(liegg.Image("euclidean"), liegg.Color("tone", channels=1))
    steps = both.steps((1, 12, 10))
    assert steps.shape == (5,)
    assert steps[3:].tolist() == [0, 0]
    assert bool((steps[:3] > 0).all())
    turn = liegg.Image(liegg.so(2))
    corner = turn.steps((28, 28)) * float(turn.matrices(torch.eye(1).double()).abs().max())
    assert 0.5 < float(corner) * 13.5 <= 1  # pixels, at the middle of an edge


def test_the_warning_reaches_the_result_and_smooth_images_have_none():
    rough = liegg.discover(lambda x: torch.tanh(5 * linear(x)), NOISE, AFFINE)
    smooth = liegg.discover(network, 0.02 * SMOOTH, AFFINE)
    told = [remark.diagnosis for remark in rough.decision.warnings]
    assert Diagnosis.MOTIONS_DISAGREE in told
    assert "moving 4 samples for real by up to one pixel" in " ".join(str(rough).split())
    assert Diagnosis.MOTIONS_DISAGREE not in [r.diagnosis for r in smooth.decision.warnings]


def test_a_model_that_fails_on_moved_images_is_analysed_all_the_same():
    def picky(x):
        if float(x.detach().max()) > 1.0 + 1e-9:
            raise ValueError("not an image")
        return linear(x)

    images = (NOISE > 0).double()  # a spline overshoots
    assert liegg.discover(picky, images, liegg.Image(), run=liegg.Run(route="vjp")).samples == 64
