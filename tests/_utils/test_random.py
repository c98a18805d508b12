"""Random signs by seed and index, against SplitMix64 in Python integers."""

from itertools import product

import torch

from liegg._utils.random import FEW_WORDS, WORD, rademacher, signs_like

MASK = 2**64 - 1


def mixed(state: int) -> int:
    """The mixing function of SplitMix64, as published."""
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
    return state ^ (state >> 31)


def expected(seed: int, index: int) -> list[float]:
    """The signs of an index: minus one where its word has a bit."""
    stride = 0x9E3779B97F4A7C15
    word = mixed((mixed(seed * stride & MASK) + (index + 1) * stride) & MASK)
    return [1.0 - 2.0 * (word >> bit & 1) for bit in range(WORD)]


def test_signs_are_the_bits_of_splitmix():
    for count, seed in product([3, FEW_WORDS + 5], [0, 1, 3, 2**40 + 7]):
        indices = torch.arange(count) * 1_000_003
        signs = rademacher(seed, indices, size=0.5, dtype=torch.float32)
        assert signs.dtype == torch.float32
        for index, row in zip(indices.tolist(), signs.tolist(), strict=True):
            assert row == [0.5 * sign for sign in expected(seed, index)]


def test_signs_have_the_shape_of_a_tensor_and_follow_one_another():
    for shape in [(), (0, 3), (2, 3), (5, 4, 16), (70, 100)]:
        x = torch.zeros(shape, dtype=torch.bfloat16)
        signs = signs_like(x, seed=9)
        assert (signs.shape, signs.dtype) == (x.shape, x.dtype)
        words = range(-(-x.numel() // WORD))
        assert signs.flatten().tolist() == [s for w in words for s in expected(9, w)][: x.numel()]
