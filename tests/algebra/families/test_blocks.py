"""Sums: models side by side on the subspaces that are kept, in copies where all move together, and their names."""

import torch

from cases import normal, regular
from liegg.algebra import (
    aff,
    closure_residual,
    diagonal,
    direct_sum,
    gl,
    grassmann_distance,
    orthonormal,
    scaling,
    se,
    sl,
    so,
    translation,
    u,
)
from liegg.algebra.families.blocks import affine, blocks, semidirect, sum_name
from liegg.algebra.families.candidates import best
from liegg.algebra.families.record import Member
from liegg.algebra.fit import fit

NOISE = 1e-7


def idle(n):
    """Coordinates that nothing moves."""
    return torch.zeros(0, n, n, dtype=torch.float64)


def copies(generators, k):
    return torch.stack([torch.block_diag(*[a] * k) for a in generators])


def conjugated(generators, condition, seed=7):
    p = regular(generators.shape[1], seed=seed, condition=condition)
    return orthonormal(p @ generators @ torch.linalg.inv(p))


def fitting(span, name):
    """The proposal of a name that the span is, and its fit."""
    models = (member for member in blocks(span, NOISE, best) if member.name == name)
    fits = [
        pair
        for pair in ((member, fit(member.generators, span)) for member in models)
        if pair[1].distance < 1e-8
    ]
    assert fits
    return fits[0]


SUMS = {
    "so(3) ⊕ so(2)": direct_sum(so(3), so(2)),
    "so(2) ⊕ so(2)": direct_sum(so(2), so(2)),
    "so(1,1) ⊕ so(2)": direct_sum(so(2), so(1, 1)),
    "so(1,2) ⊕ so(3)": direct_sum(so(3), so(1, 2)),
    "sl(2,R) ⊕ so(3)": direct_sum(sl(2), so(3)),
    "so(3) ⊕ so(3) ⊕ so(2)": direct_sum(so(3), so(2), so(3)),
    "so(3) ⊕ R": direct_sum(so(3), scaling(1)),
    "u(2) ⊕ R": direct_sum(u(2), scaling(1)),
    "so(3) ⊕ R²": direct_sum(so(3), diagonal(2)),
    "diagonal(3)": diagonal(3),
    "R²": direct_sum(scaling(2), scaling(1)),
    "so(3)": direct_sum(so(3), idle(2)),
    "scaling(2)": direct_sum(idle(1), scaling(2)),
}
COPIES = {
    "so(3)": (copies(so(3), 2), 2),
    "so(1,2)": (copies(so(1, 2), 2), 2),
    "sl(2,R)": (copies(sl(2), 3), 3),
    "sl(3,R)": (
        torch.stack([torch.block_diag(a, -a.mT) for a in sl(3)]),
        2,
    ),  # the second a dual copy
}


def test_an_exact_sum_is_proposed_by_name():
    for name, generators in SUMS.items():
        member, found = fitting(conjugated(generators, 100.0), name)
        assert closure_residual(member.generators) < 1e-8
        assert closure_residual(found.generators) < 1e-8
        assert not member.whole
        assert member.copies == 1


def test_the_same_motion_of_several_subspaces():
    for name, generators, count in [(name, *rest) for name, rest in COPIES.items()]:
        member, found = fitting(conjugated(generators, 30.0), name)
        assert (member.copies, member.whole) == (count, False)
        assert closure_residual(found.generators) < 1e-8


def test_irreducible_matrices_get_no_proposal():
    for generators in [so(4), sl(3), gl(2), scaling(1), so(2)]:
        assert list(blocks(conjugated(generators, 3.0), NOISE, best)) == []


def test_matrices_without_structure_get_no_proposal():
    assert list(blocks(orthonormal(normal(3, 4, 4)), 1e-2, best)) == []


def test_blocks_and_stretch_are_told():
    member, _ = fitting(conjugated(direct_sum(so(3), so(2)), 10.0), "so(3) ⊕ so(2)")
    assert sorted(member.blocks) == [("so(2)", 1), ("so(3)", 3)]
    assert 1 < member.stretch < 200
    alone, _ = fitting(orthonormal(direct_sum(so(3), idle(2))), "so(3)")
    assert alone.blocks == ()


def test_each_part_is_asked_for_by_itself():
    asked = []

    def record(span, noise):
        asked.append((tuple(span.shape), noise))
        yield Member("one", span)
        yield Member("two", span)

    span = orthonormal(direct_sum(so(3), so(2)))
    found = list(blocks(span, NOISE, record))
    assert sorted(asked) == [((1, 2, 2), NOISE), ((3, 3, 3), NOISE)]
    assert sorted(member.name for member in found) == [
        "one ⊕ one",
        "one ⊕ two",
        "two ⊕ one",
        "two ⊕ two",
    ]  # the larger first
    assert all(grassmann_distance(member.generators, span) < 1e-12 for member in found)


def test_a_noisy_sum_is_told_apart_within_its_noise():
    off = orthonormal(orthonormal(direct_sum(so(3), so(2))) + 1e-3 * normal(4, 5, 5) / 5)
    assert list(blocks(off, 1e-6, best)) == []
    fits = {member.name: fit(member.generators, off) for member in blocks(off, 1e-3, best)}
    assert fits["so(3) ⊕ so(2)"].needs() < 1e-3 < fits["so(3) ⊕ so(2)"].at_most()


# Names


def test_names_of_sums():
    for parts, n, name in [
        ((("so(3)", 3),), 3, "so(3)"),
        ((("so(2)", 1), ("so(3)", 3)), 5, "so(3) ⊕ so(2)"),
        ((("so(3)", 3), ("sl(2,R)", 3)), 5, "sl(2,R) ⊕ so(3)"),  # equals by name
        ((("so(3)", 3), ("scaling(1)", 1)), 4, "so(3) ⊕ R"),
        ((("scaling(1)", 1), ("so(3)", 3), ("translation(2)", 2)), 7, "so(3) ⊕ R³"),
        ((("u(2) ⋉ R⁴", 8), ("so(2)", 1)), 7, "(u(2) ⋉ R⁴) ⊕ so(2)"),
        ((("scaling(1)", 1),) * 3, 3, "diagonal(3)"),
        ((("scaling(1)", 1),) * 2, 3, "R²"),  # one axis is left alone
        ((("scaling(2)", 1), ("scaling(1)", 1)), 3, "R²"),
        ((("scaling(2)", 1),), 3, "scaling(2)"),
    ]:
        assert sum_name(parts, n) == name


def moving(linear):
    """A linear algebra and all translations."""
    return torch.cat([torch.nn.functional.pad(linear, (0, 1, 0, 1)), translation(linear.shape[1])])


def scaled(linear):
    return torch.cat([linear, scaling(linear.shape[1])])


ALGEBRAS = {
    "se(2)": se(2),
    "se(3)": se(3),
    "e(1,1)": se(1, 1),
    "e(1,3)": se(3, 1),
    "sim(2)": moving(scaled(so(2))),
    "sim(3)": moving(scaled(so(3))),
    "aff(1)": aff(1),
    "aff(2)": aff(2),
    "saff(2)": moving(sl(2)),
    "saff(3)": moving(sl(3)),
    "R ⋉ R³": moving(scaling(3)),
    "u(2) ⋉ R⁴": moving(u(2)),
    "translation(1)": translation(1),
    "translation(3)": translation(3),
}


def test_an_exact_algebra_is_proposed_by_name():
    for name, generators in ALGEBRAS.items():
        for condition, dual in [(100.0, False), (30.0, True)]:
            span = conjugated(-generators.mT if dual else generators, condition)
            fits = {
                member.name: (member, fit(member.generators, span))
                for member in affine(span, NOISE, best, dual=dual)
            }
            member, found = fits[name]
            assert member.dual == dual
            assert found.distance < 1e-8
            assert closure_residual(member.generators) < 1e-8
            assert closure_residual(found.generators) < 1e-8
            assert [other for other, (_, there) in fits.items() if there.distance < 1e-8] == [name]


def test_translations_along_fewer_directions_than_there_are():
    span = conjugated(translation(4)[:2], 10.0)
    (member,) = affine(span, NOISE, best)
    assert member.name == "translation(2)"
    assert (
        fit(member.generators, span).distance < 1e-12
    )  # many covectors are left alone; a fit finds the one


def test_the_linear_parts_are_what_is_asked_for():
    asked = []

    def linear(span, noise):
        asked.append((span, noise))
        yield Member("so(3)", span, stretch=7.0)
        yield Member("u(2)", span)

    one, other = affine(orthonormal(se(3)), NOISE, linear)
    ((span, noise),) = asked
    assert noise == NOISE
    assert span.shape == (3, 3, 3)
    assert closure_residual(span) < 1e-12
    assert (
        span + span.mT
    ).abs().max() < 1e-12  # orthonormal coordinates keep rotations antisymmetric
    assert (one.name, one.stretch, other.name, other.stretch) == ("se(3)", 7.0, "u(2) ⋉ R³", 1.0)
    assert grassmann_distance(one.generators, se(3)) < 1e-12


def test_matrices_that_leave_no_covector_alone_get_no_proposal():
    for span in [
        so(3),
        sl(3),
        aff(2).mT,
        normal(3, 3, 3),
        scaling(1),
        torch.cat([aff(2), scaling(3)]),
    ]:
        assert list(affine(orthonormal(span), NOISE, best)) == []


def test_noise_decides_whether_a_covector_is_left_alone():
    off = orthonormal(orthonormal(se(3)) + 1e-3 * normal(6, 4, 4) / 4)
    assert list(affine(off, 1e-5, best)) == []
    found = {member.name: fit(member.generators, off) for member in affine(off, 1e-3, best)}
    assert found["se(3)"].needs() < 1e-3
    assert closure_residual(found["se(3)"].generators) < 1e-12


def test_names_with_translations():
    for linear, k, name in [
        ("", 3, "translation(3)"),
        ("scaling(1)", 1, "aff(1)"),
        ("scaling(3)", 3, "R ⋉ R³"),
        ("so(2)", 2, "se(2)"),
        ("so(1,3)", 4, "e(1,3)"),
        ("so(3) ⊕ R", 3, "sim(3)"),
        ("so(1,3) ⊕ R", 4, "sim(1,3)"),
        ("sl(2,R)", 2, "saff(2)"),
        ("gl(2,R)", 2, "aff(2)"),
        ("sl(2,C)", 4, "sl(2,C) ⋉ R⁴"),
        ("u(2)", 4, "u(2) ⋉ R⁴"),
        ("sp(4,R)", 4, "sp(4,R) ⋉ R⁴"),
        ("so(2) ⊕ so(2)", 4, "(so(2) ⊕ so(2)) ⋉ R⁴"),
        ("so(3) ⊕ so(2)", 5, "(so(3) ⊕ so(2)) ⋉ R⁵"),
        ("u(2) ⋉ R⁴", 5, "(u(2) ⋉ R⁴) ⋉ R⁵"),
        ("aff(2)", 3, "aff(2) ⋉ R³"),
    ]:
        assert semidirect(linear, k) == name


def test_what_moves_only_some_of_the_axes_has_no_name_of_its_own():
    for linear, k, name in [
        ("so(2)", 3, "so(2) ⋉ R³"),
        ("sl(2,R)", 4, "sl(2,R) ⋉ R⁴"),
        ("so(3) ⊕ R", 5, "(so(3) ⊕ R) ⋉ R⁵"),
        ("", 2, "translation(2)"),
    ]:
        assert semidirect(linear, k, whole=False) == name


def test_se_is_said_only_of_rotations_of_all_axes():
    for linear, name in [
        (
            direct_sum(so(2), torch.zeros(0, 1, 1, dtype=torch.float64)),
            "so(2) ⋉ R³",
        ),  # a screw: one axis is only shifted
        (torch.stack([torch.block_diag(a, a) for a in so(3)]), "so(3) ⋉ R⁶"),
        (direct_sum(so(2), so(2)), "(so(2) ⊕ so(2)) ⋉ R⁴"),
    ]:
        span = conjugated(moving(linear), 3.0)
        fits = {member.name: fit(member.generators, span) for member in affine(span, NOISE, best)}
        assert [other for other, found in fits.items() if found.distance < 1e-8] == [name]
