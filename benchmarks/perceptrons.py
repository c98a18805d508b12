"""The perceptrons of the benchmarks."""

from itertools import pairwise

import torch
from torch import nn


def perceptron(*widths: int, dtype: torch.dtype = torch.float32) -> nn.Sequential:
    """A network with Swish and random weights, the same every time."""
    torch.manual_seed(0)
    layers = [part for i, o in pairwise(widths) for part in (nn.Linear(i, o), nn.SiLU())]
    return nn.Sequential(*layers[:-1]).to(dtype)
