"""Direct summands: simple ideals of semisimple algebras, indecomposable ones of others."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.gap import algebras as make
from liegg.algebra import aff, distance_to_span, gl, principal_angles, se, sl, so, su, u
from liegg.algebra.bracket import adjoint, killing_form, structure_constants
from liegg.algebra.structure.ideals import centroid, direct_summands, levi, nilradical, radical
from liegg.algebra.structure.series import derived_series, lower_central_series, restricted

KNOWN = [
    # name, generators, (dimension, complex) of each summand
    ("so(4)", so(4), [(3, False), (3, False)]),
    ("so(1,3)", so(1, 3), [(6, True)]),
    ("so(4,C)", make.complexified(so(4)), [(6, True), (6, True)]),
    ("so(5)", so(5), [(10, False)]),
    (
        "three",
        make.direct_sum(su(3), so(1, 3), sl(2), so(3)),
        [(8, False), (6, True), (3, False), (3, False)],
    ),
    ("se(3)", se(3), [(6, False)]),
    (
        "se(2) + se(3) + aff(1)",
        make.direct_sum(se(2), se(3), aff(1)),
        [(6, False), (3, False), (2, False)],
    ),
    (
        "heis(3) + heis(5)",
        make.direct_sum(make.heisenberg(1), make.heisenberg(2)),
        [(5, False), (3, False)],
    ),
    (
        "sim(2)",
        make.semidirect(so(2), scaled=True),
        [(4, True)],
    ),  # the complex affine maps of the complex line
]

EACH_EVERY = [k[1:] for k in KNOWN]


def test_dimensions():
    for generators, expected in EACH_EVERY:
        for condition in [1.0, 100.0]:
            constants = make.constants_of(generators, seed=8, condition=condition)
            assert [
                (len(ideal.basis), ideal.complex) for ideal in direct_summands(constants)
            ] == expected


def test_summands_are_ideals_that_commute_and_fill_the_algebra():
    for generators, _expected in EACH_EVERY:
        constants = make.constants_of(generators, seed=9, condition=10.0)
        ideals = [ideal.basis for ideal in direct_summands(constants)]
        assert float(torch.linalg.svdvals(torch.cat(ideals)).min()) > 1e-6
        for i, one in enumerate(ideals):
            for j, other in enumerate(ideals):
                found = torch.einsum("ai,bj,ijk->abk", one, other, constants).flatten(0, 1)
                inside = found @ one.mT @ one if i == j else torch.zeros_like(found)
                torch.testing.assert_close(found, inside, atol=1e-8, rtol=0)


def test_the_centroid_commutes_with_the_adjoint_representation():
    constants = make.constants_of(make.direct_sum(so(1, 3), so(3)), seed=1)
    found, ad = centroid(constants), adjoint(constants)
    assert found.shape == (3, 9, 9)  # complex multiples of the one, real multiples of the other
    assert float((found[:, None] @ ad - ad @ found[:, None]).abs().max()) < 1e-12


@given(seed=st.integers(0, 200))
@settings(deadline=None, max_examples=10)
def test_simple_ideals_do_not_depend_on_the_basis(seed):
    generators = make.direct_sum(so(3), sl(2))
    mix = torch.linalg.qr(
        torch.randn(6, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    )[0]
    constants = structure_constants(torch.einsum("ab,bij->aij", mix, generators))
    spans = [ideal.basis @ mix for ideal in direct_summands(constants)]
    first, second = torch.eye(6, dtype=torch.float64).split(3)
    angles = [
        float(principal_angles(span, half).max()) for span in spans for half in (first, second)
    ]
    assert sorted(angles)[1] < 1e-9  # each of the two is one of the two
    assert sorted(angles)[2] > 1


def test_nothing():
    assert direct_summands(torch.zeros(0, 0, 0)) == ()


RADICALS = [
    # name, generators, radical, nilradical
    ("so(4)", so(4), 0, 0),
    ("u(3)", u(3), 1, 1),
    ("se(3)", se(3), 3, 3),
    ("aff(3)", aff(3), 4, 3),
    ("se(2)", se(2), 3, 2),
    ("sim(2)", make.semidirect(so(2), scaled=True), 4, 2),
    ("e(1,3)", make.semidirect(so(1, 3)), 4, 4),
    ("sp(4) on heis(5)", make.jacobi(2), 5, 5),
    ("triangular(4)", make.upper_triangular(4), 10, 7),  # shears and the identity
    ("blocks(1,2,1)", make.block_triangular(1, 2, 1), 8, 6),
    ("1 + i, 1 - i", make.flow([[1, -1], [1, 1]]), 3, 2),  # eigenvalues whose squares sum to zero
    ("se(2) + gl(2)", make.direct_sum(se(2), gl(2)), 4, 3),
]

EACH_RADICAL = [k[1:] for k in RADICALS]


def outside_of(constants, one, other, span):
    """Largest part of a bracket of two subspaces outside a third."""
    found = torch.einsum("ai,bj,ijk->abk", one, other, constants).flatten(0, 1)
    return float(distance_to_span(found, span).max()) if len(found) else 0.0


def test_radical_is_a_solvable_ideal():
    for generators, solvable, _nilpotent in EACH_RADICAL:
        constants = make.constants_of(generators, seed=4)
        rows = radical(constants)
        assert len(rows) == solvable
        assert (
            outside_of(constants, torch.eye(len(constants), dtype=torch.float64), rows, rows) < 1e-9
        )
        assert len(derived_series(constants, start=rows)[-1]) == 0


def test_nilradical_is_a_nilpotent_ideal_in_the_radical():
    for generators, _solvable, nilpotent in EACH_RADICAL:
        constants = make.constants_of(generators, seed=5)
        rows = nilradical(constants)
        assert len(rows) == nilpotent
        assert (
            outside_of(constants, torch.eye(len(constants), dtype=torch.float64), rows, rows) < 1e-9
        )
        assert len(lower_central_series(restricted(constants, rows))[-1]) == 0
        if nilpotent:
            assert float(distance_to_span(rows, radical(constants)).max()) < 1e-9


def test_levi_factor_is_a_semisimple_subalgebra_beside_the_radical():
    for generators, solvable, _nilpotent in EACH_RADICAL:
        constants = make.constants_of(generators, seed=6)
        rows = levi(constants)
        assert len(rows) == len(constants) - solvable
        if len(rows):
            assert outside_of(constants, rows, rows, rows) < 1e-9
            values = torch.linalg.eigvalsh(killing_form(restricted(constants, rows))).abs()
            assert float(values.min()) > 1e-6 * float(values.max())
            both = torch.cat([rows, radical(constants)])
            assert float(torch.linalg.svdvals(both).min()) > 1e-6


def test_the_radical_of_se3_is_the_translations():
    constants = structure_constants(se(3))
    assert principal_angles(radical(constants), torch.eye(6, dtype=torch.float64)[3:]).max() < 1e-12


def test_a_levi_factor_that_is_hidden_is_found():
    # so(3) in se(3) shifted: rotations about a far point, mixed with translations, are no complement that is closed by itself.
    shift = torch.eye(4, dtype=torch.float64)
    shift[:3, 3] = torch.tensor([3.0, -2.0, 5.0], dtype=torch.float64)
    moved = shift @ se(3) @ torch.linalg.inv(shift)
    mixed = moved.clone()
    mixed[:3] += 0.5 * moved[3:].flip(0)
    constants = structure_constants(mixed)
    rows = levi(constants)
    assert outside_of(constants, rows, rows, rows) < 1e-12


def test_nothing_has_no_radical():
    nothing = torch.zeros(0, 0, 0, dtype=torch.float64)
    assert radical(nothing).shape == nilradical(nothing).shape == levi(nothing).shape == (0, 0)


def test_semisimple_levi_is_everything():
    assert len(levi(structure_constants(sl(3)))) == 8
