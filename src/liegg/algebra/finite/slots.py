"""Groups of permutations of slots: orbits, order, and a name such as "S₃ × S₂" or "S₂ ≀ S₃"."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from liegg._utils.errors import ArgumentError
from liegg.algebra.finite.catalog import label, of_permutations
from liegg.algebra.finite.element_words import cycle_words, cycles_of
from liegg.algebra.finite.layers import Layers, joined, layers, members
from liegg.algebra.finite.names import table_name

LARGEST_TABLE = 1000
"""Largest order of a group of permutations that is named by its table."""

LISTED_SLOTS = 8
"""Slots that are listed in words; of more, the first and the last."""

Order = tuple[int, ...]


@dataclass(frozen=True)
class SlotGroup:
    """A group of permutations of slots, numbered from 0.

    Attributes:
        degree: number of slots.
        generators: permutations that generate it; slot i is filled from slot `generator[i]`.
        orbits: slots that the group takes to one another, those that never move left out.
        order: number of permutations.
        name: such as "S₄", "S₃ × S₂", "C₆" or "S₂ ≀ S₃"; "trivial" for the identity alone.
        words: what each generator does.
        noun: what a slot is called in words.
    """

    degree: int
    generators: tuple[Order, ...]
    orbits: tuple[tuple[int, ...], ...]
    order: int
    name: str
    words: tuple[str, ...]
    noun: str = "slot"

    def __contains__(self, order: object) -> bool:
        """Whether a permutation is in the group.

        >>> cycle = permutation_group([(1, 2, 0)], 3)
        >>> (2, 0, 1) in cycle, (1, 0, 2) in cycle
        (True, False)
        """
        if not isinstance(order, tuple) or sorted(order) != list(range(self.degree)):
            return False
        return order in self._layers

    @cached_property
    def _layers(self) -> Layers:
        """What tells members from others; built once."""
        return layers([np.array(one) for one in self.generators], self.degree)

    def title(self) -> str:
        """The name, with the slots that each orbit contains."""
        if not self.orbits:
            return f"no permutation of {self.degree} {self.noun}s"
        places = "; ".join(_listed([i + 1 for i in orbit]) for orbit in self.orbits)
        return f"{self.name} on the {self.noun}s {places}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {
            "degree": self.degree,
            "generators": [list(one) for one in self.generators],
            "orbits": [list(one) for one in self.orbits],
            "order": self.order,
            "name": self.name,
            "words": list(self.words),
        } | ({} if self.noun == "slot" else {"noun": self.noun})

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "SlotGroup":
        """Read what `to_dict` wrote."""
        return cls(
            degree=stored["degree"],
            generators=tuple(map(tuple, stored["generators"])),
            orbits=tuple(map(tuple, stored["orbits"])),
            order=stored["order"],
            name=stored["name"],
            words=tuple(stored["words"]),
            noun=stored.get("noun", "slot"),
        )


def permutation_group(
    generators: Sequence[Sequence[int]], n: int, *, noun: str = "slot"
) -> SlotGroup:
    """The group that permutations of n slots generate.

    Transpositions connect slots into components, on each of which the group contains all permutations; cycles of
    three give the even ones. What is left permutes the components and is small, so hundreds of slots are no problem.

    Args:
        generators: permutations of 0, ..., n − 1; none for the trivial group.
        n: number of slots.
        noun: what a slot is called in words, such as "atom".

    Raises:
        ArgumentError: a generator is not a permutation of n slots.

    Examples:
        >>> permutation_group([(1, 0, 2, 3, 4), (0, 2, 1, 3, 4), (0, 1, 2, 4, 3)], 5).name
        'S₃ × S₂'
        >>> permutation_group([(1, 0, 2, 3), (2, 3, 0, 1)], 4).name
        'S₂ ≀ S₂'
        >>> permutation_group([(0, 2, 1)], 3, noun="atom").words
        ('swaps atoms 2 and 3',)
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ArgumentError(f"n is {n!r}; expected the number of slots, for example 4.")
    steps = []
    for place, one in enumerate(generators):
        order = tuple(int(i) for i in one)
        if sorted(order) != list(range(n)):
            raise ArgumentError(
                f"generator {place} is {order}; expected a permutation of 0, ..., {n - 1}."
            )
        steps.append(order)
    moving = [np.array(one) for one in steps if one != tuple(range(n))]
    orbits = _orbits(moving, n)
    clusters = _independent(moving, orbits, n)
    parts = [_cluster(moving, cluster, n) for cluster in clusters]
    return SlotGroup(
        degree=n,
        generators=tuple(steps),
        orbits=tuple(orbits),
        order=math.prod(order for order, _ in parts),
        name=" × ".join(name for _, name in sorted(parts, key=lambda part: -part[0])) or "trivial",
        words=tuple(permutation_words(one, noun=noun) for one in steps),
        noun=noun,
    )


def permutation_words(order: Sequence[int], *, noun: str = "slot") -> str:
    """A permutation in words.

    >>> permutation_words((0, 2, 1, 3)), permutation_words((1, 2, 0), noun="atom")
    ('swaps slots 2 and 3', 'cycles atoms 1 → 3 → 2 → 1')
    """
    target = np.argsort(np.array(order))  # the content of slot i goes to slot target[i]
    moved = np.flatnonzero(target != np.arange(len(target)))
    if not len(moved):
        return "identity"
    if len(moved) > LISTED_SLOTS:
        shift = (target - np.arange(len(target))) % len(target)
        if (shift == shift[0]).all():
            return f"shifts all {noun}s by {int(min(shift[0], len(target) - shift[0]))}"
        if (target == np.arange(len(target))[::-1]).all():
            return f"reverses the order of the {noun}s"
        return f"permutes {len(moved)} {noun}s"
    cycles = [[str(slot + 1) for slot in cycle] for cycle in cycles_of(target.tolist())]
    return " and ".join(cycle_words(cycle, of=f"{noun}s ") for cycle in cycles)


def _listed(slots: Sequence[int]) -> str:
    """Slots as text: runs are joined."""
    runs = [[slots[0], slots[0]]]
    for one, other in pairwise(slots):
        if other == one + 1:
            runs[-1][1] = other
        else:
            runs.append([other, other])
    return ", ".join(f"{a}" if a == b else f"{a}–{b}" for a, b in runs)


def _orbits(steps: Sequence[np.ndarray], n: int) -> list[tuple[int, ...]]:
    """Slots that are taken to one another; those that never move are left out."""
    labels = joined([(i, int(step[i])) for step in steps for i in range(n)], n)
    return [c for c in members(labels) if len(c) > 1]


def _restricted(steps: Sequence[np.ndarray], slots: Sequence[int]) -> list[np.ndarray]:
    """Permutations of some slots that the others do not mix with, renumbered; the identity left out."""
    place = {slot: i for i, slot in enumerate(slots)}
    inside = [np.array([place[int(step[slot])] for slot in slots]) for step in steps]
    return [one for one in inside if (one != np.arange(len(slots))).any()]


def _independent(
    steps: Sequence[np.ndarray], orbits: Sequence[tuple[int, ...]], n: int
) -> list[tuple[tuple[int, ...], ...]]:
    """Orbits in clusters such that the group is the direct product of its actions on the clusters."""
    if len(orbits) < 2:
        return [tuple(orbits)] if orbits else []
    orders = [_order(_restricted(steps, orbit), len(orbit)) for orbit in orbits]
    linked = []
    for i, one in enumerate(orbits):
        for j in range(i + 1, len(orbits)):
            both = (*one, *orbits[j])
            if _order(_restricted(steps, both), len(both)) != orders[i] * orders[j]:
                linked.append((i, j))
    clusters = [tuple(orbits[k] for k in group) for group in members(joined(linked, len(orbits)))]
    whole = _order(list(steps), n)
    product = math.prod(
        _order(_restricted(steps, sum(cluster, ())), len(sum(cluster, ()))) for cluster in clusters
    )
    return clusters if product == whole else [tuple(orbits)]


def _order(steps: Sequence[np.ndarray], n: int) -> int:
    """Number of permutations that some generate."""
    return layers(steps, n).order


def _cluster(
    steps: Sequence[np.ndarray], orbits: tuple[tuple[int, ...], ...], n: int
) -> tuple[int, str]:
    """Order and name of the action on orbits that are permuted together."""
    slots = sum(orbits, ())
    inside = _restricted(steps, slots)
    order = _order(inside, len(slots))
    first = len(orbits[0])
    own = _restricted(steps, orbits[0])
    if len(orbits) > 1 and _order(own, first) != order:
        return order, _small_name(inside, order, len(slots))
    if order == math.factorial(first):
        return order, label("S", first)
    if first > 3 and 2 * order == math.factorial(first):
        return order, label("A", first)
    inner = layers(own, first)
    size = len(inner.components[0])
    if size > 1 and not inner.even and len(inner.components) > 1:
        count = len(inner.components)
        top = _order(inner.top, count)
        name = (
            label("S", count)
            if top == math.factorial(count)
            else _small_name(inner.top, top, count)
        )
        return order, f"{label('S', size)} ≀ {name}"
    return order, _small_name(own, order, first)


def _small_name(steps: Sequence[np.ndarray], order: int, n: int) -> str:
    """The name by the table, or the order."""
    if order <= LARGEST_TABLE:
        return table_name(of_permutations([one.tolist() for one in steps]))
    return f"group of order {order} on {n} slots"
