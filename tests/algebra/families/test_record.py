"""Small pieces that the models share: names, changes of coordinates, lowest eigenvectors."""

import numpy as np
import torch

from cases import normal, regular
from liegg.algebra import gl, so
from liegg.algebra.families.record import Member, conjugate, lowest, traceless, usable
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
