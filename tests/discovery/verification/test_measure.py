"""Motions of samples, and what is read of the outputs."""

import pytest
import torch

import liegg
from cases import normal
from liegg.discovery.verification.measure import Directions, Question, changes, there_and_back
from liegg.inputs.model import Model

SHIFT = torch.zeros(1, 2, 3, dtype=torch.float64)
SHIFT[0, 0, 2] = 1.0


def asked(
    action: liegg.Action,
    *shape: int,
    output_action: liegg.Action | None = None,
    classes: bool | None = None,
) -> Question:
    return Question(
        Model(lambda x: x.flatten(1), "same", output_shape=shape),
        action,
        output_action,
        normal(20, *shape),
        classes=classes,
    )


def test_motions_at_all_times_come_motion_by_motion():
    motions = Directions(torch.tensor([[1.0], [10.0]]), torch.tensor([[2.0], [20.0]]))
    there = motions.along(torch.tensor([1.0, 2.0]))
    assert there.h[:, 0].tolist() == [1.0, 2.0, 10.0, 20.0]
    assert there.k is not None
    assert there.k[:, 0].tolist() == [2.0, 4.0, 20.0, 40.0]
    assert motions.scaled(3.0).h[:, 0].tolist() == [3.0, 30.0]


def test_changes_are_mean_squared_distances():
    question = asked(liegg.Linear(2), 2, classes=True)
    one = torch.eye(2, dtype=torch.float64).flatten()[None]
    squared, classes = changes(question, Directions(0.3 * one, None))
    expected = (question.x * (torch.e**0.3 - 1)).square().sum(1).mean() / question.variance
    assert float(squared[0]) == pytest.approx(float(expected), rel=1e-9)
    assert classes.tolist() == [0.0]  # scaling keeps the order of the outputs
    half_turn = Directions(torch.tensor([[0.0, -3.1416, 3.1416, 0.0]]).double(), None)
    _, classes = changes(question, half_turn)
    assert classes.tolist() == [1.0]


def test_motions_and_samples_in_parts_give_the_same(monkeypatch):
    question, h = asked(liegg.Linear(2), 2), normal(5, 4)
    whole = changes(question, Directions(h, None))
    for name, size in (("BATCH_ELEMENTS", 12), ("BATCH_SIZE", 3)):
        monkeypatch.setattr(f"liegg.discovery.verification.measure.{name}", size)
    parts = changes(question, Directions(h, None))
    assert len(question.parts) == 7
    torch.testing.assert_close(parts, whole)


def test_outputs_that_move_along_do_not_change():
    linear = liegg.Linear(2)
    question = asked(linear, 2, output_action=linear)
    h = normal(3, 4)
    squared, _ = changes(question, Directions(h, h))
    assert float(squared.max()) < 1e-18
    assert not question.has_classes


def test_what_is_not_finite_is_infinitely_far():
    model = Model(lambda x: (x[:, 0] - 10).clamp_max(0).log(), "log")
    question = Question(model, liegg.Linear(2), None, normal(5, 2))
    one = torch.eye(2, dtype=torch.float64).flatten()[None]
    squared, _ = changes(question, Directions(one, None))
    assert squared.tolist() == [torch.inf]


def test_grids_alone_resample():
    for action, answer in [
        (liegg.Linear(2), False),
        (liegg.Image(), True),
        (liegg.Image("euclidean"), True),
        (liegg.Product(liegg.Color(channels=1), liegg.Sequence()), True),
        (liegg.Color("tone"), False),
    ]:
        question = asked(action, 2)
        assert question.resamples is answer
        assert asked(liegg.Linear(2), 2, output_action=action).resamples is answer


def test_a_periodic_shift_there_and_back_by_whole_pixels_is_no_change():
    action = liegg.Image("affine", derivative="spectral", border="periodic")
    question = asked(action, 8, 8)
    h = action.coefficients(torch.nn.functional.pad(SHIFT, (0, 0, 0, 1)))
    pixel = 1 / 4  # one unit is half the shorter side
    whole, half = there_and_back(question, Directions(torch.cat([pixel * h, pixel / 2 * h]), None))
    assert float(whole) < 1e-20
    x = question.x
    back = action.act(-pixel / 2 * h[0], action.act(pixel / 2 * h[0], x))
    assert float(half) == pytest.approx(float((back - x).square().flatten(1).sum(1).mean() / 2))
    assert float(half) > 0.1


def test_the_output_s_own_resampling_is_added():
    action = liegg.Image("affine", derivative="spectral", border="periodic")
    question = asked(action, 8, 8, output_action=action)
    h = action.coefficients(torch.nn.functional.pad(SHIFT, (0, 0, 0, 1))) / 8
    alone = there_and_back(asked(action, 8, 8), Directions(h, None))
    assert torch.allclose(there_and_back(question, Directions(h, h)), 2 * alone)


def test_the_spread_of_equal_samples_is_their_size():
    question = Question(
        Model(lambda x: x, "same"), liegg.Linear(2), None, torch.tensor([[3.0, 4.0]] * 5)
    )
    assert question.spread == 5.0
    assert asked(liegg.Linear(2), 2).spread == pytest.approx(
        float(normal(20, 2).var(0, correction=0).sum().sqrt())
    )


def test_motions_of_vectors_start_as_fast_as_the_fields_say_and_pictures_nearly():
    smooth = torch.nn.functional.interpolate(normal(4, 1, 5, 5), size=(24, 24), mode="bicubic")
    same = Model(lambda x: x.flatten(1), "same", output_shape=(24 * 24,))
    gaps = []
    for pictures in (smooth, normal(4, 1, 24, 24)):
        question, h = (
            Question(same, liegg.Image(), None, pictures),
            torch.eye(4, dtype=torch.float64),
        )
        speed = torch.stack(
            [question.action.field(row, pictures).square().flatten(1).sum(1).mean() for row in h]
        )
        gaps.append(float((question.slope_gaps(h) / speed).max()))
    assert gaps[0] < 1e-2 < 0.05 < gaps[1]  # the schemes agree on smooth pictures, not on noise
    assert (
        float(asked(liegg.Linear(3), 3).slope_gaps(torch.eye(9, dtype=torch.float64)).max()) < 1e-12
    )
