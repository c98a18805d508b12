"""Models of complex matrices: exact algebras in any real coordinates come back by name."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import normal, regular
from liegg.algebra import (
    closure_residual,
    gl,
    grassmann_distance,
    orthonormal,
    scaling,
    sl,
    so,
    sp,
    su,
    u,
)
from liegg.algebra.catalog import realify
from liegg.algebra.families.unitary import complex_frame, complex_linear, complexified
from liegg.algebra.fit import fit


def phase(m):
    return u(m)[-1:]


ALGEBRAS = {
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


def test_an_exact_algebra_is_proposed_by_name():
    for name, generators in ALGEBRAS.items():
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


def test_spans_of_other_dimensions_get_no_proposal():
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
