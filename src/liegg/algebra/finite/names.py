"""The name of a finite group from its multiplication table, checked by an isomorphism."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from jaxtyping import Int

from liegg.algebra.finite.catalog import (
    Named,
    abelian,
    abelian_groups,
    abelian_name,
    basic_groups,
    direct,
    generalised_dihedral_groups,
    metacyclic_groups,
)
from liegg.algebra.finite.multiplication import (
    GroupInvariants,
    Labels,
    OtherTable,
    Table,
    abelian_factors,
    conjugacy_classes,
    element_orders,
    generating_set,
    group_invariants,
    subgroup,
)

LARGEST_PRODUCT = 400
"""Largest order for which all products of the catalogue are tried."""

LARGEST_METACYCLIC = 128
"""Largest order for which all semidirect products of cyclic groups are tried."""

MOST_MAPS = 20_000
"""Partial maps that a search tries before it gives up."""

DRAWN_SETS = 60
"""Random sets of generators among which a search takes the one with the fewest possible images."""

ALIASES = {
    "D₃": ("S₃",),
    "D₆": ("D₃ × Z₂", "S₃ × Z₂"),
    "Z₂²": ("D₂",),
    "C₂": ("Z₂",),
    "A₅": ("PSL(2,5)",),
    "Dic₃": ("C₃ ⋊ C₄",),
    "S₄": ("PGL(2,3)",),
    "SL(2,3)": ("2T",),
    "SL(2,5)": ("2I",),
}
"""Other names of the same abstract groups."""


def table_name(table: Table) -> str:
    """The name of the abstract group of a table; its invariants in words where no name is known.

    Abelian groups follow from the orders of their elements. Any other name is given only if an
    isomorphism with the group of that name was found.

    >>> from liegg.algebra.finite.catalog import dicyclic, symmetric
    >>> table_name(dicyclic(2)), table_name(symmetric(4)), table_name(symmetric(3))
    ('Q₈', 'S₄', 'D₃')
    """
    if (table == table.T).all():
        return abelian_name(abelian_factors(table))
    orders = np.sort(element_orders(table))
    for name, make in _candidates(len(table)):
        other = make()
        if (np.sort(element_orders(other)) == orders).all() and isomorphism(
            table, other
        ) is not None:
            return name
    return described(group_invariants(table))


def described(invariants: GroupInvariants) -> str:
    """A group without a name, in words."""
    counts = ", ".join(f"{count} of order {size}" for size, count in invariants.element_orders[1:])
    quotient = abelian_name(invariants.abelianisation)
    return (
        f"group of order {invariants.order} with {invariants.classes} conjugacy classes, "
        f"a centre of order {invariants.centre}, abelianisation {quotient} and elements {counts}"
    )


def _candidates(order: int) -> Iterator[Named]:
    """Groups of the catalogue that are not abelian, the simplest names first."""
    yield from basic_groups(order)
    if order > LARGEST_PRODUCT:
        if order % 2 == 0:
            yield from _with_abelian(order, order // 2, basic_groups)
        return
    factors = sorted((k for k in range(6, order) if order % k == 0), reverse=True)
    for factor in factors:
        yield from _with_abelian(order, factor, basic_groups)
    for factor in factors:
        if order // factor <= factor:
            yield from _with_basic(order, factor)
    yield from generalised_dihedral_groups(order)
    if order <= LARGEST_METACYCLIC:
        yield from metacyclic_groups(order)
        for factor in factors:
            yield from _with_abelian(order, factor, metacyclic_groups)


def _with_abelian(
    order: int, factor: int, groups: Callable[[int], Iterator[Named]]
) -> Iterator[Named]:
    """Products of a group of order `factor` with an abelian one."""
    for name, make in groups(factor):
        own = f"({name})" if " " in name else name
        for factors in abelian_groups(order // factor):
            other = "Z₂" if factors == (2,) else abelian_name(factors)
            yield f"{own} × {other}", partial(_product, make, partial(abelian, factors))


def _with_basic(order: int, factor: int) -> Iterator[Named]:
    """Products of two groups that are not abelian."""
    for name, make in basic_groups(factor):
        for other, make_other in basic_groups(order // factor):
            yield f"{name} × {other}", partial(_product, make, make_other)


def _product(one: Callable[[], Table], other: Callable[[], Table]) -> Table:
    return direct(one(), other())


def traits(table: Table) -> list[tuple[int, ...]]:
    """What every isomorphism preserves of each element.

    Its order, the size of its class, the number of its square and cube roots, and the same of its
    square and cube.
    """
    every = np.arange(len(table))
    orders, classes = element_orders(table), conjugacy_classes(table)
    square = table[every, every]
    cube = table[square, every]
    own = np.stack(
        [
            orders,
            np.bincount(classes)[classes],
            np.bincount(square, minlength=len(table)),
            np.bincount(cube, minlength=len(table)),
        ],
        1,
    )
    return [tuple(row) for row in np.concatenate([own, own[square], own[cube]], 1).tolist()]


def isomorphism(one: Table, other: OtherTable, *, budget: int = MOST_MAPS) -> Labels | None:
    """An isomorphism of two groups as the image of each element; None where none was found.

    The images of a few generators are tried, those of the first one up to conjugacy. A map is extended to all
    products and accepted only if it is one-to-one and respects multiplication by every generator, which
    makes it an isomorphism. So an answer is certain; None means that there is none, or that the search
    took more than `budget` maps.

    >>> square = np.array([[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]])
    >>> isomorphism(square, square).tolist()
    [0, 1, 2, 3]
    """
    if len(one) != len(other):
        return None
    mine, theirs = traits(one), traits(other)
    if sorted(mine) != sorted(theirs):
        return None
    generators = _few_images(one, mine)
    images = [[j for j, trait in enumerate(theirs) if trait == mine[g]] for g in generators]
    if images:
        classes = conjugacy_classes(other)
        images[0] = [j for j in images[0] if j == int((classes == classes[j]).argmax())]
    return _extended(one, other, generators, images, budget=[budget])


def _few_images(table: Table, traits_of: list[tuple[int, ...]]) -> list[int]:
    """Generators with few possible images: the best of some random sets."""
    alike = {trait: traits_of.count(trait) for trait in set(traits_of)}
    best = generating_set(table)
    random = np.random.default_rng(0)

    def cost(generators: Sequence[int]) -> float:
        return float(np.prod([float(alike[traits_of[g]]) for g in generators]))

    for _ in range(DRAWN_SETS):
        generators: list[int] = []
        inside = np.zeros(len(table), dtype=bool)
        inside[0] = True
        while not inside.all() and len(generators) < len(best):
            outside = np.flatnonzero(~inside)
            weights = np.array([1 / alike[traits_of[g]] for g in outside])
            generators.append(int(random.choice(outside, p=weights / weights.sum())))
            inside[subgroup(table, generators)] = True
        if inside.all() and cost(generators) < cost(best):
            best = generators
    return best


def _extended(
    one: Table,
    other: OtherTable,
    generators: list[int],
    images: list[list[int]],
    *,
    budget: list[int],
    chosen: tuple[int, ...] = (),
) -> Labels | None:
    """Depth-first search over the images of the generators."""
    mapping = homomorphism(one, other, generators[: len(chosen)], chosen)
    budget[0] -= 1
    if mapping is None or budget[0] < 0:
        return None
    if len(chosen) == len(generators):
        return mapping
    for image in images[len(chosen)]:
        found = _extended(one, other, generators, images, budget=budget, chosen=(*chosen, image))
        if found is not None or budget[0] < 0:
            return found
    return None


def homomorphism(
    one: Table, other: OtherTable, generators: Sequence[int], images: Sequence[int]
) -> Int[np.ndarray, " m"] | None:
    """The one-to-one homomorphism of the subgroup that generators generate; -1 elsewhere, None if there is none."""
    mapping = np.full(len(one), -1)
    mapping[0] = 0
    front = np.zeros(1, dtype=np.int64)
    while len(front):
        further = []
        for generator, image in zip(generators, images, strict=True):
            product, target = one[front, generator], other[mapping[front], image]
            new = mapping[product] < 0
            mapping[product[new]] = target[new]
            further.append(product[new])
            if (mapping[product] != target).any():
                return None
        front = np.unique(np.concatenate(further)) if further else front[:0]
    inside = np.flatnonzero(mapping >= 0)
    return mapping if len(np.unique(mapping[inside])) == len(inside) else None
