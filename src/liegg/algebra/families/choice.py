"""Which of the fitted models is named, and how sure that is."""

import math

from liegg.algebra.families.candidates import PLAUSIBLE, Candidate
from liegg.algebra.fit import chi_square

NESTED = 3e-3
"""Chance with which noise may make a larger family look needed; below it the larger family is named."""

MARGIN = 1.5
"""Smallest margin of a confident name: every other name would need an uncertainty larger by this."""


def simplest(found: list[Candidate], noise: float, luck: float) -> Candidate | None:
    """The admitted candidate of the smallest family, unless a larger one fits better than its freedom explains.

    Args:
        found: all candidates.
        noise: uncertainty of a unit generator.
        luck: largest chance with which a span that is no algebra comes as near; beyond it nothing is named.
    """
    admitted = [one for one in found if one.fits(noise) and not one.stretched(noise)]
    admitted.sort(key=lambda one: (one.fit.orbit, one.fit.needs()))
    for one in admitted:
        if (
            max(
                (_gain(one, other, noise) for other in admitted if other.fit.orbit > one.fit.orbit),
                default=0.0,
            )
            <= 1
        ):
            return one if one.fit.luck <= luck else None
    return None


def margin_of(chosen: Candidate, found: list[Candidate], noise: float) -> float:
    """Times the uncertainty that another name as simple would need; at most 1 where another family fits as well.

    A larger family counts if its coordinates are stretched by no more than `PLAUSIBLE`, a smaller one if noise admits it.

    Args:
        chosen: the one that is named.
        found: all candidates.
        noise: uncertainty of a unit generator.
    """
    others = [one for one in found if one is not chosen]
    as_simple = [one.fit.needs() / noise for one in others if one.fit.orbit <= chosen.fit.orbit]
    larger = [
        one
        for one in others
        if one.fit.orbit > chosen.fit.orbit and one.fits(noise) and one.stretch <= PLAUSIBLE
    ]
    return min([math.inf, *as_simple, *(1.0 for _ in larger)])


def _gain(smaller: Candidate, larger: Candidate, noise: float) -> float:
    """How much better a larger family fits, over what its freedom explains but for a chance: a test of likelihood ratios."""
    gain = smaller.fit.misfit(noise) - larger.fit.misfit(noise)
    return gain / chi_square(larger.fit.orbit - smaller.fit.orbit, 1 - NESTED)
