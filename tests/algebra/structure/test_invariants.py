"""The record of invariants: every real form from matrices in a basis without structure, flags, independence of the basis."""

import time

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.gap import algebras as make
from liegg.algebra import aff, diagonal, gl, se, shear, sl, so, sp, su, u
from liegg.algebra.bracket import killing_form, structure_constants
from liegg.algebra.structure.invariants import invariants, killing_basis, simple_ideals

SIMPLE = [
    # one of its names, generators, Dynkin type
    *(
        (f"so({n})", so(n), dynkin)
        for n, dynkin in ((3, "A1"), (5, "B2"), (6, "A3"), (7, "B3"), (8, "D4"))
    ),
    *(
        (f"so({p},{n - p})", so(p, n - p), dynkin)
        for n, dynkin in ((3, "A1"), (5, "B2"), (6, "A3"), (7, "B3"), (8, "D4"))
        for p in range(1, n // 2 + 1)
    ),
    *((f"su({n})", su(n), f"A{n - 1}") for n in (2, 3, 4, 5)),
    *(
        (f"su({p},{q})", make.su_pq(p, q), f"A{p + q - 1}")
        for p, q in ((1, 1), (1, 2), (1, 3), (2, 2), (1, 4), (2, 3))
    ),
    *((f"sl({n},R)", sl(n), f"A{n - 1}") for n in (2, 3, 4, 5)),
    *((f"sp({2 * m},R)", sp(2 * m), dynkin) for m, dynkin in ((1, "A1"), (2, "B2"), (3, "C3"))),
    *(
        (f"sp({m})", make.quaternionic(m, 0), dynkin)
        for m, dynkin in ((1, "A1"), (2, "B2"), (3, "C3"))
    ),
    *(
        (f"sp({p},{q})", make.quaternionic(p, q), dynkin)
        for p, q, dynkin in ((1, 1, "B2"), (1, 2, "C3"))
    ),
    ("sl(2,H)", make.sl_h(2), "A3"),
    ("so*(6)", make.so_star(3), "A3"),
    ("so*(8)", make.so_star(4), "D4"),
    ("g2", make.g2(), "G2"),
    ("g2(split)", make.g2(split=True), "G2"),
]

COMPLEX = [
    ("so(1,3)", so(1, 3), "A1"),
    ("sl(2,C)", make.complexified(sl(2)), "A1"),
    ("so(3,C)", make.complexified(so(3)), "A1"),
    ("sl(3,C)", make.complexified(sl(3)), "A2"),
    ("so(5,C)", make.complexified(so(5)), "B2"),
    ("sp(4,C)", make.complexified(sp(4)), "B2"),
    ("g2(C)", make.complexified(make.g2()), "G2"),
]


def test_real_forms_from_matrices():
    for name, generators, dynkin, twofold in [(*s, False) for s in SIMPLE] + [
        (*c, True) for c in COMPLEX
    ]:
        found = invariants(make.constants_of(generators, seed=len(name), condition=100.0))
        (simple,) = found.simple
        assert name in simple.aliases
        assert simple.aliases[0] == simple.real_form
        assert (simple.dynkin, simple.complex) == (dynkin, twofold)
        assert simple.dimension == found.dimension == len(generators)
        assert simple.rank == found.rank == int(dynkin[1:]) * (1 + twofold)
        assert simple.killing_signature == found.killing_signature[:2]
        assert found.semisimple
        assert found.reductive
        assert not found.solvable


FLAGS = {
    # abelian, nilpotent, solvable, semisimple, reductive, compact
    "so(4)": (so(4), "semisimple reductive compact"),
    "so(1,3)": (so(1, 3), "semisimple reductive"),
    "u(3)": (u(3), "reductive compact"),
    "gl(3)": (gl(3), "reductive"),
    "diagonal(3)": (diagonal(3), "abelian nilpotent solvable reductive compact"),
    "heis(3)": (make.heisenberg(1), "nilpotent solvable"),
    "shear(4)": (shear(4), "nilpotent solvable"),
    "se(2)": (se(2), "solvable"),
    "triangular(3)": (make.upper_triangular(3), "solvable"),
    "se(3)": (se(3), ""),
    "aff(2)": (aff(2), ""),
}


def test_flags():
    for generators, flags in FLAGS.values():
        found = invariants(make.constants_of(generators, seed=1))
        names = ("abelian", "nilpotent", "solvable", "semisimple", "reductive", "compact")
        assert [name for name in names if getattr(found, name)] == flags.split()


def test_b3_is_not_c3():
    seven, six = (invariants(make.constants_of(g, seed=2)).simple[0] for g in (so(3, 4), sp(6)))
    assert (
        seven.killing_signature == six.killing_signature == (12, 9)
    )  # nothing but the roots tells them apart
    assert (seven.dynkin, six.dynkin) == ("B3", "C3")
    assert (seven.real_form, six.real_form) == ("so(3,4)", "sp(6,R)")


def test_simple_ideals_of_a_sum_are_sorted():
    found = invariants(make.constants_of(make.direct_sum(sl(2), so(3), su(3), so(1, 3)), seed=3))
    assert [simple.real_form for simple in found.simple] == ["su(3)", "so(1,3)", "so(3)", "sl(2,R)"]
    assert found.rank == sum(simple.rank for simple in found.simple)
    for simple in found.simple:
        torch.testing.assert_close(
            simple.basis @ simple.basis.mT, torch.eye(simple.dimension, dtype=torch.float64)
        )


def test_simple_ideals_lie_in_the_levi_factor_of_the_whole():
    constants = make.constants_of(make.direct_sum(se(3), aff(2)), seed=4)
    found = invariants(constants)
    assert [simple.real_form for simple in found.simple] == ["so(3)", "sl(2,R)"]
    one, other = (simple.basis for simple in found.simple)
    assert float(torch.einsum("ai,bj,ijk->abk", one, other, constants).abs().max()) < 1e-8
    both = torch.cat([one, other])
    torch.testing.assert_close(both @ found.levi.mT @ found.levi, both, atol=1e-8, rtol=0)


def test_a_balanced_basis_has_a_killing_form_of_ones():
    constants = make.constants_of(so(2, 3), seed=5)
    rows = killing_basis(constants)
    form = rows @ killing_form(constants) @ rows.mT
    torch.testing.assert_close(form, torch.diag(form.diagonal().sign()), atol=1e-9, rtol=0)


@given(seed=st.integers(0, 10**6), condition=st.floats(1, 100), place=st.integers(0, 5))
@settings(deadline=None, max_examples=15)
def test_the_basis_does_not_matter(seed, condition, place):
    generators = [
        so(1, 3),
        se(3),
        aff(2),
        make.heisenberg(2),
        u(2),
        make.direct_sum(so(1, 2), se(2)),
    ][place]
    plain = invariants(structure_constants(generators))
    found = invariants(make.constants_of(generators, seed=seed, condition=condition))
    for field in (
        "dimension",
        "rank",
        "derived_series",
        "lower_central_series",
        "killing_signature",
    ):
        assert getattr(found, field) == getattr(plain, field)
    for field in ("centre", "radical", "nilradical", "levi"):
        assert getattr(found, field).shape == getattr(plain, field).shape
    assert [simple.aliases for simple in found.simple] == [
        simple.aliases for simple in plain.simple
    ]


@given(seed=st.integers(0, 10**6), size=st.floats(1e-3, 1e3))
@settings(deadline=None, max_examples=10)
def test_the_size_of_the_constants_does_not_matter(seed, size):
    constants = make.constants_of(aff(2), seed=seed, condition=10.0)
    found = invariants(size * constants)
    assert (len(found.radical), len(found.nilradical), found.simple[0].real_form) == (
        3,
        2,
        "sl(2,R)",
    )


def test_nothing():
    found = invariants(torch.zeros(0, 0, 0))
    assert (found.dimension, found.rank, found.simple) == (0, 0, ())
    assert found.abelian
    assert not found.semisimple
    assert simple_ideals(torch.zeros(0, 0, 0), torch.zeros(0, 0)) == ()


def test_what_has_no_roots_is_unknown():
    # Constants that are antisymmetric but satisfy no Jacobi identity, with a regular form: no name is made up.
    noise = torch.randn(4, 4, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = simple_ideals(noise - noise.transpose(0, 1), torch.eye(4, dtype=torch.float64))
    assert {
        (simple.dynkin, simple.real_form, simple.aliases, simple.roots) for simple in found
    } == {("unknown", "unknown", ("unknown",), None)}


def test_dimension_28_takes_less_than_half_a_second():
    constants = make.constants_of(so(2, 6), seed=1)
    invariants(constants)
    start = time.process_time()
    invariants(constants)
    assert time.process_time() - start < 0.5
