"""Random maps that move the samples as far as an element does, for comparison."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action
from liegg.actions.finite.slots import SlotSpace
from liegg.actions.finite.space import Space
from liegg.discovery.group.setting import Setting
from liegg.discovery.verification.follow import random_directions

DIRECTIONS = 4
"""Random directions."""

LEVELS = (0.05, 0.3, 0.8, 1.4, 2.0)
"""Displacements at which they are measured, in multiples of the spread; between two of them, values are interpolated."""

LENGTHS = 12
"""Lengths of each random map at which its displacement is measured, on a few samples."""

FEW = 32
"""Samples on which it is measured."""

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

    def at(self, displacements: Float[Tensor, " m"]) -> Float[Tensor, "m n"]:
        """Change at other displacements, interpolated; proportional to their squares below the first."""
        own, last = self.displacement, len(self.displacement) - 1
        place = torch.searchsorted(own, displacements.contiguous()).clamp(1, last)
        low, high = own[place - 1], own[place]
        share = ((displacements - low) / (high - low).clamp_min(1e-300)).clamp(0, 1)[:, None]
        between = self.change[place - 1] + share * (self.change[place] - self.change[place - 1])
        short = (displacements / own[0]).clamp(max=1.0).square()[:, None]
        return between * short


def random_maps(setting: Setting, space: Space, action: Action) -> RandomMaps | None:
    """Measure random maps of one space on the held-out samples; None where there are none.

    Args:
        setting: model and samples.
        space: what the elements act on.
        action: the candidates, of which random directions are drawn.
    """
    movers = _movers(setting, space, action)
    if not movers:
        return None
    question = setting.held_out
    x, wanted = question.x.double(), torch.tensor(LEVELS, dtype=torch.float64)
    change = torch.zeros(len(LEVELS), len(x), dtype=torch.float64)
    displacement = torch.zeros(len(LEVELS), dtype=torch.float64)
    for mover in movers:
        for place, length in enumerate(_lengths(mover, x[:FEW], wanted * question.spread)):
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


def _movers(setting: Setting, space: Space, action: Action) -> list[Mover]:
    x = setting.search.x.double()
    if isinstance(space, SlotSpace):
        generator = torch.Generator().manual_seed(setting.seed)
        shape = (DIRECTIONS, space.side, space.side)
        mixed = torch.randn(shape, generator=generator, dtype=torch.float64)
        mixed = (mixed - mixed.mT) / math.sqrt(2 * space.side)
        return [_mixing(space, matrix) for matrix in mixed]
    moved = _continuous(space, action)
    if moved is None:
        return []
    displacement = moved.displacement(moved.moment(x[:256]).double().cpu(), min(len(x), 256))
    directions = random_directions(displacement, DIRECTIONS, 1e-12, setting.seed)
    size = setting.search.spread
    return [_along(moved, direction * size) for direction in directions]


def _continuous(space: Space, action: Action) -> Action | None:
    """The part of the action that moves the same space continuously."""
    stage = {"vectors": "points", "channels": "colour", "grid": "grid", "shifts": "grid"}[
        space.kind
    ]
    return next((part for part in action.parts if part.stage == stage), None)


def _mixing(space: SlotSpace, generator: Float[Tensor, "n n"]) -> Mover:
    def move(length: float, x: Tensor) -> Tensor:
        matrix = torch.linalg.matrix_exp(length * generator).to(x)
        whole = x.reshape(len(x), *space.shape).movedim(space.axis + 1, -1)
        return (whole @ matrix.mT).movedim(-1, space.axis + 1).reshape(x.shape)

    return move


def _along(action: Action, direction: Float[Tensor, " g"]) -> Mover:
    return lambda length, x: action.act(length * direction.to(x), x)


def _lengths(mover: Mover, x: Tensor, distances: Float[Tensor, " l"]) -> list[float]:
    """Lengths at which a map displaces the samples as far as asked; the nearest that was tried if none does."""
    tried = (2.0 ** torch.linspace(-7, 2, LENGTHS, dtype=torch.float64)).tolist()
    reached = [
        float((mover(length, x) - x).flatten(1).square().sum(1).mean().sqrt()) for length in tried
    ]
    found = []
    for distance in distances.tolist():
        low, value = 0.0, 0.0
        length = tried[-1]
        for end, far in zip(tried, reached, strict=True):
            if far >= distance:
                share = (distance - value) / max(far - value, 1e-300)
                length = low + share * (end - low)
                break
            low, value = end, far
        else:
            length = tried[max(range(len(tried)), key=lambda i: reached[i])]
        found.append(length)
    return found
