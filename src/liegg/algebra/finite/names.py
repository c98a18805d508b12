"""The name of a finite group from its multiplication table, checked by an isomorphism."""

from collections.abc import Iterator

import numpy as np

from liegg.algebra.finite.catalog import (
    Named,
    abelian,
    abelian_groups,
    abelian_name,
    basic_groups,
    direct,
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
        yield from _with_abelian(order, order // 2)
        return
    for factor in sorted((k for k in range(6, order) if order % k == 0), reverse=True):
        yield from _with_abelian(order, factor)
    for factor in sorted((k for k in range(6, order) if order % k == 0), reverse=True):
        if order // factor <= factor:
            yield from _with_basic(order, factor)
    if order <= LARGEST_METACYCLIC:
        yield from metacyclic_groups(order)
        for factor in sorted((k for k in range(6, order) if order % k == 0), reverse=True):
            for name, make in metacyclic_groups(factor):
                for factors in abelian_groups(order // factor):
                    yield (
                        f"({name}) × {abelian_name(factors)}".replace("C₂", "Z₂")
                        if factors == (2,)
                        else f"({name}) × {abelian_name(factors)}",
                        lambda make=make, factors=factors: direct(make(), abelian(factors)),
                    )


def _with_abelian(order: int, factor: int) -> Iterator[Named]:
    """Products of a group of order `factor` with an abelian one."""
    for name, make in basic_groups(factor):
        for factors in abelian_groups(order // factor):
            other = "Z₂" if factors == (2,) else abelian_name(factors)
            yield (
                f"{name} × {other}",
                lambda make=make, factors=factors: direct(make(), abelian(factors)),
            )


def _with_basic(order: int, factor: int) -> Iterator[Named]:
    """Products of two groups that are not abelian."""
    for name, make in basic_groups(factor):
        for other, make_other in basic_groups(order // factor):
            yield (
                f"{name} × {other}",
                lambda make=make, make_other=make_other: direct(make(), make_other()),
            )
