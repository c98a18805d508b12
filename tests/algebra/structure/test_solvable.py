"""Small solvable algebras by their structure constants."""

import math

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from algebra.gap import algebras as make
from liegg.algebra import aff, se, shear, sl, so, sp, su, u
from liegg.algebra.structure.ideals import radical
from liegg.algebra.structure.solvable import (
    maps_of_translations,
    nilpotent_name,
    plane_name,
    preserves_area,
    semidirect_name,
)


def named(generators, seed):
    """Names of one element that acts on a plane, in a basis without structure."""
    found = plane_name(make.constants_of(generators, seed=seed, condition=10.0))
    assert found is not None
    return found[0]


def test_nilpotent_names():
    for generators, names in [
        (make.heisenberg(1), ("heis(3)", "n(3)", "Bianchi II")),
        (make.heisenberg(4), ("heis(9)",)),
        (make.filiform(4), ("filiform(4)",)),
        (shear(4), ("n(4)",)),
        (make.filiform(5), ()),
        (make.filiform(6), ()),
        (shear(5), ()),
    ]:
        named = nilpotent_name(make.constants_of(generators, seed=1))
        assert (() if named is None else named[0]) == names


@given(one=st.floats(-3, 3), other=st.floats(-3, 3), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=25)
def test_parameter_of_real_eigenvalues(one, other, seed):
    # One element scales two directions by `one` and `other`: VI with h = -((a + b)/(a - b))², V where they are equal.
    assume(min(abs(one), abs(other)) > 0.1)
    assume(one == other or abs(one - other) > 0.1)
    assume(one == -other or abs(one + other) > 0.1)
    names = named(make.flow([[one, 0], [0, other]]), seed)
    if one == other:
        assert names == ("Bianchi V",)
    elif one == -other:
        assert names[0] == "e(1,1)"
    else:
        assert _parameter(names[0], "VI") == pytest.approx(
            -(((one + other) / (one - other)) ** 2), rel=1e-3
        )


@given(real=st.floats(0.1, 3), imaginary=st.floats(0.1, 3), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=20)
def test_parameter_of_complex_eigenvalues(real, imaginary, seed):
    flow = make.flow([[real, -imaginary], [imaginary, real]])
    names = named(flow, seed)
    assert _parameter(names[0], "VII") == pytest.approx((real / imaginary) ** 2, rel=1e-3)


def _parameter(name, kind):
    head, _, value = name.partition(" (h = ")
    assert head == f"Bianchi {kind}"
    assert math.isfinite(float(value[:-1]))
    return float(value[:-1])


def test_jordan_block():
    assert named(make.flow([[2, 1], [0, 2]]), 3) == ("Bianchi IV",)


def test_others_have_no_such_name():
    for generators in [so(3), se(3), make.heisenberg(1)]:
        assert plane_name(make.constants_of(generators, seed=3)) is None


def test_rounding_does_not_make_a_name():
    assert plane_name(torch.zeros(3, 3, 3, dtype=torch.float64)) is None


def moved(generators, seed=1):
    constants = make.constants_of(generators, seed=seed)
    return maps_of_translations(constants, radical(constants))


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


def test_the_maps_of_translations_are_orthonormal():
    found = moved(se(3))
    assert found is not None
    assert found.shape == (3, 3, 3)
    gram = torch.einsum("aij,bij->ab", found, found)
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
