"""The order in which a network sees its samples: a function of its seed and the epoch, the same on every device."""

import torch
from jaxtyping import Int
from torch import Tensor

STRIDE = -7046029254386353131
"""2⁶⁴ divided by the golden ratio, the step between the states of SplitMix64, as a signed number."""

LAST = 2**63 - 1


def permutations(seeds: Int[Tensor, " s"], epochs: Int[Tensor, " s"], counts: Int[Tensor, " s"], width: int) -> Int[Tensor, "s n"]:
    """A random order of each network's samples for one epoch.

    The numbers of a row depend on its own seed, epoch and count alone. So an order needs no state to be kept, a network sees the
    same one alone and among others, and a run that was stopped goes on as if it had not been.

    Args:
        seeds: one per network.
        epochs: epoch that each begins.
        counts: number of samples of each.
        width: length of the rows, at least the largest count.

    Returns:
        In each row first the permuted indices below its count, then the indices from its count to the width.
    """
    place = torch.arange(width, device=seeds.device)
    keys = _mixed(_mixed(seeds * STRIDE) + (epochs + 1) * STRIDE)
    draws = _mixed(keys[:, None] + (place + 1) * STRIDE)
    return draws.masked_fill(place >= counts[:, None], LAST).sort(dim=1, stable=True).indices


def _mixed(state: Int[Tensor, "..."]) -> Int[Tensor, "..."]:
    """SplitMix64's mixing of 64 bits, in wrapping signed arithmetic."""
    state = (state ^ _shifted(state, 30)) * -4658895280553007687
    state = (state ^ _shifted(state, 27)) * -7723592293110705685
    return state ^ _shifted(state, 31)


def _shifted(state: Int[Tensor, "..."], bits: int) -> Int[Tensor, "..."]:
    """Shift to the right that fills with zeros, as for unsigned numbers."""
    return (state >> bits) & ((1 << (64 - bits)) - 1)
