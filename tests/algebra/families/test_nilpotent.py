"""Shears along a flag and Heisenberg algebras, in any coordinates."""

import torch

from cases import normal, regular
from liegg.algebra import closure_residual, gl, heis, orthonormal, shear, sl, so, translation
from liegg.algebra.families.nilpotent import flag, heisenberg, shears
from liegg.algebra.fit import fit

ALGEBRAS = {
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


def test_an_exact_algebra_is_proposed_by_name():
    for name, kind, generators in [(name, *rest) for name, rest in ALGEBRAS.items()]:
        for condition in CONDITIONS:
            span = conjugated(generators, condition)
            (member,) = kind(span)
            assert member.name == name
            assert closure_residual(member.generators) < 1e-8
            found = fit(member.generators, span)
            assert found.distance < 1e-8
            assert closure_residual(found.generators) < 1e-8


def test_spans_of_other_dimensions_get_no_proposal():
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
    for name in ALGEBRAS:
        kind, generators = ALGEBRAS[name]
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
