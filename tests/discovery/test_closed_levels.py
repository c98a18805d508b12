"""Levels are algebras: exact directions that are not closed are not all counted, and rare violations leave no interval."""

import pytest
import torch

import liegg
from cases import normal, square
from liegg._utils.diagnoses import Diagnosis

BOUND = 2.8


def rare(x):
    """so(n) but for samples beyond 2.8 along the first axis, of which there are 0.26 %: the true symmetries keep that axis."""
    return square(x) + 50 * torch.relu(x[:, 0] - BOUND).square()


def with_violations(samples, side, violating):
    """Normal data of which exactly so many samples lie beyond the bound, by a fixed amount and in different directions."""
    x = normal(samples, side)
    x[:, 0].clamp_(max=BOUND - 0.1)
    x[:violating, 0] = BOUND + 0.5
    return x


def members(remarks):
    return [remark.diagnosis for remark in remarks]


def test_two_exact_directions_that_are_not_closed_are_undecided():
    """One violating sample leaves two of three rotations exact; no sample tells which one is a symmetry."""
    sym = liegg.discover(rare, with_violations(100, 3, 1), liegg.Linear(3))
    decision = sym.decision
    assert (decision.nullity, decision.exact, decision.undecided) == (0, 0, 2)
    assert decision.nullity_interval is None
    assert decision.shown_grades[:2] == ("undecided", "undecided")
    assert decision.sentence.diagnosis is Diagnosis.UNDECIDED
    assert sym.sentence.diagnosis is Diagnosis.UNDECIDED_FOR
    assert sym.tower == ()
    assert {Diagnosis.RARELY_VIOLATED, Diagnosis.EXACT_UNDECIDED} <= {*members(decision.warnings)}
    assert str(sym).count("undecided ") >= 2


def test_the_closed_part_is_counted_and_the_rest_undecided(tmp_path):
    """Two violating samples in R⁴ leave so(3) and one more rotation, whose brackets with it are none."""
    sym = liegg.discover(rare, with_violations(300, 4, 2), liegg.Linear(4))
    decision = sym.decision
    assert (decision.nullity, decision.exact, decision.undecided, sym.name) == (3, 3, 1, "so(3)")
    assert decision.shown_grades[:4] == ("exact", "exact", "exact", "undecided")
    assert decision.nullity_interval is None
    assert [(level.dimension, level.name) for level in sym.tower] == [(3, "so(3)")]
    assert float(sym.coefficients.unflatten(1, (4, 4))[:, 0].abs().max()) < 1e-9
    assert sym.sentence.diagnosis is Diagnosis.UNCHANGED
    assert "1 more undecided" in sym.sentence.values["certainty"]
    assert float(sym.defect(sym.coefficients).max()) <= decision.floor
    assert float(sym.defect(sym.accumulated.solution.directions[:4]).max()) <= decision.floor
    back = liegg.load(sym.save(tmp_path / "run"))
    assert str(back) == str(sym)
    page = sym.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "undecided" in page


def test_three_violations_decide():
    sym = liegg.discover(rare, with_violations(300, 3, 5), liegg.Linear(3))
    assert (sym.nullity, sym.decision.exact, sym.decision.undecided) == (1, 1, 0)
    assert sym.words == ("rotation in x₂–x₃",)


def test_without_a_violation_the_sentence_says_how_many_there_may_be():
    few = liegg.discover(rare, with_violations(100, 3, 0), liegg.Linear(3))
    assert (few.nullity, few.name) == (3, "so(3)")
    assert "up to 3 % of such data" in few.sentence.values["certainty"]
    many = with_violations(400, 3, 0)
    assert liegg.discover(square, many, liegg.Linear(3)).sentence.values["certainty"] == "sure"
    moved = liegg.discover(rare, many, liegg.Linear(3))
    assert Diagnosis.EXACT_AT_SAMPLES in members(moved.decision.warnings)


def test_candidates_that_lack_their_brackets_are_no_evidence():
    action = liegg.Linear(3).restrict(liegg.so(3)[:2])
    sym = liegg.discover(square, normal(300, 3), action)
    assert (sym.nullity, sym.decision.exact, sym.decision.undecided) == (2, 2, 0)


def turning(x):
    return x * x.norm(dim=1, keepdim=True)


@pytest.mark.parametrize(
    ("function", "x", "action", "output_action", "count"),
    [
        (square, normal(300, 3), liegg.Linear(3), None, 3),
        (turning, normal(300, 3), liegg.Linear(3), liegg.Linear(3), 4),
        (
            lambda x: (x[:, 0] - x[:, 1]).norm(dim=1),
            normal(300, 2, 3),
            liegg.Affine(3, copies=2),
            None,
            6,
        ),
        (lambda x: x[:, 0], normal(300, 3), liegg.Linear(3), None, 6),
    ],
    ids=["so(3)", "equivariance", "se(3)", "of a covector"],
)
def test_true_symmetries_stay_exact_and_have_an_interval(function, x, action, output_action, count):
    sym = liegg.discover(function, x, action, output_action=output_action)
    assert (sym.nullity, sym.decision.exact) == (count, count)
    assert sym.decision.nullity_interval == (count, count)


def test_exact_directions_that_are_closed_with_others_join_their_level():
    """A violation so mild that the third direction counts: so(3) is closed, two of its directions are not."""

    def mild(x):
        return square(x) + 0.05 * torch.relu(x[:, 0] - BOUND)

    sym = liegg.discover(mild, with_violations(300, 3, 1), liegg.Linear(3), controls="none")
    decision = sym.decision
    assert (decision.nullity, decision.exact, decision.undecided) == (3, 0, 0)
    assert decision.grades[:3] == ("strong", "strong", "strong")
    assert Diagnosis.EXACT_LOWERED in members(decision.warnings)
    assert [(level.dimension, level.name) for level in sym.tower] == [(3, "so(3)")]
