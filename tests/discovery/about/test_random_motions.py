"""Random motions move the samples as far as asked."""

from dataclasses import replace
from statistics import stdev

import pytest
import torch

import liegg
from liegg.discovery.about.effort import BRIEF, THOROUGH
from liegg.discovery.about.moved import move, move_each
from liegg.discovery.about.random_motions import RandomMotions, random_motions
from liegg.discovery.verification.measure import Directions, Question
from liegg.inputs.model import Model


def test_they_displace_the_samples_as_far_as_asked():
    x = torch.randn(400, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    f = lambda x: x.square().sum(1, keepdim=True)  # noqa: E731
    sym = liegg.discover(f, x, liegg.Linear(3))
    question = Question(Model(f, "f", output_shape=(1,)), sym.action, None, x)
    asked = torch.tensor([0.1, 0.4, 0.7], dtype=torch.float64)
    found = random_motions(question, sym, asked, THOROUGH)
    # Lengths are interpolated between powers of two, on sixteen samples of every group.
    assert found.displacement.tolist() == pytest.approx(asked.tolist(), rel=0.25)
    assert bool((found.change.mean(1).diff() > 0).all())


def test_they_do_not_depend_on_a_few_directions():
    """Rotations change which of four sectors a point is in, scalings do not: two directions for all samples scatter by 0.075."""
    x = torch.randn(256, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def f(x):
        return torch.stack([x[:, 0], -x[:, 0], x[:, 1], -x[:, 1]], dim=1)

    sym = liegg.discover(f, x, liegg.Linear(2))
    model = Model(f, "f", output_shape=(4,))
    question = Question(model, sym.action, None, x, classes=True)
    asked = torch.tensor([0.3, 0.6], dtype=torch.float64)
    shares = []
    for seed in range(12):
        seeded = replace(sym, settings=sym.settings | {"seed": seed})
        changed = random_motions(question, seeded, asked, BRIEF).changed
        assert changed is not None
        assert changed.shape == (BRIEF.levels, 256)
        shares.append(float(changed[-1].mean()))
    assert stdev(shares) < 0.055


def test_values_between_two_displacements_are_interpolated():
    levels = torch.tensor([0.0, 1.0, 3.0], dtype=torch.float64)
    values = torch.tensor([[0.0], [2.0], [4.0]], dtype=torch.float64)
    motions = RandomMotions(levels, values, None)
    change, changed = motions.at(torch.tensor([0.5, 2.0, 9.0], dtype=torch.float64))
    assert change[:, 0].tolist() == [1.0, 3.0, 4.0]
    assert changed is None


@pytest.mark.parametrize("room", [2048, 50])
def test_groups_that_share_a_call_of_the_model_have_the_answers_of_each_alone(room):
    x = torch.randn(40, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    calls: list[int] = []

    def f(x):
        calls.append(len(x))
        return torch.stack([x[:, 0].sin(), x[:, 1] * x[:, 0]], dim=1)

    question = Question(
        Model(f, "f", output_shape=(2,)), liegg.Linear(2), None, x, classes=True, most=room
    )
    asked = [
        (
            question.share(which, 4),
            Directions(torch.randn(7, 4, generator=torch.Generator().manual_seed(which)), None),
        )
        for which in range(4)
    ]
    calls.clear()
    together = move_each(asked)
    assert sum(calls) == 4 * 7 * 10
    assert max(calls) <= room
    assert len(calls) == (1 if room == 2048 else 8)
    for one, found in zip(asked, together, strict=True):
        alone = move(*one)
        torch.testing.assert_close(found.displacement, alone.displacement)
        torch.testing.assert_close(found.change, alone.change)
        assert found.classes is not None
        assert alone.classes is not None
        assert torch.equal(found.classes, alone.classes)
