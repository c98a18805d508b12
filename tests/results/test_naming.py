"""A name that does not hold, or that the data cannot tell from another, is not sure."""

from dataclasses import replace

import pytest
import torch

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg.results.naming import questioned


def members(identification):
    return [reason.diagnosis for reason in identification.reasons]


def rotations(x):
    return x.square().sum(1)


def test_a_name_that_holds_stays_sure():
    sym = liegg.discover(rotations, normal(300, 3), liegg.Linear(3))
    found = sym.identification
    assert questioned(found, sym.action, sym.accumulated, sym.decision) is found
    assert found.confident


def test_a_name_whose_generators_have_larger_defects_than_the_grade_allows_is_not_sure():
    """so(3) in stretched coordinates does not preserve |x|²."""
    sym = liegg.discover(rotations, normal(300, 3), liegg.Linear(3))
    stretch = torch.diag(torch.tensor([1.0, 1.0, 1.2], dtype=torch.float64))
    other = stretch @ liegg.so(3) @ stretch.inverse()
    wrong = replace(sym.identification, generators=other)
    found = questioned(wrong, sym.action, sym.accumulated, sym.decision)
    assert not found.confident
    assert members(found)[-1] is Diagnosis.NAME_DOES_NOT_HOLD
    values = found.reasons[-1].values
    assert values["defect"] == pytest.approx(sym.accumulated.largest_defect(other.flatten(1)))
    assert values["defect"] > values["limit"] == pytest.approx(1e-3, rel=0.5)


def test_largest_defect_is_that_of_the_pencil():
    sym = liegg.discover(
        lambda x: (x**3).sum(1) + x[:, 0] * x[:, 1], normal(200, 3), liegg.Linear(3)
    )
    rows = normal(4, 9, seed=3)
    a = sym.accumulated.factor.mT @ sym.accumulated.factor / sym.samples
    m = sym.accumulated.displacement.dense()
    pencil = torch.linalg.solve(rows @ m @ rows.mT, rows @ a @ rows.mT)
    expected = torch.linalg.eigvals(pencil).real.max() / sym.accumulated.solution.sensitivity
    assert sym.accumulated.largest_defect(rows) == pytest.approx(float(expected), rel=1e-9)
    assert sym.accumulated.largest_defect(rows[:1]) == pytest.approx(
        float(sym.defect(rows[:1])), rel=1e-9
    )


def test_data_in_a_plane_cannot_tell_rotations_of_space():
    x = normal(400, 3)
    x[:, 2] = 0
    found = liegg.discover(rotations, x, liegg.Linear(3)).identification
    assert found.name == "so(3), up to motions that do not move this data"
    assert found.confident
    assert Diagnosis.SAME_ON_THIS_DATA in members(found)
    x = torch.nn.functional.pad(normal(400, 2), (0, 1), value=1.0)  # a constant feature
    sure = liegg.discover(lambda x: x[:, :2].norm(dim=1) + x[:, 2], x, liegg.Linear(3))
    assert Diagnosis.SAME_ON_THIS_DATA not in members(sure.identification)
