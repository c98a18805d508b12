"""Do continuous symmetries hold for finite motions, too? A derivative sees no more than the neighbourhood of the samples."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.finite.vectors import VectorSpace
from liegg.discovery.group.candidate import Candidate, with_partner
from liegg.discovery.group.judge import effects
from liegg.discovery.group.setting import Setting

MOTIONS = 8
"""Random finite motions that are tried."""

SMALL_STEP = 1e-3
"""Spectral norm of a step that shows how far the samples move."""

LARGEST_GROWTH, LARGEST_MOTION = 1.0, 4.0
"""Largest logarithm of a factor by which a motion scales, beyond which numbers lose digits; largest motion over the size of the samples."""

ABOVE_ROUNDING = 1e3
"""How many times the effect of rounding a finite motion may have if its generators are exact."""


def finite_effect(setting: Setting) -> float:
    """Largest effect of finite motions along exact directions that rounding does not explain; 0 if the directions hold.

    Motions rotate by up to half a turn, or move the samples by up to a few times their size. A symmetry of the derivatives may
    end beyond the samples: |x| + |y| of positive samples is a linear function.
    """
    generator = torch.Generator().manual_seed(setting.seed)
    candidates = [
        with_partner(Candidate(((space, h),), "finite motion"), setting)
        for space in setting.spaces
        if isinstance(space, VectorSpace) and len(setting.algebra_on(space))
        for h in _motions(setting, space, generator)
    ]
    if not candidates:
        return 0.0
    change = effects(setting, candidates).change.mean(1).sqrt()
    largest = float(change.nan_to_num(nan=torch.inf).max())
    return largest if largest > ABOVE_ROUNDING * setting.floor else 0.0


def _motions(
    setting: Setting, space: VectorSpace, generator: torch.Generator
) -> list[Float[Tensor, "n n"]]:
    """Exponentials of random combinations of the generators that move one space."""
    algebra, x = setting.algebra_on(space), setting.held_out.x.double()
    # Linear maps move samples about the origin, affine ones about their mean.
    size = float(x.flatten(1).square().sum(1).mean().sqrt())
    scale = setting.held_out.spread if space.homogeneous else size
    found = []
    for share in torch.linspace(0.5, 1.0, MOTIONS).tolist():
        weights = torch.randn(len(algebra), generator=generator, dtype=torch.float64)
        step = torch.einsum("d,dij->ij", weights / weights.norm(), algebra)
        step = SMALL_STEP * step / torch.linalg.matrix_norm(step, 2)
        moved = space.apply(torch.linalg.matrix_exp(step), x) - x
        speed = float(moved.flatten(1).square().sum(1).mean().sqrt()) / scale
        rates = torch.linalg.eigvals(step)
        turn, growth = float(rates.imag.abs().max()), float(rates.real.abs().max())
        size = min(
            math.pi / max(turn, 1e-300),
            LARGEST_GROWTH / max(growth, 1e-300),
            LARGEST_MOTION / max(speed, 1e-300),
        )
        found.append(torch.linalg.matrix_exp(share * size * step))
    return found
