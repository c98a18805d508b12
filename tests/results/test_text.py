"""The printed table: a few golden ones, word by word; short for every result; it computes nothing.

`PYTHONPATH=tests python tests/results/test_text.py` writes the golden files again.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import liegg
from cases import CASES, analysed, conjugated_map, lorentz, mlp, norm_case, normal, square
from liegg._utils.errors import ArgumentError
from pages import difference

GOLDEN = Path(__file__).with_name("golden")


def bent(x):
    """|x|² with a part that breaks two of its three symmetries a little."""
    return square(x) + 1e-2 * x[:, 0].sin()


def cubic(x):
    """|x|² with a part that breaks all of its symmetries."""
    return square(x) + 0.3 * x.pow(3).sum(1)


def equivariance():
    case = conjugated_map()
    return liegg.discover(case.function, case.data, case.action, output_action=case.output_action)


def reinitialised():
    run = liegg.Run(control_draws=3)
    return liegg.discover(
        mlp(3, 8, 2), normal(200, 3), liegg.Linear(3), controls="reinitialised", run=run
    )


TABLES = {
    "exact": lambda: liegg.discover((c := lorentz()).function, c.data, c.action),
    "learned": lambda: liegg.discover(bent, normal(1000, 3), liegg.Linear(3)),
    "weak": lambda: liegg.discover(cubic, normal(1000, 3), liegg.Linear(3)),
    "undecided": lambda: liegg.discover(square, normal(4, 3), liegg.Linear(3)),
    "equivariance": equivariance,
    "bottom": lambda: liegg.discover(
        square, normal(300, 5), liegg.Linear(5), run=liegg.Run(bottom=4)
    ),
    "reinitialised": reinitialised,
}


TIED = ("undecided", "bottom")
"""Tables with directions that tie: which of them a solver returns depends on the last bits."""

MOTION = re.compile(r"(?:rotation|linear map)(?: (?!and \d more)\S+)+")


@pytest.fixture(scope="module")
def made():
    """Every table's result, once."""
    return {name: make() for name, make in TABLES.items()}


@pytest.mark.parametrize("name", TABLES)
def test_golden_tables(name, made):
    shown = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    printed = made[name].table(width=120)
    if name in TIED:
        shown, printed = (MOTION.sub("a motion", text) for text in (shown, printed))
        assert "a motion" in shown
    assert difference(shown, printed) == ""


def test_every_table_is_short_and_says_all_that_was_decided():
    for case in CASES:
        sym = analysed(case)
        text = sym.table(width=120)
        lines = text.splitlines()
        assert len(lines) < 40, case
        assert max(map(len, lines)) <= 120, case
        unwrapped = text.replace("\n    ", " ")
        assert unwrapped.startswith(f"{sym.sentence}\n"), case
        for remark in (*sym.decision.reasons, *sym.decision.warnings):
            assert remark in unwrapped, case


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_every_width_fits_and_only_words_are_cut(width, made):
    for name, sym in made.items():
        for variance in (False, True):
            text = sym.table(width=width, variance=variance)
            assert max(map(len, text.splitlines())) <= width, name
            sentences, _, rows = text.rpartition("\n\n")
            assert "…" not in sentences
            assert " ".join(sentences.split()).startswith(" ".join(sym.sentence.split()))
            whole = sym.table(width=200, variance=variance).rpartition("\n\n")[2]
            for narrow, wide in zip(rows.splitlines(), whole.splitlines(), strict=True):
                cut = " ".join(narrow.split()).rstrip("… ")
                assert " ".join(wide.split()).startswith(cut), name
                assert len(narrow.split()) >= 3 or narrow.split() == wide.split(), name


def rows_of(text):
    """Table rows of directions, in columns."""
    lines = text.splitlines()
    head = next(i for i, line in enumerate(lines) if "grade" in line.split())
    return [line.split() for line in lines[head:] if line[:6].strip().isdigit()]


def test_symmetries_are_listed_in_the_readable_basis(made):
    sym = made["learned"]
    rows = rows_of(sym.table(width=120))
    assert [row[0] for row in rows] == list("123456")
    assert [" ".join(row[-3:]) for row in rows[:3]] == list(sym.identification.readable.words)
    defects = sym.defect(sym.identification.readable.generators).tolist()
    ends = sym.defect_interval(sym.identification.readable.generators).tolist()
    for row, defect, (low, high) in zip(rows[:2], defects, ends, strict=False):
        assert row[1:6] == [f"{defect:.3g}", f"{low:.2g}", "–", f"{high:.2g}", "strong"]
    assert rows[2][1:3] == [
        "0",
        "exact",
    ]  # the rotation that the model keeps exactly, without an interval
    for i, row in enumerate(rows[3:], start=3):
        low, high = sym.intervals[i].tolist()
        assert row[1:5] == [f"{float(sym.defects[i]):.3g}", f"{low:.2g}", "–", f"{high:.2g}"]
        assert " ".join(row[6:]) == sym.candidates[i - 3].words


def test_a_readable_motion_is_doubtful_with_the_symmetry_of_its_defect(made):
    sym = made["learned"]
    for doubtful, expected in (((0, 1), ["strong", "strong", "exact?"]), ((2,), ["strong?"] * 2)):
        marks = tuple(("strong",) if i in doubtful else () for i in range(9))
        other = replace(sym, decision=replace(sym.decision, borderline=marks))
        grades = [row[-4] for row in rows_of(other.table(width=120))[:3]]
        assert grades[: len(expected)] == expected


def test_the_variance_is_there_on_request(made):
    sym = made["learned"]
    assert "σ²" not in str(sym)
    rows = rows_of(sym.table(variance=True))
    assert "σ²/|D|" in sym.table(variance=True)
    for value, row in zip(sym.spectrum.values.tolist(), rows, strict=False):
        assert f"{value:.3g}" in row


def test_without_a_name_the_directions_are_those_of_the_solution(made):
    sym = made["bottom"]
    rows = rows_of(sym.table(width=200))
    assert sym.account.readable == ()
    assert [" ".join(row[3:]) for row in rows] == list(sym.account.words)
    assert [row[1:3] for row in rows] == [["0", "exact"]] * 4


def test_a_model_may_have_any_name(made):
    for name in ("x" * 500, "two\nlines", "", "{braces} %s"):
        text = replace(made["learned"], model=name).table(width=60)
        assert max(map(len, text.splitlines())) <= 60
        assert "".join(name.split()) in "".join(text.split())


def test_the_width_is_that_of_the_terminal_and_is_bounded(made, monkeypatch):
    sym = made["learned"]
    monkeypatch.setenv("COLUMNS", "70")
    assert str(sym) == sym.table(width=70)
    monkeypatch.setenv("COLUMNS", "1")
    assert str(sym) == sym.table(width=60) == sym.table(width=-3)
    with pytest.raises(ArgumentError, match="width"):
        sym.table(width="wide")


def test_long_lists_leave_out_the_middle():
    sym = liegg.discover((c := norm_case(10)).function, c.data, c.action)
    rows = rows_of(str(sym))
    assert sym.nullity == 45
    assert [int(row[0]) for row in rows][:3] == [1, 2, 3]
    assert int(rows[-1][0]) == 48  # three after the last symmetry
    assert 20 <= len(rows) < 35


def test_everything_at_once_stays_under_forty_lines():
    """A small network on data with a constant feature, mixed units and few samples, with every control and verification."""
    x = normal(60, 6) * torch.tensor([1.0, 1, 1, 1, 50, 0], dtype=torch.float64)
    sym = liegg.discover(
        mlp(6, 16, 2),
        x,
        liegg.Linear(6),
        controls="reinitialised",
        held_out=normal(30, 6),
        run=liegg.Run(control_draws=2),
    )
    text = sym.table(width=120)
    assert len(text.splitlines()) < 40
    assert max(map(len, text.splitlines())) <= 120
    assert len(sym.decision.warnings) >= 2
    assert str(sym.verification.summary) in text.replace("\n    ", " ")


def test_nothing_that_moves_has_no_table():
    sym = liegg.discover(square, torch.zeros(20, 3), liegg.Linear(3))
    assert "δ²" not in str(sym)
    assert str(sym) == str(sym).rstrip()
    assert sym.table(variance=True) == str(sym)


def test_repr_is_one_line(made):
    line = repr(made["undecided"])
    assert line.startswith("Symmetries(nullity=0, action=Linear(n=3")
    assert "\n" not in line


def test_variances_of_very_many_candidates_are_not_solved_for_to_be_printed(monkeypatch):
    monkeypatch.setattr("liegg.discovery.described.STORED_SPECTRUM", 8)
    sym = liegg.discover(square, normal(100, 3), liegg.Linear(3), controls="none")
    shown, record = str(sym), sym.to_dict()
    assert record["spectrum"] is record["variance"] is None
    assert "spectrum" not in vars(sym)
    assert float(sym.spectrum.values[0]) < 1e-12  # it is there when it is used,
    assert str(sym) == shown  # and what is printed does not depend on that
    assert sym.to_dict() == record


if __name__ == "__main__":
    for name, table in TABLES.items():
        text = table().table(width=120)
        (GOLDEN / f"{name}.txt").write_text(f"{text}\n", encoding="utf-8")
