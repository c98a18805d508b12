"""The directions found, tested by test functions that did not choose them: finer ones, and the usual ones beside the user's own."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.actions import Action
from liegg.decision.distribution import COUNT_LEVEL, combinations, test_of_means, transformed
from liegg.decision.distribution_test import FurtherTest
from liegg.decision.quadratic_test import QuadraticTest
from liegg.discovery.data.functions import FEWEST_FREE, grid_of
from liegg.discovery.data.reading import Reading, span_means_of
from liegg.polarization.row_means import LARGEST_COVARIANCE
from liegg.polarization.span_means import SpanMeans
from liegg.polarization.test_functions import (
    FULL_NUMBERS,
    FourierFeatures,
    TestFunctions,
    data_size,
    fourier_features,
)
from liegg.results.symmetries import Symmetries
from liegg.spectrum.defects import squared_motion

FINER_SCALES = (2.0, 3.0, 4.5, 7.0)
"""Frequencies of the finer functions in the plane, in units of one over the size of the data: four to ten times the usual ones. In
more dimensions a wave has the same length."""

SMALLEST_CHANCE = 1e-12
"""Chance below which nothing more is said of it."""


def further_tests(
    sym: Symmetries, reading: Reading, *, count: int, own: bool, seed: int
) -> tuple[tuple[FurtherTest, ...], Remark | None]:
    """Tests of the directions found, by functions that did not choose them, and what speaks against these directions.

    Args:
        sym: the symmetries, by the first test functions.
        reading: the data.
        count: number of functions of each family.
        own: whether the first test functions were the user's own.
        seed: of the further test functions.

    Returns:
        The tests, and a doubt; None if no test rejects the directions.
    """
    tests = sym.distribution
    claimed = 0 if tests is None else max(sym.nullity, tests.found)
    if not claimed or tests is None:
        return (), None
    directions = sym.accumulated.solution.directions
    speeds = squared_motion(directions, sym.accumulated.displacement).sqrt()
    axes = (directions / speeds[:, None]).mT
    along, rest = axes[:, :claimed], axes[:, claimed:]
    families = _families(reading, along, rest, count=count, own=own, seed=seed)
    if not families:
        return (), None
    judged: list[tuple[FurtherTest, bool]] = []
    for functions, means in zip(families, span_means_of(reading, families, along), strict=True):
        posed = _posed(means, along, rest, dispersion=tests.dispersion)
        if posed is None:
            continue
        words = reading.classes.in_words(functions.name)
        test = FurtherTest(words, _wavelength(functions, reading), posed.test.p_value)
        # What is not exact by the first functions must be small by the further ones too.
        limit = sym.decision.thresholds.threshold if sym.nullity > tests.found else 0.0
        judged.append((test, posed.defect >= limit))
    further = tuple(test for test, _ in judged)
    speaking = [
        test for test, large in judged if large and test.p_value < COUNT_LEVEL / len(judged)
    ]
    if not speaking:
        return further, None
    least = min(speaking, key=lambda test: test.p_value)
    p = max(least.p_value, SMALLEST_CHANCE)
    return further, Diagnosis.DATA_FAILS_FURTHER(count=claimed, functions=least.functions, p=p)


def _families(
    reading: Reading,
    along: Float[Tensor, "g d"],
    rest: Float[Tensor, "g e"],
    *,
    count: int,
    own: bool,
    seed: int,
) -> list[TestFunctions]:
    """Families of about so many functions: as the covariance allows and the other directions need; none if that is impossible."""
    action, x = reading.action, reading.first
    most = LARGEST_COVARIANCE // (along.shape[1] * reading.classes.count)
    count = min(most, max(count, 2 * rest.shape[1]))
    if count * reading.classes.count < rest.shape[1] + FEWEST_FREE:
        return []
    grid = grid_of(action, x)
    families: list[TestFunctions] = []
    if own:
        families.append(fourier_features(x, count, seed=seed, grid=grid))
    if _is_coloured_or_on_grid(action):  # finer filters would see pixels
        return families
    shrink = math.sqrt(2 / min(max(2, x[0].numel()), FULL_NUMBERS))
    families += [
        fourier_features(x, count, seed=seed + place, scales=(shrink * scale,))
        for place, scale in enumerate(FINER_SCALES, start=1)
    ]
    return families


def _is_coloured_or_on_grid(action: Action) -> bool:
    return action.stage in ("grid", "colour")


class _Posed(NamedTuple):
    """Means of further functions along the directions.

    Attributes:
        test: that these means vanish, once the directions may turn towards the others.
        directions: number of directions.
        average: squared mean of an average candidate, less its noise.
    """

    test: QuadraticTest
    directions: int
    average: float

    @property
    def defect(self) -> float:
        """Mean defect of the directions, as these functions see it."""
        own = max(self.test.statistic - self.test.expected, 0.0) / self.directions
        return own / max(self.average, own, torch.finfo(torch.float64).tiny)


def _posed(
    means: SpanMeans, along: Float[Tensor, "g d"], rest: Float[Tensor, "g e"], *, dispersion: float
) -> _Posed | None:
    """The test of all directions together; None if there are too few samples or functions for it."""
    chosen = combinations(means.values, means.samples)
    if len(chosen) < rest.shape[1] + FEWEST_FREE or means.covered < 2:
        return None
    covariance = transformed(means.covariance, chosen, 0) * (dispersion / means.samples)
    mean, used = chosen @ means.mean @ along, chosen @ means.mean @ rest
    test = test_of_means(mean, covariance, used, covered=means.covered)
    noise = float(torch.einsum("kaka->", covariance)) / along.shape[1]
    average = float(torch.cat([mean, used], 1).square().sum(0).mean()) - noise
    return _Posed(test, along.shape[1], average)


def _wavelength(functions: TestFunctions, reading: Reading) -> float:
    """Typical wavelength of Fourier features in units of the data's size; NaN for others."""
    if not isinstance(functions, FourierFeatures) or _is_coloured_or_on_grid(reading.action):
        return math.nan
    lengths = functions.frequencies.norm(dim=1)
    size = data_size(reading.first.flatten(1).double())
    return float(2 * math.pi / (lengths.square().mean().sqrt() * size))
