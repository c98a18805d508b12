"""Finite motions of functions whose change is known in closed form."""

import json

import numpy as np
import pytest
import torch
from torch import Tensor

import liegg
from cases import mlp, normal, square
from liegg._utils.diagnoses import Diagnosis
from liegg.discovery.verification.verify import verify

TURN = torch.tensor([[[0.0, -1.0], [1.0, 0.0]]], dtype=torch.float64)
BOOST = torch.tensor([[[0.0, 1.0], [1.0, 0.0]]], dtype=torch.float64)
HELD_OUT = normal(200, 2, seed=5)


def tilted(x: Tensor) -> Tensor:
    """|x|² with 0.3 x₀ added: turning by t changes it by 0.3 ((cos t − 1) x₀ − sin t x₁)."""
    return square(x) + 0.3 * x[:, 0]


def change_of_tilted(x: Tensor, times: Tensor) -> np.ndarray:
    a, t = x.double().numpy(), times.numpy()[:, None]
    f = (a**2).sum(1) + 0.3 * a[:, 0]
    return (0.09 * ((np.cos(t) - 1) * a[:, 0] - np.sin(t) * a[:, 1]) ** 2).mean(1) / f.var()


def members(remarks) -> list[Diagnosis]:
    return [remark.diagnosis for remark in remarks]


# Exact symmetries


def test_rotations_found_on_other_samples_hold_over_the_whole_period():
    x = normal(500, 3)
    found = verify(square, x[300:], liegg.discover(square, x[:300], liegg.Linear(3)))
    assert len(found.curves) == 3
    assert found.holds is True
    for curve in found.curves:
        assert curve.period == pytest.approx(
            2 * np.pi * 2**0.5, rel=1e-9
        )  # a unit generator turns at 1/√2
        assert curve.radius == curve.period == curve.longest
        assert float(curve.change.max()) < 1e-18
        assert curve.control_radius < 0.1 * curve.longest
        assert float(curve.control_mean[-1]) > 1
        assert curve.curvature is not None
        assert curve.curvature.exact
        assert (curve.curvature.agrees, curve.curvature.ratio) == (True, None)
    assert found.group is not None
    assert float(found.group.change.max()) < 1e-18
    assert found.group.control_radius < 0.1 * found.group.longest


def test_the_exact_rotation_changes_nothing_but_rounding():
    (curve,) = verify(square, HELD_OUT, liegg.Linear(2), TURN).curves
    assert curve.period == pytest.approx(2 * np.pi)
    assert not curve.both_ways
    assert float(curve.change.max()) < 1e-20  # what torch.linalg.matrix_exp leaves
    assert (curve.class_changes, curve.resampling) == (None, None)


def test_a_boost_is_followed_both_ways_as_far_as_the_data_is_wide():
    (curve,) = verify(
        lambda x: x[:, 0] ** 2 - x[:, 1] ** 2, HELD_OUT, liegg.Linear(2), BOOST
    ).curves
    assert curve.period is None
    assert curve.both_ways
    assert curve.holds
    assert float(curve.change.max()) < 1e-20
    assert curve.speed * curve.longest == pytest.approx(1)
    assert curve.control_radius < 0.5 * curve.longest


def test_a_broken_boost_is_the_larger_change_of_both_ways():
    def function(x: Tensor) -> Tensor:
        return x[:, 0] ** 2 - x[:, 1] ** 2 + 0.2 * torch.exp(x[:, 0])

    (curve,) = verify(function, HELD_OUT, liegg.Linear(2), BOOST).curves
    a, t = HELD_OUT.numpy(), curve.times.numpy()[:, None]
    f = function(HELD_OUT).numpy()
    ways = [
        ((0.2 * (np.exp(np.cosh(s) * a[:, 0] + np.sinh(s) * a[:, 1]) - np.exp(a[:, 0]))) ** 2).mean(
            1
        )
        for s in (t, -t)
    ]
    assert not np.allclose(*ways, rtol=0.05)
    assert np.allclose(curve.change.numpy(), np.maximum(*ways) / f.var(), rtol=1e-8)


def test_translations_of_point_pairs():
    x = normal(400, 2, 2)
    function = lambda x: (x[:, 0] - x[:, 1]).norm(dim=1)  # noqa: E731
    found = verify(function, x[200:], liegg.discover(function, x[:200], liegg.Affine(2, copies=2)))
    assert len(found.curves) == 3
    assert found.holds
    assert sorted(curve.period is None for curve in found.curves) == [
        False,
        True,
        True,
    ]  # one turn, two shifts
    assert max(float(curve.change.max()) for curve in found.curves) < 1e-18


# Broken symmetries, in closed form


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_broken_rotation_changes_as_its_formula_says(dtype):
    x = HELD_OUT.to(dtype)
    (curve,) = verify(tilted, x, liegg.Linear(2), TURN, fraction=0.02).curves
    expected = change_of_tilted(x, curve.times)
    assert np.allclose(
        curve.change.numpy(), expected, rtol=1e-8 if dtype is torch.float64 else 1e-3, atol=1e-12
    )
    dense = torch.linspace(0, 3, 30001, dtype=torch.float64)
    crossing = float(dense[int((change_of_tilted(x, dense) > 0.02).argmax())])
    assert curve.radius == pytest.approx(crossing, rel=0.01)
    assert not curve.holds


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_curvature_is_measured_and_predicted_as_the_formula_says(dtype):
    analysed, x = normal(300, 2, seed=6).to(dtype), HELD_OUT.to(dtype)
    sym = liegg.discover(tilted, analysed, liegg.Linear(2))
    (curve,) = verify(tilted, x, sym, TURN).curves
    assert curve.curvature is not None
    assert curve.curvature.predicted is not None
    variance = tilted(x).double().var(correction=0)
    measured, predicted = (
        float(0.09 * some[:, 1].double().square().mean() / variance) for some in (x, analysed)
    )
    close = 1e-9 if dtype is torch.float64 else 1e-3
    assert curve.curvature.measured == pytest.approx(measured, rel=close)
    assert curve.curvature.predicted == pytest.approx(predicted, rel=close)
    assert curve.curvature.ratio == pytest.approx(measured / predicted, rel=close)
    assert curve.curvature.agrees


def test_a_prediction_from_another_distribution_does_not_agree():
    sym = liegg.discover(tilted, 3 * normal(300, 2, seed=6), liegg.Linear(2))
    (curve,) = verify(tilted, HELD_OUT, sym, TURN).curves
    assert curve.curvature is not None
    assert curve.curvature.agrees is False
    assert Diagnosis.CURVATURE_DIFFERS in members(curve.remarks)


def test_where_the_sum_was_asked_about_the_sum_is_verified():
    function = lambda x: torch.stack([square(x) + x[:, 0], -x[:, 0]], 1)  # noqa: E731
    sym = liegg.discover(function, HELD_OUT, liegg.Linear(2), outputs="sum")
    found = verify(function, HELD_OUT, sym)
    assert (sym.nullity, found.holds) == (1, True)
    assert float(found.curves[0].change.max()) < 1e-18
    classes = found.curves[
        0
    ].class_changes  # of both outputs, which a turn exchanges for many samples
    assert classes is not None
    assert float(classes.max()) > 0.3
    assert float(classes[-1]) == 0.0  # after a complete turn


def test_random_combinations_predict_nothing():
    function = lambda x: torch.stack([square(x), x[:, 0], x[:, 1]], 1)  # noqa: E731
    found = verify(
        function, HELD_OUT, liegg.discover(function, HELD_OUT, liegg.Linear(2), outputs=2), TURN
    )
    assert found.curves[0].curvature is not None
    assert found.curves[0].curvature.predicted is None
    assert Diagnosis.NO_PREDICTION_OUTPUTS in members(found.notes)


# Controls


def test_controls_and_elements_of_the_group_start_as_fast_as_what_they_stand_beside():
    # Of f(x) = x the variance is the squared spread, so r(t) is the squared motion in multiples of the spread, whatever moves.
    found = verify(lambda x: x.clone(), HELD_OUT, liegg.Linear(2), torch.cat([TURN, 5 * BOOST]))
    assert found.group is not None
    for curve in (*found.curves, found.group):
        motion = float((curve.speed * curve.times[0]) ** 2)
        for change in (curve.change, curve.control_low, curve.control_mean, curve.control_high):
            assert float(change[0]) == pytest.approx(motion, rel=0.05)


# Equivariance


def cube(x: Tensor) -> Tensor:
    return x * square(x)[:, None]


def test_equivariance_found_holds_with_its_output_generators():
    x = normal(400, 3)
    sym = liegg.discover(cube, x[:200], liegg.Linear(3), output_action=liegg.Linear(3))
    found = verify(cube, x[200:], sym, controls=3, points=10)
    assert len(found.curves) == 4  # so(3) and the scaling
    assert found.holds
    assert max(float(curve.change.max()) for curve in found.curves) < 1e-16
    assert all(curve.class_changes is None for curve in found.curves)


def test_given_output_generators_are_taken_as_given():
    linear, turns, x = liegg.Linear(3), liegg.so(3), normal(200, 3)
    few = {"controls": 2, "points": 7, "output_action": linear}
    right = verify(cube, x, linear, turns, output_generators=turns, **few)
    wrong = verify(cube, x, linear, turns, output_generators=-turns, **few)
    fitted = verify(cube, x, linear, turns, **few)
    assert max(float(curve.change.max()) for curve in right.curves) < 1e-20
    assert min(float(curve.change.max()) for curve in wrong.curves) > 1
    assert max(float(curve.change.max()) for curve in fitted.curves) < 1e-12


def test_scaling_by_three():
    one = torch.eye(3, dtype=torch.float64)[None]
    linear, x = liegg.Linear(3), normal(200, 3)
    (curve,) = verify(cube, x, linear, one, output_action=linear, output_generators=3 * one).curves
    assert float(curve.change.max()) < 1e-18
    assert curve.curvature is not None
    assert curve.curvature.exact


# Classes


def test_the_share_of_changed_classes_on_a_circle_is_the_angle_over_pi():
    angle = torch.arange(720, dtype=torch.float64) * 2 * np.pi / 720 + 0.001
    x = torch.stack([angle.cos(), angle.sin()], 1)
    (curve,) = verify(
        lambda x: x.clone(), x, liegg.Linear(2), TURN, samples=720, target="classes"
    ).curves
    assert curve.class_changes is not None
    away = torch.minimum(curve.times, 2 * np.pi - curve.times)
    assert torch.allclose(curve.class_changes, away / np.pi, atol=2 / 720)
    assert curve.control_class_changes is not None
    (share,) = [r for r in curve.remarks if r.diagnosis is Diagnosis.CLASSES_CHANGE]
    assert share.values["share"] == pytest.approx(1.0, abs=2 / 720)


# Images


def blobs(count: int, seed: int) -> Tensor:
    """Smooth images of 20 by 20 pixels that vanish towards the border."""
    place = torch.linspace(-1, 1, 20, dtype=torch.float64)
    centres = 0.25 * normal(count, 2, 2, 1, 1, seed=seed).clamp(-1.5, 1.5)
    heights = 0.5 + normal(count, 2, 1, 1, seed=seed + 1).sigmoid()
    across, up = place[None, None, None, :], -place[None, None, :, None]
    return (
        heights * torch.exp(-14 * ((across - centres[:, :, 0]) ** 2 + (up - centres[:, :, 1]) ** 2))
    ).sum(1)


def radial(x: Tensor) -> Tensor:
    """Means of the image and of its square under weights that depend on the distance from the centre alone."""
    place = torch.linspace(-1, 1, 20, dtype=x.dtype)
    weight = torch.exp(-3 * (place[:, None] ** 2 + place**2))
    return torch.stack([(x * weight).mean((1, 2)), (x.square() * weight).mean((1, 2))], 1)


def test_an_image_s_rotation_holds_and_shows_what_resampling_does():
    sym = liegg.discover(radial, blobs(150, 0), liegg.Image())
    found = verify(radial, blobs(40, 9), sym, liegg.so(2), controls=3, points=13)
    (curve,) = found.curves
    assert curve.period == pytest.approx(2 * np.pi, rel=1e-9)
    assert curve.holds
    assert curve.resampling is not None
    assert float(curve.change.max()) < 1e-3
    assert 0 < float(curve.resampling.max()) < 1e-3
    assert float(curve.resampling[-1]) < 1e-20  # a whole turn reads the pixels themselves
    assert curve.control_radius < 0.2 * curve.longest
    assert Diagnosis.RESAMPLING_CHANGE in members(curve.remarks)


def test_the_curvature_of_an_image_s_rotation_is_at_the_floor_of_interpolation():
    sym = liegg.discover(radial, blobs(150, 0), liegg.Image("affine"))
    assert sym.nullity == 1
    (curve,) = verify(radial, blobs(40, 9), sym, controls=2, points=7).curves
    assert curve.curvature is not None
    assert curve.curvature.agrees
    assert (
        curve.curvature.ratio is None
    )  # the slopes of splines and of the derivative differ by more than the output's


def test_pixels_that_do_not_survive_interpolation_show_it():
    x = normal(40, 12, 12)  # white noise: nothing between the pixels
    (curve,) = verify(
        lambda x: x.square().mean((1, 2)), x, liegg.Image(), TURN, controls=2, points=7
    ).curves
    assert curve.resampling is not None
    assert float(curve.resampling.max()) > 0.5
    assert not curve.holds


# How it is asked


def test_nothing_found_is_said_and_no_error():
    sym = liegg.discover(mlp(3, 32, 1), normal(200, 3), liegg.Linear(3))
    assert sym.nullity == 0
    found = verify(mlp(3, 32, 1), normal(100, 3, seed=3), sym)
    assert (found.curves, found.group, found.holds, found.samples) == ((), None, None, 100)
    assert members(found.notes) == [Diagnosis.NOTHING_TO_VERIFY]
    assert members([found.summary]) == [Diagnosis.NEAREST_VERIFIED]
    json.dumps(found.to_dict(), allow_nan=False)


def test_nothing_decided_is_said_and_no_error():
    sym = liegg.discover(mlp(3, 32, 1), normal(5, 3), liegg.Linear(3))
    assert sym.decision.undecided
    found = verify(mlp(3, 32, 1), normal(100, 3, seed=3), sym)
    assert (found.curves, found.holds) == ((), None)


def test_a_constant_output_is_said_and_nothing_is_divided():
    found = verify(lambda x: 0 * x[:, 0] + 4.0, HELD_OUT, liegg.Linear(2), TURN)
    assert found.curves == ()
    assert found.variance == 0
    assert members(found.notes) == [Diagnosis.CONSTANT_HELD_OUT_OUTPUT]


def test_a_space_of_symmetries_alone_has_no_contrast():
    found = verify(square, HELD_OUT, liegg.Linear(2).restrict(TURN), TURN)
    assert members(found.notes) == [Diagnosis.CONTROLS_INSIDE_SPAN]
    assert Diagnosis.CONTROLS_HOLD_TOO in members(found.curves[0].remarks)


def test_an_output_that_overflows_is_infinitely_far_and_null_in_json():
    scaling = torch.eye(2, dtype=torch.float64)[None]
    found = verify(
        lambda x: torch.exp(x.square().sum(1) / 4),
        HELD_OUT,
        liegg.Linear(2),
        scaling,
        longest=5.0,
        points=8,
    )
    (curve,) = found.curves
    assert float(curve.change[-1]) == torch.inf
    assert 0 < curve.radius < curve.longest
    written = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert written["curves"][0]["change"][-1] is None
    assert written["holds"] is False


def test_how_far_to_go_can_be_said():
    (curve,) = verify(square, HELD_OUT, liegg.Linear(2), TURN, longest=0.5).curves
    assert curve.speed * curve.longest == pytest.approx(0.5)
    assert curve.period == pytest.approx(2 * np.pi)
    assert curve.remarks[0].diagnosis is Diagnosis.HOLDS_THROUGHOUT
