"""The order in which a network sees its samples: a function of its seed and the epoch, the same on every device."""

import torch
from jaxtyping import Int
from torch import Tensor

from liegg._utils.random import STRIDE, splitmix64

LAST = 2**63 - 1


def permutations(
    seeds: Int[Tensor, " s"], epochs: Int[Tensor, " s"], counts: Int[Tensor, " s"], width: int
) -> Int[Tensor, "s n"]:
    """A random order of each network's samples for one epoch.

    The numbers of a row depend on its own seed, epoch and count alone. So an order needs no state to be kept, a network sees the
    same one alone and among others, and a run that was stopped resumes as if it had not been.

    Args:
        seeds: one per network.
        epochs: epoch that each begins.
        counts: number of samples of each.
        width: length of the rows, at least the largest count.

    Returns:
        In each row first the permuted indices below its count, then the indices from its count to the width.
    """
    place = torch.arange(width, device=seeds.device)
    keys = splitmix64(splitmix64(seeds * STRIDE) + (epochs + 1) * STRIDE)
    draws = splitmix64(keys[:, None] + (place + 1) * STRIDE)
    return draws.masked_fill(place >= counts[:, None], LAST).sort(dim=1, stable=True).indices
