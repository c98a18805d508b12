"""Samples that constrain all they can: what half of them leaves open, all of them do."""

import pytest
import torch

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis


def forces(x):
    def energy(one):
        cloud = one.reshape(-1, 3)
        return torch.exp(-(cloud[:, None] - cloud[None]).square().sum(-1)).sum()

    return -torch.func.vmap(torch.func.grad(energy))(x)


def members(sym):
    return {remark.diagnosis for remark in sym.decision.warnings}


def test_rows_of_few_samples_decide_equivariance():
    x = normal(14, 27)
    action, output = liegg.Affine(3, copies=9), liegg.Linear(3, copies=9)
    sym = liegg.discover(forces, x, action, output_action=output)
    assert (sym.nullity, sym.name, sym.decision.undecided) == (6, "se(3)", 0)
    assert not members(sym) & {Diagnosis.TOO_FEW_SAMPLES, Diagnosis.FEW_SAMPLES}


@pytest.mark.parametrize("controls", ["none", "random"])
def test_rows_decide_with_and_without_blocks(controls):
    weights = normal(4, 12, seed=1)
    x = normal(20, 6)
    sym = liegg.discover(
        lambda x: torch.sin(x[:, :4] @ weights), x, liegg.Linear(6), controls=controls
    )
    assert (sym.nullity, sym.decision.undecided) == (12, 0)


@pytest.mark.parametrize("controls", ["none", "random"])
def test_copies_are_not_more_samples(controls):
    """Four different samples, one output: five directions are open, in every half."""
    x = normal(4, 3).repeat(50, 1)
    sym = liegg.discover(lambda x: (x**3).sum(1), x, liegg.Linear(3), controls=controls)
    assert (sym.nullity, sym.decision.undecided) == (0, 5)


@pytest.mark.parametrize("controls", ["none", "random"])
def test_halves_that_leave_different_directions_open_decide_nothing(controls):
    """Six samples with two rows each: 12 rows for 16 candidates."""
    weights = normal(4, 2, seed=2)
    x = normal(6, 4)
    sym = liegg.discover(lambda x: torch.sin(x @ weights), x, liegg.Linear(4), controls=controls)
    assert sym.nullity == 0
    assert sym.decision.undecided > 0
