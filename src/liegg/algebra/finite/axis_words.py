"""Words for maps that permute axes up to factors: signs, swaps, cycles."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from liegg.algebra.words.wording import listed, number

FACTOR = 1e-3
"""Difference of a factor from ±1 that is written."""


def monomial_words(matrix: Float[np.ndarray, "n n"], names: Sequence[str], tolerance: float) -> str:
    """Words for a matrix with one entry in every row and column; empty for others, and for rotations of space.

    >>> monomial_words(np.array([[0.0, 2**0.5], [0.5**0.5, 0.0]]), ("x", "y"), 1e-6)
    'swaps x and 1.41 y'
    """
    n = len(matrix)
    large = abs(matrix) > 4 * tolerance * abs(matrix).max()
    if (large.sum(0) != 1).any() or (large.sum(1) != 1).any():
        return ""
    images = large.argmax(0)  # axis j goes to axis images[j]
    factors = matrix[images, np.arange(n)]
    signs = np.sign(factors)
    unit = abs(abs(factors) - 1).max() <= FACTOR
    if (images == np.arange(n)).all():
        return _signs(signs, names) if unit else ""
    moved = [j for j in range(n) if images[j] != j]
    cycles = _cycles(images)
    kept = all(signs[j] > 0 and abs(factors[j] - 1) <= FACTOR for j in range(n) if images[j] == j)
    if kept and unit and (signs > 0).all():
        return " and ".join(cycle_words([names[j] for j in cycle]) for cycle in cycles)
    if kept and len(moved) == 2:
        return _scaled_swap(moved, factors, names)
    if unit and n > 3:
        texts = [
            f"{names[j]} → {'−' if signs[j] < 0 else ''}{names[images[j]]}"
            for j in range(n)
            if images[j] != j or signs[j] < 0
        ]
        return ", ".join(texts)
    return ""


def _signs(signs: Float[np.ndarray, " n"], names: Sequence[str]) -> str:
    """Words for a diagonal matrix of signs."""
    n, flips = len(signs), [i for i in range(len(signs)) if signs[i] < 0]
    if not flips:
        return "identity"
    if len(flips) == 1:
        return f"reflection {names[flips[0]]} → −{names[flips[0]]}"
    if len(flips) == n:
        return "rotation by 180°" if n == 2 else "inversion"
    if n == 3:
        return f"rotation by 180° about {names[next(i for i in range(3) if i not in flips)]}"
    return f"changes the signs of {listed([names[i] for i in flips])}"


def _scaled_swap(
    axes: Sequence[int], factors: Float[np.ndarray, " n"], names: Sequence[str]
) -> str:
    """Words for two axes that change places with factors: x ↔ c·y; empty if they turn instead."""
    i, j = axes
    if factors[i] * factors[j] < 0 or abs(factors[i] * factors[j] - 1) > FACTOR:
        return ""
    # x' = factors[j] y
    one, other, factor = (i, j, factors[j]) if abs(factors[j]) >= 1 else (j, i, factors[i])
    if abs(abs(factor) - 1) <= FACTOR:
        one, other, factor = i, j, np.sign(factors[j])
    size = "" if abs(factor) == 1 else f"{number(abs(float(factor)))} "
    return f"swaps {names[one]} and {'−' if factor < 0 else ''}{size}{names[other]}"


def _cycles(images: np.ndarray) -> list[list[int]]:
    """The cycles of a permutation that are longer than one, each from its smallest member."""
    seen: set[int] = set()
    cycles = []
    for start in range(len(images)):
        cycle, place = [], start
        while place not in seen:
            seen.add(place)
            cycle.append(place)
            place = int(images[place])
        if len(cycle) > 1:
            cycles.append(cycle)
    return cycles


def cycle_words(names: Sequence[str]) -> str:
    """One cycle in words.

    >>> cycle_words(["x", "y"]), cycle_words(["x", "y", "z"])
    ('swaps x and y', 'cycles x → y → z → x')
    """
    if len(names) == 2:
        return f"swaps {names[0]} and {names[1]}"
    return f"cycles {' → '.join([*names, names[0]])}"
