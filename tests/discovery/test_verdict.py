"""What a verdict rests on: effects, samples that constrain, brackets that close."""

import pytest
import torch

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg.studies.error_rates.cases import Trap
from liegg.studies.error_rates.traps_catalog import Key, make


def members(remarks):
    return [remark.diagnosis for remark in remarks]


def test_the_response_is_the_effect_of_an_average_direction():
    """κ times the spread of the data over the variance of the output, by the definitions."""
    x = normal(500, 3) + 5.0
    sym = liegg.discover(lambda x: x.square().sum(1).sin(), x, liegg.Linear(3))
    y = x.square().sum(1).sin()
    spread = (x - x.mean(0)).square().sum(1).mean()
    expected = sym.accumulated.solution.sensitivity * spread / y.var(correction=0)
    assert sym.decision.response == pytest.approx(float(expected), rel=1e-9)


def test_data_on_one_orbit_has_no_effect_to_compare_with():
    x = torch.nn.functional.normalize(normal(300, 3), dim=1)
    sym = liegg.discover(lambda x: x.square().sum(1) - 1, x, liegg.Linear(3))
    assert (sym.decision.response, sym.nullity, sym.name) == (0.0, 3, "so(3)")


def test_a_small_defect_with_a_large_effect_is_no_symmetry():
    """Over three decades the other candidates move the output so much that a scaling looks like nothing."""
    x = 10 ** (3 * torch.rand(2000, 4, generator=torch.Generator().manual_seed(0)).double())
    sym = liegg.discover(
        lambda q: torch.log(q[:, 0] * q[:, 1] * q[:, 2] / q[:, 3]), x, liegg.Linear(4)
    )
    assert float(sym.defects[3]) < 1e-3  # a strong symmetry, if only the defect counted
    assert (sym.nullity, sym.name) == (3, "R³")
    assert Diagnosis.EFFECT_TOO_LARGE in members(sym.decision.reasons)


def test_samples_with_many_rows_decide_more_directions():
    weights = normal(1, 27)
    for samples, found in ((14, 3), (3, 0)):
        sym = liegg.discover(
            lambda x: torch.sin(x.norm(dim=1, keepdim=True) * weights),
            normal(samples, 3),
            liegg.Linear(3),
        )
        assert sym.nullity == found, samples
    assert sym.decision.undecided


def test_many_rows_of_few_samples_decide_where_samples_alone_would_not():
    """9 directions, 3 exact zeros, 6 constraints that 6 samples of 8 outputs give twice."""
    weights = normal(2, 8)
    x = normal(6, 3)
    sym = liegg.discover(lambda x: torch.sin(x[:, :2] @ weights), x, liegg.Linear(3))
    assert (sym.nullity, sym.decision.undecided) == (3, 0)


def test_copies_and_idle_samples_are_no_evidence():
    corners = torch.cartesian_prod(*[torch.tensor([0.0, 1.0]).double()] * 3).repeat(50, 1)
    weights = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    sym = liegg.discover(
        lambda x: (x @ weights).sin() + x[:, 0] * x[:, 1], corners, liegg.Linear(3)
    )
    assert (sym.nullity, sym.decision.undecided) == (0, 2)
    few = liegg.discover(
        lambda x: torch.relu(x[:, 0] - 2.0) * (x @ weights).sin(), normal(300, 3), liegg.Linear(3)
    )
    assert few.nullity == 0
    assert Diagnosis.TOO_FEW_SAMPLES in members(few.decision.warnings)


def test_a_span_that_is_not_closed_falls_back_to_a_level_that_is():
    """so(2) exactly, and one direction that is nearly a symmetry but whose bracket with it is not."""
    x = normal(1000, 3)

    def model(x):
        radius = x[:, :2].norm(dim=1)
        return radius.square() + 0.5 * torch.sin(radius * x[:, 2]) + x[:, 2] ** 3

    sym = liegg.discover(model, x, liegg.Linear(3))
    assert (sym.nullity, sym.name) == (1, "so(2)")


def test_a_direction_that_a_handful_of_samples_decides_is_not_counted():
    """Two of 300 samples violate the rotations that the others obey exactly; the case of series 2 that was claimed to be so(3).

    The two directions that they leave exact are not closed under the bracket, so that they are no symmetries of a group.
    """
    trap = make(Key("rare violations", 30, 2))
    assert isinstance(trap, Trap)
    sym = liegg.discover(trap.model, trap.data, trap.action)
    assert float(sym.defects[2]) < 0.03 < float(sym.intervals[2, 1])
    assert (sym.nullity, sym.decision.exact, sym.decision.undecided) == (0, 0, 2)
    assert {Diagnosis.FEW_CARRY, Diagnosis.EXACT_UNDECIDED} <= {*members(sym.decision.warnings)}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("offset", [1e3, 1e4])
def test_rounding_of_data_far_from_the_origin_is_measured(offset, dtype):
    """Rotations about the origin move far there, and a translation undoes most of it."""
    x = (normal(300, 6) + offset).to(dtype)

    def model(x, break_=0.0):
        apart = x[:, :3] - x[:, 3:]
        return torch.tanh(apart.square().sum(1) / 3) + break_ * apart[:, 0]

    sym = liegg.discover(model, x, liegg.Affine(3, copies=2))
    assert sym.decision.grades[:6] == ("exact",) * 6
    broken = liegg.discover(lambda x: model(x, 0.02), x, liegg.Affine(3, copies=2))
    assert broken.decision.grades[:4] == ("exact",) * 4  # translations, one rotation
    assert "exact" not in broken.decision.grades[4:]
