"""All known algebras near a span, each fitted to it, and which of them is named."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from jaxtyping import Float
from torch import Tensor

from liegg.algebra.families.blocks import affine, blocks
from liegg.algebra.families.classical import (
    complex_linear,
    general,
    heisenberg,
    orthogonal,
    shears,
    symplectic,
)
from liegg.algebra.families.record import Member, Proposer
from liegg.algebra.fit import Fit, chi_square, fit

PROPOSALS_PER_PART = 2
"""Algebras proposed for a part of a sum, or for the linear part of an affine algebra."""

PART_NOISE_FACTOR = 30.0
"""Multiple of the noise beyond which a part is not used.

Noise can be larger within a part than in the sum."""

STRETCH_FACTOR = 3.0
"""Largest condition number of the coordinates, times the root of the noise.

Beyond it, an algebra cannot be told from the simpler one it turns into when the coordinates are
stretched without end, such as so(3) from se(2); the simpler one is proposed by itself."""

PLAUSIBLE_STRETCH = 30.0
"""Condition number that coordinates plausibly have."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A known algebra fitted to a span.

    Attributes:
        member: the algebra as it was proposed.
        fit: its best place near the span.
    """

    member: Member
    fit: Fit

    @property
    def name(self) -> str:
        """Name of the algebra."""
        return self.member.name

    @property
    def stretch(self) -> float:
        """Upper bound on the condition number of the standard coordinates of the fitted algebra."""
        return self.member.stretch * self.fit.stretch

    def stretched(self, noise: float) -> bool:
        """Whether the condition number is larger than noise allows to resolve."""
        return self.stretch > max(STRETCH_FACTOR / noise**0.5, PLAUSIBLE_STRETCH)

    def fits(self, noise: float) -> bool:
        """Whether noise explains its distance."""
        return self.fit.needs() <= noise

    def better(self, other: "Candidate") -> bool:
        """Whether it is nearer than another fit of its kind or, if as near, less stretched."""
        if abs(self.fit.distance - other.fit.distance) <= 1e-3 * other.fit.distance + 1e-12:
            return self.stretch < other.stretch
        return self.fit.distance < other.fit.distance


def candidates(
    span: Float[Tensor, "d n n"], noise: float, *, stop_early: bool = False
) -> list[Candidate]:
    """Fitted algebras of the dimension of the span, the best of each name, in order of preference.

    Args:
        span: orthonormal generators.
        noise: relative error of a unit generator; affine algebras and sums far beyond it are not
            tried.
        stop_early: where an algebra of one of the smallest families fits, do not search larger
            ones.
    """
    by_name: dict[str, Candidate] = {}
    for stage in STAGES:
        for kind in stage:
            members = [one for one in kind(span, noise) if len(one.generators) == len(span)]
            fitted = [Candidate(member, fit(member.generators, span)) for member in members]
            for one in fitted:
                if one.name not in by_name or one.better(by_name[one.name]):
                    by_name[one.name] = one
            if any(one.fits(noise) for one in fitted):
                break
        if stop_early and stage is SIMPLEST and any(one.fits(noise) for one in by_name.values()):
            break
    distinct: list[Candidate] = []
    for one in sorted(by_name.values(), key=lambda one: one.stretched(noise)):
        if not any(_same(one, preferred, noise) for preferred in distinct):
            distinct.append(one)
    return distinct


def best(span: Float[Tensor, "d n n"], noise: float) -> Iterator[Member]:
    """The few known algebras nearest to a span after a fit."""
    if not len(span):
        yield Member("", span)
        return
    near = [
        one
        for one in candidates(span, noise, stop_early=True)
        if one.fits(PART_NOISE_FACTOR * noise) and not one.stretched(noise)
    ]
    near.sort(key=lambda one: (max(one.fit.needs(), noise), one.fit.orbit))
    for one in near[:PROPOSALS_PER_PART]:
        yield replace(one.member, generators=one.fit.generators, stretch=one.stretch)


def _same(one: Candidate, preferred: Candidate, noise: float) -> bool:
    """Whether it is the same span as another of its family or, if stretched, as a simpler one."""
    a, b = one.fit.generators.flatten(1), preferred.fit.generators.flatten(1)
    near = float((a - a @ b.mT @ b).norm()) < max(1e-6, 0.2 * noise)
    return near and (one.fit.orbit == preferred.fit.orbit or one.stretched(noise))


def _plain(kind: Callable[[Tensor], Iterator[Member]]) -> Proposer:
    return lambda span, _: kind(span)


SIMPLEST: tuple[Proposer, ...] = (_plain(general), _plain(shears), _plain(heisenberg))
"""Kinds with the smallest families: where one of them fits, no simpler algebra does."""

STAGES: tuple[tuple[Proposer, ...], ...] = (
    SIMPLEST,
    (_plain(orthogonal),),
    (_plain(symplectic),),
    (_plain(complex_linear),),
    (partial(affine, linear=best), partial(affine, linear=best, dual=True)),
    (partial(blocks, best=best), partial(blocks, best=best, loose=4.0)),
)
"""Kinds in order of preference; within a stage, the search ends with the first that fits."""


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
