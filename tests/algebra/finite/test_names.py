"""Tables of finite groups and their names, against the numbers of groups that are known."""

import math

import numpy as np
import pytest

from algebra.finite.groups import is_group
from liegg.algebra.finite.catalog import (
    abelian,
    abelian_groups,
    alternating,
    cyclic,
    dicyclic,
    dihedral,
    direct,
    heisenberg,
    of_permutations,
    pauli,
    semidirect,
    signed_permutations,
    special_linear,
    symmetric,
)
from liegg.algebra.finite.multiplication import (
    abelian_factors,
    centre,
    derived_subgroup,
    element_orders,
    group_invariants,
    inverses,
    quotient,
    subgroup,
)
from liegg.algebra.finite.names import _candidates, homomorphism, isomorphism, table_name

GROUPS = {8: 5, 12: 5, 16: 14, 18: 5, 20: 5, 21: 2, 24: 15, 27: 5, 28: 4, 30: 4}
"""Number of groups of an order (OEIS A000001)."""

SMALL = {
    "C₆": cyclic(6),
    "D₄": dihedral(4),
    "Q₈": dicyclic(2),
    "A₄": alternating(4),
    "S₄": symmetric(4),
    "SL(2,3)": special_linear(3),
    "C₄ ∘ D₄": pauli(),
    "Heis(3)": heisenberg(3),
    "A₅": alternating(5),
    "S₅": symmetric(5),
    "SL(2,5)": special_linear(5),
    "A₅ × Z₂": direct(alternating(5), cyclic(2)),
    "S₄ × Z₂": direct(symmetric(4), cyclic(2)),
    "D₅ × C₃": direct(dihedral(5), cyclic(3)),
    "D₃ × D₃": direct(dihedral(3), dihedral(3)),
    "Z₂ ≀ S₄": signed_permutations(4),
    "C₇ ⋊ C₃ (b a b⁻¹ = a²)": semidirect(7, 3, 2),
    "C₅ ⋊ C₄ (b a b⁻¹ = a²)": semidirect(5, 4, 2),
}


def renumbered(table, seed):
    """The same group with its elements in another order, the identity first."""
    order = np.concatenate([[0], 1 + np.random.default_rng(seed).permutation(len(table) - 1)])
    return np.argsort(order)[table[np.ix_(order, order)]]


@pytest.mark.slow
@pytest.mark.parametrize("order", GROUPS)
def test_every_group_of_an_order_has_its_own_name(order):
    kinds = [table for factors in abelian_groups(order) for table in [abelian(factors)]]
    for _, make in _candidates(order):
        table = make()
        if all(isomorphism(table, kind) is None for kind in kinds):
            kinds.append(table)
    names = [table_name(renumbered(table, 1)) for table in kinds]
    assert len(kinds) == GROUPS[order]
    assert len(set(names)) == len(names)
    assert not any(name.startswith("group of order") for name in names)


@pytest.mark.parametrize("name", SMALL)
def test_names_do_not_depend_on_the_order_of_elements(name):
    assert table_name(renumbered(SMALL[name], 3)) == name


def test_groups_with_the_same_orders_of_elements_are_told_apart():
    # C₄ × C₄ and C₄ ⋊ C₄ have 3 elements of order 2 and 12 of order 4; Heis(3) and C₃³ exponent 3.
    for one, other in ((abelian([4, 4]), semidirect(4, 4, 3)), (heisenberg(3), abelian([3, 3, 3]))):
        assert (np.sort(element_orders(one)) == np.sort(element_orders(other))).all()
        assert isomorphism(one, other) is None
        assert table_name(one) != table_name(other)
    assert isomorphism(special_linear(5), direct(alternating(5), cyclic(2))) is None
    assert isomorphism(special_linear(5), symmetric(5)) is None


def test_an_isomorphism_respects_all_products():
    for table in SMALL.values():
        if len(table) > 130:
            continue
        other = renumbered(table, 7)
        mapping = isomorphism(table, other)
        assert mapping is not None
        assert (mapping[table] == other[np.ix_(mapping, mapping)]).all()
    assert isomorphism(cyclic(4), cyclic(5)) is None
    assert isomorphism(symmetric(4), renumbered(symmetric(4), 2), budget=1) is None
    assert homomorphism(cyclic(4), cyclic(4), [1], [2]) is None


def test_a_group_without_a_name_is_described_by_its_invariants():
    # SL(2,3) × D₃ is in the catalogue; the holomorph of C₃², AGL(2,3) restricted to SL, of order 216, is not.
    plane = [(x, y) for x in range(3) for y in range(3)]
    place = {v: i for i, v in enumerate(plane)}
    maps = [
        lambda x, y: ((x + 1) % 3, y),
        lambda x, y: ((x + y) % 3, y),
        lambda x, y: (x, (x + y) % 3),
    ]
    table = of_permutations([[place[step(*v)] for v in plane] for step in maps])
    assert len(table) == 216
    name = table_name(table)
    assert name.startswith("group of order 216 with 10 conjugacy classes, a centre of order 1")


def test_invariant_factors_of_abelian_groups():
    for factors in [(), (2,), (2, 2), (2, 4), (2, 2, 12), (3, 3), (60,), (2, 6, 6)]:
        assert abelian_factors(renumbered(abelian(factors), 5)) == factors
        assert len(abelian(factors)) == math.prod(factors)


def test_invariants_of_known_groups():
    found = group_invariants(symmetric(4))
    assert found.element_orders == ((1, 1), (2, 9), (3, 8), (4, 6))
    assert (found.classes, found.centre, found.derived, found.exponent) == (5, 1, 12, 12)
    assert found.abelianisation == (2,)
    assert group_invariants(special_linear(5)).abelianisation == ()
    assert group_invariants(dicyclic(2)).centre == 2
    table = symmetric(4)
    assert (table[np.arange(24), inverses(table)] == 0).all()
    assert len(subgroup(table, derived_subgroup(table).tolist())) == 12
    assert isomorphism(quotient(table, derived_subgroup(table)), cyclic(2)) is not None
    assert centre(cyclic(5)).tolist() == [0, 1, 2, 3, 4]


def test_tables_that_are_no_groups_are_refused():
    # A Latin square with an identity that is not associative (the smallest loop that is no group has order 5).
    loop = np.array(
        [[0, 1, 2, 3, 4], [1, 0, 3, 4, 2], [2, 4, 0, 1, 3], [3, 2, 4, 0, 1], [4, 3, 1, 2, 0]]
    )
    assert not is_group(loop)
    assert not is_group(np.array([[0, 1], [1, 1]]))
    assert not is_group(np.array([[1, 0], [0, 1]]))
    assert not is_group(np.zeros((0, 0), dtype=np.int64))
    assert all(is_group(table) for table in SMALL.values())
