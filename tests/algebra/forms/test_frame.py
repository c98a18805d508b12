"""Frames in which a symmetric form is diag(±1)."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.words.spans import diag
from cases import normal, regular
from liegg._utils.errors import ArgumentError
from liegg.algebra import so
from liegg.algebra.forms.frame import frame_of


def test_a_form_that_is_standard_already_has_the_identity():
    for signs in [(1, 1, 1), (1, -1, -1, -1), (-1, 1, 1), (-1, 1, -1, 1), (-1, -1)]:
        torch.testing.assert_close(
            frame_of(diag(*signs)), torch.eye(len(signs), dtype=torch.float64), atol=1e-14, rtol=0
        )


@given(
    p=st.integers(0, 3),
    q=st.integers(1, 3),
    condition=st.sampled_from([1.0, 10.0, 100.0]),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, max_examples=40)
def test_a_form_is_standard_in_its_frame(p, q, condition, seed):
    s = regular(p + q, seed=seed, condition=condition)
    form = s.mT @ diag(*[1.0] * p, *[-1.0] * q) @ s
    frame = frame_of(form)
    seen = frame.mT @ form @ frame
    torch.testing.assert_close(seen, torch.diag(seen.diagonal().sign()), atol=1e-9, rtol=0)
    assert int((seen.diagonal() > 0).sum()) == p


def test_the_frame_of_a_definite_form_is_its_root():
    s = regular(3)
    frame = frame_of(s.mT @ s)
    torch.testing.assert_close(frame, frame.mT)
    torch.testing.assert_close(frame @ frame, torch.linalg.inv(s.mT @ s))


def test_axes_stay_near_their_coordinates():
    turn = torch.linalg.matrix_exp(0.2 * torch.einsum("a,aij->ij", normal(6), so(4)))
    frame = frame_of(turn @ diag(1, -1, -1, -1) @ turn.mT)
    assert frame.abs().argmax(0).tolist() == [0, 1, 2, 3]
    assert bool((frame.diagonal() > 0).all())


def test_errors():
    for make, text in [
        (
            lambda: frame_of(torch.zeros(2, 3)),
            r"the form has shape \(2, 3\); expected a symmetric matrix",
        ),
        (
            lambda: frame_of(math.nan * torch.eye(2)),
            r"the form has complex entries, NaN or infinity",
        ),
        (lambda: frame_of(so(2)[0]), r"the form is not symmetric"),
        (lambda: frame_of(diag(1, 0)), r"the form is degenerate, with eigenvalues \[0\.0, 1\.0\]"),
        (lambda: frame_of(torch.zeros(2, 2)), r"the form is degenerate"),
    ]:
        with pytest.raises(ArgumentError, match=text):
            make()
