"""A single output that breaks what all of them together keep is named, and the direction is not counted."""

import pytest
import torch

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis


def breaking(sym):
    return [w for w in sym.decision.warnings if w.diagnosis is Diagnosis.OUTPUT_BREAKS]


@pytest.mark.parametrize("times", [1, 16])
def test_a_large_output_does_not_hide_a_small_one(times):
    def model(x):
        round_one = (40.0 if times == 1 else 4.0) * x.square().sum(1, keepdim=True)
        return torch.cat([round_one.expand(-1, times), x[:, :1] ** 3], dim=1)

    sym = liegg.discover(model, normal(500, 3), liegg.Linear(3))
    assert (sym.nullity, sym.decision.grades[0]) == (1, "exact")  # rotations about the first axis
    (warning,) = breaking(sym)
    assert (warning.values["output"], warning.values["outputs"]) == (times, times + 1)
    assert warning.values["percent"] > 55


def test_outputs_that_share_a_symmetry_are_not_accused():
    def model(x):
        radius = x.square().sum(1, keepdim=True)
        return torch.cat([100 * radius, radius.sin()], dim=1) + 0.01 * x[:, :1]

    sym = liegg.discover(model, normal(500, 3), liegg.Linear(3))
    assert (sym.nullity, breaking(sym)) == (3, [])


@pytest.mark.parametrize("slope", [0.0, 0.01])
def test_a_dead_output_is_not_accused(slope):
    """Beside exact symmetries outputs are not looked at one by one, beside others they are."""

    def model(x):
        return torch.stack([x.square().sum(1) + slope * x[:, 0], torch.ones_like(x[:, 0])], dim=1)

    sym = liegg.discover(model, normal(300, 3), liegg.Linear(3))
    assert (sym.nullity, breaking(sym)) == (3, [])
    assert sym.decision.exact == (1 if slope else 3)
