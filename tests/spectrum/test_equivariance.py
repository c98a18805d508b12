"""Equivariance: elimination of the output generators, against least squares on all rows; known maps."""

import numpy as np
import pytest
import torch

import liegg
import oracle
from cases import EQUIVARIANT, conjugated_map, mlp, normal
from liegg.actions import Displacement, Linear
from liegg.decision.decide import DataFacts, decide
from liegg.decision.noise_floor import numerical_floor
from liegg.decision.rank import evidence
from liegg.decision.thresholds import Thresholds
from liegg.polarization.r_factor import init, update
from liegg.spectrum.defects import defects
from liegg.spectrum.equivariance import eliminate

BLOCKS = {
    "independent": (normal(50, 4), 4),
    "one column twice": (torch.cat([normal(50, 3), normal(50, 3)[:, :1]], dim=1), 3),
    "rank one": (normal(50, 1) @ normal(1, 4), 1),
    "a zero column": (
        torch.cat([torch.zeros(50, 1, dtype=torch.float64), normal(50, 3)], dim=1),
        3,
    ),
    "all zero": (torch.zeros(50, 4, dtype=torch.float64), 0),
}


@pytest.fixture(params=BLOCKS.values(), ids=list(BLOCKS))
def block(request):
    """Output columns η with their rank, and input columns E."""
    return *request.param, normal(50, 6, seed=1)


def factor(eta, e):
    return update(init(eta.shape[1] + e.shape[1]), torch.cat([-eta, e], dim=1)).r


def test_what_is_left_is_what_least_squares_leaves(block):
    eta, rank, e = block
    left, partner = oracle.eliminate(e.numpy(), eta.numpy())
    found = eliminate(factor(eta, e), 4)
    np.testing.assert_allclose(found.r.mT @ found.r, left.T @ left, atol=1e-12)
    np.testing.assert_allclose(found.partner, partner, atol=1e-12)
    assert found.rank == rank


def test_independent_columns_leave_the_lower_right_block():
    eta, e = normal(50, 4), normal(50, 6, seed=1)
    r = factor(eta, e)
    found = eliminate(r, 4)
    torch.testing.assert_close(
        found.r.mT @ found.r, r[4:, 4:].mT @ r[4:, 4:], rtol=1e-12, atol=1e-12
    )
    torch.testing.assert_close(
        found.partner, -torch.linalg.solve(r[:4, :4], r[:4, 4:]), rtol=1e-12, atol=1e-12
    )


def test_columns_that_the_outputs_explain_vanish():
    eta, k = normal(50, 4), normal(4, 6, seed=1)
    found = eliminate(factor(eta, eta @ k), 4)
    assert float(found.r.abs().max()) < 1e-13
    torch.testing.assert_close(found.partner, k)


def test_without_outputs_nothing_is_eliminated():
    r = factor(normal(50, 4), normal(50, 6))
    found = eliminate(r, 0)
    assert torch.equal(found.r, r)
    assert (found.partner.shape, found.rank) == ((0, 10), 0)


def analysed(case):
    return liegg.discover(case.function, case.data, case.action, output_action=case.output_action)


@pytest.mark.parametrize("case", EQUIVARIANT, ids=str)
def test_known_maps_input_generators_and_partners(case):
    sym = analysed(case)
    assert sym.nullity == sym.decision.exact == len(case.generators)
    assert oracle.angle(sym.generators.numpy(), case.generators.numpy()) < 1e-10
    if sym.nullity:  # the same combinations of the known pairs on both sides
        combine = np.linalg.lstsq(
            case.generators.flatten(1).numpy().T, sym.generators.flatten(1).numpy().T, rcond=None
        )[0]
        expected = np.einsum("kd,kij->dij", combine, case.output_generators.numpy())
        np.testing.assert_allclose(sym.output_generators, expected, atol=1e-10)


@pytest.mark.parametrize("case", EQUIVARIANT, ids=str)
def test_defects_are_the_oracles(case):
    sym = analysed(case)
    dense = [
        oracle.fields(
            x.numpy(), a.matrices(torch.eye(a.size, dtype=torch.float64)).numpy(), copies=a.copies
        )
        for x, a in (
            (case.data, case.action),
            (case.function(case.data).detach(), case.output_action),
        )
    ]
    xi, eta = dense
    e = oracle.polarization(oracle.jacobians(case.function, case.data), xi)
    left, _ = oracle.eliminate(e, eta.transpose(0, 2, 1).reshape(len(e), -1))
    expected = oracle.defects(left, xi, sensitivity=oracle.defects(e, xi).sensitivity)
    np.testing.assert_allclose(sym.defects, expected.values, rtol=1e-8, atol=1e-12)


def test_generators_do_finite_work():
    """exp(h) on the input is exp(k) on the output, not only at first order."""
    case = conjugated_map()
    sym = analysed(case)
    for h, k in zip(sym.generators, sym.output_generators, strict=True):
        moved = case.function(case.action.act(0.7 * h, case.data))
        torch.testing.assert_close(
            moved, case.output_action.act(0.7 * k, case.function(case.data)), rtol=1e-9, atol=1e-9
        )


def test_an_invariant_map_is_equivariant_with_partner_zero():
    sym = liegg.discover(
        lambda x: x.square().sum(1, keepdim=True),
        normal(100, 3),
        Linear(3),
        output_action=Linear(1),
    )
    by_defect = sym.defect(liegg.so(3), torch.zeros(3, 1, 1, dtype=torch.float64))
    assert sym.nullity == 4  # so(3), and scaling with partner 2
    assert by_defect.max() < 1e-28


def test_partners_of_too_few_samples_are_undecided():
    """One output and one output generator use up one of five rows: four constraints say nothing about nine directions."""
    rows = normal(5, 10)
    problem = eliminate(update(init(10), rows).r, 1)
    solved = defects(problem.r, Displacement(torch.eye(9, dtype=torch.float64)), 5)
    case = evidence(solved.values, floor=numerical_floor(2.0**-52, Thresholds()))
    facts = DataFacts(samples=5, eliminated=problem.rank)
    decision = decide(solved, case, facts, Thresholds())
    assert (decision.nullity, decision.undecided) == (0, 5)


@pytest.mark.parametrize("samples", [3, 5, 8])
def test_discover_does_not_invent_symmetries_from_too_few_samples(samples):
    sym = liegg.discover(mlp(9, 16, 1), normal(samples, 9), Linear(9), output_action=Linear(1))
    assert sym.nullity == 0
