"""A sum of squares of means, tested against what sampling noise makes of it."""

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class QuadraticTest:
    """A sum of squares of means against its law under noise, a multiple of a chi-square variable (Satterthwaite).

    Attributes:
        statistic: the sum of squares.
        expected: its mean under noise alone.
        freedom: degrees of freedom of the law.
    """

    statistic: float
    expected: float
    freedom: float

    @property
    def ratio(self) -> float:
        """The statistic over its mean under noise."""
        return self.statistic / self.expected if self.expected > 0 else math.inf

    @property
    def deviation(self) -> float:
        """Standard deviation of the statistic under noise alone: what cannot be told from 0."""
        return self.expected * math.sqrt(2 / self.freedom)

    @property
    def p_value(self) -> float:
        """Probability of a statistic as large, under noise alone."""
        from scipy.stats import chi2

        return float(chi2.sf(self.ratio * self.freedom, self.freedom))

    def bounds(self, level: float) -> tuple[float, float]:
        """Interval of the squared mean itself: values of the noncentrality that the statistic does not reject."""
        from scipy.stats import ncx2

        seen, tail = self.ratio * self.freedom, (1 - level) / 2
        unit = self.expected / self.freedom

        def end(probability: float) -> float:
            def excess(noncentrality: float) -> float:
                return float(ncx2.cdf(seen, self.freedom, noncentrality)) - probability

            if excess(1e-12) <= 0:
                return 0.0
            most = 4 * (seen + 20 * math.sqrt(2 * self.freedom + 4 * seen) + 20)
            return _root(excess, most) * unit if excess(most) < 0 else most * unit

        return end(1 - tail), end(tail)

    def seen(self, level: float, power: float) -> float:
        """Squared mean that a test of this level would have rejected with a probability of `power`."""
        from scipy.stats import chi2, ncx2

        limit = float(chi2.isf(level, self.freedom))

        def missing(noncentrality: float) -> float:
            return power - float(ncx2.sf(limit, self.freedom, noncentrality))

        most = 10 * (limit + 100)
        return _root(missing, most) * self.expected / self.freedom


def _root(function: Callable[[float], float], most: float) -> float:
    """Where a monotone function changes its sign, between nearly 0 and a bound."""
    from scipy.optimize import brentq

    return float(brentq(function, 1e-12, most))  # pyright: ignore[reportArgumentType]
