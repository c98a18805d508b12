"""The closed part of a span: what remains does not depend on the basis, and what is equally to blame goes together."""

import torch

from liegg.algebra.bracket import closure_residual
from liegg.algebra.catalog import gl, so
from liegg.algebra.closed_part import closed_part
from liegg.algebra.subspace import principal_angles

ALL = gl(4)


def mixed(rows, seed=0):
    generator = torch.Generator().manual_seed(seed)
    q = torch.linalg.qr(torch.randn(len(rows), len(rows), generator=generator).double()).Q
    return torch.einsum("kd,dij->kij", q, rows)


def turned(axis):
    """The rotation of axis 0 towards a direction of the other three."""
    matrix = torch.zeros(4, 4, dtype=torch.float64)
    matrix[0, 1:], matrix[1:, 0] = torch.tensor(axis), -torch.tensor(axis)
    return matrix


def inner():
    """so(3) of the last three of four coordinates."""
    return torch.nn.functional.pad(so(3), (1, 0, 1, 0))


def test_an_algebra_stays_complete():
    part = closed_part(mixed(so(4)), ALL, tolerance=0.1)
    assert (len(part.closed), len(part.rest)) == (6, 0)
    assert part.residual < 1e-12


def test_one_direction_too_many_is_left_out():
    span = mixed(torch.cat([inner(), turned((1.0, 2.0, 2.0))[None]]))
    part = closed_part(span, ALL, tolerance=0.1)
    assert (len(part.closed), len(part.rest)) == (3, 1)
    assert closure_residual(part.closed) < 1e-12
    assert float(principal_angles(part.closed.flatten(1), inner().flatten(1)).max()) < 1e-6
    assert part.residual > 0.1


def test_nothing_tells_which_of_two_is_none():
    part = closed_part(mixed(so(3)[:2]), gl(3), tolerance=0.1)
    assert (len(part.closed), len(part.rest)) == (0, 2)


def test_what_two_algebras_share_remains():
    """One constraint on so(4) leaves five directions that hold two copies of so(3), and both hold one rotation."""
    span = mixed(torch.cat([inner(), *[turned(axis)[None] for axis in ((1.0, 0, 0), (0, 1.0, 0))]]))
    part = closed_part(span, ALL, tolerance=0.1)
    assert (len(part.closed), len(part.rest)) == (1, 4)
    around = inner()[[0]]  # the rotation of the two axes towards which the others turn
    shared = torch.stack([part.closed[0] / part.closed[0].norm(), around[0] / around[0].norm()])
    assert abs(float((shared[0] * shared[1]).sum())) > 1 - 1e-9


def test_brackets_that_are_no_candidates_say_nothing():
    span = so(3)[:2]
    assert len(closed_part(span, span, tolerance=0.1).closed) == 2


def test_the_empty_span_is_closed():
    part = closed_part(so(3)[:0], gl(3), tolerance=0.1)
    assert (len(part.closed), len(part.rest), part.residual) == (0, 0, 0.0)
