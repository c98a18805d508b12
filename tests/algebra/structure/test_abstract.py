"""Names of abstract algebras, from matrices in a basis without structure; what must stay without a name."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.gap import algebras as make
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg.algebra import aff, diagonal, gl, scaling, se, shear, sl, so, sp, su, translation, u
from liegg.algebra.bracket import structure_constants
from liegg.algebra.structure.abstract import abstract_name
from liegg.algebra.structure.invariants import invariants


def two_sided(generators):
    """Matrices acting on matrices from the left and from the right."""
    eye = torch.eye(generators.shape[1], dtype=torch.float64)
    return torch.stack(
        [torch.kron(a, eye) for a in generators] + [torch.kron(eye, a) for a in generators]
    )


NAMES = [
    # name, generators
    ("R", scaling(3)),
    ("R", so(2)),
    ("R⁴", diagonal(4)),
    ("R³", translation(3)),
    ("so(5)", make.quaternionic(2, 0)),
    ("so(3) ⊕ so(3)", so(4)),
    ("so(3) ⊕ sl(2,R)", make.so_star(2)),
    ("so(1,3) ⊕ so(1,3)", make.complexified(so(4))),
    ("su(3) ⊕ so(3) ⊕ sl(2,R)", make.direct_sum(sl(2), su(3), so(3))),
    ("so(3) ⊕ R", u(2)),
    ("sl(3,R) ⊕ R", gl(3)),
    ("so(1,3) ⊕ R²", make.complexified(gl(2))),
    ("heis(3)", make.heisenberg(1)),
    ("heis(7)", make.heisenberg(3)),
    ("heis(3) ⊕ R²", make.direct_sum(make.heisenberg(1), diagonal(2))),
    ("heis(5) ⊕ heis(3)", make.direct_sum(make.heisenberg(1), make.heisenberg(2))),
    ("filiform(4)", make.filiform(4)),
    ("n(4)", shear(4)),
    ("n(4) ⊕ R", make.direct_sum(shear(4), scaling(1))),
    ("aff(1)", aff(1)),
    ("aff(1) ⊕ R", make.upper_triangular(2)),
    ("aff(1) ⊕ aff(1)", make.direct_sum(aff(1), aff(1))),
    ("se(2)", se(2)),
    ("e(1,1)", make.semidirect(so(1, 1))),
    ("Bianchi IV", make.flow([[1, 1], [0, 1]])),
    ("Bianchi V", make.flow([[1, 0], [0, 1]])),
    ("Bianchi VI (h = -4)", make.flow([[1, 0], [0, 3]])),
    ("Bianchi VII (h = 0.25)", make.flow([[1, -2], [2, 1]])),
    ("se(2) ⊕ so(3) ⊕ R", make.direct_sum(se(2), so(3), scaling(2))),
    ("se(3) ⊕ se(3)", make.direct_sum(se(3), se(3))),
    ("se(3)", se(3)),
    ("se(4)", se(4)),
    ("e(1,2)", make.semidirect(so(1, 2))),
    ("e(1,3)", make.semidirect(so(1, 3))),
    ("e(2,2)", make.semidirect(so(2, 2))),
    ("saff(2)", make.semidirect(sl(2))),
    ("saff(3)", make.semidirect(-sl(3).mT)),  # the dual action
    ("aff(2)", aff(2)),
    ("aff(3)", aff(3)),
    ("aff(3)", make.block_triangular(1, 3)[1:]),  # maps of R³ and translations of its dual
    ("sim(2)", make.semidirect(so(2), scaled=True)),
    ("sim(3)", make.semidirect(so(3), scaled=True)),
    ("sim(1,3)", make.semidirect(so(1, 3), scaled=True)),
    ("sim(2,2) ⊕ R", make.block_triangular(2, 2)),
    ("aff(2) ⊕ so(1,3)", make.direct_sum(aff(2), so(1, 3))),
    ("sp(4,R) ⋉ R⁴", make.semidirect(sp(4))),
    ("so(3) ⋉ R⁴", make.semidirect(su(2))),
    (
        "so(1,3) ⋉ R⁴",
        make.semidirect(make.complexified(sl(2))),
    ),  # spinors, not vectors: no Poincaré algebra
    ("sl(2,R) ⋉ heis(3)", make.jacobi(1)),
    ("so(3) ⋉ (R ⋉ R⁴)", make.semidirect(u(2))),
    ("(so(3) ⊕ so(3)) ⋉ R⁹", make.semidirect(two_sided(so(3)))),
    ("R ⋉ R³", make.flow([[1, 0, 0], [0, 2, 0], [0, 0, 3]])),
    ("unknown", make.filiform(5)),
    ("unknown", shear(5)),
    ("unknown", make.upper_triangular(3)),
]


def test_names():
    for name, generators in NAMES:
        constants = make.constants_of(generators, seed=len(name), condition=100.0)
        found = abstract_name(constants, invariants(constants))
        assert found.name == found.aliases[0] == name
        assert len(set(found.aliases)) == len(found.aliases)
        assert found.reasons[0].diagnosis is Diagnosis.DIMENSIONS
        assert found.reasons[0].values["dimension"] == len(generators)


def twin_of_n4(sign):
    """[x1, x2] = x4, [x1, x3] = x5, [x2, x4] = x6, [x3, x5] = ± x6 in a basis without structure: n(4) for the lower sign only."""
    constants = torch.zeros(6, 6, 6, dtype=torch.float64)
    for i, j, k, c in ((0, 1, 3, 1.0), (0, 2, 4, 1.0), (1, 3, 5, 1.0), (2, 4, 5, sign)):
        constants[i, j, k], constants[j, i, k] = c, -c
    mix = torch.linalg.qr(normal(6, 6, seed=3))[0]
    return torch.einsum("ai,bj,ijk,ck->abc", mix, mix, constants, mix)


def test_the_other_real_form_of_n4_is_not_called_n4():
    assert abstract_name(twin_of_n4(-1.0)).name == "n(4)"
    assert abstract_name(twin_of_n4(1.0)).name == "unknown"
    assert invariants(twin_of_n4(1.0)).lower_central_series == (6, 3, 1, 0)


ALIASES = [
    ("so(4)", so(4)),
    ("so*(4)", make.so_star(2)),
    ("so(4,C)", make.complexified(so(4))),
    ("u(2)", u(2)),
    ("gl(3,R)", gl(3)),
    ("gl(2,C)", make.complexified(gl(2))),
    ("so(2)", so(2)),
    ("e(2)", se(2)),
    ("Bianchi II", shear(3)),
    ("Bianchi III", make.upper_triangular(2)),
    ("Bianchi VII₀", se(2)),
    ("su(2) ⋉ R⁴", make.semidirect(su(2))),
    ("aff(1,C)", make.semidirect(so(2), scaled=True)),
    ("gl(2,R) ⋉ R²", aff(2)),
]


def test_aliases():
    for name, generators in ALIASES:
        assert name in abstract_name(make.constants_of(generators, seed=2)).aliases


def test_reasons():
    generators = make.direct_sum(aff(2), so(1, 3), scaling(1))
    reasons = abstract_name(structure_constants(generators)).reasons
    assert [(reason.diagnosis, reason.values) for reason in reasons] == [
        (Diagnosis.DIMENSIONS, {"dimension": 13, "rank": 5, "centre": 1}),
        (
            Diagnosis.NEITHER_SOLVABLE_NOR_REDUCTIVE,
            {"levi": 9, "radical": 4, "nilradical": 3, "derived": "13, 11", "lower": "13, 11"},
        ),
        (
            Diagnosis.ACTS_ON_TRANSLATIONS,
            {"dimension": 2, "action": "by all linear maps", "name": "aff(2)"},
        ),
        (
            Diagnosis.COMPLEX_SIMPLE_IDEAL,
            {"dimension": 6, "dynkin": "A1", "positive": 3, "negative": 3, "name": "so(1,3)"},
        ),
        (Diagnosis.ABELIAN_SUMMAND, {"dimension": 1}),
    ]
    last = abstract_name(structure_constants(shear(5))).reasons[-1]
    series = {"derived": "10, 6, 1, 0", "lower": "10, 6, 3, 1, 0"}
    assert (last.diagnosis, last.values) == (Diagnosis.NOT_IN_LISTS, {"dimension": 10, **series})


KINDS = {
    Diagnosis.ABELIAN: diagonal(2),
    Diagnosis.SEMISIMPLE: so(3),
    Diagnosis.REDUCTIVE: u(2),
    Diagnosis.NILPOTENT: shear(4),
    Diagnosis.SOLVABLE: se(2),
}


def test_the_kind_of_an_algebra_is_among_the_reasons():
    for member, generators in KINDS.items():
        assert abstract_name(structure_constants(generators)).reasons[1].diagnosis is member


def test_constants_of_no_algebra_have_no_name():
    noise = normal(4, 4, 4)
    found = abstract_name(noise - noise.transpose(0, 1))
    assert found.name == "unknown"
    assert [reason.diagnosis for reason in found.reasons] == [Diagnosis.JACOBI_VIOLATED]


def test_inexact_constants_are_never_given_a_name():
    for noise in [1e-9, 3e-8, 1e-3]:
        for generators in [u(2), se(2), se(3), shear(3), aff(2), make.flow([[1, 1], [0, 1]])]:
            # An error of 3e-8 makes of se(2) something with a regular Killing form, which would pass for so(3).
            error = normal(*[len(generators)] * 3)
            constants = make.constants_of(generators, seed=3, condition=10.0) + noise * (
                error - error.transpose(0, 1)
            )
            assert abstract_name(constants).name == "unknown"
            found = invariants(constants)  # ends, and says something
            assert found.dimension == len(generators)


def test_a_looser_tolerance_takes_less_exact_constants():
    error = normal(6, 6, 6)
    constants = make.constants_of(so(1, 3), seed=3, condition=3.0) + 1e-9 * (
        error - error.transpose(0, 1)
    )
    assert abstract_name(constants).name == "unknown"
    assert abstract_name(constants, tolerance=1e-6).name == "so(1,3)"


def test_nothing():
    assert abstract_name(torch.zeros(0, 0, 0)).name == "0"


@given(seed=st.integers(0, 10**6), condition=st.floats(1, 100), place=st.integers(0, 7))
@settings(deadline=None, max_examples=6)
def test_the_basis_does_not_matter(seed, condition, place):
    algebras = [
        so(1, 3),
        u(2),
        aff(2),
        make.heisenberg(2),
        make.semidirect(so(1, 2)),
        se(2),
        shear(4),
        make.direct_sum(se(2), sl(2)),
    ]
    plain = abstract_name(structure_constants(algebras[place]))
    assert (
        abstract_name(make.constants_of(algebras[place], seed=seed, condition=condition)).aliases
        == plain.aliases
    )
