"""Random maps that move the samples as far as an element does, for comparison."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action
from liegg.actions.finite.slots import SlotSpace
from liegg.actions.finite.space import Space
from liegg.discovery.group.setting import Setting
from liegg.discovery.verification.follow import random_directions

DIRECTIONS = 6
"""Random directions."""

LEVELS = 3
"""Displacements at which they are measured; between two of them, values are interpolated."""

LENGTHS = 12
"""Lengths of each random map at which its displacement is measured, on a few samples."""

FEW = 32
"""Samples on which it is measured."""

Mover = Callable[[float, Tensor], Tensor]
"""From a length and samples to moved samples."""


def random_reference(
    setting: Setting, space: Space, action: Action, displacements: Float[Tensor, " m"]
) -> Float[Tensor, "m n"] | None:
    """Squared change of the output, over the variance, by random maps of equal displacement; None where there are none.

    Args:
        setting: model and samples.
        space: what the elements act on.
        action: the candidates, of which random directions are drawn.
        displacements: of the elements, in multiples of the data's spread.
    """
    movers = _movers(setting, space, action)
    if not movers or not bool((displacements > 0).any()):
        return None
    question = setting.held_out
    positive = displacements[displacements > 0]
    levels = torch.linspace(float(positive.min()), float(positive.max()), LEVELS).double()
    change = torch.zeros(LEVELS, len(question.x), dtype=torch.float64)
    x = question.x.double()
    for mover in movers:
        for place, length in enumerate(_lengths(mover, x[:FEW], levels * question.spread)):
            for part in question.parts:
                replies = question.taken(question.reply(mover(length, x[part])), part)
                gap = (replies - question.y[part]).square().sum(1)
                gap = gap.nan_to_num(nan=0.0, posinf=0.0).cpu() / question.variance
                change[place, part] += gap / len(movers)
    place = torch.searchsorted(levels, displacements.contiguous()).clamp(1, LEVELS - 1)
    low, high = levels[place - 1], levels[place]
    share = ((displacements - low) / (high - low).clamp_min(1e-300)).clamp(0, 1)[:, None]
    return change[place - 1] + share * (change[place] - change[place - 1])


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
    stage = {"vectors": "points", "channels": "colour", "grid": "grid", "shifts": "grid"}[space.kind]
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
