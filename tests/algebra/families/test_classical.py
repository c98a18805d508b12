"""Models with a volume, a metric or an area form: exact algebras in any coordinates come back by name."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import normal, regular
from liegg.algebra import (
    closure_residual,
    diagonal,
    gl,
    grassmann_distance,
    heis,
    orthonormal,
    scaling,
    se,
    shear,
    sl,
    so,
    sp,
    su,
    translation,
    u,
)
from liegg.algebra.catalog import realify
from liegg.algebra.families.classical import (
    complex_frame,
    complex_linear,
    complexified,
    darboux,
    flag,
    general,
    heisenberg,
    orthogonal,
    shears,
    symplectic,
)
from liegg.algebra.fit import fit


def scaled(generators):
    return torch.cat([generators, scaling(generators.shape[1])])


# proposer, algebra
ALGEBRAS = {
    "scaling(1)": (general, gl(1)),
    "gl(2,R)": (general, gl(2)),
    "gl(3,R)": (general, gl(3)),
    "sl(2,R)": (general, sl(2)),
    "sl(3,R)": (general, sl(3)),
    "scaling(2)": (general, scaling(2)),
    "scaling(5)": (general, scaling(5)),
    "so(2)": (orthogonal, so(2)),
    "so(4)": (orthogonal, so(4)),
    "so(1,1)": (orthogonal, so(1, 1)),
    "so(1,2)": (orthogonal, so(2, 1)),
    "so(1,3)": (orthogonal, so(1, 3)),
    "so(2,2)": (orthogonal, so(2, 2)),
    "so(2,3)": (orthogonal, so(3, 2)),
    "so(2) ⊕ R": (orthogonal, scaled(so(2))),
    "so(3) ⊕ R": (orthogonal, scaled(so(3))),
    "so(1,3) ⊕ R": (orthogonal, scaled(so(1, 3))),
    "sp(4,R)": (symplectic, sp(4)),
    "sp(6,R)": (symplectic, sp(6)),
    "sp(4,R) ⊕ R": (symplectic, scaled(sp(4))),
}


AS_THEY_ARE = (
    "gl(2,R)",
    "so(2)",
    "so(1,3)",
    "sp(4,R)",
    "sp(4,R) ⊕ R",
)  # in the catalogue's coordinates many forms are degenerate


def test_an_exact_algebra_is_proposed_by_name():
    for name, condition in [
        *((name, 100.0) for name in ALGEBRAS),
        *((name, None) for name in AS_THEY_ARE),
    ]:
        kind, generators = ALGEBRAS[name]
        p = (
            torch.eye(generators.shape[1]).double()
            if condition is None
            else regular(generators.shape[1], condition=condition)
        )
        span = orthonormal(p @ generators @ torch.linalg.inv(p))
        models = list(kind(span))
        fits = {
            member.name: fit(member.generators, span) for member in reversed(models)
        }  # of a name the first counts
        assert fits[name].distance < 1e-8
        assert [other for other, found in fits.items() if found.distance < 1e-8] == [name]
        for member in models:
            assert closure_residual(member.generators) < 1e-8
            assert closure_residual(fits[member.name].generators) < 1e-8
            assert member.stretch >= 1 - 1e-12


def test_spans_of_other_dimensions_get_no_proposal():
    for kind, span in [
        (general, so(3)),
        (general, gl(3)[:4]),
        (orthogonal, gl(1)),
        (orthogonal, sl(3)),
        (orthogonal, so(4)[:5]),
        (orthogonal, se(3)[:2]),
        (symplectic, sl(2)),  # sp(2,R) is called sl(2,R)
        (symplectic, so(4)),
        (symplectic, normal(15, 5, 5)),  # as many as sp(2·2.5) would have
        (symplectic, gl(4)[:12]),
        (symplectic, su(2)),
    ]:
        assert list(kind(orthonormal(span))) == []


def test_one_dimension_of_one_is_a_scaling():
    assert [member.name for member in general(gl(1))] == ["scaling(1)"]


def test_each_metric_is_tried_with_the_sign_of_its_smallest_square_changed():
    stretch = torch.diag(
        torch.tensor([1.0, 1.0, 10.0], dtype=torch.float64)
    )  # metric diag(1, 1, 0.01)
    one, other = list(orthogonal(orthonormal(stretch @ so(3) @ torch.linalg.inv(stretch))))[:2]
    assert (one.name, other.name) == ("so(3)", "so(1,2)")
    assert (
        grassmann_distance(other.generators, stretch @ so(2, 1) @ torch.linalg.inv(stretch)) < 1e-12
    )


def test_two_scalings_of_a_plane_are_left_to_sums():
    # In coordinates along the light cone so(1,1) and scalings are two independent scalings.
    p = regular(2)
    span = orthonormal(p @ diagonal(2) @ torch.linalg.inv(p))
    assert "so(1,1) ⊕ R" not in {member.name for member in orthogonal(span)}


def test_stretch_is_that_of_the_coordinates():
    stretch = torch.diag(torch.tensor([1.0, 5.0, 20.0], dtype=torch.float64))
    member = next(orthogonal(orthonormal(stretch @ so(3) @ torch.linalg.inv(stretch))))
    assert member.stretch == pytest.approx(20)


# Darboux frames


@given(m=st.integers(1, 4), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=30)
def test_darboux_makes_an_area_form_standard(m, seed):
    a = normal(2 * m, 2 * m, seed=seed)
    form = a - a.mT
    frame = darboux(form)
    one, zero = torch.eye(m, dtype=torch.float64), torch.zeros(m, m, dtype=torch.float64)
    standard = torch.cat([torch.cat([zero, one], 1), torch.cat([-one, zero], 1)])
    torch.testing.assert_close(frame.mT @ form @ frame, standard, rtol=0, atol=1e-9)


def test_darboux_of_the_standard_form_does_not_stretch():
    form = torch.kron(
        torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64),
        torch.eye(3, dtype=torch.float64),
    )
    assert torch.linalg.cond(darboux(form)) == pytest.approx(1)


NILPOTENT = {
    "heis(3)": (shears, heis(3)),
    "shear(4)": (shears, shear(4)),
    "shear(5)": (shears, shear(5)),
    "heis(5)": (heisenberg, heis(5)),
    "heis(7)": (heisenberg, heis(7)),
}
CONDITIONS = [1.0, 10.0, 100.0]


def conjugated(generators, condition):
    p = regular(generators.shape[1], condition=condition)
    return orthonormal(p @ generators @ torch.linalg.inv(p))


def test_an_exact_nilpotent_algebra_is_proposed_by_name():
    for name, kind, generators in [(name, *rest) for name, rest in NILPOTENT.items()]:
        for condition in CONDITIONS:
            span = conjugated(generators, condition)
            (member,) = kind(span)
            assert member.name == name
            assert closure_residual(member.generators) < 1e-8
            found = fit(member.generators, span)
            assert found.distance < 1e-8
            assert closure_residual(found.generators) < 1e-8


def test_spans_of_other_dimensions_are_not_nilpotent():
    for kind, span in [
        (shears, sl(2)),
        (shears, translation(2)),
        (shears, gl(3)),
        (shears, gl(2)[:1]),
        (heisenberg, heis(3)),
        (heisenberg, so(4)),
        (heisenberg, gl(4)[:4]),
    ]:
        assert list(kind(orthonormal(span))) == []


def test_a_noisy_algebra_is_found():
    for name in NILPOTENT:
        kind, generators = NILPOTENT[name]
        exact = conjugated(generators, 3.0)
        off = orthonormal(exact + 1e-2 * normal(*exact.shape) / exact.shape[1])
        (member,) = kind(off)
        found = fit(member.generators, off)
        assert found.needs() < 1e-2 < found.at_most()
        assert closure_residual(member.generators) < 1e-12
        assert closure_residual(found.generators) < 1e-12


def test_a_flag_is_orthonormal_whatever_the_matrices():
    for span in (orthonormal(normal(6, 4, 4)), orthonormal(so(1, 3))):
        torch.testing.assert_close(flag(span).mT @ flag(span), torch.eye(4, dtype=torch.float64))


def test_in_the_frame_of_the_flag_shears_are_strictly_upper_triangular():
    for condition in CONDITIONS:
        for n in [3, 4, 5]:
            frame = flag(conjugated(shear(n), condition))
            torch.testing.assert_close(frame.mT @ frame, torch.eye(n, dtype=torch.float64))
            matrices = frame.mT @ conjugated(shear(n), condition) @ frame
            assert matrices.tril().abs().max() < 1e-7


def test_the_flag_of_part_of_the_shears():
    span = orthonormal(shear(4)[[0, 3, 5]])  # E₁₂, E₂₃, E₃₄
    matrices = flag(span).mT @ span @ flag(span)
    assert matrices.tril().abs().max() < 1e-12


def phase(m):
    return u(m)[-1:]


COMPLEX = {
    "so(2)": so(2),
    "so(2) ⊕ R": gl(1, "C"),
    "u(1)": phase(3),
    "gl(2,C)": gl(2, "C"),
    "sl(2,C)": sl(2, "C"),
    "sl(3,C)": sl(3, "C"),
    "sl(2,C) ⊕ R": torch.cat([sl(2, "C"), scaling(4)]),
    "sl(2,C) ⊕ u(1)": torch.cat([sl(2, "C"), phase(2)]),
    "su(2)": su(2),
    "su(3)": su(3),
    "su(1,2)": su(2, 1),
    "u(2)": u(2),
    "u(1,1)": u(1, 1),
    "su(2) ⊕ R": torch.cat([su(2), scaling(4)]),
    "u(2) ⊕ R": torch.cat([u(2), scaling(4)]),
}


def test_an_exact_complex_algebra_is_proposed_by_name():
    for name, generators in COMPLEX.items():
        p = regular(generators.shape[1], condition=100.0)
        span = orthonormal(p @ generators @ torch.linalg.inv(p))
        models = list(complex_linear(span))
        fits = [fit(member.generators, span) for member in models]
        assert {
            member.name for member, found in zip(models, fits, strict=True) if found.distance < 1e-8
        } == {name}
        for member, found in zip(models, fits, strict=True):
            assert closure_residual(member.generators) < 1e-8
            assert closure_residual(found.generators) < 1e-8
            assert len(member.generators) == len(span)


def test_spans_of_other_dimensions_are_not_complex():
    for span in [so(3), so(5), sl(2), gl(4)[:12], gl(4)[:2], torch.zeros(0, 4, 4), sp(4)]:
        assert list(complex_linear(orthonormal(span))) == []


def test_what_acts_as_two_copies_of_real_matrices_is_left_to_sums():
    for condition in [1.0, 100.0]:
        p = regular(4, condition=condition)
        span = orthonormal(p @ su(1, 1) @ torch.linalg.inv(p))  # on C² as sl(2,R) on R² twice
        assert all(fit(member.generators, span).distance > 0.1 for member in complex_linear(span))


def test_real_matrices_have_no_complex_structure():
    # so(1,3) has the dimension of sl(2,C), but only scalings commute with it; nothing near may pass for it.
    span = orthonormal(so(1, 3))
    assert all(fit(member.generators, span).distance > 0.5 for member in complex_linear(span))


# Frames


@given(m=st.integers(1, 4), seed=st.integers(0, 1000), condition=st.floats(1, 100))
@settings(deadline=None, max_examples=30)
def test_in_the_complex_frame_the_structure_is_standard(m, seed, condition):
    p = regular(2 * m, seed=seed, condition=condition)
    one, zero = torch.eye(m, dtype=torch.float64), torch.zeros(m, m, dtype=torch.float64)
    standard = torch.cat([torch.cat([zero, -one], 1), torch.cat([one, zero], 1)])
    structure = p @ standard @ torch.linalg.inv(p)
    frame = complex_frame(structure)
    torch.testing.assert_close(
        torch.linalg.solve(frame, structure @ frame), standard, rtol=0, atol=1e-8
    )
    assert torch.linalg.cond(frame) < 1.001 * torch.linalg.cond(
        p
    )  # p is one such frame; none is less stretched


def test_an_orthogonal_structure_has_an_orthogonal_frame():
    p = regular(6, condition=1.0)
    one = torch.eye(3, dtype=torch.float64)
    standard = torch.cat([torch.cat([0 * one, -one], 1), torch.cat([one, 0 * one], 1)])
    assert torch.linalg.cond(complex_frame(p @ standard @ p.mT)) == pytest.approx(1)


# Complex and real matrices


def realified(matrices):
    return realify(matrices.real, matrices.imag)


def complex_normal(*shape, seed=0):
    return torch.complex(normal(*shape, seed=seed), normal(*shape, seed=seed + 1))


def test_real_matrices_multiply_as_the_complex_ones():
    a, b = complex_normal(2, 3, 3), complex_normal(2, 3, 3, seed=5)
    torch.testing.assert_close(realified(a) @ realified(b), realified(a @ b))
    torch.testing.assert_close(complexified(realified(a)), a)
    vector = complex_normal(3, seed=9)
    moved = realified(a)[0] @ torch.cat([vector.real, vector.imag])
    torch.testing.assert_close(torch.complex(moved[:3], moved[3:]), a[0] @ vector)


def test_the_catalogue_is_written_the_same_way():
    torch.testing.assert_close(realified(complexified(u(1, 2))), u(1, 2))
    torch.testing.assert_close(realified(complexified(sl(2, "C"))), sl(2, "C"))
    assert grassmann_distance(realified(complexified(u(3))), u(3)) < 1e-12


def test_the_complex_linear_part_is_the_nearest():
    matrices = normal(1, 4, 4)
    part = realified(complexified(matrices))
    assert (part * (matrices - part)).sum().abs() < 1e-12
