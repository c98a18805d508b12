"""What follows from the commutant: complex structures, Hermitian forms, invariant subspaces."""

import math

import numpy as np
import pytest
import torch

from algebra.forms.spans import (
    GIVEN_AS,
    as_given,
    blocks,
    conjugated,
    conjugation,
    copies,
    su_pq,
    turn,
)
from liegg._utils.errors import ArgumentError
from liegg.algebra import (
    diagonal,
    gl,
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
from liegg.algebra.forms.commutant import complex_structures, hermitian_forms, invariant_subspaces
from liegg.algebra.forms.forms import preserved_forms
from liegg.algebra.subspace import grassmann_distance

# Complex structures and Hermitian forms


def commutant(generators, size=0.0):
    found = preserved_forms(generators, uncertainty=size)
    return found.commutant, max(1e-8, 2 * found.errors["commutant"])


HERMITIAN = {
    "u(1)": (u(1), (1, 0, 0)),
    "u(2)": (u(2), (2, 0, 0)),
    "u(3)": (u(3), (3, 0, 0)),
    "su(2)": (su(2), (2, 0, 0)),
    "su(3)": (su(3), (3, 0, 0)),
    "su(4)": (su(4), (4, 0, 0)),
    "su(1,1)": (su_pq(1, 1), (1, 1, 0)),
    "su(1,2)": (su_pq(1, 2), (1, 2, 0)),
    "su(2,1)": (su_pq(2, 1), (1, 2, 0)),
    "su(2,2)": (su_pq(2, 2), (2, 2, 0)),
    "su(1,3)": (su_pq(1, 3), (1, 3, 0)),
}


def test_complex_structure_and_hermitian_form():
    for generators, expected in HERMITIAN.values():
        for condition, size, seed in GIVEN_AS:
            given = as_given(generators, condition, size, seed)
            inside, tolerance = commutant(given, size)
            structure = complex_structures(inside, tolerance=tolerance)
            assert structure is not None
            scale = float(structure.norm()) ** 2
            assert (
                float(
                    (structure @ structure + torch.eye(len(structure), dtype=torch.float64)).norm()
                )
                < 1e-11 * scale
            )
            basis = orthonormal(given)
            assert float((basis @ structure - structure @ basis).norm()) < (
                10 * size + 1e-9
            ) * float(structure.norm()) * len(basis)
            found = hermitian_forms(given, structure, uncertainty=size)
            assert found.signatures == (expected,)
            form = found.forms[0]
            assert float((structure.mT @ form @ structure - form).norm()) < 1e-10 * scale
            assert float((basis.mT @ form + form @ basis).norm()) < (10 * size + 1e-9) * len(basis)


def test_multiplication_by_i_is_found_where_it_is_the_only_one():
    for n in [1, 2, 3]:
        for condition in [1.0, 100.0]:
            p = conjugation(2 * n, condition, 8)
            true = p @ turn(n) @ torch.linalg.inv(p)
            found = complex_structures(commutant(conjugated(u(n), condition, 8))[0])
            assert found is not None
            assert grassmann_distance(found.reshape(1, -1), true.reshape(1, -1)) < 1e-9
            assert min((found - true).norm(), (found + true).norm()) < 1e-8 * true.norm()


def test_where_there_is_a_complex_structure():
    for generators, exists in [
        (copies(sl(2), 2), True),  # the commutant is M₂(R), which holds turns
        (copies(so(3), 4), True),  # M₄(R)
        (copies(su(2), 2), True),  # M₂(H)
        (blocks(u(1), u(1)), True),  # C ⊕ C: both planes must turn
        (blocks(u(1), u(2)), True),
        (torch.zeros(0, 4, 4), True),
        (copies(so(3), 3), False),  # odd dimension
        (blocks(so(3), so(3)), False),  # R ⊕ R
        (
            blocks(u(1), torch.nn.functional.pad(so(3), (0, 1, 0, 1))),
            False,
        ),  # C ⊕ R ⊕ R: one plane turns, the rest cannot
        (sp(4), False),
        (shear(4), False),  # nilpotent
        (translation(3), False),
        (diagonal(4), False),
    ]:
        for condition, size, seed in GIVEN_AS:
            inside, tolerance = commutant(
                as_given(generators, condition, size, seed) if len(generators) else generators, size
            )
            found = complex_structures(inside, tolerance=tolerance)
            assert (found is not None) == exists
            if found is not None:
                eye = torch.eye(len(found), dtype=torch.float64)
                assert float((found @ found + eye).norm()) < 1e-10 * float(found.norm()) ** 2


def test_several_hermitian_forms():
    structure = turn(2)[[0, 2, 1, 3]][:, [0, 2, 1, 3]]  # each plane of u(1) + u(1) turns
    found = hermitian_forms(blocks(u(1), u(1)), structure)
    assert found.forms.shape == (2, 4, 4)
    assert len(found.signatures) == 2
    assert hermitian_forms(sl(2), turn(1)).forms.shape == (0, 2, 2)


# Invariant subspaces


DECOMPOSED = {
    "so(3)+so(3)": (blocks(so(3), so(3)), [3, 3]),
    "so(3)+so(2)": (blocks(so(3), so(2)), [3, 2]),
    "se(3)": (se(3), [4]),
    "so(3)+axis": (torch.nn.functional.pad(so(3), (0, 1, 0, 1)), [3, 1]),
    "so(3)+plane": (torch.nn.functional.pad(so(3), (0, 2, 0, 2)), [3, 1, 1]),
    "u(2)": (u(2), [4]),
    "su(2)": (su(2), [4]),
    "su(3)": (su(3), [6]),
    "sl(2) twice": (copies(sl(2), 2), [2, 2]),
    "su(1,1)": (su_pq(1, 1), [2, 2]),  # C² is two copies of R² of sl(2, R)
    "so(3) thrice": (copies(so(3), 3), [3, 3, 3]),
    "su(2) twice": (copies(su(2), 2), [4, 4]),
    "su(3) twice": (copies(su(3), 2), [6, 6]),
    "diagonal(4)": (diagonal(4), [1, 1, 1, 1]),
    "scaling(3)": (scaling(3), [1, 1, 1]),
    "shear(4)": (shear(4), [4]),
    "translation(3)": (translation(3), [4]),
    "se(2)+se(2)": (blocks(se(2), se(2)), [3, 3]),
    "shear(3) twice": (copies(shear(3), 2), [3, 3]),
    "gl(4)": (gl(4), [4]),
}


def test_invariant_subspaces():
    for generators, sizes in DECOMPOSED.values():
        for condition, size, seed in GIVEN_AS:
            given = as_given(generators, condition, size, seed)
            parts = invariant_subspaces(given, uncertainty=size)
            assert [part.shape[1] for part in parts] == sizes
            for part in parts:
                torch.testing.assert_close(
                    part.mT @ part, torch.eye(part.shape[1], dtype=torch.float64)
                )
                moved = orthonormal(given) @ part
                assert float((moved - part @ (part.mT @ moved)).norm()) < (
                    20 * size + 1e-8
                ) * math.sqrt(len(given))
            assert (
                np.linalg.matrix_rank(torch.cat(parts, 1).numpy(), tol=1e-6) == given.shape[1]
            )  # together they are the space


def test_the_subspaces_are_those_of_the_blocks_in_their_order():
    one, other = invariant_subspaces(blocks(so(3), so(3)))
    eye = torch.eye(6, dtype=torch.float64)
    assert grassmann_distance(one.mT, eye[:3]) < 1e-12
    assert grassmann_distance(other.mT, eye[3:]) < 1e-12


def test_without_generators_every_line_is_invariant():
    assert [part.shape[1] for part in invariant_subspaces(torch.zeros(0, 3, 3))] == [1, 1, 1]


def test_errors():
    for call, text in [
        (lambda: invariant_subspaces(so(3) * 1j), "expected real matrices"),
        (
            lambda: hermitian_forms(u(2), torch.eye(4)),
            "whose square should be minus the identity; expected one from complex_structures",
        ),
        (lambda: hermitian_forms(u(2), turn(1)), r"shape \(2, 2\) for matrices 4 × 4"),
    ]:
        with pytest.raises(ArgumentError, match=text):
            call()
