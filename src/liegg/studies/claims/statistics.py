"""Statistics of the claims: rank correlation, and the comparison of two groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from jaxtyping import Float, Num
from scipy import stats

from liegg.studies.claims.record import TooFewError
from liegg.studies.configurations import pearson

LEVEL = 0.05
"""Significance level of all claims: the conventional one.

The paper states a level only for the two correlations with the accuracy.
"""

MINIMUM_NETWORKS = 3
"""Networks that a correlation needs: any two lie on a line."""


@dataclass(frozen=True)
class Correlation:
    """Correlation of two quantities.

    Attributes:
        rho: the coefficient, -1 to 1.
        p: its p-value.
        negative: number of groups with a significantly negative coefficient.
        groups: number of groups.
    """

    rho: float
    p: float
    negative: int
    groups: int

    @property
    def falls(self) -> bool:
        """Whether the correlation is significantly negative."""
        return self.rho < 0 and self.p < LEVEL

    def __str__(self) -> str:
        return f"ρ = {self.rho:.2f}, {chance(self.p)}"


def rank_correlation(
    one: Num[np.ndarray, " n"],
    two: Num[np.ndarray, " n"],
    groups: Num[np.ndarray, " n"] | None = None,
) -> Correlation:
    r"""Spearman's correlation with ranks taken within each group, over all groups together.

    Differences between groups do not matter: networks are compared within their group only. With one
    group it is Spearman's $\rho$. The degrees of freedom are not reduced by the number of groups,
    which is small.

    Args:
        one: a quantity of each network.
        two: another one.
        groups: which group each network is in; by default all are in one.

    Raises:
        TooFewError: there are fewer than three networks, a quantity is constant, or not even the
            opposite order in every group would have a p below `LEVEL`.
    """
    groups = np.zeros(len(one)) if groups is None else groups
    x, y = _ranks(one, groups), _ranks(two, groups)
    rho, p = _pearson(x, y)
    parts = [groups == group for group in np.unique(groups)]
    against = (
        np.concatenate([np.sort(x[part]) for part in parts]),
        np.concatenate([np.sort(y[part])[::-1] for part in parts]),
    )
    best = _pearson(*against)[1]
    if best >= LEVEL:
        raise TooFewError(
            f"too few networks: the clearest order of {len(x)} has {chance(best)}, not below {LEVEL:g}"
        )
    return Correlation(
        rho, p, sum(_clearly_negative(x[part], y[part]) for part in parts), len(parts)
    )


def smaller(one: Sequence[float], two: Sequence[float]) -> float:
    """One-sided p of the Mann-Whitney test that the first values are the smaller ones.

    Args:
        one: values that should be smaller.
        two: values to compare with.

    Raises:
        TooFewError: not even completely separate groups would have a p below `LEVEL`.
    """
    best = 1 / comb(len(one) + len(two), len(one))
    if best >= LEVEL:
        raise TooFewError(
            f"too few networks: with {len(one)} and {len(two)} no p is below {LEVEL:g}"
        )
    if len({*one, *two}) == 1:  # the normal approximation for ties would divide by zero
        return 1.0
    return float(stats.mannwhitneyu(one, two, alternative="less").pvalue)


def chance(p: float) -> str:
    """A p-value as text.

    >>> chance(0.034), chance(0.0524), chance(2.3e-7), chance(0.0)
    ('p = 0.03', 'p = 0.052', 'p = 2e-07', 'p < 1e-99')
    """
    if p < 1e-99:
        return "p < 1e-99"
    if abs(p - LEVEL) < 0.005:  # two digits would not show on which side it is
        return f"p = {p:.3f}"
    return f"p = {p:.2f}" if p >= 0.01 else f"p = {p:.0e}"


def two_digits(value: float) -> str:
    """Two digits of a small number.

    >>> two_digits(0.0501), two_digits(0.001), two_digits(12.3)
    ('0.050', '0.0010', '12')
    """
    return f"{value:#.2g}".rstrip(".")


def _ranks(values: Num[np.ndarray, " n"], groups: Num[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """Ranks within each group, from -1/2 to 1/2 whatever its size."""
    ranks = np.empty(len(values))
    for group in np.unique(groups):
        inside = groups == group
        ranks[inside] = (stats.rankdata(values[inside]) - (inside.sum() + 1) / 2) / inside.sum()
    return ranks


def _clearly_negative(x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"]) -> bool:
    """Whether ranks are significantly negatively correlated; too few of them never are."""
    if len(x) < MINIMUM_NETWORKS or not (np.ptp(x) and np.ptp(y)):
        return False
    rho, p = _pearson(x, y)
    return rho < 0 and p < LEVEL


def _pearson(x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"]) -> tuple[float, float]:
    if len(x) < MINIMUM_NETWORKS:
        raise TooFewError(f"too few networks: {len(x)}, a correlation needs {MINIMUM_NETWORKS}")
    if not (np.ptp(x) and np.ptp(y)):  # ranks are exact, so constant ones are zeros
        raise TooFewError(
            "nothing to correlate: a quantity is the same in all networks that are compared"
        )
    return pearson(np.stack([x, y]))
