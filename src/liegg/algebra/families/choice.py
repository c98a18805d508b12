"""Which of the fitted algebras is named, and how sure that is."""

import math

from liegg.algebra.families.candidates import PLAUSIBLE_STRETCH, Candidate
from liegg.algebra.fit import chi_square

LARGER_FAMILY_CHANCE = 3e-3
"""Chance with which noise may make a larger family look necessary.

Below it the larger family is named."""

CONFIDENT_MARGIN = 1.5
"""Smallest margin of a confident name: other names need an uncertainty larger by this factor."""


def simplest(candidates: list[Candidate], noise: float, largest_chance: float) -> Candidate | None:
    """The admitted candidate of the smallest family, unless a larger one fits significantly better.

    Args:
        candidates: all candidates.
        noise: uncertainty of a unit generator.
        largest_chance: largest chance that a span which is not an algebra comes as near; beyond it
            nothing is named.
    """
    admitted = [one for one in candidates if one.fits(noise) and not one.stretched(noise)]
    admitted.sort(key=lambda one: (one.fit.orbit, one.fit.needs()))
    for one in admitted:
        larger = [other for other in admitted if other.fit.orbit > one.fit.orbit]
        if all(_gain(one, other, noise) <= 1 for other in larger):
            return one if one.fit.coincidence <= largest_chance else None
    return None


def margin_of(choice: Candidate, candidates: list[Candidate], noise: float) -> float:
    """Factor on the uncertainty that another name as simple needs.

    At most 1 where a larger family fits too.

    A larger family counts if the condition number of its coordinates is at most
    `PLAUSIBLE_STRETCH`, a smaller one if noise admits it.

    Args:
        choice: the candidate that is named.
        candidates: all candidates.
        noise: uncertainty of a unit generator.
    """
    margin = math.inf
    for other in candidates:
        if other is not choice and other.fit.orbit <= choice.fit.orbit:
            margin = min(margin, other.fit.needs() / noise)
        elif other is not choice and other.fits(noise) and other.stretch <= PLAUSIBLE_STRETCH:
            margin = min(margin, 1.0)
    return margin


def _gain(smaller: Candidate, larger: Candidate, noise: float) -> float:
    """Likelihood ratio test: how much better a larger family fits, over its critical value."""
    gain = smaller.fit.misfit(noise) - larger.fit.misfit(noise)
    return gain / chi_square(larger.fit.orbit - smaller.fit.orbit, 1 - LARGER_FAMILY_CHANCE)
