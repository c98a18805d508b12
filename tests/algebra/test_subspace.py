"""Spans: orthonormal bases, distances, principal angles."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import normal, regular
from liegg._errors import ArgumentError
from liegg.algebra import distance_to_span, orthonormal, principal_angles, so


def two_spans(angles, ambient=15, seed=0):
    """Bases without structure of two spans whose principal angles are given."""
    frame = torch.linalg.qr(normal(ambient, ambient, seed=seed))[0]
    d = len(angles)
    theta = torch.tensor(angles, dtype=torch.float64)[:, None]
    other = theta.cos() * frame[:d] + theta.sin() * frame[d : 2 * d]
    return regular(d, seed=1) @ frame[:d], regular(d, seed=2) @ other


@pytest.mark.parametrize(
    "angles",
    [
        [1e-12],
        [math.pi / 2],
        [1e-12, 1e-9, 1e-6, 0.3, math.pi / 2 - 1e-9, math.pi / 2],  # cosines alone would mix the first three
        [0.0, 0.0, 1e-10],
        [0.4, 0.4, 0.4],
    ],
)
def test_known_angles(angles):
    one, other = two_spans(angles)
    np.testing.assert_allclose(principal_angles(one, other), angles, rtol=0, atol=4e-15)


def test_a_span_inside_another_has_zero_angles_as_many_as_the_smaller_dimension():
    frame = torch.linalg.qr(normal(6, 6))[0]
    inside, outside = principal_angles(frame[:2], frame[:5]), principal_angles(frame[:5], frame[:2])
    assert inside.shape == outside.shape == (2,)
    assert inside.max() < 1e-14
    assert outside.max() < 1e-14


def test_no_rows_no_angles():
    assert principal_angles(torch.zeros(0, 4), torch.eye(4)).shape == (0,)


@given(d=st.integers(1, 4), e=st.integers(1, 4), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=25)
def test_laws_of_angles(d, e, seed):
    one, other = normal(d, 7, seed=seed), normal(e, 7, seed=seed + 1)
    angles = principal_angles(one, other)
    assert bool((angles.diff() >= 0).all())
    assert bool(((angles >= 0) & (angles <= math.pi / 2)).all())
    torch.testing.assert_close(principal_angles(other, one), angles)  # symmetric
    torch.testing.assert_close(principal_angles(regular(d) @ one, 1e6 * other), angles)  # of spans, not of bases
    turn = torch.linalg.qr(normal(7, 7, seed=seed + 2))[0]
    torch.testing.assert_close(principal_angles(one @ turn, other @ turn), angles)  # of geometry, not of coordinates


@given(k=st.integers(1, 5), d=st.integers(1, 5), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=25)
def test_distance_is_that_of_least_squares(k, d, seed):
    points, span = normal(k, 6, seed=seed), normal(d, 6, seed=seed + 1)
    nearest = np.linalg.lstsq(span.numpy().T, points.numpy().T, rcond=None)[0].T @ span.numpy()
    np.testing.assert_allclose(distance_to_span(points, span), np.linalg.norm(points.numpy() - nearest, axis=1), atol=1e-12)


def test_distance_to_nothing_is_the_length():
    torch.testing.assert_close(
        distance_to_span(torch.tensor([[3.0, 4.0]]), torch.zeros(0, 2)), torch.tensor([5.0], dtype=torch.float64)
    )


def test_orthonormal_keeps_the_span_and_drops_what_depends():
    doubled = torch.cat([so(4), so(4).sum(0, keepdim=True), 3 * so(4)])
    basis = orthonormal(doubled)
    assert basis.shape == (6, 4, 4)
    torch.testing.assert_close(torch.einsum("aij,bij->ab", basis, basis), torch.eye(6, dtype=torch.float64))
    assert principal_angles(basis.flatten(1), so(4).flatten(1)).max() < 1e-14


@pytest.mark.parametrize("generators", [torch.zeros(2, 3, 3), torch.zeros(0, 3, 3)], ids=["zeros", "none"])
def test_orthonormal_of_nothing(generators):
    assert orthonormal(generators).shape == (0, 3, 3)


def test_orthonormal_is_float64_whatever_comes_in():
    assert orthonormal(so(3).float()).dtype == torch.float64


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 4)])
def test_errors(shape):
    with pytest.raises(ArgumentError, match=r"expected matrices \[d, n, n\]"):
        orthonormal(torch.zeros(shape))
