"""Do samples depend on each other? Means of blocks and of runs of consecutive samples, compared with what independent samples give."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

DISPERSED = 1.25
"""Variance between blocks over that of independent samples from which on samples are taken to be dependent: for independent ones
it is 1 to about 8 %."""

JOINED_RUNS, SERIAL_ERRORS = 4, 4.0
"""Runs of consecutive samples that are joined if they depend on each other, and the standard errors from which on they do."""

QUIET, LEFT_BY_NEIGHBOURS = 0.25, 0.25
"""Share of the runs that resemble the next one, at least, if the file was sorted into a few parts: only runs at the borders of parts differ
from their neighbours; and the share of the excess dispersion that is left between these, at most."""

UNLIKE = 0.9
"""Variance between neighbouring samples over that among samples nearby, at least, if neighbours are independent: 0.72 in a series whose
autocorrelation is 0.3."""


class Dispersion(NamedTuple):
    """Variance of the means of blocks over what independent samples would give.

    Attributes:
        mean: over all functions.
        largest: of any function.
    """

    mean: float
    largest: float


def dispersion_of(
    apart: Float[Tensor, "p j r"], counts: Float[Tensor, " p"], covariance: Float[Tensor, "j r j r"]
) -> Dispersion:
    """How far the means of blocks are apart."""
    filled = counts > 0
    count = int(filled.sum())
    within = torch.einsum("kaka->k", covariance)
    if count < 2 or not float(within.sum()) > 0:
        return Dispersion(1.0, 1.0)
    between = (counts[filled, None] * apart[filled].square().sum(2)).sum(0) / (count - 1)
    ratios = between / within.clamp_min(torch.finfo(within.dtype).tiny)
    return Dispersion(float(between.sum() / within.sum()), float(ratios.max()))


def serial_dispersion(
    apart: Float[Tensor, "s j r"],
    counts: Float[Tensor, " s"],
    covariance: Float[Tensor, "j r j r"],
    *,
    alike: float,
) -> tuple[float, bool]:
    """The dispersion of runs of consecutive samples, the largest of any function, and whether they are parts of a sorted file.

    It is 1 if the runs are independent, and for a sorted file. Runs that are too short see only a part of it, so that neighbouring
    ones are joined too.
    """
    found = dispersion_of(apart, counts, covariance)
    matrix = covariance.flatten(2).flatten(0, 1)
    freedom = float(matrix.trace()) ** 2 / float(matrix.square().sum().clamp_min(1e-300))
    chance = math.sqrt(2 / max((len(counts) - 1) * freedom, 1.0))
    if found.mean <= max(DISPERSED, 1 + SERIAL_ERRORS * chance):
        return 1.0, False
    if alike >= UNLIKE and _is_sorted(
        apart, counts, covariance, freedom=freedom, excess=found.mean - 1
    ):
        return 1.0, True
    joined = counts.reshape(-1, JOINED_RUNS)
    sums = (counts[:, None, None] * apart).unflatten(0, joined.shape).sum(1)
    longer = dispersion_of(
        sums / joined.sum(1).clamp_min(1)[:, None, None], joined.sum(1), covariance
    )
    return max(found.largest, longer.largest), False


def _is_sorted(
    apart: Float[Tensor, "s j r"],
    counts: Float[Tensor, " s"],
    covariance: Float[Tensor, "j r j r"],
    *,
    freedom: float,
    excess: float,
) -> bool:
    """Whether many runs differ from the next no more than chance makes them: in a series each does.

    Args:
        apart: means of the runs less that of all samples.
        counts: samples of each run.
        covariance: of one sample.
        freedom: degrees of freedom of the squared difference of two runs.
        excess: dispersion of the runs less that of independent ones.
    """
    from scipy.stats import chi2

    filled = counts > 0
    means, sizes = apart[filled], counts[filled]
    steps = means.diff(dim=0).square().sum((1, 2)) / (1 / sizes[1:] + 1 / sizes[:-1])
    seen = float(steps.quantile(QUIET)) / float(torch.einsum("kaka->", covariance))
    by_chance = float(chi2.ppf(QUIET, freedom)) / freedom
    return seen / by_chance - 1 <= min(DISPERSED - 1, LEFT_BY_NEIGHBOURS * excess)
