"""What is told of a case: labels, grades, defects, and the count of every rule."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg.studies.error_rates import judgement
from liegg.studies.error_rates.cases import Case, normal
from liegg.studies.error_rates.judgement import (
    COUNTING_RULES,
    LIEGG,
    Evidence,
    below,
    evidence,
    judge,
    largest_gap,
    running_share,
    single_share,
)

DATA = normal(300, 3, torch.Generator().manual_seed(0))


def sphere(x: torch.Tensor) -> torch.Tensor:
    return x.square().sum(1, keepdim=True)


def test_intervals_that_were_not_made_are_no_range(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("exact", "so(n)", sphere, DATA, liegg.Linear(3), liegg.so(3), 1)
    assert judge(case)["range"] == [3, 3]
    monkeypatch.setattr(
        judgement, "discover", lambda *given: liegg.discover(*given, controls="none")
    )
    assert judge(case)["range"] is None


def test_grades_and_warnings_are_those_of_the_counted_directions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def with_grades(*given) -> liegg.Symmetries:
        found = liegg.discover(*given)
        grades = ("exact", "strong", "approximate") + ("weak",) * 6
        warnings = (Diagnosis.NEARLY_LINEAR(percent=3.0),)
        return replace(found, decision=replace(found.decision, grades=grades, warnings=warnings))

    case = Case("exact", "so(n)", sphere, DATA, liegg.Linear(3), liegg.so(3), 1)
    keys = ("exact", "strong", "approximate", "warned")
    assert [judge(case)[key] for key in keys] == [3, 3, 0, False]
    monkeypatch.setattr(judgement, "discover", with_grades)
    assert [judge(case)[key] for key in keys] == [1, 2, 1, True]


def test_a_case_is_told_with_its_labels_and_all_counts() -> None:
    row = judge(Case("exact", "so(n)", sphere, DATA, liegg.Linear(3), liegg.so(3), 1))
    assert row["counts"] == {LIEGG: 3} | {
        name: rule(evidence(liegg.discover(sphere, DATA, liegg.Linear(3))))
        for name, rule in COUNTING_RULES.items()
    }
    assert (
        row["n"],
        row["copies"],
        row["samples"],
        row["outputs"],
        row["dtype"],
        row["action"],
    ) == (3, 1, 300, 1, "float64", "Linear")
    assert (row["expected"], row["strong"], row["approximate"], row["nonlinear"]) == (3, 3, 0, True)
    assert row["last"] < 1e-28
    assert row["next"] > 0.1
    assert row["angle"] < 1e-12


def test_defects_beside_the_right_count_do_not_depend_on_the_count_found() -> None:
    wrong = judge(Case("exact", "so(n)", sphere, DATA, liegg.Linear(3), liegg.so(3)[:1], 1))
    assert (wrong["expected"], wrong["counts"][LIEGG], wrong["angle"]) == (1, 3, None)
    assert wrong["next"] < 1e-28


def test_rules_see_what_was_measured_where_liegg_sees_rounding() -> None:
    """A large constant hides the output's motion from liegg, which then has zeros; the other rules are not charged with that."""

    def hidden(x: torch.Tensor) -> torch.Tensor:
        return 1e6 + 1e-4 * (x[:, :1] ** 3 + x[:, 1:2] * x[:, 2:] ** 2)

    sym = liegg.discover(hidden, DATA.float(), liegg.Linear(3))
    seen = evidence(sym)
    plain = evidence(liegg.discover(lambda x: hidden(x) - 1e6, DATA, liegg.Linear(3)))
    assert seen.defects.tolist() == pytest.approx(plain.defects.tolist(), rel=1e-3, abs=1e-6)
    assert seen.floor == torch.finfo(torch.float32).eps ** 2


# The other rules: what each says of spectra with known answers, and where each must fail


def given_numbers(*values: float, trivial: int = 0, floor: float = 1e-31) -> Evidence:
    defects = torch.tensor(values, dtype=torch.float64)
    return Evidence(
        defects, torch.cat([torch.zeros(trivial, dtype=torch.float64), defects]), trivial, floor
    )


@pytest.mark.parametrize(
    "rule", [name for name in COUNTING_RULES if name != "each below 10 % of the sum"]
)
def test_rules_agree_where_the_answer_is_plain(rule: str) -> None:
    assert COUNTING_RULES[rule](given_numbers(0, 1e-31, 2e-31, 0.9, 1.0, 1.1)) == 3


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("largest gap", 1),
        ("largest gap, 10 or more", 0),
        ("defect below 0.01", 0),
        ("defect below 0.1", 1),
        ("together below 1 % of the sum", 0),
        ("each below 10 % of the sum", 0),
    ],
)
def test_rules_differ_where_no_symmetry_is(rule: str, found: int) -> None:
    assert COUNTING_RULES[rule](given_numbers(0.09, 0.5, 0.8, 1.0)) == found


def test_roundings_have_no_gaps() -> None:
    assert largest_gap(given_numbers(1e-40, 1e-31, 0.5, 1.0, floor=1e-31)) == 2
    assert largest_gap(given_numbers(1e-40, 1e-31, 1e-30, 1.0, floor=1e-50)) == 3
    assert largest_gap(given_numbers(0.5)) == 0


def test_shares_of_nothing_and_of_trivial_directions() -> None:
    assert running_share(given_numbers(0.0, 0.0), share=0.01) == 2
    assert single_share(given_numbers(1.0, 1.0, trivial=2), share=0.1) == 0
    assert single_share(given_numbers(*[1.0] * 25), share=0.1) == 25


@given(st.lists(st.floats(1e-12, 1e3), min_size=2, max_size=30), st.integers(-9, 9))
def test_gap_and_shares_do_not_depend_on_the_scale(values: list[float], power: int) -> None:
    """By powers of four, which rounding does not touch, not even under the root of the singular values."""
    one, other = (
        given_numbers(*(4.0**some * value for value in sorted(values)), floor=0.0)
        for some in (0, power)
    )
    assert largest_gap(one) == largest_gap(other)
    assert running_share(one, share=0.01) == running_share(other, share=0.01)
    assert single_share(one, share=0.1) == single_share(other, share=0.1)


@given(st.lists(st.floats(0, 1e3), min_size=2, max_size=30), st.floats(1e-6, 1), st.floats(1e-6, 1))
def test_larger_limits_count_more(values: list[float], one: float, other: float) -> None:
    seen, (low, high) = given_numbers(*sorted(values)), sorted((one, other))
    assert below(seen, threshold=low) <= below(seen, threshold=high)
    assert running_share(seen, share=low) <= running_share(seen, share=high)
    assert single_share(seen, share=low) <= single_share(seen, share=high)
    assert largest_gap(seen, least=1 / low) <= largest_gap(seen)
