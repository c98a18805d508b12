"""Centre and series, on algebras where they are known by hand."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.gap import algebras as make
from liegg._utils.errors import ArgumentError
from liegg.algebra import aff, diagonal, gl, principal_angles, se, shear, so, u
from liegg.algebra.bracket import structure_constants
from liegg.algebra.structure.ideals import radical
from liegg.algebra.structure.series import (
    brackets,
    centre,
    checked_constants,
    derived_series,
    lower_central_series,
    null_rows,
    outside,
    restricted,
    span_rows,
)

KNOWN = [
    # name, generators, centre, derived series, lower central series
    ("so(4)", so(4), 0, [6], [6]),
    ("gl(3)", gl(3), 1, [9, 8], [9, 8]),
    ("u(2)", u(2), 1, [4, 3], [4, 3]),
    ("diagonal(3)", diagonal(3), 3, [3, 0], [3, 0]),
    ("heis(5)", make.heisenberg(2), 1, [5, 1, 0], [5, 1, 0]),
    ("shear(4)", shear(4), 1, [6, 3, 0], [6, 3, 1, 0]),
    ("triangular(3)", make.upper_triangular(3), 1, [6, 3, 1, 0], [6, 3]),
    ("se(2)", se(2), 0, [3, 2, 0], [3, 2]),
    ("aff(2)", aff(2), 0, [6, 5], [6, 5]),
]


def test_dimensions():
    for condition in [1.0, 100.0]:
        for generators, middle, derived, lower in [k[1:] for k in KNOWN]:
            constants = make.constants_of(generators, seed=5, condition=condition)
            assert len(centre(constants)) == middle
            assert [len(rows) for rows in derived_series(constants)] == derived
            assert [len(rows) for rows in lower_central_series(constants)] == lower


def test_the_centre_commutes_and_is_orthonormal():
    generators = make.shape_of(make.direct_sum(gl(3), make.heisenberg(1)), seed=1)
    rows = centre(structure_constants(generators))
    matrices = torch.einsum("ai,ijk->ajk", rows, generators)
    moved = matrices[:, None] @ generators - generators @ matrices[:, None]
    assert float(moved.abs().max()) < 1e-12
    torch.testing.assert_close(rows @ rows.mT, torch.eye(2, dtype=torch.float64))


def test_the_derived_algebra_of_gl_is_what_has_no_trace():
    generators = make.shape_of(gl(3), seed=2, condition=10.0)
    derived = derived_series(structure_constants(generators))[1]
    traces = torch.einsum("ai,ijj->a", derived, generators)
    assert float(traces.abs().max()) < 1e-12


def test_a_series_may_start_at_a_subalgebra():
    rows = torch.eye(6, dtype=torch.float64)[3:]
    series = derived_series(structure_constants(se(3)), start=rows)
    assert [len(step) for step in series] == [3, 0]  # translations commute


def test_brackets_of_rotations_with_translations_are_translations():
    rows = torch.eye(6, dtype=torch.float64)
    found = brackets(structure_constants(se(3)), rows[:3], rows[3:])
    assert principal_angles(found, rows[3:]).max() < 1e-12


def test_restricted_constants_are_those_of_the_subalgebra_in_any_basis():
    constants = structure_constants(se(3))
    rows = torch.nn.functional.pad(
        torch.diag(torch.tensor([2.0, 3.0, 5.0], dtype=torch.float64)), (0, 3)
    )
    turned = structure_constants(
        so(3) * torch.tensor([2.0, 3.0, 5.0], dtype=torch.float64)[:, None, None]
    )
    torch.testing.assert_close(restricted(constants, rows), turned)


def test_an_abelian_part_has_no_rounding_left():
    constants = make.constants_of(se(3), seed=3)
    own = restricted(constants, radical(constants))
    assert own.shape == (3, 3, 3)
    assert not own.any()


def test_rounding_alone_is_an_abelian_algebra():
    noise = 1e-14 * torch.randn(
        4, 4, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    )
    assert len(centre(checked_constants(noise))) == 4


@given(d=st.integers(1, 6), k=st.integers(0, 5), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=25)
def test_null_space_and_row_space_are_complements(d, k, seed):
    matrix = torch.randn(k, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    null, span = null_rows(matrix, 1e-10), span_rows(matrix, 1e-10)
    assert len(null) + len(span) == d
    assert float((matrix @ null.mT).abs().sum()) < 1e-10
    both = torch.cat([null, span])
    torch.testing.assert_close(both @ both.mT, torch.eye(d, dtype=torch.float64))
    rest = outside(torch.eye(d, dtype=torch.float64), span)
    assert len(rest) == len(null)
    assert float((rest @ span.mT).abs().sum()) < 1e-10


def test_errors():
    for constants, text in [
        (
            torch.zeros(3, 3),
            r"constants have shape \(3, 3\); expected \[d, d, d\], for example structure_constants\(so\(3\)\)",
        ),
        (torch.zeros(2, 2, 3), r"constants have shape \(2, 2, 3\)"),
        (torch.full((2, 2, 2), torch.nan), "complex or not finite; expected real numbers"),
        (torch.zeros(2, 2, 2, dtype=torch.complex64), "complex or not finite"),
        (
            torch.ones(2, 2, 2),
            r"not antisymmetric in their first two axes; expected \[B_i, B_j\] = -\[B_j, B_i\]",
        ),
    ]:
        with pytest.raises(ArgumentError, match=text):
            checked_constants(constants)
