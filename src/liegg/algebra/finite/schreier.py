"""The order of a group of permutations by a chain of stabilisers (Schreier and Sims)."""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

Permutation = Int[np.ndarray, " n"]

RANDOM_CHECKS = 40
"""Random elements in a row that a complete chain factors; an incomplete one passes with probability 2⁻⁴⁰ at most."""

LARGEST_CHECK = 20_000
"""Schreier generators up to which the chain is proved complete."""


class Chain:
    """Stabilisers of one point after the other, each with the orbit of its point.

    An element is a permutation p as an array: slot i goes to p[i].

    >>> chain = Chain([[1, 2, 3, 0], [2, 1, 0, 3]], 4)
    >>> chain.order, [3, 2, 1, 0] in chain, [1, 0, 2, 3] in chain
    (8, True, False)
    """

    def __init__(self, generators: Sequence[Sequence[int]], n: int):
        self.n = n
        self.points: list[int] = []
        self.generators: list[list[Permutation]] = []
        self.orbits: list[dict[int, Permutation]] = []
        self.inverses: list[dict[int, Permutation]] = []
        steps = [np.array(one, dtype=np.int64) for one in generators]
        for step in steps:
            self._insert(step)
        if not steps:
            return
        random = np.random.default_rng(0)
        pool = [step.copy() for step in steps] * max(1, 10 // len(steps) + 1)
        passed = 0
        while passed < RANDOM_CHECKS:
            i, j = random.choice(len(pool), 2, replace=False)
            pool[i] = pool[i][pool[j]] if random.random() < 0.5 else pool[i][np.argsort(pool[j])]
            passed = 0 if self._insert(pool[i]) else passed + 1
        self._complete()

    @property
    def order(self) -> int:
        """Number of elements."""
        return math.prod(map(len, self.orbits))

    def __contains__(self, element: Sequence[int]) -> bool:
        """Whether a permutation is in the group."""
        rest, _ = self._sift(np.array(element, dtype=np.int64), 0)
        return bool((rest == np.arange(self.n)).all())

    def _sift(self, element: Permutation, level: int) -> tuple[Permutation, int]:
        """What is left of an element when the chain has been divided out, and the level where that stops."""
        while level < len(self.points):
            image = int(element[self.points[level]])
            if image not in self.orbits[level]:
                break
            element = self.inverses[level][image][element]
            level += 1
        return element, level

    def _insert(self, element: Permutation, level: int = 0) -> bool:
        """Add an element to the chain; whether it was new."""
        rest, stop = self._sift(element, level)
        moved = np.flatnonzero(rest != np.arange(self.n))
        if not len(moved):
            return False
        if stop == len(self.points):
            self.points.append(int(moved[0]))
            self.generators.append([])
            self.orbits.append({int(moved[0]): np.arange(self.n)})
            self.inverses.append({int(moved[0]): np.arange(self.n)})
        for depth in range(level, stop + 1):
            self.generators[depth].append(rest)
            self._grow(depth)
        return True

    def _grow(self, level: int) -> None:
        """The orbit of the point of a level under its generators, with an element that leads to each place."""
        orbit = self.orbits[level]
        front = list(orbit)
        while front:
            place = front.pop()
            for step in self.generators[level]:
                image = int(step[place])
                if image not in orbit:
                    orbit[image] = step[orbit[place]]
                    self.inverses[level][image] = np.argsort(orbit[image])
                    front.append(image)

    def _complete(self) -> None:
        """Factor all Schreier generators, where there are not too many."""
        level = len(self.points) - 1
        while level >= 0:
            orbit, steps = self.orbits[level], self.generators[level]
            if len(orbit) * len(steps) > LARGEST_CHECK:
                return
            new = False
            for place, lead in list(orbit.items()):
                for step in list(steps):
                    back = self.inverses[level][int(step[place])]
                    new = new or self._insert(back[step[lead]], level + 1)
            level = len(self.points) - 1 if new else level - 1
