"""How much is moved: everything that was asked by name, what is affordable of the standard set."""

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg.actions import Motion
from liegg.discovery.about.effort import (
    BRIEF,
    FEWEST_MOVED,
    FEWEST_SHOWN,
    MOST_MOVED,
    MOVED_COST,
    STANDARD_SHARE,
    THOROUGH,
    plan_moves,
)
from liegg.results.run_folder import STORED_SAMPLES

ACTION = liegg.Image("affine")


def images(count):
    return torch.randn(count, 1, 8, 8, generator=torch.Generator().manual_seed(0))


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3)).eval()


def diagnoses(sym):
    return [note.diagnosis for note in sym.notes]


def evaluations(samples, names, motions):
    some = [motions[name] for name in names]
    moved = sum(map(BRIEF.evaluations, some)) + BRIEF.directions * BRIEF.levels
    return samples * moved + STORED_SAMPLES * sum(map(BRIEF.times_shown, some))


@pytest.mark.parametrize("count", [20, 300, 1000, 3000, 10000])
def test_the_standard_questions_cost_a_share_beside_the_first(count):
    sym = liegg.discover(network(), images(count), ACTION, about=(), controls="none")
    motions = ACTION.motions((1, 8, 8), spread=1.0)
    moves = plan_moves(sym, motions, standard=True)
    each = 6 if sym.settings["route"] == "jvp" else 3
    first = evaluations(FEWEST_MOVED, tuple(motions)[:1], motions)
    spent = evaluations(moves.samples, moves.names, motions)
    assert MOVED_COST * (spent - first) <= STANDARD_SHARE * count * (1 + 2 * each)
    assert MOVED_COST * first < 700  # of 13 for each sample of the analysis
    assert FEWEST_MOVED <= moves.samples <= MOST_MOVED
    assert moves.names == tuple(motions)[: len(moves.names)] != ()  # the first ones
    assert (len(moves.names) == len(motions)) == (count >= 10000)
    assert plan_moves(sym, motions, standard=False) == (MOST_MOVED, tuple(motions), THOROUGH)


def test_little_data_moves_the_first_motion_and_answers_the_others_by_derivatives():
    sym = liegg.discover(network(), images(30), ACTION, target="classes")
    first, *others = sym.answers
    assert first.finite is not None
    assert first.finite.share is not None
    assert len(first.finite.each_change) == 30
    assert len(others) > 3
    for one in others:
        assert one.finite is None
        assert one.holds is None
        assert one.verdict.diagnosis is Diagnosis.MOTION_NOT_TRIED
    assert diagnoses(sym).count(Diagnosis.MOTIONS_BY_DERIVATIVES) == 1
    asked = liegg.discover(network(), images(30), ACTION, about=["rotation"], target="classes")
    assert asked.answers[0].finite is not None
    assert Diagnosis.MOTIONS_BY_DERIVATIVES not in diagnoses(asked)


def test_hardly_any_data_is_answered_by_derivatives():
    sym = liegg.discover(network(), images(FEWEST_SHOWN - 1), ACTION, target="classes")
    assert sym.answers
    assert all(one.finite is None for one in sym.answers)


def test_evaluations_are_counted():
    turn = Motion(torch.zeros(1, 6))
    shift = Motion(torch.zeros(2, 6), longest=1.0)
    assert [THOROUGH.evaluations(one) for one in (turn, shift)] == [8, 8]
    assert [BRIEF.evaluations(one) for one in (turn, shift)] == [4, 4]
    assert [BRIEF.times_shown(one) for one in (turn, shift)] == [4, 1]


def test_a_standard_answer_can_be_compared_with_one_that_was_asked():
    """Only the reported size has to agree, not how often samples were moved on the way; a mean over a turn has none, but angles."""
    x = images(3000)
    standard = liegg.discover(network(), x, ACTION, target="classes", controls="none")
    asked = liegg.discover(
        network(), x, ACTION, about=["rotation", "shift"], target="classes", controls="none"
    )
    found = liegg.compare(standard, asked)
    turn, shift = found.answers
    assert (turn.measure, shift.measure) == (
        "",
        "predictions",
    )  # derivatives have no intervals here
    assert turn.smaller == shift.smaller == ""
    assert turn.remark.diagnosis is Diagnosis.MOTION_NOT_COMPARED
    assert Diagnosis.SIZES_DIFFER(motions="rotation", count=1, first="a", second="b") in found.notes


def test_samples_of_a_loader_come_from_all_of_its_data():
    """The data is sorted; the first batch alone is dark."""
    x = torch.cat([0.1 * images(40), 10 + images(40)])
    loader = DataLoader(TensorDataset(x), batch_size=16)
    sym = liegg.discover(network(), loader, ACTION, about="rotation", target="values")
    same = liegg.discover(network(), x, ACTION, about="rotation", target="values")
    moved, others = sym.answers[0].finite, same.answers[0].finite
    assert moved is not None
    assert others is not None
    assert moved.samples == others.samples
    assert Diagnosis.FIRST_BATCH_MOVED not in diagnoses(sym)
    listed = list(x.split(16))
    sym = liegg.discover(network(), listed, ACTION, about="rotation", target="values")
    assert Diagnosis.FIRST_BATCH_MOVED in diagnoses(sym)
    moved = sym.answers[0].finite
    assert moved is not None
    assert len(moved.each_change) == 16
