"""Random maps that move the samples as far as an element does, for comparison."""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action
from liegg.actions.finite.slots import SlotSpace
from liegg.actions.finite.space import Space
from liegg.actions.finite.vectors import VectorSpace
from liegg.discovery.group.setting import Setting
from liegg.discovery.verification.follow import random_directions

RANDOM_MAPS = 4
"""Random directions."""

DISPLACEMENTS = (0.05, 0.3, 0.8, 1.4, 2.0)
"""Displacements at which they are measured, in multiples of the spread; between two of them, values are interpolated."""

TRIED_LENGTHS = 12
"""Lengths of each random map at which its displacement is measured, on a few samples."""

MEASURED_SAMPLES = 32
"""Samples on which it is measured."""

MOMENT_SAMPLES = 256
"""Samples whose second moment says how far a direction moves them."""

Mover = Callable[[float, Tensor], Tensor]
"""From a length and samples to moved samples."""


@dataclass(frozen=True, eq=False)
class RandomMaps:
    """What random maps change, by how far they move the samples.

    Attributes:
        displacement: `[l]`, in multiples of the spread, ascending.
        change: `[l, n]`, squared change of every output over the variance, mean over the directions.
    """

    displacement: Float[Tensor, " l"]
    change: Float[Tensor, "l n"]

    def at(self, displacement: float) -> Float[Tensor, " n"]:
        """Change at another displacement, interpolated; proportional to its square below the first."""
        own = self.displacement.tolist()
        place = min(max(bisect_left(own, displacement), 1), len(own) - 1)
        low, high = own[place - 1], own[place]
        share = min(max((displacement - low) / max(high - low, 1e-300), 0.0), 1.0)
        between = torch.lerp(self.change[place - 1], self.change[place], share)
        return between * min(displacement / own[0], 1.0) ** 2


def random_maps(setting: Setting, space: Space) -> RandomMaps | None:
    """Measure random maps of one space on the held-out samples; None where there are none."""
    movers = _movers(setting, space)
    if not movers:
        return None
    question = setting.held_out
    x, wanted = question.x.double(), torch.tensor(DISPLACEMENTS, dtype=torch.float64)
    change = torch.zeros(len(DISPLACEMENTS), len(x), dtype=torch.float64)
    displacement = torch.zeros(len(DISPLACEMENTS), dtype=torch.float64)
    for mover in movers:
        for place, length in enumerate(
            _lengths(mover, x[:MEASURED_SAMPLES], wanted * question.spread)
        ):
            moved = mover(length, x)
            displacement[place] += (moved - x).flatten(1).square().sum(1).mean().cpu()
            for part in question.parts:
                replies = question.taken(question.reply(moved[part]), part)
                gap = (replies - question.y[part]).square().sum(1)
                gap = gap.nan_to_num(nan=0.0, posinf=0.0).cpu() / question.variance
                change[place, part] += gap / len(movers)
    displacement = (displacement / len(movers)).sqrt() / question.spread
    order = displacement.argsort()
    return RandomMaps(displacement[order], change[order])


def _movers(setting: Setting, space: Space) -> list[Mover]:
    """Random rotations of the slots, or random directions of the part of the action that moves this space."""
    if isinstance(space, SlotSpace):
        generator = torch.Generator().manual_seed(setting.seed)
        shape = (RANDOM_MAPS, space.side, space.side)
        mixed = torch.randn(shape, generator=generator, dtype=torch.float64)
        return [_mixing(space, matrix) for matrix in (mixed - mixed.mT) / math.sqrt(2 * space.side)]
    if isinstance(space, VectorSpace):
        action = space.action
    elif (on_grid := _on_grid(setting.action)) is not None:
        action = on_grid
    else:
        return []
    x = setting.search.x[:MOMENT_SAMPLES].double()
    displacement = action.displacement(action.moment(x).double().cpu(), len(x))
    directions = random_directions(displacement, RANDOM_MAPS, 1e-12, setting.seed)
    return [_along(action, setting.search.spread * direction) for direction in directions]


def _on_grid(action: Action) -> Action | None:
    """The part of an action that moves a grid continuously."""
    return next((part for part in action.parts if part.stage == "grid"), None)


def _mixing(space: SlotSpace, generator: Float[Tensor, "n n"]) -> Mover:
    def move(length: float, x: Tensor) -> Tensor:
        matrix = torch.linalg.matrix_exp(length * generator).to(x)
        return space.filled(torch.einsum("ij,bj...->bi...", matrix, space.slots(x)), x)

    return move


def _along(action: Action, direction: Float[Tensor, " g"]) -> Mover:
    return lambda length, x: action.act(length * direction.to(x), x)


def _lengths(mover: Mover, x: Tensor, distances: Float[Tensor, " l"]) -> list[float]:
    """Lengths at which a map displaces the samples as far as asked; the one that moved them farthest if none does."""
    tried = [0.0, *(2.0 ** torch.linspace(-7, 2, TRIED_LENGTHS, dtype=torch.float64)).tolist()]
    reached = [
        float((mover(length, x) - x).flatten(1).square().sum(1).mean().sqrt()) if length else 0.0
        for length in tried
    ]
    found = []
    for distance in distances.tolist():
        end = next((i for i, far in enumerate(reached) if i and far >= distance), None)
        if end is None:
            found.append(tried[reached.index(max(reached))])
            continue
        share = (distance - reached[end - 1]) / max(reached[end] - reached[end - 1], 1e-300)
        found.append(tried[end - 1] + share * (tried[end] - tried[end - 1]))
    return found
