r"""Is a distribution invariant? Means of derivatives that must vanish, tested against their sampling noise.

A distribution is invariant under the flow of $X$ if and only if $E[\langle \nabla\phi, X \rangle] = 0$ for every test function.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import fix_signs, symmetric_eigen
from liegg.actions import Displacement
from liegg.decision.dispersion import DISPERSED, dispersion_of, serial_dispersion
from liegg.decision.quadratic_test import QuadraticTest
from liegg.polarization.row_means import RowMeans
from liegg.spectrum.defects import Defects, trivial_of, whitening

VALUE_SHARE = 1e-3
"""Variance of a combination of test functions, as a share of the largest, below which it is left out: it repeats the others."""

COUNT_LEVEL = 1e-3
"""Level of the tests that count: each rejects a true symmetry in this share of data sets."""

SURELY_REJECTED = 50.0
"""Ratio of squared means to their noise that is rejected whatever the degrees of freedom: with one, p is 1e-12."""

SAMPLES_PER_COMBINATION = 10
"""Samples per combination of test functions, at least."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanProblem:
    """The means in coordinates in which the candidates move the data equally and the test functions have variance 1.

    Attributes:
        mean: `[k, r]`.
        covariance: `[k, r, k, r]`, of one sample.
        whiten: `[g, r]`, coordinates of the candidates.
        samples: effective number of samples: copies and clusters count once.
        covered: samples from which the covariance was taken.
        dispersion: variance between blocks over that of independent samples, at least 1.
        serial: the same of runs of consecutive samples.
        sorted: whether runs differ only as those of a file that was sorted into parts; `serial` is 1 then.
    """

    mean: Float[Tensor, "k r"]
    covariance: Float[Tensor, "k r k r"]
    whiten: Float[Tensor, "g r"]
    samples: float
    covered: int
    dispersion: float
    serial: float = 1.0
    sorted: bool = False

    @property
    def noise(self) -> Float[Tensor, "r r"]:
        """What sampling noise alone makes of the squared means, summed over the functions."""
        return torch.einsum("kakb->ab", self.covariance) / self.samples


def pose_means(sums: RowMeans, displacement: Displacement, tolerance: float) -> MeanProblem:
    """The problem in standard coordinates.

    Args:
        sums: means over the data.
        displacement: how far the candidates move it.
        tolerance: share of the displacement below which a direction does not move the data.
    """
    block, _ = whitening(displacement, tolerance)
    whiten = torch.block_diag(*[block] * displacement.repeat)
    functions = combinations(sums.values, sums.samples)
    mean = functions @ sums.mean @ whiten
    covariance = transformed(transformed(sums.covariance, functions, 0), whiten.mT, 1)
    apart = functions @ sums.blocks @ whiten - mean
    dispersed = dispersion_of(apart, sums.counts, covariance).mean
    serial, is_sorted = serial_dispersion(
        functions @ sums.runs @ whiten - mean, sums.run_counts, covariance, alike=sums.alike
    )
    dispersion = max(dispersed if dispersed > DISPERSED else 1.0, serial)
    return MeanProblem(
        mean=mean,
        covariance=covariance,
        whiten=whiten,
        samples=sums.samples / dispersion,
        covered=sums.covered,
        dispersion=dispersion,
        serial=serial,
        sorted=is_sorted,
    )


def transformed(
    covariance: Float[Tensor, "k a k a"], matrix: Float[Tensor, "j m"], axis: int
) -> Float[Tensor, "..."]:
    """Covariance after a linear map of one of its two kinds of axes, the functions (0) or the directions (1)."""
    functions, directions, count = *covariance.shape[:2], len(matrix)
    if axis == 0:
        inner = (matrix @ covariance.flatten(1)).reshape(count * directions, functions, directions)
        return (matrix @ inner).unflatten(0, (count, directions))
    inner = covariance.flatten(0, 2) @ matrix.mT
    inner = inner.reshape(functions, directions, functions * count)
    return (matrix @ inner).unflatten(2, (functions, count))


def combinations(values: Float[Tensor, "k k"], samples: int) -> Float[Tensor, "j k"]:
    """Combinations of the test functions that are uncorrelated, with variance 1.

    Args:
        values: covariance of the functions.
        samples: number of samples, which limits the number of combinations.
    """
    variances, axes = symmetric_eigen(values)
    kept = variances > VALUE_SHARE * variances[-1]
    most = max(1, samples // SAMPLES_PER_COMBINATION)
    return (axes[:, kept] / variances[kept].sqrt()).mT[-most:]


def noise_of(problem: MeanProblem, h: Float[Tensor, "r d"]) -> Float[Tensor, "k d k d"]:
    """Covariance of the means along given directions."""
    return transformed(problem.covariance, h.mT, 1) / problem.samples


def solve_means(problem: MeanProblem) -> tuple[Float[Tensor, " r"], Float[Tensor, "r r"]]:
    """Squared means less their noise, ascending, and directions as columns; noise may leave some below 0."""
    return symmetric_eigen(problem.mean.mT @ problem.mean - problem.noise)


def quadratic_test(
    problem: MeanProblem, h: Float[Tensor, "r d"], rest: Float[Tensor, "r e"] | None = None
) -> QuadraticTest:
    """Test that the means vanish along directions.

    Args:
        problem: the means.
        h: orthonormal directions, as columns.
        rest: the other directions, if `h` was chosen for its small means: turning `h` towards them has used up the combinations
            of test functions along which they move. None for directions that were fixed beforehand.
    """
    mean, covariance = problem.mean @ h, noise_of(problem, h)
    used = None if rest is None else problem.mean @ rest
    return test_of_means(mean, covariance, used, covered=problem.covered)


def test_of_means(
    mean: Float[Tensor, "k d"],
    covariance: Float[Tensor, "k d k d"],
    used: Float[Tensor, "k e"] | None,
    *,
    covered: int,
) -> QuadraticTest:
    """Test that means vanish.

    Args:
        mean: of the derivatives along some directions.
        covariance: of these means.
        used: means along other directions, towards which these may have been turned; None if they were fixed beforehand.
        covered: number of samples from which the covariance was taken.
    """
    if used is not None and used.shape[1]:
        free = _free(used)
        mean = free.mT @ mean
        covariance = transformed(covariance, free.mT, 0)
    matrix = covariance.flatten(2).flatten(0, 1)
    trace, square = float(matrix.trace()), float(matrix.square().sum())
    # The square of an estimated covariance is too large by what its own noise adds.
    square = max(
        square - trace**2 / covered, trace**2 / len(matrix), torch.finfo(matrix.dtype).tiny
    )
    return QuadraticTest(float(mean.square().sum()), trace, trace**2 / square)


def _free(used: Float[Tensor, "k e"]) -> Float[Tensor, "k f"]:
    """Combinations of test functions along which the other directions do not move, as orthonormal columns."""
    axes = torch.linalg.qr(used).Q
    return torch.linalg.qr(axes, mode="complete").Q[:, axes.shape[1] :]


def _ratio_at_least(
    problem: MeanProblem, h: Float[Tensor, "r d"], rest: Float[Tensor, "r e"]
) -> float:
    """Lower bound of the ratio of `quadratic_test`, without the covariance of the free combinations."""
    mean = problem.mean @ h
    if rest.shape[1]:
        mean = _free(problem.mean @ rest).mT @ mean
    expected = float(torch.einsum("ad,ab,bd->", h, problem.noise, h))
    return float(mean.square().sum()) / expected if expected > 0 else math.inf


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanStatistics:
    """What remains of the means when the functions are summed over: enough to test any direction that was fixed beforehand.

    Attributes:
        squares: `[r, r]`, squared means, in coordinates in which the candidates move the data equally.
        noise: `[r, r]`, what sampling noise alone makes of them on average.
        coordinates: `[r, g]`, these coordinates of a direction.
        freedom: degrees of freedom of the law of the noise, the fewest of any direction: intervals are rather too wide.
    """

    squares: Float[Tensor, "r r"]
    noise: Float[Tensor, "r r"]
    coordinates: Float[Tensor, "r g"]
    freedom: float

    def test(self, h: Float[Tensor, "d g"]) -> QuadraticTest:
        """Mean of the tests of directions that were fixed beforehand, per unit of motion each."""
        axes = self.coordinates @ h.to(self.coordinates).mT
        axes = axes / axes.norm(dim=0).clamp_min(torch.finfo(axes.dtype).tiny)
        statistic, expected = (
            float(torch.einsum("ad,ab,bd->d", axes, matrix, axes).mean())
            for matrix in (self.squares, self.noise)
        )
        return QuadraticTest(statistic, expected, self.freedom * h.shape[0])

    def interval(
        self, h: Float[Tensor, "d g"], values: Float[Tensor, " d"], *, scale: float, level: float
    ) -> Float[Tensor, "d 2"]:
        """Intervals of the defects of directions; NaN for one whose defect is.

        Args:
            h: their coefficients.
            values: their defects.
            scale: squared mean of an average direction.
            level: nominal coverage.
        """
        rows = []
        for direction, value in zip(h[:, None], values.tolist(), strict=True):
            known = math.isfinite(value) and scale > 0
            ends = self.test(direction).bounds(level) if known else (math.nan, math.nan)
            rows.append([end / scale if known else math.nan for end in ends])
        return values.new_tensor(rows).reshape(-1, 2)


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanSolution:
    """Directions in ascending order of defect, with tests.

    Attributes:
        solution: defects and directions, as for a model.
        bounds: `[r, 2]`, intervals of the defects.
        tests: of each direction.
        found: number of directions along which the means vanish within noise.
        span: test of all of these together; None if there is none.
        following: test of one more; None if no direction is left.
        axes: `[r, r]`, the directions as columns, in the coordinates of the means.
        statistics: for tests of other directions.
    """

    solution: Defects
    bounds: Float[Tensor, "r 2"]
    tests: tuple[QuadraticTest, ...]
    found: int
    span: QuadraticTest | None
    following: QuadraticTest | None
    axes: Float[Tensor, "r r"]
    statistics: MeanStatistics

    @property
    def deciding(self) -> QuadraticTest | None:
        """The test in which a change along one of the directions found, or along the nearest, must show; None without directions."""
        return self.span or self.following


def solve_distribution(
    problem: MeanProblem,
    displacement: Displacement,
    *,
    tolerance: float,
    level: float,
    reference: float,
) -> MeanSolution:
    """Defects of every direction with intervals, and how many vanish within noise.

    Args:
        problem: the means.
        displacement: how far the candidates move the data.
        tolerance: share of the displacement below which a direction does not move the data.
        level: nominal coverage of the intervals.
        reference: squared mean of a motion that counts as average if chance explains every candidate.
    """
    squares, axes = solve_means(problem)
    total = len(squares)
    span, following, found = None, None, 0
    for number in range(total, 0, -1):
        h, rest = axes[:, :number], axes[:, number:]
        if _ratio_at_least(problem, h, rest) > SURELY_REJECTED:
            continue
        test = quadratic_test(problem, h, rest)
        if test.p_value >= COUNT_LEVEL:
            span, found = test, number
            break
    if found < total:
        following = quadratic_test(problem, axes[:, : found + 1], axes[:, found + 1 :])
    kappa = float(squares.clamp_min(0).mean())
    if found == total:
        kappa = reference  # nothing moves the means, so that there is no average to compare with
    tests = tuple(
        quadratic_test(problem, axes[:, [i]], axes[:, found:] if i < found else None)
        for i in range(total)
    )
    scale = kappa if kappa > 0 else 1.0
    bounds = torch.tensor([test.bounds(level) for test in tests], dtype=torch.float64) / scale
    noise = torch.tensor([test.deviation for test in tests], dtype=torch.float64)
    values = (torch.maximum(squares, noise) / scale).sort().values
    bounds = torch.stack(
        [torch.minimum(bounds[:, 0], values), torch.maximum(bounds[:, 1], values)], dim=1
    )
    directions = (problem.whiten @ axes).mT
    directions = fix_signs(directions / directions.norm(dim=1, keepdim=True))
    _, kernel = whitening(displacement, tolerance)
    trivial, barely = trivial_of(kernel, displacement, tolerance, 0.0)
    return MeanSolution(
        solution=Defects(values, directions, trivial, kappa, barely),
        bounds=bounds,
        tests=tests,
        found=found,
        span=span,
        following=following,
        axes=axes,
        statistics=MeanStatistics(
            squares=problem.mean.mT @ problem.mean,
            noise=problem.noise,
            coordinates=torch.linalg.pinv(problem.whiten),
            freedom=min((test.freedom for test in tests), default=1.0),
        ),
    )


def direction_error(problem: MeanProblem, axes: Float[Tensor, "r r"], count: int) -> float:
    """Angle by which one of the first directions may be off: the root mean square of its noise towards the others, to first order.

    Args:
        problem: the means.
        axes: the directions as columns, in ascending order of defect.
        count: how many of them are asked about.
    """
    rest = axes[:, count:]
    if not count or not rest.shape[1]:
        return 0.0
    inverse = torch.linalg.pinv(problem.mean @ rest)
    noise = noise_of(problem, axes[:, :count])
    turned = torch.einsum("ak,kilj,bl->aibj", inverse, noise, inverse)
    each = torch.einsum("aiai->i", turned)
    return float(each.max().sqrt())
