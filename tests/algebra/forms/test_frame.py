"""Frames in which preserved forms are standard."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.words.spans import diag
from cases import normal, regular
from liegg._utils.errors import ArgumentError
from liegg.algebra import (
    diagonal,
    direct_sum,
    gl,
    grassmann_distance,
    scaling,
    se,
    sl,
    so,
    sp,
    standard_frame,
    su,
    translation,
    u,
)
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
            r"the form has shape \(2, 3\); expected one square matrix",
        ),
        (
            lambda: frame_of(math.nan * torch.eye(2)),
            r"the form has complex entries, NaN or infinity",
        ),
        (lambda: frame_of(so(2)[0]), r"the form is not symmetric"),
        (lambda: frame_of(diag(1, 0)), r"the form is degenerate, with eigenvalues \[0\.0, 1\.0\]"),
        (lambda: frame_of(torch.zeros(2, 2)), r"the form is degenerate"),
        (lambda: frame_of(torch.zeros(0, 0)), r"the form is degenerate"),
    ]:
        with pytest.raises(ArgumentError, match=text):
            make()


def conjugated(generators, condition, seed=7):
    p = regular(generators.shape[1], seed=seed, condition=condition)
    return p @ generators @ torch.linalg.inv(p)


def framed(generators):
    found = standard_frame(generators)
    assert found is not None
    return found


def seen(generators, frame):
    return torch.linalg.solve(frame, generators @ frame)


# Algebra, and the signs of its metric: positive, negative.
METRICS = {
    "so(3)": (so(3), (3, 0)),
    "so(1,3)": (so(1, 3), (1, 3)),
    "so(2,3)": (so(2, 3), (2, 3)),
    "u(2)": (u(2), (4, 0)),
    "su(3)": (su(3), (6, 0)),
    "so(3) ⊕ so(2)": (direct_sum(so(3), so(2)), (5, 0)),
    "so(1,2) ⊕ so(2)": (direct_sum(so(1, 2), so(2)), (3, 2)),
    "so(3) twice": (torch.stack([torch.block_diag(a, a) for a in so(3)]), (6, 0)),
}


def test_the_metric_is_preserved_and_standard_in_the_frame():
    for generators, signs in METRICS.values():
        for condition in [1.0, 30.0]:
            given = conjugated(generators, condition)
            found = framed(given)
            assert found.form is not None
            moved = given.mT @ found.form + found.form @ given
            assert moved.abs().max() < 1e-9 * given.abs().max() * found.form.abs().max()
            inside = found.frame.mT @ found.form @ found.frame
            torch.testing.assert_close(
                inside, torch.diag(inside.diagonal().sign()), rtol=0, atol=1e-9
            )
            assert (int((inside.diagonal() > 0).sum()), int((inside.diagonal() < 0).sum())) == signs
            matrices = seen(given, found.frame)
            torch.testing.assert_close(matrices.mT @ inside, -inside @ matrices, rtol=0, atol=1e-8)


def test_subspaces_lie_side_by_side():
    given = conjugated(direct_sum(so(3), so(2)), 10.0)
    matrices = seen(given, framed(given).frame)
    assert matrices[:, :3, 3:].abs().max() < 1e-12
    assert matrices[:, 3:, :3].abs().max() < 1e-12
    assert grassmann_distance(matrices, direct_sum(so(3), so(2))) < 1e-10


def test_a_standard_metric_keeps_its_coordinates():
    found = framed(so(1, 3))
    torch.testing.assert_close(found.frame, torch.eye(4, dtype=torch.float64))
    torch.testing.assert_close(
        found.form, torch.diag(torch.tensor([1.0, -1.0, -1.0, -1.0], dtype=torch.float64))
    )


def test_coordinates_that_nothing_moves_have_a_metric_too():
    given = direct_sum(so(3), torch.zeros(0, 2, 2, dtype=torch.float64))[:, [3, 0, 4, 1, 2]][
        :, :, [3, 0, 4, 1, 2]
    ]
    found = framed(given)
    torch.testing.assert_close(found.form, torch.eye(5, dtype=torch.float64))
    assert seen(given, found.frame)[:, 3:].abs().max() < 1e-12
    assert seen(given, found.frame)[:, :, 3:].abs().max() < 1e-12


def test_an_area_form_gives_positions_and_momenta():
    for condition in [1.0, 30.0]:
        given = conjugated(sp(4), condition)
        found = framed(given)
        assert found.form is None
        assert grassmann_distance(seen(given, found.frame), sp(4)) < 1e-9


def test_metric_and_area_form_on_separate_subspaces():
    given = conjugated(direct_sum(so(3), sp(4)), 5.0)
    found = framed(given)
    assert found.form is None
    assert (
        grassmann_distance(seen(given, found.frame), direct_sum(sp(4), so(3))) < 1e-9
    )  # the larger subspace first


def test_where_a_subspace_is_moved_without_a_form():
    for generators in [
        gl(2),
        sl(3),
        scaling(2),
        diagonal(2),
        translation(2),
        gl(2, "C"),
        torch.cat([so(3), scaling(3)]),
        direct_sum(so(3), scaling(1)),
        se(3),
    ]:
        assert standard_frame(generators) is None
        assert standard_frame(conjugated(generators, 3.0)) is None


def test_a_subspace_that_stands_still_does_not_spoil_the_frame():
    for condition in [1.0, 30.0]:
        given = conjugated(direct_sum(so(3), torch.zeros(0, 2, 2)), condition)
        found = framed(given)
        assert found.form is not None
        assert float((seen(given, found.frame) + seen(given, found.frame).mT).abs().max()) < 1e-9


def test_nothing_has_no_frame():
    assert standard_frame(torch.zeros(0, 3, 3, dtype=torch.float64)) is None
