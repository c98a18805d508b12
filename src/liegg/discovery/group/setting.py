"""The question that a search for finite elements answers: a model, samples to search on, samples to judge on."""

from dataclasses import dataclass, field
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action
from liegg.actions.finite.generators import generators_on
from liegg.actions.finite.grid import GridSpace
from liegg.actions.finite.space import Space
from liegg.actions.finite.vectors import VectorSpace
from liegg.decision.gap import mixing_angle
from liegg.decision.thresholds import Thresholds
from liegg.discovery.verification.measure import Directions, Question
from liegg.results.symmetries import Symmetries

LARGE_MOVED_SAMPLE = 200
"""Numbers in a sample from which on fewer samples are judged and controls are fewer: models of images take long."""

ANOTHER_SAMPLE = 2.0
"""Squared difference of the outputs of two independent samples, over the variance: no map is compared with a larger change.

Random maps leave the data's region, where polynomials explode and any element would look small beside them."""

RANDOM_STARTS = 256
"""Random starts per round of a search over matrices: with 96 the quaternion group in four dimensions is missed."""

INPUT_UNITS = 2.0
"""Rounding units by which inputs are shaken to see what rounding does to the outputs."""

FLOOR_FACTOR = 50.0
"""How many times that change, or units of the output's size, may be rounding: elements are products of matrices."""

INEXACT_GENERATORS = 0.05
"""Relative error of generators that are not exact."""


@dataclass(frozen=True, eq=False)
class Setting:
    """A question about finite elements.

    Attributes:
        search: the model with the samples on which elements are fitted.
        held_out: the same with samples on which they are judged.
        continuous: the continuous symmetries; None where the action has no generators.
        thresholds: what counts as a symmetry.
        seed: of random starts and controls.
        starts: random starts of each round of a search over matrices; 0 for structured elements alone.
        exact_only: whether only the exact ones of the continuous symmetries are divided out.
        local: whether finite motions refute the exact ones; then none is divided out.
        representatives: what is divided out instead of the continuous symmetries that were found, where the data leaves their finite
            motions open; None if it does not.
    """

    search: Question
    held_out: Question
    continuous: Symmetries | None = None
    thresholds: Thresholds = field(default_factory=Thresholds)
    seed: int = 0
    starts: int = RANDOM_STARTS
    exact_only: bool = False
    local: bool = False
    representatives: Directions | None = None

    @property
    def action(self) -> Action:
        """The candidates of the continuous problem."""
        return self.search.action

    @cached_property
    def spaces(self) -> tuple[Space, ...]:
        """What elements act on."""
        return tuple(self.action.spaces(tuple(self.search.x.shape[1:])))

    @cached_property
    def output_spaces(self) -> tuple[Space, ...]:
        """What elements may do to the output; empty for invariance."""
        action = self.search.output_action
        return () if action is None else action.output_spaces(self.search.model.output_shape)

    @property
    def matrix_spaces(self) -> tuple[Space, ...]:
        """Spaces whose matrices form one group; permutations of slots and shifts are groups of their own."""
        return tuple(s for s in self.spaces if isinstance(s, VectorSpace | GridSpace))

    @property
    def exact_directions(self) -> int:
        """Number of exact ones among them; they come first."""
        if self.continuous is None or self.local:
            return 0
        exact = self.continuous.decision.exact
        if self.representatives is None:
            return exact
        return len(self.representatives.h) if self.exact_only or exact == self._nullity else 0

    @property
    def directions(self) -> int:
        """Number of continuous symmetries that are divided out."""
        if self.continuous is None or self.local:
            return 0
        if self.representatives is not None:
            return len(self.representatives.h)
        return self.continuous.decision.exact if self.exact_only else self._nullity

    @property
    def _nullity(self) -> int:
        return 0 if self.continuous is None else self.continuous.nullity

    @property
    def coefficients(self) -> Float[Tensor, "d g"]:
        """The continuous symmetries that are divided out, in the candidates of the action."""
        if self.representatives is not None and not self.local:
            return self.representatives.h
        if self.continuous is None:
            return torch.zeros(0, self.action.size, dtype=torch.float64)
        return self.continuous.coefficients[: self.directions].double().cpu()

    def partners(self, h: Float[Tensor, "m g"]) -> Float[Tensor, "m p"] | None:
        """What combinations of them do to the output; None for invariance."""
        if self.search.output_action is None or self.continuous is None:
            return None
        if self.representatives is None or self.representatives.k is None:
            return self.continuous.accumulated.partners(h)
        return h @ torch.linalg.pinv(self.representatives.h) @ self.representatives.k

    @property
    def inexact(self) -> bool:
        """Whether some of these hold only nearly."""
        return self.directions > self.exact_directions

    @property
    def nearly_continuous(self) -> bool:
        """Whether there are continuous symmetries that hold only nearly."""
        return self._nullity > 0 and self._nullity > self.exact_directions

    @cached_property
    def uncertainty(self) -> float:
        """Relative error of their unit generators; that of exact ones is the rounding of the model's arithmetic."""
        if self.continuous is None or not self.directions:
            return 0.0
        if self.inexact:
            return INEXACT_GENERATORS
        values, floor = self.continuous.accumulated.solution.values, self.continuous.decision.floor
        return min(mixing_angle(values, self.directions, floor), INEXACT_GENERATORS)

    @cached_property
    def floor(self) -> float:
        """Effect that rounding alone may cause."""
        return rounding_floor(self.held_out)

    @cached_property
    def algebra(self) -> Float[Tensor, "d n n"]:
        """Generators of the continuous symmetries on all spaces of matrices, as blocks of one matrix."""
        spaces = self.matrix_spaces
        zeros = [torch.zeros(space.side, space.side, dtype=torch.float64) for space in spaces]
        blocks = [
            torch.block_diag(*zeros[:place], generator, *zeros[place + 1 :])
            for place, space in enumerate(spaces)
            for generator in self.algebra_on(space)
        ]
        side = sum(map(len, zeros))
        return torch.stack([torch.zeros(side, side, dtype=torch.float64), *blocks])[1:]

    def algebra_on(self, space: Space) -> Float[Tensor, "d n n"]:
        """Generators of the continuous symmetries that move this space and no other."""
        if isinstance(space, VectorSpace) and self.directions:
            return generators_on(space, self.action, self.coefficients)
        return torch.zeros(0, space.side, space.side, dtype=torch.float64)

    def frame_on(self, space: Space) -> Float[Tensor, "n n"]:
        """Coordinates as columns in which affine maps depend on no unit and no origin: the data's mean and spread; else 1."""
        frame = torch.eye(space.side, dtype=torch.float64)
        if isinstance(space, VectorSpace) and space.homogeneous:
            points = space.factors(self.search.x.double()).flatten(0, 1).cpu()
            frame[:-1, -1] = (points[:, -1] @ points[:, :-1]) / points[:, -1].sum().clamp_min(1.0)
            frame[:-1, :-1] *= self.search.spread
        return frame

    def shaped(self, y: Float[Tensor, "b c"]) -> Float[Tensor, "b ..."]:
        """Outputs in their own shape."""
        return y.reshape(len(y), *self.search.model.output_shape)


def rounding_floor(question: Question) -> float:
    """Root mean square change of the output, over its spread, that rounding alone may cause.

    Inputs are shaken by a few rounding units; the change of the output is what its arithmetic does to a moved sample.
    """
    generator = torch.Generator().manual_seed(0)
    total = 0.0
    for part in question.parts:
        x = question.x[part].double()
        noise = torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x)
        size = _size(question.action, x).reshape(-1, *[1] * (x.ndim - 1))
        shaken = x + INPUT_UNITS * question.eps * size * question.action.moving(x, noise)
        gap = question.taken(question.reply(shaken), part) - question.y[part]
        total += float(gap.square().sum())
    change = (total / len(question.x)) ** 0.5
    own = question.eps * question.output_square**0.5
    spread = max(question.variance, torch.finfo(torch.float64).tiny) ** 0.5
    return FLOOR_FACTOR * max(change, own) / spread


def _size(action: Action, x: Float[Tensor, "b ..."]) -> Float[Tensor, " b"]:
    """Root mean square number of every sample, without context."""
    moved = action.moving(x).flatten(1).square().sum(1)
    count = action.moving(x, torch.ones_like(x)).flatten(1).sum(1)
    return (moved / count.clamp_min(1.0)).sqrt()
