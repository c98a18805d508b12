"""Tables of named finite groups: cyclic, dihedral, symmetric and others, and their products."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import permutations

import numpy as np

from liegg.algebra.finite.multiplication import (
    OtherTable,
    ProductTable,
    Table,
    centre,
    element_orders,
    inverses,
    prime_factors,
    quotient,
)
from liegg.algebra.words.wording import SUBSCRIPTS

TO_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
"""Digits of exponents."""

Named = tuple[str, Callable[[], Table]]
"""A name, and a function that makes the table."""


def cyclic(n: int) -> Table:
    """C_n: sums modulo n."""
    every = np.arange(n)
    return (every[:, None] + every) % n


def semidirect(n: int, m: int, power: int) -> Table:
    """C_n ⋊ C_m, where the generator b of C_m makes a power of a: b a b⁻¹ = a^power.

    >>> len(semidirect(7, 3, 2))
    21
    """
    a, b = np.divmod(np.arange(n * m), m)
    powers = np.array([pow(power, int(k), n) for k in range(m)])
    return (a[:, None] + powers[b][:, None] * a) % n * m + (b[:, None] + b) % m


def dihedral(n: int) -> Table:
    """D_n, of order 2n: the symmetries of a polygon with n sides."""
    return semidirect(n, 2, n - 1) if n > 1 else cyclic(2)


def dicyclic(n: int) -> Table:
    """Dic_n, of order 4n: a of order 2n, b² = a^n, b a b⁻¹ = a⁻¹; the quaternion group for n = 2."""
    a, b = np.divmod(np.arange(4 * n), 2)
    sign = np.where(b == 1, -1, 1)
    carry = n * (b[:, None] & b)
    return (a[:, None] + sign[:, None] * a + carry) % (2 * n) * 2 + (b[:, None] ^ b)


def direct(one: Table, other: OtherTable) -> ProductTable:
    """The direct product."""
    i, j = np.divmod(np.arange(len(one) * len(other)), len(other))
    return one[np.ix_(i, i)] * len(other) + other[np.ix_(j, j)]


def of_permutations(generators: Sequence[Sequence[int]]) -> Table:
    """The group that permutations generate; products apply the right one first."""
    steps = [np.array(one) for one in generators]
    start = tuple(range(len(steps[0])))
    places, elements = {start: 0}, [start]
    for element in elements:
        for step in steps:
            product = tuple(step[list(element)].tolist())
            if product not in places:
                places[product] = len(elements)
                elements.append(product)
    return table_of_permutations(np.array(elements))


def table_of_permutations(elements: np.ndarray) -> Table:
    """The table of all elements of a group of permutations, the identity first."""
    m, n = elements.shape
    random = np.random.default_rng(0).integers(1, 2**50, n)
    keys = elements @ random
    order = np.argsort(keys)
    products = np.stack([row[elements] @ random for row in elements])
    return order[np.searchsorted(keys[order], products.ravel())].reshape(m, m)


def symmetric(n: int) -> Table:
    """S_n: all permutations of n things."""
    return table_of_permutations(np.array(list(permutations(range(n)))))


def alternating(n: int) -> Table:
    """A_n: all even permutations of n things."""
    every = np.array(list(permutations(range(n))))
    inversions = sum(
        (every[:, i] > every[:, j]).astype(int) for i in range(n) for j in range(i + 1, n)
    )
    return table_of_permutations(every[inversions % 2 == 0])


def signed_permutations(n: int) -> Table:
    """Z₂ ≀ S_n, of order 2ⁿ n!: permutations of n axes with signs."""
    swap = [1, 0, *range(2, n)]
    cycle = [*range(1, n), 0]
    flip = [n, *range(1, n), 0, *range(n + 1, 2 * n)]
    return of_permutations([[*one, *(n + i for i in one)] for one in (swap, cycle)] + [flip])


def special_linear(p: int) -> Table:
    """SL(2, p): matrices of determinant one over the integers modulo a prime."""
    vectors = [(x, y) for x in range(p) for y in range(p) if x or y]
    place = {v: i for i, v in enumerate(vectors)}
    maps = [lambda x, y: ((x + y) % p, y), lambda x, y: (x, (x + y) % p)]
    return of_permutations([[place[step(*v)] for v in vectors] for step in maps])


def heisenberg(p: int) -> Table:
    """The Heisenberg group modulo a prime p, of order p³: (a, b, c)(a', b', c') = (a + a', b + b', c + c' + ab')."""
    a, b, c = np.unravel_index(np.arange(p**3), (p, p, p))
    product = ((a[:, None] + a) % p, (b[:, None] + b) % p, (c[:, None] + c + a[:, None] * b) % p)
    return np.ravel_multi_index(product, (p, p, p))


def generalised_dihedral(factors: Sequence[int]) -> ProductTable:
    """An abelian group, and an element of order two that inverts all of it."""
    table = abelian(factors)
    back = inverses(table)
    i, s = np.divmod(np.arange(2 * len(table)), 2)
    other = np.where(s[:, None] == 1, back[i], i)
    return table[i[:, None], other] * 2 + (s[:, None] ^ s)


def pauli() -> Table:
    """C₄ ∘ D₄: the Pauli matrices with all phases 1, i, −1, −i."""
    both = direct(cyclic(4), dihedral(4))
    orders = element_orders(both)
    middle = [z for z in centre(both) if orders[z] == 2]
    # The product of the two central elements of order two that are squares of elements of order four.
    squares = [z for z in middle if z % 8 and z // 8]
    return quotient(both, np.array([0, squares[0]]))


def label(letter: str, n: int) -> str:
    """A letter with an index: "C₄"."""
    return letter + str(n).translate(SUBSCRIPTS)


def abelian_name(factors: Sequence[int]) -> str:
    """The name of an abelian group by its invariant factors.

    >>> abelian_name((2, 2, 4)), abelian_name((2, 2)), abelian_name((6,)), abelian_name(())
    ('C₄ × Z₂²', 'Z₂²', 'C₆', 'C₁')
    """
    if not factors:
        return "C₁"
    if len(factors) == 1:
        return label("C", factors[0])
    twos = sum(factor == 2 for factor in factors)
    names = [label("C", factor) for factor in reversed(factors) if factor != 2]
    power = str(twos).translate(TO_SUPERSCRIPTS) if twos > 1 else ""
    return " × ".join([*names, *([f"Z₂{power}"] if twos else [])])


def abelian_groups(order: int, divisor: int | None = None) -> Iterator[tuple[int, ...]]:
    """Invariant factors of all abelian groups of an order.

    >>> sorted(abelian_groups(8))
    [(2, 2, 2), (2, 4), (8,)]
    """
    if order == 1:
        yield ()
        return
    primes = np.prod(prime_factors(order))
    for last in range(int(primes), order + 1):
        if order % last or last % primes or (divisor is not None and divisor % last):
            continue
        yield from ((*rest, last) for rest in abelian_groups(order // last, last))


def abelian(factors: Sequence[int]) -> Table:
    """The product of cyclic groups."""
    table = cyclic(1)
    for factor in factors:
        table = direct(table, cyclic(factor))
    return table


SPORADIC: dict[int, list[Named]] = {
    12: [("A₄", lambda: alternating(4))],
    16: [
        ("C₄ ∘ D₄", pauli),
        ("Z₂² ⋊ C₄", lambda: of_permutations([[1, 0, *range(2, 8)], [2, 3, 0, 1, 5, 6, 7, 4]])),
    ],
    24: [
        ("S₄", lambda: symmetric(4)),
        ("SL(2,3)", lambda: special_linear(3)),
        (
            "C₃ ⋊ D₄",
            lambda: of_permutations(
                [[1, 2, 0, 3, 4, 5, 6], [0, 2, 1, 4, 5, 6, 3], [0, 1, 2, 3, 6, 5, 4]]
            ),
        ),
    ],
    27: [("Heis(3)", lambda: heisenberg(3))],
    60: [("A₅", lambda: alternating(5))],
    120: [("S₅", lambda: symmetric(5)), ("SL(2,5)", lambda: special_linear(5))],
    360: [("A₆", lambda: alternating(6))],
    384: [("Z₂ ≀ S₄", lambda: signed_permutations(4))],
    720: [("S₆", lambda: symmetric(6))],
}
"""Groups that belong to no family of all orders."""


def basic_groups(order: int) -> Iterator[Named]:
    """Groups of an order that are not abelian, by their most usual names first; some occur twice."""
    if order % 2 == 0 and order >= 6:
        yield label("D", order // 2), lambda: dihedral(order // 2)
    yield from SPORADIC.get(order, [])
    if order % 4 == 0 and order >= 8:
        n = order // 4
        usual = label("Q", order) if order & (order - 1) == 0 else label("Dic", n)
        yield usual, lambda: dicyclic(n)


def generalised_dihedral_groups(order: int) -> Iterator[Named]:
    """Abelian groups of two or more factors with an element that inverts them."""
    for factors in abelian_groups(order // 2) if order % 2 == 0 else ():
        if len(factors) > 1 and factors[-1] > 2:
            yield f"Dih({abelian_name(factors)})", partial(generalised_dihedral, factors)


def metacyclic_groups(order: int) -> Iterator[Named]:
    """Semidirect products of two cyclic groups, the larger normal subgroup first."""
    for m in (m for m in range(2, order // 2) if order % m == 0):
        n = order // m
        for power in range(2, n):
            if np.gcd(power, n) == 1 and pow(power, m, n) == 1:
                words = f"{label('C', n)} ⋊ {label('C', m)} (b a b⁻¹ = a{str(power).translate(TO_SUPERSCRIPTS)})"
                yield words, lambda n=n, m=m, power=power: semidirect(n, m, power)
