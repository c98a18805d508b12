"""The printed table: a few golden ones, word by word; short for every result; it computes nothing.

`PYTHONPATH=tests python tests/results/test_text.py` writes the golden files again.
"""

from pathlib import Path

import pytest
import torch

import liegg
from cases import CASES, analysed, conjugated_map, lorentz, mlp, norm_case, normal, square
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


@pytest.mark.parametrize("name", TABLES)
def test_golden_tables(name):
    shown = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    assert difference(shown, str(TABLES[name]())) == ""


def test_every_table_is_short_and_says_all_that_was_decided():
    for case in CASES:
        sym = analysed(case)
        text = str(sym)
        lines = text.splitlines()
        assert len(lines) < 40, case
        assert max(map(len, lines)) <= 120, case
        assert f": {sym.nullity} symmetr" in lines[0], case
        unwrapped = text.replace("\n    ", " ")
        for remark in (sym.decision.sentence, *sym.decision.reasons, *sym.decision.warnings):
            assert remark in unwrapped, case


def rows_of(text):
    """Table rows of directions, in columns."""
    return [line.split() for line in text.splitlines() if line[:6].strip().isdigit()]


def test_a_row_holds_defect_interval_grade_and_variance():
    sym = TABLES["learned"]()
    rows = rows_of(str(sym))
    assert [row[0] for row in rows] == list("123456")
    for i, row in enumerate(rows):
        assert row[1] == f"{float(sym.defects[i]):.3e}"
        assert row[-1] == f"{float(sym.spectrum.values[i]):.3e}"
        assert row[-2] == sym.decision.grades[i]
        ends = [f"{end:.3e}" for end in sym.intervals[i].tolist()]
        assert row[2:-2] == ([] if i < sym.decision.exact else [ends[0], "–", ends[1]])
    assert sym.decision.grades[:4] == ("exact", "strong", "strong", "none")


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
    lines = str(sym).splitlines()
    assert len(lines) < 40
    assert max(map(len, lines)) <= 120
    assert len(sym.decision.warnings) >= 2
    assert str(sym.verification.summary) in str(sym).replace("\n    ", " ")


def test_repr_is_one_line():
    line = repr(TABLES["undecided"]())
    assert line.startswith("Symmetries(nullity=0, action=Linear(n=3")
    assert "\n" not in line


def test_variances_of_very_many_candidates_are_not_solved_for_to_be_printed(monkeypatch):
    monkeypatch.setattr("liegg.discovery.solve_and_decide.STORED_SPECTRUM", 8)
    sym = liegg.discover(square, normal(100, 3), liegg.Linear(3), controls="none")
    shown, record = str(sym), sym.to_dict()
    assert "σ²/|D|" not in shown
    assert record["spectrum"] is record["variance"] is None
    assert [len(row) for row in rows_of(shown)] == [3] * 6
    assert "spectrum" not in vars(sym)
    assert float(sym.spectrum.values[0]) < 1e-12  # it is there when it is used,
    assert str(sym) == shown  # and what is printed does not depend on that
    assert sym.to_dict() == record


if __name__ == "__main__":
    for name, table in TABLES.items():
        (GOLDEN / f"{name}.txt").write_text(f"{table()}\n", encoding="utf-8")
