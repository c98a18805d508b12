"""Ratios of neighbouring defects and of sizes, and the error of a direction that they tell."""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def mixing_angle(values: Float[Tensor, " r"], nullity: int, floor: float) -> float:
    r"""Relative error of a found unit generator in radians, as far as the defects tell: $\sqrt{\delta^2_d / \delta^2_{d+1}}$.

    To get its defect, an exact symmetry would have to be mixed with a direction beyond the gap at about this angle. The true error
    is usually several times smaller. Directions at the floor tie: where only some of them are taken, the next one is the first above it.
    """
    if not nullity:
        return 0.0
    last = max(float(values[nullity - 1]), floor)
    rest = values[nullity:]
    if last <= floor:
        rest = rest[rest > floor]
    following = float(rest.min()) if len(rest) else 1.0
    return math.sqrt(min(last / max(following, last), 1.0))


def size_ratio(squares: Float[Tensor, " n"] | None) -> float:
    """Largest over smallest size of the features that are not zero throughout."""
    sizes = squares[squares > 0].sqrt() if squares is not None else torch.zeros(0)
    return float(sizes.max() / sizes.min()) if len(sizes) else 1.0


def gap_after(values: Float[Tensor, " r"], number: int, floor: float) -> float:
    """First defect after a number of directions over the last of them, or over the floor; without any, the widest gap."""
    if number == len(values):
        return math.inf
    lifted = values.clamp_min(max(floor, torch.finfo(values.dtype).tiny))
    gaps = lifted[1:] / lifted[:-1]
    if not number:
        return float(gaps.max()) if len(gaps) else 1.0
    return float(gaps[number - 1])
