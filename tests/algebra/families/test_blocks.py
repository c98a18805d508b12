"""Sums: models side by side on the subspaces that are kept, in copies where all move together, and their names."""

import torch

from cases import normal, regular
from liegg.algebra import (
    closure_residual,
    diagonal,
    direct_sum,
    gl,
    grassmann_distance,
    orthonormal,
    scaling,
    sl,
    so,
    u,
)
from liegg.algebra.families.blocks import blocks, sum_name
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
