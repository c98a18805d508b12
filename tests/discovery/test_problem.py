"""The problem that a pass poses, its solution, and when rounding is measured for the floor."""

from dataclasses import replace

import pytest
import torch

import liegg
from cases import normal
from liegg.decision.thresholds import Thresholds
from liegg.discovery.problem import noise_floor, pose, solve
from liegg.polarization import r_factor
from liegg.polarization.rounding_noise import Scatter
from liegg.polarization.streaming import PassSums
from liegg.spectrum.defects import defects

SAMPLES, UNIT = 200, 2.0**-23
X = normal(SAMPLES, 3)
GRADIENTS = (2 * X + 0.3 * X**2)[:, None]
ACTION = liegg.Linear(3)


def streamed(*, gradients=GRADIENTS, output_columns=None):
    """What a pass over `X` leaves of a model with these gradients."""
    rows = ACTION.contract(gradients, X).flatten(0, 1)
    if output_columns is not None:
        rows = torch.cat([output_columns, rows], 1)
    factor = r_factor.update(r_factor.init(rows.shape[1]), rows)
    return PassSums(factor, ACTION.moment(X), SAMPLES, 1.0, "qr")


def floor_of(problem, solution, *, unit=UNIT, slope: float | None = 4.0, measure=None):
    return noise_floor(problem, solution, unit=unit, slope=slope, numbers=3, measure=measure)


def test_a_problem_is_the_pair_of_its_sums():
    sums = streamed()
    problem = pose(sums, ACTION, None, Thresholds())
    assert (problem.partner, problem.n_output_generators, problem.elimination) == (None, 0, None)
    assert problem.sensitivity is None
    solution, low = solve(problem, None, "cpu")
    expected = defects(sums.rows.r, ACTION.displacement(sums.moment, SAMPLES), SAMPLES)
    torch.testing.assert_close(solution.values, expected.values, rtol=1e-12, atol=0)
    assert low is None


def test_a_restricted_action_keeps_the_unit_of_its_parent():
    sums, inner = streamed(), ACTION.restrict(liegg.algebra.sl(3))
    whole, part = (pose(sums, action, None, Thresholds()) for action in (ACTION, inner))
    sensitivity = solve(whole, None, "cpu")[0].sensitivity
    assert part.sensitivity == pytest.approx(sensitivity, rel=1e-12)
    assert part.rows.r.shape[1] == part.displacement.block.shape[0] == inner.size == 8
    assert part.row_displacement.repeat * part.row_displacement.block.shape[0] == 9


def test_output_generators_are_eliminated():
    """With one output generator that explains a column exactly, that direction becomes a symmetry."""
    rows = ACTION.contract(GRADIENTS, X).flatten(0, 1)
    problem = pose(streamed(output_columns=-rows[:, :1]), ACTION, liegg.Linear(1), Thresholds())
    assert problem.n_output_generators == 1
    solution, _ = solve(problem, None, "cpu")
    assert float(solution.values[0]) < 1e-25 < 1e-3 < float(solution.values[1])
    assert float(solution.directions[0, 0].abs()) == pytest.approx(1.0, abs=1e-9)
    own = pose(streamed(), ACTION, None, Thresholds())
    assert problem.sensitivity == pytest.approx(solve(own, None, "cpu")[0].sensitivity, rel=1e-10)


def test_the_smallest_alone():
    problem = pose(streamed(), ACTION, None, Thresholds())
    every, _ = solve(problem, None, "cpu")
    some, low = solve(problem, 4, "cpu")
    assert low is not None
    assert (low.requested, low.moving, len(some.values)) == (4, 9, 4)
    torch.testing.assert_close(some.values, every.values[:4], rtol=1e-8, atol=1e-20)


def test_the_trivial_tolerance_covers_the_rounding_of_the_sums():
    sums = streamed()._replace(trivial_floor=1e-5)
    assert pose(sums, ACTION, None, Thresholds()).thresholds.trivial_tolerance == 1e-5
    assert pose(sums, ACTION, None, Thresholds()).covered == 1e-5
    assert pose(streamed(), ACTION, None, Thresholds()).covered == Thresholds().coverage


def never():
    raise AssertionError("measured without need")


def test_rounding_is_measured_only_where_a_grade_depends_on_it():
    problem = pose(streamed(), ACTION, None, Thresholds())
    solution, _ = solve(problem, None, "cpu")
    clear = floor_of(problem, solution, measure=never)
    assert (clear.response.still, clear.response.reacts) == (False, True)
    assert clear.value < 1e-8
    # A defect just above what is trusted, under a gradient that cancels: both measurements decide as they say.
    slope = 1e4 * solution.sensitivity
    values = solution.values.clone()
    values[0] = 50 * (Thresholds().floor_factor * UNIT) ** 2
    doubtful = replace(solution, values=values)
    unmeasured = floor_of(problem, doubtful, slope=slope)
    assert unmeasured.value >= float(values[0])
    size = float(values[0]) * solution.sensitivity
    for share, exact in ((1.0, True), (1e-6, False)):
        noise = (share * size * SAMPLES) ** 0.5 * torch.eye(9, dtype=torch.float64)
        scatter = Scatter(noise, SAMPLES, 1.0, 0.0)
        found = floor_of(problem, doubtful, slope=slope, measure=lambda s=scatter: s)
        assert (found.value >= float(values[0])) is exact, share


def test_a_still_model_has_no_response():
    problem = pose(streamed(gradients=1e-12 * GRADIENTS), ACTION, None, Thresholds())
    solution, _ = solve(problem, None, "cpu")
    found = floor_of(problem, solution, slope=None)
    assert (found.response.still, found.response.reacts) == (True, False)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("offset", [100.0, 1000.0, 10_000.0])
def test_exact_rotations_about_a_far_point_are_exact(offset, dtype):
    """The terms of a rotation about the origin and of a translation cancel; what the sums lose there is no change."""
    x = (normal(1000, 3) + offset).to(dtype)
    exact = liegg.discover(lambda x: (x - offset).square().sum(1), x, liegg.Affine(3))
    assert exact.decision.grades[:4] == ("exact", "exact", "exact", "none")


def test_broken_rotations_about_a_far_point_are_not_exact():
    x = normal(1000, 3) + 1000

    def broken(x):
        x = x - 1000
        return x.square().sum(1) + 1e-8 * (2 * x[:, 0]).sin()

    sym = liegg.discover(broken, x, liegg.Affine(3))
    assert sym.decision.grades[:4] == ("exact", "strong", "strong", "none")
