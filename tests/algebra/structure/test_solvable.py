"""Small solvable algebras by their structure constants."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.gap import algebras as make
from liegg.algebra import se, shear, so
from liegg.algebra.structure.solvable import nilpotent_name, plane_name


@pytest.mark.parametrize(
    ("generators", "names"),
    [
        (make.heisenberg(1), ("heis(3)", "n(3)", "Bianchi II")),
        (make.heisenberg(4), ("heis(9)",)),
        (make.filiform(4), ("filiform(4)",)),
        (shear(4), ("n(4)",)),
        (make.filiform(5), ()),
        (make.filiform(6), ()),
        (shear(5), ()),
    ],
)
def test_nilpotent_names(generators, names):
    found, why = nilpotent_name(make.constants_of(generators, seed=1))
    assert found == names
    assert bool(why) == bool(names)


@given(one=st.floats(-3, 3), other=st.floats(-3, 3), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=25)
def test_parameter_of_real_eigenvalues(one, other, seed):
    # One element scales two directions by `one` and `other`: VI with h = -((a + b)/(a - b))², V where they are equal.
    if min(abs(one), abs(other)) < 0.1 or 0 < abs(one - other) < 0.1 or 0 < abs(one + other) < 0.1:
        return
    names, _ = plane_name(
        make.constants_of(make.flow([[one, 0], [0, other]]), seed=seed, condition=10.0)
    )
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
    names, _ = plane_name(make.constants_of(flow, seed=seed, condition=10.0))
    assert _parameter(names[0], "VII") == pytest.approx((real / imaginary) ** 2, rel=1e-3)


def _parameter(name, kind):
    head, _, value = name.partition(" (h = ")
    assert head == f"Bianchi {kind}"
    assert math.isfinite(float(value[:-1]))
    return float(value[:-1])


def test_jordan_block():
    assert plane_name(make.constants_of(make.flow([[2, 1], [0, 2]]), seed=3))[0] == ("Bianchi IV",)


@pytest.mark.parametrize(
    "generators", [so(3), se(3), make.heisenberg(1)], ids=["so(3)", "se(3)", "heis(3)"]
)
def test_others_have_no_such_name(generators):
    assert plane_name(make.constants_of(generators, seed=3)) == ((), "")


def test_rounding_does_not_make_a_name():
    assert plane_name(torch.zeros(3, 3, 3)) == ((), "")
