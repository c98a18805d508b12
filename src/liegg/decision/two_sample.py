"""Two samples of one distribution? The energy statistic with permutation p-values."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

PERMUTATIONS = 499
"""Permutations of the pooled samples: p-values are multiples of 1/500."""

MOVED_LEVEL = 0.01
"""p-value up to which moved samples have another distribution."""


@dataclass(frozen=True)
class MovedTest:
    """Moved samples compared with others that were not moved.

    Attributes:
        name: the motion, in words.
        displacement: root mean square motion of the samples, in multiples of their spread.
        distance: energy distance of the two, as a share of the mean distance of two samples; 0 for equal distributions.
        p_value: probability of a distance as large if the motion leaves the distribution unchanged.
        samples: number of samples in each of the two.
    """

    name: str
    displacement: float
    distance: float
    p_value: float
    samples: int


def energy_test(
    x: Float[Tensor, "n ..."], y: Float[Tensor, "m ..."], *, seed: int
) -> tuple[float, float]:
    """Energy distance as a share of the mean distance, and its permutation p-value.

    Args:
        x: samples.
        y: others, drawn independently of the first.
        seed: of the permutations.
    """
    pooled = torch.cat([x.flatten(1), y.flatten(1)]).double()
    distances = torch.cdist(pooled, pooled)
    count, first = len(pooled), len(x)
    weights = torch.full((count,), -1.0 / len(y), dtype=pooled.dtype)
    weights[:first] = 1.0 / first
    generator = torch.Generator().manual_seed(seed)
    orders = [torch.randperm(count, generator=generator) for _ in range(PERMUTATIONS)]
    rows = torch.stack([weights, *(weights[order] for order in orders)])
    energies = -((rows @ distances) * rows).sum(1)
    rank = 1 + int((energies[1:] >= energies[0] * (1 - 1e-9)).sum())
    scale = float(distances.mean())
    share = float(energies[0].clamp_min(0)) / scale if scale > 0 else 0.0
    return share, rank / (1 + PERMUTATIONS)
