"""The name of a finite group from its multiplication table, checked by an isomorphism."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

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
from liegg.algebra.finite.isomorphism import isomorphism
from liegg.algebra.finite.multiplication import (
    GroupInvariants,
    Table,
    abelian_factors,
    element_orders,
    group_invariants,
)

LARGEST_PRODUCT = 400
"""Largest order for which all products of the catalogue are tried."""

LARGEST_METACYCLIC = 128
"""Largest order for which all semidirect products of cyclic groups are tried."""

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
