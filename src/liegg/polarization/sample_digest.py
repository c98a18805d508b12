"""Hashes of samples: of the content of each, and of all that was read, at which positions."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.random import STRIDE, splitmix64

WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int32}
"""Integer type as which the bits of a number are read, by its bytes.

Float64 is read as two halves: weights are odd, so a pair of sign bits in 64-bit words would cancel.
"""

WORDS_AT_ONCE = 2**22
"""Most words that are multiplied at once: 32 MB."""


def sample_hashes(samples: Float[Tensor, "b ..."]) -> Int[Tensor, " b"]:
    r"""A 64-bit hash of the content of each sample: equal for copies, whatever their positions.

    The sum $\sum_j w_j b_j$ of a sample's bits $b_j$ with odd weights $w_j$, in wrapping arithmetic,
    mixed by SplitMix64. One changed number always changes it. Minus zero is zero. It does not depend
    on the batches or the device, and a GPU is not waited for.

    Args:
        samples: a batch.

    >>> x = torch.tensor([[0.5, 1.0], [2.0, 0.0], [2.0, -0.0]])
    >>> hashes = sample_hashes(x)
    >>> bool(hashes[0] == hashes[1]), bool(hashes[1] == hashes[2])
    (False, True)
    """
    return splitmix64(_word_sums(samples + 0.0))


def sample_digest(samples: Float[Tensor, "b ..."], first: int) -> Int[Tensor, ""]:
    r"""Digest of samples at consecutive positions; that of all data is the sum over its batches.

    The sum $\sum_j w_j b_j$ of a sample's bits $b_j$ with odd weights $w_j$ is mixed with the
    position, and these are summed over the samples, in wrapping 64-bit arithmetic. One changed
    number always changes the digest; other changes leave it with a chance of about $2^{-32}$ or
    less. It does not depend on the batches or the device, and a GPU is not waited for.

    Args:
        samples: a batch.
        first: position of its first sample.

    >>> x = torch.tensor([[0.5, 1.0], [2.0, 3.0]])
    >>> int(sample_digest(x, 7)) == int(sample_digest(x[:1], 7) + sample_digest(x[1:], 8))
    True
    >>> int(sample_digest(x, 7)) == int(sample_digest(x.flip(0), 7))
    False
    """
    places = first + 1 + torch.arange(len(samples), device=samples.device)
    return splitmix64(_word_sums(samples) + splitmix64(places * STRIDE)).sum()


def _word_sums(samples: Float[Tensor, "b ..."]) -> Int[Tensor, " b"]:
    """Sum of the words of each sample with odd weights, which depend on their places in it."""
    flat = samples.detach().reshape(len(samples), -1).contiguous()
    words = flat.view(WORDS[flat.dtype.itemsize])
    weights = splitmix64((torch.arange(words.shape[1], device=flat.device) + 1) * STRIDE) | 1
    step = max(1, WORDS_AT_ONCE // max(1, words.shape[1]))
    return torch.cat([some.long().mul_(weights).sum(1) for some in words.split(step)])
