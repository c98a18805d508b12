"""Outer automorphisms as matrices: what they are known to be for direct sums, unitary and Lorentz algebras."""

import pytest
import torch

from liegg.algebra import invariant_subspaces, orthonormal, preserved_forms, so, su, u
from liegg.algebra.bracket import adjoint, structure_constants
from liegg.algebra.finite.normalise import angle_off, conjugators
from liegg.algebra.finite.outer import CYCLE, EXCHANGE, ON_A_PART, ON_ALL_PARTS, outer_elements


def normal(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def direct(*algebras):
    """The direct sum, each algebra on a space of its own."""
    sizes = [one.shape[1] for one in algebras]
    found = []
    for place, one in enumerate(algebras):
        zeros = [torch.zeros(size, size).double() for size in sizes]
        found += [torch.block_diag(*zeros[:place], a, *zeros[place + 1 :]) for a in one.double()]
    return torch.stack(found)


def together(*representations):
    """One algebra on several spaces at once."""
    each = zip(*representations, strict=True)
    return torch.stack([torch.block_diag(*one) for one in each]).double()


def sheared(algebra):
    n = algebra.shape[1]
    shear = torch.eye(n).double() + 0.3 * normal(n, n, seed=1)
    return orthonormal(shear @ algebra.double() @ torch.linalg.inv(shear))


def outer(algebra):
    one = torch.eye(algebra.shape[1]).double()
    return outer_elements(algebra, invariant_subspaces(algebra), [one])


CASES = {
    "three so(3)": (direct(so(3), so(3), so(3)), {EXCHANGE, CYCLE}),
    "two so(4)": (direct(so(4), so(4)), {EXCHANGE, ON_A_PART, ON_ALL_PARTS}),
    "so(3) and so(4)": (direct(so(4), so(3)), {ON_A_PART}),
    "so(3)": (so(3), set()),
    "so(3) beside a fixed axis": (direct(so(3), torch.zeros(1, 1, 1)), set()),
    "so(6)": (so(6), {ON_A_PART}),
    "so(3) on two spaces": (together(so(3), so(3)), {EXCHANGE}),
    "u(2)": (u(2), {ON_A_PART}),
    "su(3)": (su(3), {ON_A_PART}),
    "so(1,3)": (so(1, 3), {ON_A_PART}),
    "su(2) on two spaces": (together(su(2), su(2)), {EXCHANGE}),
}


@pytest.mark.parametrize("name", CASES)
def test_known_automorphisms_in_sheared_coordinates(name):
    algebra, words = CASES[name]
    algebra = sheared(algebra)
    found = outer(algebra)
    assert {one for one, _ in found} == words
    if found:
        matrices = torch.stack([h for _, h in found])
        assert float(angle_off(matrices, algebra, algebra).max()) <= 1e-8


def test_three_parts_are_exchanged_in_every_pair():
    found = outer(direct(so(3), so(3), so(3)))
    moved = {
        frozenset(
            i for i in range(3) if float(h[3 * i : 3 * i + 3, 3 * i : 3 * i + 3].norm()) < 0.5
        )
        for words, h in found
        if words == EXCHANGE
    }
    assert moved == {frozenset(pair) for pair in ((0, 1), (0, 2), (1, 2))}


@pytest.mark.parametrize("algebra", [u(3), su(3)], ids=["u(3)", "su(3)"])
def test_conjugation_reverses_the_complex_structure(algebra):
    algebra = sheared(algebra)
    commutant = preserved_forms(algebra).commutant
    traceless = commutant - commutant.diagonal(dim1=1, dim2=2).mean(1)[:, None, None] * torch.eye(6)
    structure = orthonormal(traceless[traceless.flatten(1).norm(dim=1) > 1e-6])[0]
    for _, h in outer(algebra):
        assert float((h @ structure + structure @ h).abs().max()) <= 1e-8 * float(h.abs().max())


def test_conjugation_acts_on_a_representation_and_its_adjoint_at_once():
    algebra = orthonormal(su(2).double())
    both = sheared(together(algebra, adjoint(structure_constants(algebra))))
    assert all(
        float(angle_off(h[None], both, both)) <= 1e-8 for _, h in outer(both)
    )  # su(2) has no outer automorphism


def test_reflections_of_both_signs_normalise_the_lorentz_algebra():
    determinants = [float(torch.linalg.det(h)) for _, h in outer(sheared(so(1, 3)))]
    assert determinants == pytest.approx([-1.0, -1.0])


def test_parts_are_scaled_by_the_given_moment():
    moment = torch.diag(torch.tensor([1.0] * 3 + [4.0] * 3)).double()
    algebra = direct(so(3), so(3))
    found = outer_elements(algebra, invariant_subspaces(algebra), [moment])
    for _, h in found:
        assert torch.allclose(h @ moment @ h.mT, moment, atol=1e-9)


def test_conjugators_of_different_algebras_are_not_found():
    one, other = orthonormal(so(4).double()), orthonormal(u(2).double())
    starts = torch.linalg.qr(normal(6, 4, 4)).Q
    assert float(angle_off(conjugators(one, other, starts), one, other).min()) > 0.1
