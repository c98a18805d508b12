"""Shears along a flag and Heisenberg algebras, in any coordinates."""

import pytest
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
conditions = pytest.mark.parametrize("condition", [1.0, 10.0, 100.0])


def conjugated(generators, condition):
    p = regular(generators.shape[1], condition=condition)
    return orthonormal(p @ generators @ torch.linalg.inv(p))


@pytest.mark.parametrize(
    ("name", "kind", "generators"),
    [(name, *rest) for name, rest in ALGEBRAS.items()],
    ids=ALGEBRAS.keys(),
)
@conditions
def test_an_exact_algebra_is_proposed_by_name(name, kind, generators, condition):
    span = conjugated(generators, condition)
    (model,) = kind(span)
    assert model.name == name
    assert closure_residual(model.generators) < 1e-8
    found = fit(model.generators, span)
    assert found.distance < 1e-8
    assert closure_residual(found.generators) < 1e-8


@pytest.mark.parametrize(
    ("kind", "span"),
    [
        (shears, sl(2)),
        (shears, translation(2)),
        (shears, gl(3)),
        (shears, gl(2)[:1]),
        (heisenberg, heis(3)),
        (heisenberg, so(4)),
        (heisenberg, gl(4)[:4]),
    ],
    ids=["3 of 4", "2 of 9", "all", "n = 2", "heis(3) is all shears", "6 of 16", "4 of 16"],
)
def test_spans_of_other_dimensions_get_no_proposal(kind, span):
    assert list(kind(orthonormal(span))) == []


@pytest.mark.parametrize("name", ALGEBRAS)
def test_a_noisy_algebra_is_found(name):
    kind, generators = ALGEBRAS[name]
    exact = conjugated(generators, 3.0)
    off = orthonormal(exact + 1e-2 * normal(*exact.shape) / exact.shape[1])
    (model,) = kind(off)
    found = fit(model.generators, off)
    assert found.needs() < 1e-2 < found.at_most()
    assert closure_residual(model.generators) < 1e-12
    assert closure_residual(found.generators) < 1e-12


def test_a_flag_is_orthonormal_whatever_the_matrices():
    for span in (orthonormal(normal(6, 4, 4)), orthonormal(so(1, 3))):
        torch.testing.assert_close(flag(span).mT @ flag(span), torch.eye(4, dtype=torch.float64))


@conditions
@pytest.mark.parametrize("n", [3, 4, 5])
def test_in_the_frame_of_the_flag_shears_are_strictly_upper_triangular(n, condition):
    frame = flag(conjugated(shear(n), condition))
    torch.testing.assert_close(frame.mT @ frame, torch.eye(n, dtype=torch.float64))
    matrices = frame.mT @ conjugated(shear(n), condition) @ frame
    assert matrices.tril().abs().max() < 1e-7


def test_the_flag_of_part_of_the_shears():
    span = orthonormal(shear(4)[[0, 3, 5]])  # E₁₂, E₂₃, E₃₄
    matrices = flag(span).mT @ span @ flag(span)
    assert matrices.tril().abs().max() < 1e-12
