"""Do continuous symmetries hold for finite motions, too? A derivative sees no more than the neighbourhood of the samples."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.finite.generators import coefficients_on, generators_on
from liegg.actions.finite.vectors import VectorSpace
from liegg.discovery.exact_motions import random_motions
from liegg.discovery.group.setting import Setting
from liegg.discovery.verification.measure import Directions, changes

MOTIONS = 8
"""Random finite motions that are tried."""

LARGEST_GROWTH, LARGEST_MOTION = 1.0, 4.0
"""Largest logarithm of a factor by which a motion scales, beyond which numbers lose digits; largest motion over the size of the samples."""

ABOVE_ROUNDING = 1e3
"""How many times the effect of rounding a finite motion may have if its generators are exact."""


def finite_effect(setting: Setting) -> float:
    """Largest effect of finite motions along exact directions that rounding does not explain; 0 if the directions hold.

    Motions rotate by up to half a turn, or move the samples by up to a few times their size. A symmetry of the derivatives may
    end beyond the samples: |x| + |y| of positive samples is a linear function.
    """
    if not setting.directions:
        return 0.0
    exact = setting.coefficients
    generator = torch.Generator().manual_seed(setting.seed)
    motions = [
        _far(setting, space, coefficients_on(space, setting.action, exact), generator)
        for space in setting.spaces
        if isinstance(space, VectorSpace) and len(setting.algebra_on(space))
    ]
    if not motions:
        return 0.0
    h, device = torch.cat(motions), setting.held_out.x.device
    along = Directions(h, setting.partners(h)).map(lambda part: part.to(device))
    largest = float(changes(setting.held_out, along)[0].sqrt().max())
    return largest if largest > ABOVE_ROUNDING * setting.floor else 0.0


def _far(
    setting: Setting, space: VectorSpace, span: Float[Tensor, "d g"], generator: torch.Generator
) -> Float[Tensor, "m g"]:
    """Random combinations of the directions that move one space, as far as they are tried."""
    question = setting.held_out
    h = random_motions(question, span, MOTIONS, generator)
    # Linear maps move samples about the origin, affine ones about their mean.
    moving = question.action.moving(question.x).double()
    size = float(moving.flatten(1).square().sum(1).mean().sqrt())
    scale = question.spread if space.homogeneous else size
    rates = torch.linalg.eigvals(generators_on(space, setting.action, h))
    turn, growth = rates.imag.abs().amax(1), rates.real.abs().amax(1)
    longest = torch.stack(
        [
            math.pi / turn.clamp_min(1e-300),
            LARGEST_GROWTH / growth.clamp_min(1e-300),
            torch.full_like(turn, LARGEST_MOTION * scale),
        ]
    ).amin(0)
    return (torch.linspace(0.5, 1.0, MOTIONS) * longest)[:, None] * h
