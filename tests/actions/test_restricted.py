"""Restriction of an action to a subspace of generators."""

import pytest
import torch

from cases import normal, regular
from liegg import algebra
from liegg._utils.errors import ArgumentError, ShapeError
from liegg.actions import Affine, Linear, Restricted, action_from_settings, restricted
from liegg.testing import assert_is_action, assert_same_span

RESTRICTED = {
    "so(3)": (Linear(3).restrict(algebra.so(3)), (3,), 3),
    "so(3) on copies": (Linear(3, copies=4).restrict(algebra.so(3)), (4, 3), 3),
    "vector first": (Linear(3, copies=4, layout="vector_first").restrict(algebra.sl(3)), (3, 4), 8),
    "se(2)": (Affine(2, copies=3).restrict(algebra.se(2)), (6,), 3),
    "linear part of affine": (Affine(2).restrict(algebra.so(2)), (2,), 1),
    "twice": (Linear(3).restrict(algebra.sl(3)).restrict(algebra.so(3)), (3,), 3),
    "dependent generators": (
        Linear(3).restrict(torch.cat([algebra.so(3), 2 * algebra.so(3)])),
        (3,),
        3,
    ),
    "coefficients": (Linear(3).restrict(algebra.so(3).flatten(1)), (3,), 3),
    "oblique": (Linear(3).restrict(regular(3) @ algebra.gl(3)[:4]), (3,), 4),
}


@pytest.fixture(params=RESTRICTED.values(), ids=list(RESTRICTED))
def case(request):
    return request.param


def test_laws(case):
    action, shape, _ = case
    action.check(shape)
    assert_is_action(action, normal(5, *shape), tolerance=1e-12)


def test_size_and_orthonormal_basis(case):
    action, _, size = case
    assert action.size == size
    torch.testing.assert_close(action.basis @ action.basis.mT, torch.eye(size, dtype=torch.float64))


def test_settings_make_it_again(case):
    action, _, _ = case
    again = action_from_settings(action.settings())
    assert isinstance(again, Restricted)
    assert again.parent == action.parent
    assert torch.equal(again.basis, action.basis)


def test_repr_is_one_line():
    assert (
        repr(Linear(4).restrict(algebra.so(4)))
        == "Restricted(Linear(n=4, copies=1, layout='copies_first'), size=6)"
    )


def test_matrices_span_what_was_asked_for():
    action = Linear(4).restrict(algebra.so(1, 3))
    assert_same_span(
        action.matrices(torch.eye(6, dtype=torch.float64)), algebra.so(1, 3), tolerance=1e-12
    )


def test_restricting_twice_goes_back_to_the_first_parent():
    assert Linear(3).restrict(algebra.sl(3)).restrict(algebra.so(3)).parent == Linear(3)


def test_many_parent_generators_go_field_by_field(monkeypatch):
    action, x, slopes = Linear(3).restrict(algebra.so(3)), normal(5, 3), normal(5, 2, 3, seed=1)
    projected = action.contract(slopes, x)
    monkeypatch.setattr(restricted, "PROJECTION_LIMIT", 0)
    torch.testing.assert_close(action.contract(slopes, x), projected)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: Linear(3).restrict(torch.zeros(2, 3, 3)),
            ArgumentError,
            "no generator other than zero",
        ),
        (
            lambda: Linear(3).restrict(torch.zeros(0, 3, 3)),
            ArgumentError,
            "no generator other than zero",
        ),
        (
            lambda: Linear(3).restrict(algebra.so(4)),
            ArgumentError,
            r"shape \(6, 4, 4\); expected \[d, 3, 3\]",
        ),
        (
            lambda: Linear(3).restrict(torch.ones(2, 5)),
            ArgumentError,
            r"shape \(2, 5\); expected coefficients .* or matrices",
        ),
        (
            lambda: Linear(3).restrict(algebra.so(3)).coefficients(algebra.gl(3)),
            ArgumentError,
            "generator 0 lies outside the 3-dimensional space",
        ),
        (lambda: Linear(3).restrict(algebra.so(3)).check((4,)), ShapeError, r"shape \(4,\)"),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()
