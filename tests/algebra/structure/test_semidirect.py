"""Linear maps together with all translations."""

import torch

from algebra.gap import algebras as make
from liegg.algebra import aff, se, sl, so, sp, su, u
from liegg.algebra.structure.radical import radical
from liegg.algebra.structure.semidirect import preserves_area, semidirect_name, translations


def moved(generators, seed=1):
    constants = make.constants_of(generators, seed=seed)
    return translations(constants, radical(constants))


def test_names():
    for generators, names in [
        (aff(1), ("aff(1)",)),
        (aff(3), ("aff(3)", "gl(3,R) ⋉ R³")),
        (make.semidirect(sl(4)), ("saff(4)", "sl(4,R) ⋉ R⁴")),
        (se(2), ("se(2)", "e(2)")),
        (se(5), ("se(5)", "e(5)")),
        (make.semidirect(so(2, 3)), ("e(2,3)", "iso(2,3)")),
        (make.semidirect(so(3, 1)), ("e(1,3)", "iso(1,3)")),
        (make.semidirect(so(4), scaled=True), ("sim(4)",)),
        (make.semidirect(so(1, 2), scaled=True), ("sim(1,2)",)),
        (make.semidirect(sp(4)), ()),
        (make.semidirect(u(2)), ()),
        (make.semidirect(su(2)), ()),
        (make.flow([[1, 0, 0], [0, 2, 0], [0, 0, 3]]), ()),
        (
            make.flow([[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
            (),
        ),  # scaling alone is no similarity algebra
    ]:
        found = moved(generators)
        assert found is not None
        named = semidirect_name(found)
        assert (() if named is None else named[0]) == names


def test_the_translations_are_found_in_place():
    found = moved(se(3))
    assert found is not None
    assert found.basis.shape == (3, 6)
    assert found.maps.shape == (3, 3, 3)
    gram = torch.einsum("aij,bij->ab", found.maps, found.maps)
    torch.testing.assert_close(gram, torch.eye(3, dtype=torch.float64))


def test_other_algebras_are_not_of_this_kind():
    for generators in [so(4), u(2), make.jacobi(1), make.direct_sum(se(2), so(3))]:
        assert moved(generators) is None


def test_area():
    for maps, is_area in [
        (sp(4), True),
        (sp(2), True),
        (sl(4), False),
        (so(5), False),
        (u(2), False),
    ]:
        assert preserves_area(make.shape_of(maps, seed=2, condition=10.0)) is is_area
