"""All models near a span, each fitted: every kind in turn, alone, with translations, and in sums."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from jaxtyping import Float
from torch import Tensor

from liegg.algebra.families.affine import affine
from liegg.algebra.families.blocks import blocks
from liegg.algebra.families.classical import general, orthogonal, symplectic
from liegg.algebra.families.nilpotent import heisenberg, shears
from liegg.algebra.families.record import Model, Proposer
from liegg.algebra.families.unitary import complex_linear
from liegg.algebra.fit import Fit, fit

BEST = 2
"""Models kept for a part of a sum or for the linear part of an affine algebra."""

HOPELESS = 30.0
"""Multiple of the noise beyond which a part is not used; within a part noise can be larger than in the whole."""

STRETCH = 3.0
"""Coordinates may be stretched by at most this over the root of the noise: beyond, an algebra cannot be told from the simpler one
it turns into when they are stretched without end, so(3) from se(2) say, and the simpler one is proposed by itself."""

PLAUSIBLE = 30.0
"""Stretching that coordinates may well have."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A model fitted to a span.

    Attributes:
        model: the model, as it was proposed.
        fit: its best place near the span.
    """

    model: Model
    fit: Fit

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.model.name

    @property
    def stretch(self) -> float:
        """Condition number of the coordinates in which the fitted algebra is standard, at most."""
        return self.model.stretch * self.fit.stretch

    def stretched(self, noise: float) -> bool:
        """Whether the stretching is beyond what noise lets one see."""
        return self.stretch > max(STRETCH / noise**0.5, PLAUSIBLE)

    def fits(self, noise: float) -> bool:
        """Whether noise explains its distance."""
        return self.fit.needs() <= noise

    def better(self, other: "Candidate") -> bool:
        """Whether it is nearer than another fit of the same kind or, ending in the same place, came there with less stretching."""
        if abs(self.fit.distance - other.fit.distance) <= 1e-3 * other.fit.distance + 1e-12:
            return self.stretch < other.stretch
        return self.fit.distance < other.fit.distance


def candidates(
    span: Float[Tensor, "d n n"], noise: float, *, short: bool = False
) -> list[Candidate]:
    """Fitted models with the dimension of the span, the best of each name, in the order in which names are preferred.

    Args:
        span: orthonormal generators.
        noise: relative error of a unit generator; affine algebras and sums that are far beyond it are not tried.
        short: where an algebra of one of the smallest families fits, do not look for larger ones that may fit too.
    """
    found: dict[str, Candidate] = {}
    for stage in STAGES:
        for kind in stage:
            models = [model for model in kind(span, noise) if len(model.generators) == len(span)]
            fitted = [Candidate(model, fit(model.generators, span)) for model in models]
            for one in fitted:
                if one.name not in found or one.better(found[one.name]):
                    found[one.name] = one
            if any(one.fits(noise) for one in fitted):
                break
        if short and stage is SIMPLEST and any(one.fits(noise) for one in found.values()):
            break
    return _distinct(sorted(found.values(), key=lambda one: one.stretched(noise)), noise)


def best(span: Float[Tensor, "d n n"], noise: float) -> Iterator[Model]:
    """The few models nearest to a span after a fit."""
    if not len(span):
        yield Model("", span)
        return
    near = [
        one
        for one in candidates(span, noise, short=True)
        if one.fits(HOPELESS * noise) and not one.stretched(noise)
    ]
    ranked = sorted(near, key=lambda one: (max(one.fit.needs(), noise), one.fit.orbit))
    for one in ranked[:BEST]:
        yield replace(one.model, generators=one.fit.generators, stretch=one.stretch)


def _distinct(found: list[Candidate], noise: float) -> list[Candidate]:
    """Without those that ended in the same span as one whose name is preferred."""
    kept: list[Candidate] = []
    for one in found:
        if not any(_same(one, other, noise) for other in kept):
            kept.append(one)
    return kept


def _same(one: Candidate, preferred: Candidate, noise: float) -> bool:
    """Whether it ended in the span of another of its size, or, stretched, in that of a simpler one."""
    a, b = one.fit.generators.flatten(1), preferred.fit.generators.flatten(1)
    near = float((a - a @ b.mT @ b).norm()) < max(1e-6, 0.2 * noise)
    return near and (one.fit.orbit == preferred.fit.orbit or one.stretched(noise))


def _plain(kind: Callable[[Tensor], Iterator[Model]]) -> Proposer:
    return lambda span, _: kind(span)


SIMPLEST: tuple[Proposer, ...] = (_plain(general), _plain(shears), _plain(heisenberg))
"""Kinds with the smallest families: where one of them fits, nothing simpler does."""

STAGES: tuple[tuple[Proposer, ...], ...] = (
    SIMPLEST,
    (_plain(orthogonal),),
    (_plain(symplectic),),
    (_plain(complex_linear),),
    (partial(affine, linear=best), partial(affine, linear=best, dual=True)),
    (partial(blocks, best=best), partial(blocks, best=best, loose=4.0)),
)
"""Kinds in the order in which their names are preferred; within a stage one that fits makes the following superfluous."""
