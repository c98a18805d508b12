"""Directions of a distribution, against the dense formulas in float64."""

import pytest
import torch

import liegg
from known_data import data_set
from liegg.decision.distribution import (
    COUNT_LEVEL,
    MeanProblem,
    MeanSolution,
    noise_of,
    pose_means,
    quadratic_test,
    solve_distribution,
    solve_means,
)
from liegg.polarization import row_means
from liegg.polarization.displacement import Workspace
from liegg.polarization.row_means import RowMeans
from liegg.polarization.test_functions import fourier_features

ACTION = liegg.Linear(3)


def _sums(x: torch.Tensor, functions: int = 12, copies: int = 1) -> RowMeans:
    features = fourier_features(x, functions, seed=0)
    state, workspace = row_means.init(features, ACTION, x, 16), Workspace(ACTION)
    block = torch.arange(len(x)) % 16
    for _ in range(copies):
        covers = torch.ones(len(x)) > 0
        state = row_means.update(state, features, workspace, x, block=block, covers=covers)
    return row_means.finalise(state, ACTION, x)


def test_squares_and_noise_are_those_of_the_dense_formula() -> None:
    x = data_set("shell", 500)
    sums = _sums(x)
    displacement = ACTION.displacement(sums.moment, sums.samples)
    problem = pose_means(sums, displacement, 1e-12)
    # Candidates move the data equally: the mean squared motion of every direction is 1, and directions are orthogonal.
    fields = torch.einsum("bgn,gr->brn", ACTION.fields(x), problem.whiten)
    motions = torch.einsum("brn,bsn->rs", fields, fields) / len(x)
    torch.testing.assert_close(motions, torch.eye(9, dtype=torch.float64))
    noise = torch.einsum("kakb->ab", problem.covariance) / problem.samples
    squares, axes = solve_means(problem)
    total = problem.mean.mT @ problem.mean - noise
    torch.testing.assert_close(axes.mT @ total @ axes, squares.diag())
    h = torch.randn(9, 2, dtype=torch.float64)
    dense = torch.einsum("kalb,ac,bd->kcld", problem.covariance, h, h) / problem.samples
    torch.testing.assert_close(noise_of(problem, h), dense)
    test = quadratic_test(problem, h[:, :1])
    assert test.statistic == pytest.approx(float((problem.mean @ h[:, 0]).square().sum()))
    assert test.expected == pytest.approx(float(torch.einsum("kckc->", dense[:, :1, :, :1])))


def test_stored_statistics_test_fixed_directions_as_the_means_do() -> None:
    sums = _sums(data_set("half shell", 2000))
    displacement = ACTION.displacement(sums.moment, sums.samples)
    problem = pose_means(sums, displacement, 1e-12)
    solved = solve_distribution(problem, displacement, tolerance=1e-12, level=0.95, reference=1.0)
    for h in ACTION.coefficients(liegg.so(3)).double():
        axis = torch.linalg.pinv(problem.whiten) @ h
        dense = quadratic_test(problem, (axis / axis.norm())[:, None])
        stored = solved.statistics.test(h[None])
        assert stored.statistic == pytest.approx(dense.statistic)
        assert stored.expected == pytest.approx(dense.expected)
        assert stored.freedom <= dense.freedom * (1 + 1e-9) or solved.found
    values = torch.tensor([1.0, torch.nan], dtype=torch.float64)
    bounds = solved.statistics.interval(
        ACTION.coefficients(liegg.so(3))[:2].double(), values, scale=1.0, level=0.95
    )
    assert bool((bounds[0] >= 0).all())
    assert bool(bounds[1].isnan().all())


def test_copies_do_not_sharpen_anything() -> None:
    x = data_set("gaussian", 400)
    tests = []
    for copies in (1, 8):
        sums = _sums(x, copies=copies)
        displacement = ACTION.displacement(sums.moment, sums.samples)
        problem = pose_means(sums, displacement, 1e-12)
        tests.append(problem)
    assert tests[1].dispersion > 4
    assert tests[1].samples < 2 * 400


def test_a_change_along_one_of_several_directions_is_seen_as_often_as_stated() -> None:
    action = liegg.Linear(2)
    displacement = action.displacement(torch.eye(2, dtype=torch.float64), 1)
    functions, directions, found = 12, 4, 3
    unit = torch.eye(functions * directions, dtype=torch.float64)
    axes = torch.eye(functions, dtype=torch.float64)[:, :directions]

    def solved(sizes: list[float], seed: int) -> MeanSolution:
        generator = torch.Generator().manual_seed(seed)
        noise = torch.randn(functions, directions, generator=generator, dtype=torch.float64)
        problem = MeanProblem(
            mean=axes * torch.tensor(sizes, dtype=torch.float64) + noise / 1000**0.5,
            covariance=unit.reshape(functions, directions, functions, directions),
            whiten=torch.eye(directions, dtype=torch.float64),
            samples=1000.0,
            covered=10**9,
            dispersion=1.0,
        )
        return solve_distribution(problem, displacement, tolerance=1e-12, level=0.95, reference=1.0)

    still = solved([0, 0, 0, 3.0], 0)
    assert still.found == found
    assert still.deciding is not None
    size = still.deciding.seen(COUNT_LEVEL, 0.95) ** 0.5
    seen = sum(solved([size, 0, 0, 3.0], 1 + seed).found < found for seed in range(100))
    assert seen >= 88  # 95, less three standard errors
