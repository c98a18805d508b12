"""Radical, nilradical, Levi factor: dimensions by hand, and the laws that define them."""

import torch

from algebra.gap import algebras as make
from liegg.algebra import aff, distance_to_span, gl, principal_angles, se, sl, so, u
from liegg.algebra.bracket import killing_form, structure_constants
from liegg.algebra.structure.radical import levi, nilradical, radical
from liegg.algebra.structure.series import derived_series, lower_central_series, restricted

KNOWN = [
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

EACH_EVERY = [k[1:] for k in KNOWN]


def outside_of(constants, one, other, span):
    """Largest part of a bracket of two subspaces outside a third."""
    found = torch.einsum("ai,bj,ijk->abk", one, other, constants).flatten(0, 1)
    return float(distance_to_span(found, span).max()) if len(found) else 0.0


def test_radical_is_a_solvable_ideal():
    for generators, solvable, _nilpotent in EACH_EVERY:
        constants = make.constants_of(generators, seed=4)
        rows = radical(constants)
        assert len(rows) == solvable
        assert (
            outside_of(constants, torch.eye(len(constants), dtype=torch.float64), rows, rows) < 1e-9
        )
        assert len(derived_series(constants, start=rows)[-1]) == 0


def test_nilradical_is_a_nilpotent_ideal_in_the_radical():
    for generators, _solvable, nilpotent in EACH_EVERY:
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
    for generators, solvable, _nilpotent in EACH_EVERY:
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


def test_nothing():
    nothing = torch.zeros(0, 0, 0)
    assert radical(nothing).shape == nilradical(nothing).shape == levi(nothing).shape == (0, 0)


def test_semisimple_levi_is_everything():
    assert len(levi(structure_constants(sl(3)))) == 8
