"""A group of permutations as all (or all even) permutations of components, and what permutes the components."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from liegg.algebra.finite.element_words import cycles_of
from liegg.algebra.finite.schreier import Chain


@dataclass(frozen=True, eq=False)
class Layers:
    """The layers of a group of permutations: it contains all (even) permutations of each component.

    Attributes:
        components: of slots, those of one slot included.
        even: whether only even permutations of the components are known to be inside.
        top: permutations of the components, without the identity; with signs as a second copy of them if `even`.
    """

    components: list[tuple[int, ...]]
    even: bool
    top: list[np.ndarray]

    @cached_property
    def chain(self) -> Chain:
        """The group that permutes the components."""
        return Chain([one.tolist() for one in self.top], len(self.components) * (1 + self.even))

    @property
    def order(self) -> int:
        """Number of permutations."""
        sizes = [len(component) for component in self.components]
        inner = (math.factorial(k) // (2 if self.even and k > 1 else 1) for k in sizes)
        return math.prod(inner) * self.chain.order

    def __contains__(self, order: object) -> bool:
        """Whether a permutation is in the group: whether what it does to the components is."""
        step = np.asarray(order)
        number = _numbers(self.components)
        if any(len({number[slot] for slot in step[list(c)].tolist()}) > 1 for c in self.components):
            return False
        return _top(step, self.components, even=self.even).tolist() in self.chain


def layers(steps: Sequence[np.ndarray], n: int) -> Layers:
    """The layers of the group that permutations of n slots generate.

    Transpositions among the generators connect slots into components, or else cycles of three do.
    """
    moved = [np.flatnonzero(step != np.arange(n)) for step in steps]
    size = 2 if any(len(one) == 2 for one in moved) else 3
    pairs = [pair for one in moved if len(one) == size for pair in pairwise(one.tolist())]
    components = members(joined(pairs, n, steps))  # conjugates are in the group too
    even = size == 3 and len(components) < n
    top = [_top(step, components, even=even) for step in steps]
    return Layers(components, even, [one for one in top if (one != np.arange(len(one))).any()])


def _numbers(components: Sequence[tuple[int, ...]]) -> dict[int, int]:
    """The component of each slot."""
    return {slot: k for k, component in enumerate(components) for slot in component}


def _top(step: np.ndarray, components: Sequence[tuple[int, ...]], *, even: bool) -> np.ndarray:
    """What a permutation does to the components; if `even`, to two copies of them, which odd ones exchange."""
    number, c = _numbers(components), len(components)
    images = np.array([number[int(step[component[0]])] for component in components])
    if not even:
        return images
    signs = np.array([_odd(step[list(component)]) for component in components])
    return np.concatenate([images + c * signs, images + c * (1 - signs)])


def _odd(images: np.ndarray) -> int:
    """Whether the order of distinct numbers is an odd permutation of their sorted order."""
    cycles = cycles_of(np.argsort(images).tolist())  # as odd as its inverse
    return sum(len(cycle) - 1 for cycle in cycles) % 2


def joined(pairs: Sequence[tuple[int, int]], n: int, steps: Sequence[np.ndarray] = ()) -> list[int]:
    """Labels of the finest partition that joins pairs and that permutations preserve: the smallest member of each part."""
    parent = list(range(n))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    images = [step.tolist() for step in steps]
    queue = list(pairs)
    while queue:
        i, j = queue.pop()
        a, b = sorted((root(i), root(j)))
        if a != b:
            parent[b] = a
            queue += [(image[i], image[j]) for image in images]
    return [root(i) for i in range(n)]


def members(labels: Sequence[int]) -> list[tuple[int, ...]]:
    """The parts of a partition that is given by labels."""
    found: dict[int, list[int]] = {}
    for place, one in enumerate(labels):
        found.setdefault(one, []).append(place)
    return [tuple(one) for one in found.values()]
