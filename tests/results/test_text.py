"""The printed table: short, and it says what was decided and why."""

import pytest
import torch

import liegg
from cases import CASES, conjugated_map, lorentz, mlp, norm_case, normal, plane


def printed(case):
    sym = liegg.discover(case.function, case.data, case.action)
    return sym, str(sym)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_short_and_with_its_reasons(case):
    sym, text = printed(case)
    assert len(text.splitlines()) < 40
    assert max(map(len, text.splitlines())) <= 160
    assert (
        f": {sym.nullity} {'symmetry' if sym.nullity == 1 else 'symmetries'}"
        in text.splitlines()[0]
    )
    for line in (*sym.decision.reasons, *(f"warning: {w}" for w in sym.decision.warnings)):
        assert line in text.replace("\n    ", " ")


def test_every_found_direction_has_a_line_with_both_numbers():
    sym, text = printed(lorentz())
    rows = [line.split() for line in text.splitlines() if "exact" in line and "e-" in line]
    assert [row[0] for row in rows] == list("123456")
    assert rows[5][1] == f"{float(sym.defects[5]):.3e}"
    assert rows[5][3] == f"{float(sym.spectrum.values[5]):.3e}"


def test_directions_after_the_last_symmetry_show_the_gap():
    sym, text = printed(lorentz())
    assert f"{float(sym.defects[6]):.3e}" in text
    assert "...   7 more, δ² up to" in text


def test_long_lists_leave_out_the_middle_and_say_so():
    sym, text = printed(norm_case(10))
    assert sym.nullity == 45
    assert "...   24 more" in text  # 45 symmetries and 3 after them, 24 shown
    assert len(text.splitlines()) < 40


def test_learned_symmetries_are_marked_so():
    # The sine leaves only the turn about the first axis exact, and bends the other two a little.
    sym = liegg.discover(
        lambda x: x.square().sum(1) + 1e-2 * x[:, 0].sin(), normal(1000, 3), liegg.Linear(3)
    )
    assert (sym.nullity, sym.decision.exact) == (3, 1)
    lines = [
        line.split() for line in str(sym).splitlines() if line[:6].strip() in ("1", "2", "3", "4")
    ]
    assert [line[2] for line in lines if len(line) == 4] == ["exact"]
    assert [line[5] for line in lines if len(line) == 7] == list(sym.grades[1:4])
    assert sym.grades[:4] == ("exact", "strong", "strong", "none")


def test_equivariance_and_notes_are_named():
    case = conjugated_map()
    text = str(
        liegg.discover(case.function, case.data, case.action, output_action=case.output_action)
    )
    assert text.startswith(
        "equivariance of function under Linear(n=6, copies=1, layout='copies_first'): 3 symmetries"
    )


def test_nothing_to_list():
    text = str(liegg.discover(lambda x: x.sum(1), torch.zeros(20, 2), liegg.Linear(2)))
    assert "warning: 4 directions do not move the data" in text


def test_trivial_directions_are_warned_of():
    assert "warning: 3 directions do not move the data" in printed(plane())[1]


def test_repr_is_one_line():
    sym, _ = printed(lorentz())
    assert repr(sym).startswith("Symmetries(nullity=6, action=Linear(n=4")
    assert "\n" not in repr(sym)


def test_everything_at_once_stays_under_forty_lines():
    """A small network on data with a still feature, mixed units and few samples, with fresh weights and finite motions."""
    x = normal(60, 6) * torch.tensor([1.0, 1, 1, 1, 50, 0], dtype=torch.float64)
    sym = liegg.discover(
        mlp(6, 16, 2),
        x,
        liegg.Linear(6),
        controls="reinitialised",
        held_out=normal(30, 6),
        run=liegg.Run(control_draws=2),
    )
    text = str(sym)
    assert len(text.splitlines()) < 40
    assert max(map(len, text.splitlines())) <= 160
    assert "fresh weights, 2 draws:" in text
    assert "finite motions: no symmetry was found to verify; the nearest candidate, " in text
    assert "warning: the features' sizes differ" in text


def test_what_was_learned_and_verified_is_told():
    turn = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(3, 3, bias=False)).double()

    class Radius(torch.nn.Module):
        def forward(self, x):
            return x.norm(dim=1, keepdim=True)

    model = torch.nn.Sequential(turn, Radius(), torch.nn.Linear(1, 4).double(), torch.nn.Tanh())
    text = str(
        liegg.discover(
            model, normal(200, 3), liegg.Linear(3), controls="reinitialised", held_out=normal(50, 3)
        )
    )
    assert "3 exact symmetries" in text
    text = text.replace("\n    ", " ")
    assert (
        "learned (clearly below them): no direction of the first 6" in text
    )  # fresh weights have them too
    assert (
        "finite motions: 3 of 3 generators hold as far as followed, on 50 held-out samples"
        in text.replace("\n    ", " ")
    )


def test_variances_of_very_many_candidates_are_not_solved_for_to_be_printed(monkeypatch):
    sym = liegg.discover(
        lambda x: x.square().sum(1), normal(100, 3), liegg.Linear(3), controls="none"
    )
    monkeypatch.setattr("liegg.results.text.MANY", 8)
    shown = str(sym)
    assert "σ²/|D|" not in shown
    assert shown.count("exact") >= 3
    assert "spectrum" not in vars(sym)
    assert float(sym.variance) < 1e-12  # it is there when asked for,
    assert str(sym) == shown  # and what is printed does not depend on that
