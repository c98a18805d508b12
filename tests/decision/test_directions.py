"""The directions that follow from a decision: orthonormal, in order, the same in any basis of the exact ones."""

import torch

from cases import normal
from liegg import algebra
from liegg.decision.directions import symmetry_directions
from liegg.spectrum.defects import Defects
from spectra import decided, solved


def rotated(seed):
    """so(4) exact in a random basis, one approximate direction, the rest."""
    turn = torch.linalg.qr(normal(6, 6, seed=seed))[0]
    frame = torch.linalg.qr(torch.cat([algebra.so(4).flatten(1), normal(10, 16)]).mT)[0].mT
    return solved(
        [0.0] * 6 + [1e-3] + [1.0] * 9, directions=torch.cat([turn @ frame[:6], frame[6:]])
    )


def test_symmetry_directions_are_orthonormal_and_exact_ones_come_first():
    case = rotated(0)
    found = symmetry_directions(case, decided(case))
    torch.testing.assert_close(
        found @ found.mT, torch.eye(7, dtype=torch.float64), rtol=0, atol=1e-13
    )
    inside = found[:6] @ case.directions[:6].mT
    torch.testing.assert_close(
        inside @ inside.mT, torch.eye(6, dtype=torch.float64), rtol=0, atol=1e-13
    )
    torch.testing.assert_close(found[6].abs(), case.directions[6].abs(), rtol=0, atol=1e-13)


def test_symmetry_directions_do_not_depend_on_the_basis_of_the_exact_ones():
    one, two = (symmetry_directions(c, decided(c)) for c in (rotated(1), rotated(2)))
    torch.testing.assert_close(one, two, rtol=0, atol=1e-12)


def test_symmetry_directions_have_deterministic_signs():
    case = rotated(3)
    flipped = Defects(case.values, -case.directions, case.trivial, 1.0)
    decision = decided(case)
    torch.testing.assert_close(
        symmetry_directions(flipped, decision),
        symmetry_directions(case, decision),
        rtol=0,
        atol=1e-12,
    )


def test_oblique_directions_come_out_orthonormal_in_order():
    """Directions of a generalised problem are orthogonal in M, not in the Frobenius product; each keeps the span up to it."""
    oblique = torch.nn.functional.normalize(normal(4, 6), dim=1)
    values = [1e-4, 2e-4, 3e-4, 1.0, 1.0, 1.0]
    case = solved(values, directions=torch.cat([oblique, oblique[:2]]))
    found = symmetry_directions(case, decided(case))
    torch.testing.assert_close(
        found @ found.mT, torch.eye(3, dtype=torch.float64), rtol=0, atol=1e-13
    )
    for k in (1, 2, 3):
        assert torch.linalg.matrix_rank(torch.cat([found[:k], oblique[:k]])) == k


def test_all_directions_need_no_work():
    every = solved([0.0] * 40, directions=torch.linalg.qr(normal(40, 40)).Q)
    assert torch.equal(symmetry_directions(every, decided(every)), torch.eye(40).double())


def test_very_many_directions_keep_the_basis_they_were_solved_in(monkeypatch):
    monkeypatch.setattr("liegg.decision.directions.CANONICAL_PRODUCTS", 10)
    rows = torch.linalg.qr(normal(6, 4)).Q.mT.contiguous()
    some = solved([0.0] * 4, trivial=2, directions=rows)
    found = symmetry_directions(some, decided(some))
    torch.testing.assert_close(found.abs(), rows.abs(), rtol=0, atol=1e-14)
