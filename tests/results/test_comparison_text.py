"""What a comparison says: a sentence for every outcome, a table of bounded size, JSON values."""

import json
import math
from dataclasses import replace

import pytest
import torch

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg.results.comparison import Comparison, Measured, PairedDefect, Side

EXACT = Measured(1e-32, 0.0, 1e-28, exact=True)
SMALL = Measured(1e-3, 0.8e-3, 1.25e-3, exact=False)
LARGE = Measured(1.2e-2, 1.0e-2, 1.5e-2, exact=False)
UNKNOWN = Measured(math.nan, math.nan, math.nan, exact=False)


def bare(measured):
    return replace(measured, low=math.nan, high=math.nan)


def side(nullity, algebra="so(3)", *, undecided=0, model="net"):
    return Side(
        model, 400, nullity, (nullity, nullity), algebra if nullity else "0", undecided, 0.01
    )


def made(a, b, shared, pair=(SMALL, LARGE), **changes):
    """A comparison with every number given."""
    names = ["both"] * shared + ["a"] * (a.nullity - shared) + ["b"] * (b.nullity - shared)
    pairs = tuple(
        PairedDefect(name, "rotation in x₁–x₂", torch.eye(3), *pair)
        for name in names or ["neither"]
    )
    overall = (
        PairedDefect("both", "mean of the shared", None, *pair)
        if shared
        else None
        if names
        else pairs[0]
    )
    angles = torch.full((min(a.nullity, b.nullity),), 0.001 if shared else 1.2, dtype=torch.float64)
    found = Comparison(
        a=a,
        b=b,
        question="invariance",
        action="Linear(n=3)",
        level=0.95,
        angles=angles,
        explained=0.02,
        shared=shared,
        directions=pairs,
        overall=overall,
        output_difference=0.0,
        notes=("as is",),
    )
    return replace(found, **changes)


D = Diagnosis
OUTCOMES = [
    (made(side(3), side(3), 3), [D.SAME_ALGEBRA, D.MORE_SYMMETRIC]),
    (made(side(3), side(3), 3, (EXACT, EXACT)), [D.SAME_ALGEBRA, D.BOTH_EXACT]),
    (made(side(3), side(3), 3, (LARGE, EXACT)), [D.SAME_ALGEBRA, D.ONE_EXACT]),
    (made(side(3), side(3), 3, (SMALL, SMALL)), [D.SAME_ALGEBRA, D.NOT_MORE_SYMMETRIC]),
    (made(side(3), side(3), 3, (bare(SMALL), bare(LARGE))), [D.SAME_ALGEBRA, D.MEANS_ONLY]),
    (made(side(3), side(3), 3, (UNKNOWN, SMALL)), [D.SAME_ALGEBRA, D.AMOUNT_UNKNOWN]),
    (made(side(3), side(3, "su(2)"), 3, (EXACT, EXACT)), [D.SAME_DIRECTIONS, D.BOTH_EXACT]),
    (made(side(3), side(1, "so(2)"), 1, (EXACT, EXACT)), [D.ONE_CONTAINS_OTHER, D.BOTH_EXACT]),
    (made(side(3), side(4, "so(3) ⊕ R"), 3), [D.ONE_CONTAINS_OTHER, D.MORE_SYMMETRIC]),
    (made(side(3), side(3, "sl(2,R)"), 1, (EXACT, EXACT)), [D.PARTLY_SHARED, D.BOTH_EXACT]),
    (made(side(3), side(1, "so(2)"), 0), [D.NOTHING_SHARED, D.DEFECT_IN_OTHER, D.DEFECT_IN_OTHER]),
    (made(side(3), side(0), 0), [D.ONLY_ONE_SYMMETRIC, D.DEFECT_IN_OTHER]),
    (made(side(0), side(3), 0, (UNKNOWN, EXACT)), [D.ONLY_ONE_SYMMETRIC]),
    (made(side(0), side(0), 0), [D.NEITHER_SYMMETRIC, D.NEAREST_CANDIDATES, D.CLEARLY_CLOSER]),
    (
        made(side(0), side(0), 0, (SMALL, SMALL)),
        [D.NEITHER_SYMMETRIC, D.NEAREST_CANDIDATES, D.NOT_CLEARLY_CLOSER],
    ),
    (made(side(0), side(0), 0, directions=(), overall=None), [D.NEITHER_SYMMETRIC]),
    (made(side(0, undecided=5), side(3), 0), [D.NOT_COMPARABLE]),
    (
        made(side(3), side(3), 3, (EXACT, EXACT), question="equivariance", output_difference=1.0),
        [D.SAME_ALGEBRA, D.BOTH_EXACT, D.OUTPUTS_DIFFER],
    ),
    (
        made(
            side(2, "R²"),
            side(2, "R²"),
            2,
            (SMALL, SMALL),
            directions=(
                PairedDefect("both", "", None, SMALL, LARGE),
                PairedDefect("both", "", None, LARGE, SMALL),
            ),
        ),
        [D.SAME_ALGEBRA, D.NOT_MORE_SYMMETRIC, D.MORE_SYMMETRIC_ON_SOME, D.MORE_SYMMETRIC_ON_SOME],
    ),
]


def test_every_outcome_has_its_remarks_table_and_record():
    for found, members in OUTCOMES:
        assert [remark.diagnosis for remark in found.remarks] == members
        assert len(str(found).splitlines()) <= 40
        for width in (60, 80, 120, 200):
            lines = found.table(width=width).splitlines()
            assert max(map(len, lines)) <= width
            assert " ".join(" ".join(lines).split()).startswith(" ".join(found.sentence.split()))
        record = found.to_dict()
        assert json.loads(json.dumps(record, allow_nan=False)) == record
        assert record["sentence"] == found.sentence
        assert len(record["directions"]) == len(found.directions)


def test_the_numbers_of_the_remarks():
    (_, more) = made(side(3), side(3), 3, (LARGE, SMALL)).remarks
    assert (more.values["model"], more.values["ratio"]) == ("b", "12 (9 to 16)")
    contains = made(side(3), side(4, "so(3) ⊕ R"), 3).remarks[0].values
    assert (contains["larger"], contains["more"], contains["algebra"]) == ("b", 1, "so(3) ⊕ R")
    apart = made(side(3), side(1, "unknown"), 0).remarks
    assert apart[0].values["angle"] == pytest.approx(math.degrees(1.2))
    assert apart[0].values["b"] == "1 direction without a name"
    assert [remark.values["defects"] for remark in apart[1:]] == ["0.012", "0.001"]


def test_every_direction_has_a_line_with_its_numbers():
    lines = made(side(3), side(1, "so(2)"), 1, (SMALL, LARGE)).table(width=120).splitlines()
    rows = [line.split() for line in lines[-4:]]
    assert (
        " ".join(rows[0])
        == "found in δ² in a 95 % interval δ² in b 95 % interval clearly smaller motion"
    )
    assert [row[0] for row in rows[1:]] == ["both", "a", "a"]
    assert rows[1][1:5] == ["0.001", "0.0008", "–", "0.0013"]
    assert rows[1][5:9] == ["0.012", "0.01", "–", "0.015"]
    assert rows[1][9:] == ["a,", "12", "times", "rotation", "in", "x₁–x₂"]
    exact = made(side(1, "so(2)"), side(1, "so(2)"), 1, (UNKNOWN, EXACT))
    lines = exact.table(width=120).splitlines()
    assert lines[-1].split() == ["both", "–", "0", "exact", "–", "rotation", "in", "x₁–x₂"]


def test_the_mean_comes_last_where_there_are_several():
    last = made(side(3), side(3), 3).table(width=120).splitlines()[-1]
    assert last.split()[-7:] == ["a,", "12", "times", "mean", "of", "the", "shared"]
    assert "mean of the shared" not in str(made(side(1), side(1), 1))


def test_a_narrow_table_has_a_line_for_each_model():
    rows = made(side(3), side(1, "so(2)"), 1).table(width=60).splitlines()[-6:]
    assert [row.split()[-2:] for row in rows[::2]] == [["in", "x₁–x₂"]] * 3
    assert [row.split()[0] for row in rows] == ["both", "b", "a", "b", "a", "b"]
    for row in rows:
        numbers = {"0.001", "0.0008", "0.0013"} if "rotation" in row else {"0.012", "0.01", "0.015"}
        assert numbers <= set(row.split())
    many = made(side(300), side(200), 200).table(width=60).splitlines()
    shown = sum(line.split()[:2] in (["both", "a"], ["a", "a"]) for line in many)
    left_out = int(next(line.split()[1] for line in many if line.startswith("  ...")))
    assert (shown + left_out, len(many) < 45) == (301, True)


def test_many_directions_are_left_out_in_the_middle():
    text = made(side(300), side(200), 200).table(width=120)
    assert len(text.splitlines()) <= 40
    rows = text[text.index("  found in ") :].splitlines()[1:]
    shown = sum(line.startswith(("  both ", "  a ")) for line in rows)
    left_out = int(next(line.split()[1] for line in text.splitlines() if line.startswith("  ...")))
    assert shown + left_out == 301  # with the mean


def test_names_of_models_may_be_anything():
    found = made(side(3, model="x" * 500), side(3, model="two\nlines <script>"), 3)
    assert max(map(len, str(found).splitlines())) <= 120
    assert len(str(found).splitlines()) <= 40
    assert found.to_dict()["b"]["model"] == "two\nlines <script>"


def test_numbers_of_the_record():
    record = made(side(1), side(1), 1, (SMALL, EXACT)).to_dict()
    assert record["directions"][0]["a"] == {
        "value": 1e-3,
        "low": 0.8e-3,
        "high": 1.25e-3,
        "exact": False,
    }
    assert record["directions"][0]["smaller"] == "b"
    assert record["directions"][0]["ratio"] is None
    assert record["overall"]["found_in"] == "both"
    assert (record["a"]["nullity_interval"], record["same"], record["level"]) == (
        [1, 1],
        True,
        0.95,
    )
    assert (
        made(side(1), side(0), 0, (EXACT, UNKNOWN)).to_dict()["directions"][0]["b"]["value"] is None
    )


def test_compare_is_public_and_prints():
    x = torch.randn(50, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    sym = liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(2))
    found = liegg.compare(sym, sym)
    assert repr(found) == "Comparison(shared=1, only_a=0, only_b=0, question='invariance')"
    first, second, *_ = str(found).splitlines()
    assert first == found.sentence
    assert second.startswith("invariance under Linear(n=2, copies=1, layout='copies_first')")
