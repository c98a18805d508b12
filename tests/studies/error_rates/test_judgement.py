"""What is read from a verdict, whatever its age, and what is told of a case."""

from dataclasses import replace

import pytest
import torch

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg.studies.error_rates.cases import Case, normal
from liegg.studies.error_rates.judgement import LIEGG, evidence, judge, verdict
from liegg.studies.error_rates.rules import RULES

DATA = normal(300, 3, torch.Generator().manual_seed(0))


def sphere(x: torch.Tensor) -> torch.Tensor:
    return x.square().sum(1, keepdim=True)


def test_a_verdict_is_read_as_it_is() -> None:
    found = liegg.discover(sphere, DATA, liegg.Linear(3))
    grades = ("exact", "strong", "approximate") + ("weak",) * 6
    decision = replace(
        found.decision, grades=grades, warnings=(Diagnosis.NEARLY_LINEAR(percent=3.0),)
    )
    said = verdict(replace(found, decision=decision))
    assert (said.nullity, said.grades, said.warned) == (3, ("exact", "strong", "approximate"), True)
    assert said.intervals is not None
    assert said.intervals.shape == (9, 2)
    assert said.range == found.decision.nullity_interval


def test_intervals_that_were_not_made_are_none() -> None:
    said = verdict(liegg.discover(sphere, DATA, liegg.Linear(3), controls="none"))
    assert (said.intervals, said.range) == (None, None)


def test_grades_of_a_real_verdict_belong_to_the_counted_directions() -> None:
    said = verdict(liegg.discover(sphere, DATA, liegg.Linear(3)))
    assert (said.nullity, said.grades, said.warned) == (3, ("exact",) * 3, False)


def test_a_case_is_told_with_its_labels_and_all_counts() -> None:
    row = judge(Case("exact", "so(n)", sphere, DATA, liegg.Linear(3), liegg.so(3), 1))
    assert row["counts"] == {LIEGG: 3} | {
        name: rule(evidence(liegg.discover(sphere, DATA, liegg.Linear(3))))
        for name, rule in RULES.items()
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
