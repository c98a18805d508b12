"""Cartan subalgebras and root systems."""

import torch

from algebra.gap import algebras as make
from liegg.algebra import aff, gl, se, shear, sl, so, sp, su, u
from liegg.algebra.bracket import structure_constants
from liegg.algebra.structure.roots import _dynkin, cartan_subalgebra, root_system

TYPES = [
    # name, generators, types, number of roots
    ("so(3)", so(3), ["A1"], 2),
    ("so(4)", so(4), ["A1", "A1"], 4),
    ("so(1,3)", so(1, 3), ["A1", "A1"], 4),
    ("sl(3)", sl(3), ["A2"], 6),
    ("su(3)", su(3), ["A2"], 6),
    ("su(1,2)", make.su_pq(1, 2), ["A2"], 6),
    ("so(5)", so(5), ["B2"], 8),
    ("sp(4)", sp(4), ["B2"], 8),
    ("so(6)", so(6), ["A3"], 12),
    ("so(7)", so(7), ["B3"], 18),
    ("so(3,4)", so(3, 4), ["B3"], 18),
    ("sp(6)", sp(6), ["C3"], 18),
    ("sp(3)", make.quaternionic(3, 0), ["C3"], 18),
    ("sl(5)", sl(5), ["A4"], 20),
    ("so(8)", so(8), ["D4"], 24),
    ("so(3,5)", so(3, 5), ["D4"], 24),
    ("g2", make.g2(), ["G2"], 12),
    ("so(9)", so(9), ["B4"], 32),
    ("sp(8)", sp(8), ["C4"], 32),
    ("so(10)", so(10), ["D5"], 40),
]


def test_types():
    for generators, types, count in [t[1:] for t in TYPES]:
        found = root_system(make.constants_of(generators, seed=3, condition=20.0))
        assert found is not None
        assert sorted(found.types) == types
        assert found.coefficients.shape == (count, len(found.cartan))


def test_types_by_the_lengths_of_their_roots():
    for name, long, short in [
        ("B6", 60, 12),
        ("C6", 12, 60),
        ("E6", 72, 0),
        ("E7", 126, 0),
        ("E8", 240, 0),
        ("F4", 24, 24),
        ("", 5, 3),
    ]:
        squares = torch.tensor([2.0] * long + [1.0] * short, dtype=torch.float64)
        assert _dynkin(int(name[1:] or 3), squares) == name


def test_laws_of_roots():
    for generators in [so(5), make.g2(), sl(4), sp(6)]:
        found = root_system(make.constants_of(generators, seed=2, condition=10.0))
        assert found is not None
        roots = {tuple(root) for root in found.coefficients.tolist()}
        r = len(found.cartan)
        assert {tuple(row) for row in torch.eye(r, dtype=torch.int64).tolist()} == set(
            map(tuple, found.coefficients[:r].tolist())
        )
        assert {tuple(-c for c in root) for root in roots} == roots  # with each its negative
        assert all(
            min(root) >= 0 or max(root) <= 0 for root in roots
        )  # positive or negative, never mixed
        assert found.matrix.diagonal().tolist() == [2] * r
        for i in range(r):  # reflection in a simple root: α -> α - 2(α, αᵢ)/(αᵢ, αᵢ) αᵢ
            images = found.coefficients.clone()
            images[:, i] -= found.coefficients @ found.matrix[:, i]
            assert {tuple(root) for root in images.tolist()} == roots


def test_cartan_matrix_of_g2():
    found = root_system(structure_constants(make.g2()))
    assert found is not None
    assert sorted(found.matrix.flatten().tolist()) == [-3, -1, 2, 2]


def test_rank():
    for generators, rank in [
        (gl(3), 3),
        (u(2), 2),
        (se(2), 1),
        (se(3), 2),
        (aff(2), 2),
        (shear(4), 6),
        (make.upper_triangular(3), 3),
        (so(1, 4), 2),
    ]:
        assert len(cartan_subalgebra(make.constants_of(generators, seed=7))) == rank


def test_a_cartan_subalgebra_is_nilpotent_and_its_own_normaliser():
    constants = make.constants_of(aff(3), seed=1, condition=10.0)
    rows = cartan_subalgebra(constants)
    inside = torch.einsum("ai,bj,ijk->abk", rows, rows, constants)
    assert float((inside - inside @ rows.mT @ rows).abs().max()) < 1e-9  # a subalgebra
    action = torch.einsum(
        "ai,ijk->ajk", rows, constants
    )  # x -> [h, x], and what of it lies outside
    away = (action - action @ rows.mT @ rows).transpose(0, 1).flatten(1)
    assert int(torch.linalg.matrix_rank(away, atol=1e-8)) == len(constants) - len(rows)


def test_what_is_not_semisimple_has_no_root_system():
    assert root_system(structure_constants(se(3))) is None
