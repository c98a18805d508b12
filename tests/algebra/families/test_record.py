"""Small pieces that the models share: names, changes of coordinates, lowest eigenvectors."""

import numpy as np
import pytest
import scipy.linalg
import torch

from cases import normal, regular
from liegg.algebra import diagonal, gl, orthonormal, se, sl, so, sp, su, u
from liegg.algebra.families.classical import complexified
from liegg.algebra.families.record import (
    Member,
    bilinear,
    commuting,
    complex_structure,
    conjugate,
    hermitian,
    lowest,
    traceless,
    usable,
)
from liegg.algebra.structure.real_forms import pair


def test_signatures_have_the_smaller_number_first():
    for p, q, text in [(3, 0, "3"), (0, 3, "3"), (1, 3, "1,3"), (3, 1, "1,3"), (2, 2, "2,2")]:
        assert pair(p, q) == text


def test_conjugate_acts_on_the_columns_as_the_matrices_act_on_the_axes():
    frame, matrices = regular(4, condition=50.0), normal(3, 4, 4)
    moved = conjugate(matrices, frame)
    torch.testing.assert_close(moved @ frame, frame @ matrices)
    torch.testing.assert_close(moved, frame @ matrices @ torch.linalg.inv(frame))
    torch.testing.assert_close(conjugate(matrices, torch.eye(4, dtype=torch.float64)), matrices)
    assert conjugate(matrices[:0], frame).shape == (0, 4, 4)


def test_frames_with_dependent_columns_are_not_usable():
    assert usable(regular(3, condition=1e5))
    assert not usable(regular(3, condition=1e7))
    assert not usable(torch.zeros(2, 2, dtype=torch.float64))
    assert not usable(torch.full((2, 2), torch.nan, dtype=torch.float64))


def test_lowest_are_the_eigenvectors_of_the_smallest_eigenvalues():
    turn = regular(5, condition=1.0)
    found = lowest(
        turn @ torch.diag(torch.tensor([5.0, 1.0, 4.0, 2.0, 3.0], dtype=torch.float64)) @ turn.mT, 2
    )
    torch.testing.assert_close((found @ turn).abs(), torch.eye(5, dtype=torch.float64)[[1, 3]])


def test_traceless():
    matrices = normal(3, 4, 4)
    found = traceless(matrices)
    assert found.diagonal(dim1=1, dim2=2).sum(1).abs().max() < 1e-14
    rest = matrices - found
    torch.testing.assert_close(rest, rest[:, :1, :1] * torch.eye(4, dtype=torch.float64))
    torch.testing.assert_close(traceless(so(4)), so(4))
    assert np.linalg.matrix_rank(traceless(gl(3)).flatten(1).numpy()) == 8


def test_a_model_acts_once_on_the_whole_space_unless_told():
    one = Member("so(3)", so(3))
    assert (one.blocks, one.stretch, one.copies, one.dual, one.whole) == ((), 1.0, 1, False, True)


def conjugated(generators, p):
    return orthonormal(p @ generators @ torch.linalg.inv(p))


def turn(m):
    one = torch.eye(m, dtype=torch.float64)
    return torch.cat([torch.cat([0 * one, -one], 1), torch.cat([one, 0 * one], 1)])


def pulled_back(form, p):
    """The form in coordinates changed by p, of unit length."""
    back = torch.linalg.inv(p).mT @ form @ torch.linalg.inv(p)
    return back / back.norm()


def assert_parallel(one, other):
    """Equal up to sign."""
    assert min(float((one - other).norm()), float((one + other).norm())) < 1e-8


def test_assert_parallel_fails_for_others():
    with pytest.raises(AssertionError):
        assert_parallel(torch.eye(2), torch.ones(2, 2))


def test_the_first_symmetric_form_is_the_metric():
    for condition in [1.0, 100.0]:
        for p, q in [(3, 0), (1, 3), (2, 3)]:
            change = regular(p + q, condition=condition)
            metric = torch.diag(torch.tensor([1.0] * p + [-1.0] * q, dtype=torch.float64))
            assert_parallel(
                bilinear(conjugated(so(p, q), change), 1, 1)[0], pulled_back(metric, change)
            )


def test_the_first_antisymmetric_form_is_the_area_form():
    for condition in [1.0, 100.0]:
        for m in [1, 2, 3]:
            change = regular(2 * m, condition=condition)
            assert_parallel(
                bilinear(conjugated(sp(2 * m), change), -1, 1)[0], pulled_back(turn(m), change)
            )


def test_forms_are_unit_forms_with_the_smallest_change_best_first():
    for sign in [1, -1]:
        generators = normal(4, 4, 4)
        forms = bilinear(generators, sign, 3)
        torch.testing.assert_close(forms, sign * forms.mT)
        torch.testing.assert_close(
            torch.einsum("aij,bij->ab", forms, forms), torch.eye(3, dtype=torch.float64)
        )
        moved = (
            (generators.mT[:, None] @ forms + forms @ generators[:, None]).square().sum((0, 2, 3))
        )
        # The same by scipy on all matrices, then restricted to the forms of one symmetry.
        maps = np.concatenate(
            [np.kron(a.T, np.eye(4)) + np.kron(np.eye(4), a.T) for a in generators.numpy()]
        )
        swap = np.eye(16).reshape(4, 4, 4, 4).transpose(0, 1, 3, 2).reshape(16, 16)
        basis = scipy.linalg.orth((np.eye(16) + sign * swap) / 2)
        np.testing.assert_allclose(
            moved, np.square(scipy.linalg.svdvals(maps @ basis)[::-1][:3]), rtol=1e-9
        )


def test_what_commutes_with_complex_matrices_is_the_complex_structure():
    for condition in [1.0, 100.0]:
        change = regular(6, condition=condition)
        found = commuting(conjugated(u(3), change), 1)[0]
        wanted = change @ turn(3) @ torch.linalg.inv(change)
        assert_parallel(found, wanted / wanted.norm())


def test_commuting_matrices_are_traceless_unit_matrices_best_first():
    generators = normal(3, 4, 4)
    found = commuting(generators, 4)
    assert found.diagonal(dim1=1, dim2=2).sum(1).abs().max() < 1e-9
    torch.testing.assert_close(
        torch.einsum("aij,bij->ab", found, found), torch.eye(4, dtype=torch.float64)
    )
    sizes = (
        (generators[:, None] @ found - found @ generators[:, None]).square().sum((0, 2, 3)).tolist()
    )
    assert sizes == sorted(sizes)
    assert sizes[0] > 1e-3  # nothing but the identity commutes with matrices without structure
    assert (
        diagonal(4)[:, None] @ commuting(diagonal(4), 3)
        - commuting(diagonal(4), 3) @ diagonal(4)[:, None]
    ).norm() < 1e-12


def test_the_first_hermitian_form_is_the_preserved_one():
    for p, q in [(2, 0), (3, 0), (1, 1), (1, 2), (2, 2)]:
        matrices = complexified(su(p, q))
        change = torch.complex(normal(p + q, p + q), normal(p + q, p + q, seed=1))
        inverse = torch.linalg.inv(change)
        form = hermitian(change @ matrices @ inverse, 1)[0]
        torch.testing.assert_close(form, form.mH)
        metric = torch.diag(torch.tensor([1.0] * p + [-1.0] * q, dtype=torch.float64)).to(form)
        wanted = inverse.mH @ metric @ inverse
        assert_parallel(form, wanted / wanted.norm())


def test_complex_structure():
    for condition in [1.0, 100.0]:
        for m in [1, 2, 3]:
            change = regular(2 * m, condition=condition)
            span = conjugated(gl(m, "C"), change)
            found = complex_structure(commuting(span, 1))
            assert found is not None
            torch.testing.assert_close(
                found @ found, -torch.eye(2 * m, dtype=torch.float64), rtol=0, atol=1e-7
            )
            assert (found @ span - span @ found).norm() < 1e-8 * found.norm()


def test_a_complex_structure_among_several_commuting_matrices():
    # With quaternions all three units commute; any combination of them will do.
    found = complex_structure(commuting(conjugated(su(2), regular(4, condition=10.0)), 3))
    assert found is not None
    torch.testing.assert_close(found @ found, -torch.eye(4, dtype=torch.float64), rtol=0, atol=1e-9)


def test_where_there_is_no_complex_structure():
    for commutant in [
        torch.diag(torch.tensor([1.0, -1.0], dtype=torch.float64))[
            None
        ],  # a squeeze: real eigenvalues
        torch.block_diag(so(2)[0], torch.zeros(2, 2, dtype=torch.float64))[
            None
        ],  # a rotation of two axes of four
        so(3)[:1],
        torch.zeros(0, 4, 4, dtype=torch.float64),
        commuting(orthonormal(se(3)), 1),
        commuting(sl(4), 1)[:0],
    ]:
        assert complex_structure(commutant) is None
