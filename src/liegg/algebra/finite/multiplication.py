"""What the multiplication table of a finite group says: orders, classes, centre, abelianisation.

Elements are numbered, the identity is 0, and `table[i, j]` is the number of the product `i·j`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Int

Table = Int[np.ndarray, "m m"]
Labels = Int[np.ndarray, " m"]
Members = Int[np.ndarray, " k"]
OtherTable = Int[np.ndarray, "k k"]
ProductTable = Int[np.ndarray, "mk mk"]


@dataclass(frozen=True)
class GroupInvariants:
    """Numbers that isomorphic groups share.

    Attributes:
        order: number of elements.
        element_orders: pairs of an order and the number of elements that have it, ascending.
        classes: number of conjugacy classes.
        centre: number of elements that commute with all others.
        abelianisation: invariant factors of the largest abelian quotient, each a divisor of the next;
            empty if it is trivial.
        derived: number of elements of the commutator subgroup.
        exponent: smallest power that makes every element the identity.
    """

    order: int
    element_orders: tuple[tuple[int, int], ...]
    classes: int
    centre: int
    abelianisation: tuple[int, ...]
    derived: int
    exponent: int


def inverses(table: Table) -> Labels:
    """The inverse of each element."""
    return (table == 0).argmax(1)


def element_orders(table: Table) -> Labels:
    """The order of each element.

    >>> element_orders(np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]])).tolist()
    [1, 3, 3]
    """
    every = np.arange(len(table))
    power, orders = every.copy(), np.zeros(len(table), dtype=np.int64)
    for exponent in range(1, len(table) + 1):
        orders[(power == 0) & (orders == 0)] = exponent
        if orders.all():
            break
        power = table[power, every]
    return orders


def conjugacy_classes(table: Table) -> Labels:
    """The class of each element, numbered in the order of their first elements."""
    every, back = np.arange(len(table)), inverses(table)
    labels = np.full(len(table), -1)
    count = 0
    for element in range(len(table)):
        if labels[element] < 0:
            labels[table[table[every, element], back]] = count
            count += 1
    return labels


def subgroup(table: Table, generators: Sequence[int]) -> Members:
    """The elements that some elements generate, ascending."""
    inside = _reached(table, np.zeros(len(table), dtype=bool), generators)
    return np.flatnonzero(inside)


def _reached(
    table: Table, inside: Bool[np.ndarray, " m"], generators: Sequence[int]
) -> Bool[np.ndarray, " m"]:
    inside = inside.copy()
    inside[0] = True
    front = np.flatnonzero(inside)
    while len(front):
        products = np.unique(table[front][:, list(generators)]) if len(generators) else front[:0]
        front = products[~inside[products]]
        inside[front] = True
    return inside


def generating_set(table: Table) -> list[int]:
    """A few elements that generate the group: the first one outside of what the others generate."""
    generators: list[int] = []
    inside = np.zeros(len(table), dtype=bool)
    inside[0] = True
    while not inside.all():
        generators.append(int(inside.argmin()))
        inside = _reached(table, inside, generators)
    return generators


def centre(table: Table) -> Members:
    """The elements that commute with all others."""
    return np.flatnonzero((table == table.T).all(1))


def derived_subgroup(table: Table) -> Members:
    """The subgroup that commutators generate."""
    back = inverses(table)
    commutators = table[table, table[np.ix_(back, back)]]
    return subgroup(table, np.unique(commutators).tolist())


def quotient(table: Table, normal: Members) -> Int[np.ndarray, "q q"]:
    """The table of the cosets of a normal subgroup."""
    first = table[:, normal].min(1)
    names, labels = np.unique(first, return_inverse=True)
    return labels[table[np.ix_(names, names)]]


def abelian_factors(table: Table) -> tuple[int, ...]:
    """Invariant factors of an abelian group, each a divisor of the next; from its element orders.

    >>> abelian_factors(np.array([[0, 1], [1, 0]])), abelian_factors(np.array([[0]]))
    ((2,), ())
    """
    orders, m = element_orders(table), len(table)
    powers: list[list[int]] = []
    for prime in prime_factors(m):
        counts = [1]
        while counts[-1] < m and m % prime == 0:
            roots = int((prime ** len(counts) % orders == 0).sum())
            if roots == counts[-1]:
                break
            counts.append(roots)
        # roots[k] / roots[k - 1] = prime ** (number of cyclic factors of at least prime ** k)
        ranks = [round(np.log(b / a) / np.log(prime)) for a, b in pairwise(counts)]
        sizes = [prime ** sum(rank > i for rank in ranks) for i in range(ranks[0] if ranks else 0)]
        powers.append(sizes)  # descending
    count = max(map(len, powers), default=0)
    factors = [int(np.prod([p[i] for p in powers if i < len(p)])) for i in range(count)]
    return tuple(reversed(factors))


def prime_factors(number: int) -> list[int]:
    """The primes that divide a number, ascending.

    >>> prime_factors(60)
    [2, 3, 5]
    """
    primes, p = [], 2
    while p * p <= number:
        if number % p == 0:
            primes.append(p)
            while number % p == 0:
                number //= p
        p += 1
    return [*primes, number] if number > 1 else primes


def group_invariants(table: Table) -> GroupInvariants:
    """Invariants of a group, from its table."""
    sizes, counts = np.unique(element_orders(table), return_counts=True)
    derived = derived_subgroup(table)
    return GroupInvariants(
        order=len(table),
        element_orders=tuple(zip(sizes.tolist(), counts.tolist(), strict=True)),
        classes=int(conjugacy_classes(table).max()) + 1,
        centre=len(centre(table)),
        abelianisation=abelian_factors(quotient(table, derived)),
        derived=len(derived),
        exponent=int(np.lcm.reduce(sizes)),
    )
