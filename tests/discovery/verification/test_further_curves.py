# pyright: reportAttributeAccessIssue=false
"""Motions beside those found: readable ones that lie in the span, or the nearest candidates."""

import pytest
import torch

import liegg
from cases import mlp, normal
from liegg.discovery.verification.further_curves import MAX_READABLE, others_of
from liegg.results.verification import verification_from_dict


def squares(x):
    return x.square().sum(1)


def turned(x):
    """Invariant under rotations of the first three coordinates after a mixing of all: no generator found is readable by itself."""
    return (x[:, :3] @ torch.diag(torch.tensor([1.0, 1.01, 0.99], dtype=x.dtype))).square().sum(
        1
    ) + x[:, 3] ** 3


def test_readable_generators_lie_in_the_span_found():
    sym = liegg.discover(turned, normal(400, 4), liegg.Linear(4))
    beside = others_of(sym)
    assert sym.nullity
    assert len(beside.words) == len(beside.coefficients)
    inside = beside.coefficients @ sym.coefficients.mT @ sym.coefficients
    torch.testing.assert_close(inside, beside.coefficients, rtol=0, atol=0.05)


def test_what_was_found_already_is_not_followed_twice():
    sym = liegg.discover(
        squares, normal(400, 3), liegg.Linear(3)
    )  # exact: the basis found is the readable one
    assert others_of(sym).words == ()
    found = liegg.verify(squares, normal(50, 3, seed=2), sym)
    assert (len(found.curves), found.others, found.other_generators) == (3, (), None)


def test_no_more_than_some_are_followed():
    generator = torch.Generator().manual_seed(0)
    frame = torch.linalg.qr(torch.randn(7, 7, generator=generator, dtype=torch.float64)).Q
    sym = liegg.discover(
        lambda x: (x @ frame)[:, :6].square().sum(1) + (x @ frame)[:, 6] ** 3,
        normal(900, 7),
        liegg.Linear(7),
    )
    assert sym.nullity >= 15
    assert len(others_of(sym).words) <= MAX_READABLE


def test_the_nearest_candidate_is_followed_where_none_was_found():
    net = mlp(3, 32, 2, seed=5)
    sym = liegg.discover(net, normal(400, 3), liegg.Linear(3))
    assert sym.nullity == 0
    beside = others_of(sym)
    assert 1 <= len(beside.words) <= 3
    direction = sym.accumulated.solution.directions[0]
    torch.testing.assert_close(
        beside.coefficients[0].norm(), torch.tensor(1.0, dtype=torch.float64)
    )
    cosine = torch.dot(beside.coefficients[0], direction) / direction.norm()
    assert float(cosine) == pytest.approx(1.0)
    found = liegg.verify(net, normal(100, 3, seed=3), sym)
    assert found.other_words == beside.words
    torch.testing.assert_close(found.other_generators, sym.action.matrices(beside.coefficients))
    # the same curve as if the generator had been given
    given = liegg.verify(net, normal(100, 3, seed=3), sym, generators=beside.coefficients[:1])
    torch.testing.assert_close(found.others[0].change, given.curves[0].change)
    again = verification_from_dict(found.to_dict())
    torch.testing.assert_close(again.others[0].change, found.others[0].change)
    torch.testing.assert_close(again.other_generators, found.other_generators)
    assert (again.other_words, again.other_sentences) == (found.other_words, found.other_sentences)


def test_records_of_an_older_version_have_no_others():
    record = liegg.verify(squares, normal(50, 3), liegg.Linear(3), liegg.so(3)).to_dict()
    for name in ("others", "other_words", "other_generators"):
        del record[name]
    assert verification_from_dict(record).others == ()


def test_given_generators_are_followed_alone():
    sym = liegg.discover(turned, normal(400, 4), liegg.Linear(4))
    assert (
        liegg.verify(turned, normal(50, 4, seed=2), sym, generators=sym.generators[:1]).others == ()
    )


def test_equivariance_moves_the_outputs_of_readable_generators_too():
    generator = torch.Generator().manual_seed(1)
    frame = torch.linalg.qr(torch.randn(3, 3, generator=generator, dtype=torch.float64)).Q + 0.05

    def model(x):
        y = x @ frame
        return y * y.square().sum(1, keepdim=True).sqrt()

    sym = liegg.discover(model, normal(300, 3), liegg.Linear(3), output_action=liegg.Linear(3))
    found = liegg.verify(model, normal(60, 3, seed=2), sym, points=5, controls=2)
    assert sym.nullity
    assert found.others
    for curve in found.others:
        assert float(curve.change.max()) < 0.2
