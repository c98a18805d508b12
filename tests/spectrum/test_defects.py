"""The defect: against the oracle, and what must not change it."""

import math

import numpy as np
import pytest
import torch

import oracle
from cases import (
    by_construction,
    classifier,
    conjugated_rotation,
    distances,
    hermitian,
    normal,
    plane,
    rayleigh,
    regular,
)
from liegg.actions import Displacement, Linear
from liegg.decision.decide import DataFacts, decide
from liegg.decision.noise_floor import numerical_floor
from liegg.decision.rank import evidence
from liegg.decision.thresholds import Thresholds
from liegg.polarization.r_factor import init, update
from liegg.spectrum.defects import defect_of, defects, mean_sensitivity


def dense(case):
    """All rows and all fields of a case, by the oracle."""
    generators = case.action.matrices(torch.eye(case.action.size, dtype=torch.float64)).numpy()
    xi = oracle.fields(
        case.data.numpy(), generators, copies=case.copies, vector_first=case.vector_first
    )
    return oracle.polarization(oracle.jacobians(case.function, case.data), xi), xi


def factor(e):
    rows = torch.from_numpy(np.ascontiguousarray(e))
    return update(init(rows.shape[1]), rows).r


def mean_square(xi):
    return Displacement(torch.from_numpy(np.einsum("bgp,bhp->gh", xi, xi) / len(xi)))


E, XI = dense(conjugated_rotation())
SOLVED = defects(factor(E), mean_square(XI), len(XI))


@pytest.mark.parametrize(
    "case",
    [
        conjugated_rotation(),
        hermitian(),
        distances(),
        rayleigh(),
        plane(),
        classifier(),
        by_construction(),
    ],
    ids=str,
)
def test_values_are_the_oracles(case):
    e, xi = dense(case)
    expected = oracle.defects(e, xi)
    solved = defects(
        factor(e), case.action.displacement(case.action.moment(case.data), len(xi)), len(xi)
    )
    np.testing.assert_allclose(solved.values, expected.values, rtol=1e-8, atol=1e-12)
    assert solved.sensitivity == pytest.approx(expected.sensitivity, rel=1e-10)
    assert len(solved.trivial) == expected.trivial


def test_each_direction_has_its_defect():
    for h, value in zip(SOLVED.directions, SOLVED.values, strict=True):
        assert oracle.defect(E, XI, h.numpy(), SOLVED.sensitivity) == pytest.approx(
            float(value), rel=1e-10, abs=1e-28
        )


def test_directions_are_units_and_orthogonal_in_the_displacement():
    lengths = SOLVED.directions.norm(dim=1)
    torch.testing.assert_close(lengths, torch.ones_like(lengths))
    gram = SOLVED.directions @ mean_square(XI).dense() @ SOLVED.directions.mT
    scale = gram.diagonal().sqrt()
    torch.testing.assert_close(
        gram / scale / scale[:, None], torch.eye(9, dtype=torch.float64), rtol=0, atol=1e-12
    )


def test_the_mean_defect_is_one():
    assert float(SOLVED.values.mean()) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-8, 7.0, 1e8])
def test_rescaling_the_outputs_changes_nothing(scale):
    again = defects(factor(scale * E), mean_square(XI), len(XI))
    torch.testing.assert_close(again.values, SOLVED.values, rtol=1e-9, atol=1e-28)
    assert again.sensitivity == pytest.approx(scale**2 * SOLVED.sensitivity, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-8, 7.0, 1e8])
def test_rescaling_the_inputs_changes_nothing(scale):
    # f(x/s) on data s·x: derivatives shrink as the fields grow, so the rows stay and M grows by s².
    again = defects(factor(E), mean_square(scale * XI), len(XI))
    torch.testing.assert_close(again.values, SOLVED.values, rtol=1e-9, atol=1e-28)


@pytest.mark.parametrize("condition", [1.0, 10.0, 1e4])
def test_any_change_of_basis_of_the_candidates_changes_nothing(condition):
    change = regular(9, condition=condition).numpy()
    again = defects(factor(E @ change), mean_square(np.einsum("bgp,gh->bhp", XI, change)), len(XI))
    torch.testing.assert_close(again.values, SOLVED.values, rtol=1e-6, atol=1e-18)
    assert (
        oracle.angle(again.directions[:3].numpy() @ change.T, SOLVED.directions[:3].numpy())
        < 1e-14 * condition**2 + 1e-12
    )


def test_duplicated_samples_change_nothing():
    again = defects(
        factor(np.concatenate([E, E])), mean_square(np.concatenate([XI, XI])), 2 * len(XI)
    )
    torch.testing.assert_close(again.values, SOLVED.values, rtol=1e-9, atol=1e-28)


def test_the_kronecker_form_of_the_displacement_is_its_dense_form():
    block = torch.from_numpy(np.cov(normal(3, 50).numpy()))
    short, long = Displacement(block, repeat=3), Displacement(torch.block_diag(block, block, block))
    torch.testing.assert_close(short.dense(), long.dense(), rtol=1e-14, atol=0)
    one, other = defects(factor(E), short, 200), defects(factor(E), long, 200)
    torch.testing.assert_close(one.values, other.values, rtol=1e-9, atol=1e-28)
    assert mean_sensitivity(factor(E), short, 200) == pytest.approx(
        mean_sensitivity(factor(E), long, 200), rel=1e-12
    )


def test_trivial_directions_are_apart():
    case = plane()
    e, xi = dense(case)
    solved = defects(factor(e), mean_square(xi), len(xi))
    assert len(solved.values) == 6
    torch.testing.assert_close(
        solved.trivial @ solved.trivial.mT, torch.eye(3, dtype=torch.float64), rtol=0, atol=1e-13
    )
    assert (
        np.abs(np.einsum("bgp,tg->btp", xi, solved.trivial)).max() < 1e-13
    )  # they do not move the data
    assert (
        oracle.angle(
            solved.directions.numpy(), np.linalg.svd(xi.transpose(0, 2, 1).reshape(-1, 9))[2][:6]
        )
        < 1e-13
    )


@pytest.mark.parametrize(("size", "trivial"), [(1e-5, 0), (1e-7, 3)])
def test_the_tolerance_is_on_the_square_of_the_motion(size, trivial):
    """Two features that differ by a part `size` of their length: their difference hardly moves."""
    block = torch.eye(3, dtype=torch.float64)
    block[1, 2] = block[2, 1] = 1 - size**2
    thin = Displacement(block, repeat=3)
    assert len(defects(factor(E), thin, 200).trivial) == trivial
    assert len(defects(factor(E), thin, 200, trivial_tolerance=1e-15).trivial) == 0


def test_units_do_not_decide_what_moves():
    small = Displacement(torch.diag(torch.tensor([1.0, 1.0, 1e-14], dtype=torch.float64)), repeat=3)
    assert len(defects(factor(E), small, 200).trivial) == 0
    none = Displacement(torch.diag(torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64)), repeat=3)
    assert len(defects(factor(E), none, 200).trivial) == 3


@pytest.mark.parametrize(("noise", "trivial"), [(0.0, 0), (1e-15, 3), (2.0, 9)])
def test_motion_at_the_level_of_rounding_is_no_motion(noise, trivial):
    """A feature that only rounding moves is not scaled up to a moving one, nor correlated with one."""
    block = torch.diag(torch.tensor([1.0, 1.0, 1e-16], dtype=torch.float64))
    block[0, 2] = block[2, 0] = 0.5e-8
    solved = defects(factor(E), Displacement(block, repeat=3, noise=noise), 200)
    assert (len(solved.trivial), len(solved.values)) == (trivial, 9 - trivial)
    if trivial == 3:
        third = torch.arange(9) % 3 == 2
        assert not solved.trivial[:, ~third].any()
        assert not solved.directions[:, third].any()


def test_nothing_but_rounding_is_no_defect():
    solved = defects(
        factor(E), Displacement(torch.eye(9, dtype=torch.float64)), 200, sensitivity=0.0
    )
    assert solved.values.tolist() == [0.0] * 9


def decided(solved, samples):
    case = evidence(solved.values, floor=numerical_floor(2.0**-52, Thresholds()))
    return decide(solved, case, DataFacts(samples=samples), Thresholds())


def test_orthonormal_columns_have_no_symmetry():
    """The rank rule of a peer finds 25 symmetries here."""
    frame = torch.linalg.qr(normal(100, 25))[0]
    solved = defects(factor(frame.numpy()), Displacement(torch.eye(25, dtype=torch.float64)), 100)
    torch.testing.assert_close(solved.values, torch.ones(25, dtype=torch.float64))
    assert decided(solved, 100).nullity == 0


def test_fewer_samples_than_columns():
    solved = defects(factor(E[:4]), mean_square(XI[:4]), 4)
    assert solved.values.shape == (9,)
    assert int((solved.values < 1e-28).sum()) == 5
    assert decided(solved, 4).undecided == 5


def test_a_constant_model_has_no_sensitivity_and_no_defect():
    solved = defects(torch.zeros(9, 9, dtype=torch.float64), mean_square(XI), len(XI))
    assert solved.sensitivity == 0
    assert not solved.values.any()


def test_data_at_the_origin_moves_nowhere():
    still = Displacement(torch.zeros(3, 3, dtype=torch.float64), repeat=3)
    solved = defects(torch.zeros(9, 9, dtype=torch.float64), still, 10)
    assert (len(solved.values), len(solved.trivial), solved.sensitivity) == (0, 9, 0.0)
    assert mean_sensitivity(torch.zeros(9, 9, dtype=torch.float64), still, 10) == 0.0


def test_the_sensitivity_can_be_given():
    again = defects(factor(E), mean_square(XI), len(XI), sensitivity=2 * SOLVED.sensitivity)
    torch.testing.assert_close(2 * again.values, SOLVED.values)


def test_defect_of_any_direction_is_the_oracles():
    h = normal(5, 9)
    values = defect_of(
        h, h @ factor(E).mT, mean_square(XI), len(XI), sensitivity=SOLVED.sensitivity
    )
    expected = [oracle.defect(E, XI, row.numpy(), SOLVED.sensitivity) for row in h]
    np.testing.assert_allclose(values, expected, rtol=1e-10)


def test_defect_of_a_direction_that_does_not_move_the_data_is_nan():
    """Also where rounding moves it by 1e-17: no defect may come out of 0/0."""
    case = plane()
    e, xi = dense(case)
    m = case.action.displacement(case.action.moment(case.data), len(xi))
    trivial = defects(factor(e), m, len(xi)).trivial
    h = torch.cat([normal(4, 3) @ trivial, torch.zeros(1, 9, dtype=torch.float64), normal(1, 9)])
    for sensitivity in (1.0, 0.0):
        values = defect_of(h, h @ factor(e).mT, m, len(xi), sensitivity=sensitivity)
        assert values.isnan().tolist() == [True] * 5 + [False]


def test_defect_of_a_constant_is_zero():
    h = normal(2, 9)
    assert defect_of(
        h, torch.zeros(2, 9, dtype=torch.float64), mean_square(XI), len(XI), sensitivity=0.0
    ).tolist() == [0.0, 0.0]


def test_one_number_by_hand():
    # f = x₁ on R², E_11 and E_12 move it: A = diag(m₁, m₂, 0, 0), M = diag(m₁, m₂, m₁, m₂), so λ = (1, 1, 0, 0) and κ = 1/2.
    x = normal(50, 2)
    rows = torch.cat([x, torch.zeros_like(x)], dim=1)
    solved = defects(factor(rows.numpy()), Linear(2).displacement(Linear(2).moment(x), 50), 50)
    assert solved.sensitivity == pytest.approx(0.5, rel=1e-12)
    np.testing.assert_allclose(solved.values, [0, 0, 2, 2], atol=1e-12)
    assert math.isclose(float(solved.values.sum()), 4, rel_tol=1e-12)
