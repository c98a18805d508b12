"""What follows the pass over a data set: solve, test, decide, name."""

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Remark
from liegg._utils.errors import ArgumentError, NonFiniteError
from liegg._utils.version import __version__
from liegg.actions import Action, Displacement, MatrixAction
from liegg.algebra.identification import Identification
from liegg.algebra.subspace import principal_angles
from liegg.algebra.words.wording import coordinate_names
from liegg.decision.directions import symmetry_directions
from liegg.decision.distribution import (
    SAMPLES_PER_COMBINATION,
    MeanProblem,
    MeanSolution,
    pose_means,
    solve_distribution,
)
from liegg.decision.thresholds import Thresholds
from liegg.discovery.data.verdict import ANGLE_ERRORS, decide_distribution, test_of
from liegg.discovery.described import described
from liegg.polarization.r_factor import RFactor
from liegg.polarization.row_means import RowMeans
from liegg.results.accumulated import Accumulated
from liegg.results.naming import coefficients_within, name_symmetries, questioned
from liegg.results.symmetries import Symmetries


def conclude(
    action: Action,
    sums: RowMeans,
    thresholds: Thresholds,
    *,
    functions: str,
    shape: tuple[int, ...],
    seed: int,
    doubts: tuple[Remark, ...] = (),
) -> Symmetries:
    """Everything that follows the pass.

    Args:
        action: the candidate generators.
        sums: means over the data.
        thresholds: what counts as a symmetry.
        functions: the test functions, in words.
        shape: shape of a sample.
        seed: of the test functions.
        doubts: why the test functions may miss what breaks a symmetry, or did.
    """
    displacement = replace(action.displacement(sums.moment, sums.samples), noise=sums.noise)
    problem, solved = _solve(sums, displacement, thresholds, functions)
    accumulated = Accumulated(
        rows=_factor(problem, solved, sums.samples),
        displacement=displacement,
        solution=solved.solution,
        partner=None,
        samples=sums.samples,
        seed=seed,
        means=solved.statistics,
    )
    test = test_of(problem, solved, functions)
    decision = decide_distribution(
        solved,
        sums,
        thresholds,
        problem=problem,
        detectable=test.detectable,
        feature_sizes=action.feature_sizes(sums.moment),
        columns=_columns(action, shape),
        doubts=doubts,
    )
    coefficients = symmetry_directions(solved.solution, decision)
    name = _named(action, coefficients, uncertainty=decision.uncertainty)
    return described(
        action,
        accumulated,
        decision,
        model="the distribution of the data",
        coefficients=coefficients,
        intervals=solved.bounds,
        identification=questioned(name, action, accumulated, decision),
        settings=_settings(sums, thresholds, shape, seed=seed),
        distribution=test,
    )


def _named(
    action: Action, coefficients: Float[Tensor, "d g"], *, uncertainty: float
) -> Identification:
    """The name; the readable basis of several directions is rounded by no more than the uncertainty.

    The uncertainty is several standard errors, which rounds more entries to simple numbers; but rounding the entries of several
    generators adds up, and may leave the span.
    """
    name = name_symmetries(action, coefficients, uncertainty=uncertainty)
    if len(coefficients) < 2 or not name.known or not isinstance(action, MatrixAction):
        return name
    rows = coefficients_within(action, name.readable.generators)
    if rows is None or float(principal_angles(rows, coefficients).max()) <= uncertainty:
        return name
    return name_symmetries(action, coefficients, uncertainty=uncertainty / ANGLE_ERRORS)


def _columns(action: Action, shape: tuple[int, ...]) -> list[str]:
    """Names of the numbers of a sample that is one vector; none for others."""
    if len(shape) != 1 or action.stage in ("grid", "colour") or action.structure is not None:
        return []
    names = action.axes if isinstance(action, MatrixAction) else None
    return list(coordinate_names(shape[0], names if names and len(names) == shape[0] else None))


def _solve(
    sums: RowMeans, displacement: Displacement, thresholds: Thresholds, functions: str
) -> tuple[MeanProblem, MeanSolution]:
    """The means in standard coordinates, and the directions along which they vanish."""
    if not bool(sums.values.isfinite().all()) or not bool(sums.covariance.isfinite().all()):
        raise NonFiniteError(
            "the test functions or their derivatives are not finite on some samples."
        )
    tolerance = max(thresholds.trivial_tolerance, thresholds.coverage)
    problem = pose_means(sums, displacement, tolerance)
    _check_functions(problem, functions)
    reference = (
        thresholds.effect**2 / thresholds.threshold / sums.spread if sums.spread > 0 else 1.0
    )
    return problem, solve_distribution(
        problem, displacement, tolerance=tolerance, level=thresholds.level, reference=reference
    )


def _check_functions(problem: MeanProblem, functions: str) -> None:
    """Raise `ArgumentError` unless the test functions can tell the candidates apart."""
    combinations, candidates = problem.mean.shape
    if combinations <= candidates:
        few = problem.samples < SAMPLES_PER_COMBINATION * candidates
        raise ArgumentError(
            f"these test functions ({functions}) cannot tell {candidates} candidates apart: {combinations} of them are independent"
            + (
                f" on samples that count as about {problem.samples:.0f} different ones"
                if few
                else ""
            )
            + ". Give more functions or more samples, or restrict the action."
        )
    if candidates and not float(torch.einsum("kaka->", problem.covariance)) > 0:
        raise ArgumentError(
            f"the derivatives of the test functions ({functions}) vanish on all samples. Give functions that change with the samples."
        )


def _factor(problem: MeanProblem, solved: MeanSolution, samples: int) -> RFactor:
    """Factor of the squared means less their noise, with which the defect of any direction is computed."""
    solution = solved.solution
    lengths = (solution.values * solution.sensitivity * samples).sqrt()
    inverse = torch.linalg.pinv(problem.whiten)
    axes = solution.directions @ inverse.mT  # coordinates in which motions have unit length
    axes = torch.linalg.qr((axes / axes.norm(dim=1, keepdim=True)).mT).Q.mT
    rows = lengths[:, None] * (axes @ inverse)
    square = torch.zeros(inverse.shape[1], inverse.shape[1], dtype=rows.dtype)
    square[: len(rows)] = rows
    return RFactor(torch.linalg.qr(square).R, len(problem.mean))


def _settings(
    sums: RowMeans, thresholds: Thresholds, shape: tuple[int, ...], *, seed: int
) -> dict[str, Any]:
    """How the analysis ran, as JSON values."""
    return {
        "outputs": "each",
        "route": "means of test functions",
        "accumulator": "means",
        "seed": seed,
        "batch_size": None,
        "bottom": None,
        **asdict(thresholds),
        "noise": sums.noise,
        "unit": float(torch.finfo(torch.float64).eps),
        "nonlinearity": None,
        "hidden": None,
        "blocks": int((sums.counts > 0).sum()),
        "controls": "none",
        "dtype": "float64",
        "device": "cpu",
        "sample": list(shape),
        "versions": {"liegg": __version__, "torch": torch.__version__, "numpy": np.__version__},
    }
