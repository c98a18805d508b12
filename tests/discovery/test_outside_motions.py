"""A name up to motions that do not move the data is given only if the named algebra holds at finite size."""

import pytest
import torch

import liegg
from cases import normal, square
from liegg._utils.diagnoses import Diagnosis

FLAT = torch.cat([normal(500, 3), torch.zeros(500, 1, dtype=torch.float64)], dim=1)
MOLECULES = torch.cat([normal(300, 3, 2), torch.zeros(300, 3, 1, dtype=torch.float64)], dim=2)


def nearly(x):
    """A function of the first three numbers, with a small part that breaks its rotations."""
    return (square(x[:, :3]) / 3).sin() + 0.01 * torch.tanh(x[:, 0] + x[:, 1] * x[:, 2])


def distances(x):
    left, right = [0, 0, 1], [1, 2, 2]
    return (x[:, left] - x[:, right]).square().sum(2).sin()


def refuted(sym):
    return Diagnosis.CLASS_REFUTED in [one.diagnosis for one in sym.decision.warnings]


@pytest.mark.parametrize(
    ("model", "x", "action", "name"),
    [
        (square, FLAT, liegg.Linear(4), "so(4)"),
        (square, FLAT.float(), liegg.Linear(4), "so(4)"),
        (distances, MOLECULES, liegg.Affine(3, copies=3), "se(3)"),
    ],
)
def test_the_whole_space_keeps_the_name_of_the_class(model, x, action, name):
    sym = liegg.discover(model, x, action)
    assert sym.name == f"{name}, up to motions that do not move this data"
    assert sym.identification.confident
    assert not refuted(sym)


@pytest.mark.parametrize(
    ("model", "x", "action"),
    [
        (lambda x: square(x[:, :3]), FLAT, liegg.Linear(4)),
        (lambda x: square(x[:, :3]), FLAT.float(), liegg.Linear(4)),
        (nearly, FLAT, liegg.Linear(4)),
        (lambda x: distances(x[:, :, :2]), MOLECULES, liegg.Affine(3, copies=3)),
    ],
)
def test_an_unread_axis_is_not_turned(model, x, action):
    """Of a feature that is always 0 a model may read nothing, or its square: the derivatives are the same."""
    sym = liegg.discover(model, x, action)
    assert sym.nullity == 6
    assert refuted(sym)
    assert "up to motions" not in sym.name
    assert not sym.identification.confident
    assert not any(reason.diagnosis is Diagnosis.STANDARD_FAMILY for reason in sym.decision.reasons)
    assert not any(level.confident for level in sym.tower if level.dimension == 6)


def copied(x):
    """Samples whose third number is a copy of the first."""
    return torch.cat([x[:, :2], x[:, :1]], dim=1)


def test_symmetries_that_hold_near_a_subspace_only_are_warned_of():
    """Where x₃ = x₁, x₁x₂x₃ stays to first order if x₂ is added to x₁ and subtracted from x₃; a finite motion changes it."""
    sym = liegg.discover(lambda x: x.prod(1), copied(normal(500, 3)), liegg.Linear(3))
    assert sym.decision.exact == 3
    assert Diagnosis.CHANGES_OUTSIDE in [one.diagnosis for one in sym.decision.warnings]
    assert not sym.identification.confident


def test_what_holds_outside_too_is_not_warned_of():
    sym = liegg.discover(
        lambda x: (x[:, 0] + x[:, 1]).sin(), copied(normal(500, 3)), liegg.Linear(3)
    )
    assert sym.nullity
    assert Diagnosis.CHANGES_OUTSIDE not in [one.diagnosis for one in sym.decision.warnings]
