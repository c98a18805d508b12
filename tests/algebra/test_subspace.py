"""Spans: orthonormal and canonical bases, projections, distances, principal angles."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import normal, regular
from liegg._utils.errors import ArgumentError
from liegg.algebra import distance_to_span, orthonormal, principal_angles, sl, so
from liegg.algebra.subspace import canonical, checked_uncertainty, grassmann_distance, project


def two_spans(angles, ambient=15, seed=0):
    """Bases without structure of two spans whose principal angles are given."""
    frame = torch.linalg.qr(normal(ambient, ambient, seed=seed))[0]
    d = len(angles)
    theta = torch.tensor(angles, dtype=torch.float64)[:, None]
    other = theta.cos() * frame[:d] + theta.sin() * frame[d : 2 * d]
    return regular(d, seed=1) @ frame[:d], regular(d, seed=2) @ other


def test_known_angles():
    for angles in [
        [1e-12],
        [math.pi / 2],
        [
            1e-12,
            1e-9,
            1e-6,
            0.3,
            math.pi / 2 - 1e-9,
            math.pi / 2,
        ],  # cosines alone would mix the first three
        [0.0, 0.0, 1e-10],
        [0.4, 0.4, 0.4],
    ]:
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
    torch.testing.assert_close(
        principal_angles(regular(d) @ one, 1e6 * other), angles
    )  # of spans, not of bases
    turn = torch.linalg.qr(normal(7, 7, seed=seed + 2))[0]
    torch.testing.assert_close(
        principal_angles(one @ turn, other @ turn), angles
    )  # of geometry, not of coordinates


@given(k=st.integers(1, 5), d=st.integers(1, 5), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=25)
def test_distance_is_that_of_least_squares(k, d, seed):
    points, span = normal(k, 6, seed=seed), normal(d, 6, seed=seed + 1)
    nearest = np.linalg.lstsq(span.numpy().T, points.numpy().T, rcond=None)[0].T @ span.numpy()
    np.testing.assert_allclose(
        distance_to_span(points, span), np.linalg.norm(points.numpy() - nearest, axis=1), atol=1e-12
    )


def test_distance_to_nothing_is_the_length():
    torch.testing.assert_close(
        distance_to_span(torch.tensor([[3.0, 4.0]]), torch.zeros(0, 2)),
        torch.tensor([5.0], dtype=torch.float64),
    )


def test_orthonormal_keeps_the_span_and_drops_what_depends():
    doubled = torch.cat([so(4), so(4).sum(0, keepdim=True), 3 * so(4)])
    basis = orthonormal(doubled)
    assert basis.shape == (6, 4, 4)
    torch.testing.assert_close(
        torch.einsum("aij,bij->ab", basis, basis), torch.eye(6, dtype=torch.float64)
    )
    assert principal_angles(basis.flatten(1), so(4).flatten(1)).max() < 1e-14


def test_orthonormal_of_nothing():
    for generators in [torch.zeros(2, 3, 3), torch.zeros(0, 3, 3)]:
        assert orthonormal(generators).shape == (0, 3, 3)


def test_orthonormal_is_float64_whatever_comes_in():
    assert orthonormal(so(3).float()).dtype == torch.float64


# Canonical bases


@given(d=st.integers(1, 5), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=25)
def test_canonical_depends_on_the_span_alone(d, seed):
    generators = normal(d, 3, 3, seed=seed)
    basis = canonical(generators)
    torch.testing.assert_close(
        torch.einsum("aij,bij->ab", basis, basis), torch.eye(d, dtype=torch.float64)
    )
    assert grassmann_distance(basis, generators) < 1e-12
    mixed = torch.einsum("ab,bij->aij", regular(d, seed=seed), generators)
    torch.testing.assert_close(canonical(mixed), basis, rtol=0, atol=1e-10)


def test_canonical_rotations_are_the_coordinate_planes():
    mixed = torch.einsum("ab,bij->aij", regular(6), so(4))
    found = {
        tuple(row)
        for row in canonical(mixed).abs().mul(2**0.5).round(decimals=9).flatten(1).tolist()
    }
    assert found == {tuple(row) for row in so(4).abs().flatten(1).tolist()}


def test_canonical_reduces_what_depends():
    assert canonical(torch.cat([so(3), so(3)])).shape == (3, 3, 3)
    assert canonical(torch.zeros(0, 3, 3)).shape == (0, 3, 3)


# Projections


@given(d=st.integers(1, 6), k=st.integers(1, 4), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=25)
def test_projection_is_that_of_least_squares(d, k, seed):
    span, matrices = normal(d, 3, 3, seed=seed), normal(k, 3, 3, seed=seed + 1)
    columns = span.flatten(1).numpy().T
    nearest = columns @ np.linalg.lstsq(columns, matrices.flatten(1).numpy().T, rcond=None)[0]
    np.testing.assert_allclose(project(matrices, span).flatten(1), nearest.T, atol=1e-10)


def test_projection_onto_traceless_matrices_removes_the_trace():
    matrices = normal(5, 4, 4)
    trace = matrices.diagonal(dim1=1, dim2=2).sum(1)[:, None, None]
    torch.testing.assert_close(
        project(matrices, sl(4)), matrices - trace * torch.eye(4, dtype=torch.float64) / 4
    )


def test_projection_onto_nothing_is_zero():
    assert not project(normal(2, 3, 3), torch.zeros(0, 3, 3)).any()


# Distance of spans


def test_distance_of_spans_with_known_angles():
    one, other = two_spans([0.1, 0.2, 1.0])
    assert grassmann_distance(one, other) == pytest.approx(math.sqrt(0.01 + 0.04 + 1.0), abs=1e-14)


def test_each_missing_dimension_counts_as_a_right_angle():
    frame = torch.linalg.qr(normal(9, 9))[0].unflatten(1, (3, 3))
    assert grassmann_distance(frame[:2], frame[:5]) == pytest.approx(math.sqrt(3) * math.pi / 2)
    assert grassmann_distance(frame[:0], frame[:4]) == pytest.approx(math.pi)
    assert grassmann_distance(frame[:0], frame[:0]) == 0.0


@given(dimensions=st.tuples(*[st.integers(1, 4)] * 3), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=25)
def test_distance_of_spans_is_a_metric(dimensions, seed):
    a, b, c = (normal(d, 3, 3, seed=seed + i) for i, d in enumerate(dimensions))
    ab, bc, ac = grassmann_distance(a, b), grassmann_distance(b, c), grassmann_distance(a, c)
    assert ab == pytest.approx(grassmann_distance(b, a))
    assert ac <= ab + bc + 1e-12
    assert grassmann_distance(a, torch.einsum("ab,bij->aij", regular(len(a)), a)) < 1e-12


# Errors


def test_errors():
    for shape in [(3, 3), (2, 3, 4)]:
        for function in (orthonormal, canonical):
            with pytest.raises(ArgumentError, match=r"expected matrices \[d, n, n\]"):
                function(torch.zeros(shape))


def test_not_finite():
    for value in [math.nan, math.inf]:
        generators = so(3).clone()
        generators[1, 0, 2] = value
        for function in (orthonormal, canonical):
            with pytest.raises(ArgumentError, match="NaN or infinity; expected finite"):
                function(generators)


def test_complex():
    for function in (orthonormal, canonical):
        with pytest.raises(
            ArgumentError,
            match=r"generators are torch.complex128; expected real .* \[\[A, -B\], \[B, A\]\]",
        ):
            function(so(3) * 1j)


def test_spans_of_different_matrices():
    with pytest.raises(
        ArgumentError, match=r"\(3, 3, 3\) and \(6, 4, 4\); expected matrices or rows of one size"
    ):
        grassmann_distance(so(3), so(4))


def test_uncertainty():
    for value in [-0.1, math.nan, math.inf]:
        with pytest.raises(
            ArgumentError,
            match=rf"uncertainty is {value}; expected the relative error .* example 0.01",
        ):
            checked_uncertainty(value)
