"""The study of false discoveries: its quick form, whole and without loose ends."""

import json
from pathlib import Path
from typing import Any

import pytest

from liegg.studies import false_discovery
from liegg.studies.error_rates.broken import BASES
from liegg.studies.error_rates.judgement import COUNTING_RULES, LIEGG
from liegg.studies.false_discovery import QUICK, Extent, table


@pytest.fixture
def quick(quick_folder: Path) -> dict[str, Any]:
    return json.loads((quick_folder / "false-discovery.json").read_text())


@pytest.mark.slow
def test_all_cases_are_there(quick: dict[str, Any]) -> None:
    counts = {
        family: sum(row["family"] == family for row in quick["cases"])
        for family in false_discovery.CASE_FAMILIES
    }
    assert counts == {
        "asymmetric": QUICK.asymmetric + QUICK.networks,
        "exact": QUICK.exact,
        "confined": QUICK.confined,
    }
    assert len(quick["broken"]) == len(BASES) * len(QUICK.strengths) * len(QUICK.samples)
    assert list(quick["rules"]) == [LIEGG, *COUNTING_RULES]
    assert json.loads(json.dumps(quick, allow_nan=False)) == quick


@pytest.mark.slow
def test_the_full_form_is_large_and_looks_at_functions_that_no_limit_was_chosen_by(
    quick: dict[str, Any],
) -> None:
    full = Extent()
    assert min(full.asymmetric, full.exact) >= 300
    assert (full.sizes, len(full.seeds)) == ((1_000, 10_000), 8)
    assert min(full.strengths) == 1e-4
    assert max(full.strengths) == 1
    assert quick["seeds"] == [0] != [full.seed]


@pytest.mark.slow
def test_the_parts_add_up(quick: dict[str, Any]) -> None:
    found = quick["inventions"]
    assert (
        found["clearly nonlinear"]["cases"] + found["others"]["cases"]
        == QUICK.asymmetric + QUICK.networks
    )
    assert quick["recoveries"]["cases"] == QUICK.exact
    assert quick["rules"][LIEGG]["none"]["wrong"] == found["clearly nonlinear"]["false"]
    exact = quick["recoveries"]
    assert (
        quick["rules"][LIEGG]["exact"]["wrong"]
        == exact["missed"] + exact["extra"]
        == exact["cases"] - exact["right"]
    )


@pytest.mark.slow
def test_defects_follow_the_square_of_the_broken_part(quick: dict[str, Any]) -> None:
    assert quick["slopes"] == pytest.approx(dict.fromkeys(BASES, 2.0), abs=0.05)


@pytest.mark.slow
def test_exact_symmetries_of_precise_models_are_at_rounding_and_set_apart(
    quick: dict[str, Any],
) -> None:
    precise = [
        row for row in quick["cases"] if row["family"] == "exact" and row["dtype"] != "bfloat16"
    ]
    assert len(precise) > 10
    for row in precise:
        assert row["last"] <= 1000 * row["rounding_unit"] ** 2
        assert row["next"] > 0.01
        assert row["counts"][LIEGG] == row["expected"]
        assert row["angle"] < 1e-4


@pytest.mark.slow
def test_the_network_of_the_paper_has_its_ten(quick: dict[str, Any]) -> None:
    assert [row["counts"][LIEGG] for row in quick["rotations"]] == [10]


@pytest.mark.slow
def test_the_table_names_every_rule(quick: dict[str, Any]) -> None:
    text = table(quick)
    assert all(rule in text for rule in COUNTING_RULES)
    assert max(len(line) for line in text.splitlines()) <= 110
