"""Random motions move the samples as far as asked."""

import pytest
import torch

import liegg
from liegg.discovery.about.effort import THOROUGH
from liegg.discovery.about.random_motions import RandomMotions, random_motions
from liegg.discovery.verification.measure import Question
from liegg.inputs.model import Model


def test_they_displace_the_samples_as_far_as_asked():
    x = torch.randn(400, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    f = lambda x: x.square().sum(1, keepdim=True)  # noqa: E731
    sym = liegg.discover(f, x, liegg.Linear(3))
    question = Question(Model(f, "f", output_shape=(1,)), sym.action, None, x)
    asked = torch.tensor([0.1, 0.4, 0.7], dtype=torch.float64)
    found = random_motions(question, sym, asked, THOROUGH)
    # Lengths are interpolated between powers of two, on sixteen of the samples.
    assert found.displacement.tolist() == pytest.approx(asked.tolist(), rel=0.25)
    assert bool((found.change.mean(1).diff() > 0).all())


def test_values_between_two_displacements_are_interpolated():
    levels = torch.tensor([0.0, 1.0, 3.0], dtype=torch.float64)
    values = torch.tensor([[0.0], [2.0], [4.0]], dtype=torch.float64)
    motions = RandomMotions(levels, values, None)
    change, changed = motions.at(torch.tensor([0.5, 2.0, 9.0], dtype=torch.float64))
    assert change[:, 0].tolist() == [1.0, 3.0, 4.0]
    assert changed is None
