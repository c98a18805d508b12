"""Data sets with known symmetries."""

import math

import torch
from torch import Tensor

KNOWN = {
    "gaussian": 3,
    "ring": 1,
    "cube": 0,
    "shell": 3,
    "half shell": 1,
    "lognormal": 0,
    "star": 0,
    "product": 4,
}
"""Number of symmetries among all linear maps."""


def data_set(kind: str, count: int, seed: int = 0) -> Tensor:
    """Samples of a distribution."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    def uniform(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator, dtype=torch.float64)

    def shell(n: int) -> Tensor:
        x = normal(count, n)
        return x / x.norm(dim=1, keepdim=True) * (1 + 0.1 * normal(count, 1))

    if kind == "gaussian":
        return normal(count, 3)
    if kind == "cube":
        return uniform(count, 3) - 0.5
    if kind == "shell":
        return shell(3)
    if kind == "half shell":
        x = shell(3)
        return torch.cat([x[:, :2], x[:, 2:].abs()], 1)
    if kind == "lognormal":
        return normal(count, 3).exp()
    if kind == "product":
        return torch.cat([shell(3), shell(2)], 1)
    angle = 2 * math.pi * uniform(count)
    radius = 1 + 0.1 * normal(count)
    last = [0.5 * normal(count) + 0.3 * normal(count) ** 2]
    if kind == "star":
        angle, last = angle + 0.15 * torch.sin(5 * angle), []
        radius = radius + 0.3 * torch.cos(5 * angle)
    return torch.stack([radius * angle.cos(), radius * angle.sin(), *last], 1)
