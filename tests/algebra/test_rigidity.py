"""Which algebras no small error turns into others, and which act in one way only."""

import pytest
import torch

import liegg
from cases import regular, units
from liegg.algebra import diagonal, direct_sum, heis, orthonormal, structure_constants
from liegg.algebra.rigidity import _by_new_basis, _new_basis_gram, rigidity
from neighbours import offsets


def padded(linear):
    return torch.nn.functional.pad(linear, (0, 1, 0, 1))


RIGID = [
    (liegg.so(3), False, True),
    (liegg.algebra.u(3), False, True),
    (diagonal(3), False, True),
    (liegg.algebra.aff(2), True, True),
    (liegg.se(3), True, True),
    (liegg.se(3), False, False),
    (liegg.se(2), True, False),
    (liegg.translation(3), True, False),
    (heis(5), False, False),
    (offsets(2), False, False),
]
"""As cohomology has it: H² of so(n) and of gl(n) vanishes, of nilpotent algebras never."""


@pytest.mark.parametrize(("generators", "affine", "answer"), RIGID)
def test_what_is_rigid(generators, affine, answer):
    for error in (1e-6, 1e-2):
        assert rigidity(orthonormal(generators), error, affine=affine).algebra is answer


ACTS_ONE_WAY = {
    "so(3)": (liegg.so(3), False, True),
    "so(3) on part of the space": (padded(liegg.so(3)), False, True),
    "rotation": (liegg.so(2), False, False),
    "rotation about a point": (padded(liegg.so(2)), True, False),
    "boost": (liegg.so(1, 1), False, False),
    "shear": (units(2, (0, 1)), False, False),
    "translation": (liegg.translation(1), True, False),
    "scaling": (liegg.scaling(3), False, False),
    "scaling of a line": (liegg.scaling(1), False, True),
    "scaling of a line about a point": (padded(liegg.scaling(1)), True, True),
    "rotation and scaling": (torch.cat([liegg.so(2), liegg.scaling(2)]), False, True),
    "two rotations": (direct_sum(liegg.so(2), liegg.so(2)), False, False),
    "diagonal": (diagonal(3), False, True),
    "diagonal on part of the space": (padded(diagonal(2)), False, False),
    "u(2)": (liegg.algebra.u(2), False, False),
    "u(5), too large to compute": (liegg.algebra.u(5), False, False),
    "gl(2,C)": (liegg.algebra.gl(2, "C"), False, True),
    "so(3) with scalings": (torch.cat([liegg.so(3), liegg.scaling(3)]), False, True),
    "so(7) with scalings, by theorem": (torch.cat([liegg.so(7), liegg.scaling(7)]), False, True),
    "so(3) beside a scaling": (direct_sum(liegg.so(3), liegg.scaling(1)), False, False),
    "so(3) beside a rotation": (direct_sum(liegg.so(3), liegg.so(2)), False, False),
    "se(3)": (liegg.se(3), True, True),
    "similarities": (torch.cat([liegg.se(2), padded(liegg.scaling(2))]), True, True),
    "aff(1)": (liegg.algebra.aff(1), True, True),
    "aff(1) among all matrices": (liegg.algebra.aff(1), False, False),
}
"""H¹(h, gl/h): homomorphisms of h into what commutes with it, for reductive algebras, beside those into the algebra itself."""


@pytest.mark.parametrize(
    ("generators", "affine", "answer"), ACTS_ONE_WAY.values(), ids=ACTS_ONE_WAY.keys()
)
def test_what_acts_in_one_way_only(generators, affine, answer):
    for error in (1e-6, 1e-2):
        assert rigidity(orthonormal(generators), error, affine=affine).action is answer
    if not affine:
        frame = regular(generators.shape[1], seed=1, condition=5.0)
        other = orthonormal(frame @ generators @ torch.linalg.inv(frame))
        assert rigidity(other, 1e-6).action is answer


@pytest.mark.parametrize("generators", [liegg.se(2), liegg.algebra.aff(2), heis(5)])
def test_changes_by_a_new_basis(generators):
    """Against a small change of the basis itself, and the inner products against those of all entries."""
    basis = orthonormal(generators)
    constants, d, step = structure_constants(basis), len(basis), 1e-6
    units_ = torch.eye(d * d, dtype=torch.float64).unflatten(1, (d, d))
    changes = _by_new_basis(units_, constants)
    for one, change in zip(units_, changes, strict=True):
        after, before = (
            structure_constants(basis + sign * step * torch.einsum("ai,amn->imn", one, basis))
            for sign in (1, -1)
        )
        torch.testing.assert_close((after - before) / (2 * step), change, atol=1e-8, rtol=0)
    rows = changes.flatten(1)
    torch.testing.assert_close(_new_basis_gram(constants), rows @ rows.mT, atol=1e-12, rtol=1e-12)
