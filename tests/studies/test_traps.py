"""Running the traps: the same rows in one process or two, and counts that add up."""

import json
from pathlib import Path
from typing import Any

import pytest

from liegg.studies import traps
from liegg.studies.error_rates.parallel import starmap
from liegg.studies.error_rates.traps_catalog import (
    THEMES,
    TRAP_FAMILIES,
    Key,
    judged,
    tally,
    tally_by,
)
from liegg.studies.error_rates.traps_judgement import VERDICTS
from liegg.studies.figures.error_rates import draw_traps
from liegg.studies.traps import flickers, sweep

KEYS = [Key("units", 0, 0), Key("names: classical", 1, 0), Key("step", 0, 0)]


def row(
    verdict: str, *false: tuple[str, str], family: str = "units", **more: Any
) -> dict[str, Any]:
    claims = [{"claim": claim, "level": level} for claim, level in false]
    plain = {"decidable": True, "findable": 0, "theme": "scales"}
    return {"family": family, "verdict": verdict, "false": claims} | plain | more


def test_a_row_has_its_key() -> None:
    found = judged(KEYS[0])
    assert (found["family"], found["theme"], found["index"], found["seed"]) == (
        "units",
        "scales",
        0,
        0,
    )
    assert found["verdict"] in VERDICTS


@pytest.mark.slow
def test_two_processes_give_the_rows_of_one() -> None:
    calls = []
    here = starmap(judged, [(key,) for key in KEYS], finished=calls.append)
    there = starmap(judged, [(key,) for key in KEYS], processes=2)
    assert len(calls) == len(KEYS)
    assert [one["family"] for one in there] == [key.family for key in KEYS]
    assert [one["verdict"] for one in there] == [one["verdict"] for one in here]


def test_tallies_add_up() -> None:
    rows = [
        row("right", findable=3),
        row("missed", findable=3),
        row("honest", ("count", "exact"), findable=2, decidable=False),
        row("confident wrong", ("name", "approximate"), ("count", "strong")),
        row("confident wrong", ("name", "approximate"), family="step"),
    ]
    found = tally(rows)
    assert found["cases"] == 5
    assert [found[verdict] for verdict in VERDICTS] == [1, 1, 1, 2]
    assert (found["findable"], found["found"]) == (2, 1)
    assert found["claims"] == {"count": 1, "name": 2}
    assert found["levels"] == {"exact": 0, "strong": 1, "approximate": 1}
    assert tally_by("family", rows)["step"]["confident wrong"] == 1
    assert 0.4 < found["upper"] < 1


def test_the_table_and_the_figure_show_every_family() -> None:
    rows = [row("right"), row("confident wrong", ("count", "exact"), family="step")]
    results = traps.summary(rows) | {"cliff": [{"changes": 1, "partial": 0, "names": 1}]}
    text = traps.table(results)
    assert "1 exact" in text
    assert "1 changes of the count" in text
    assert all(family in text for family in ("units", "step", "total"))
    (figure,) = draw_traps(results).values()
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["units  (1)", "step  (1)"]


def test_a_sweep_begins_exact_and_ends_broken() -> None:
    rows = sweep(steps=3, samples=300)
    assert [one["strength"] for one in rows] == [0, 0.5, 1]
    assert (rows[0]["count"], rows[0]["name"], rows[-1]["count"]) == (3, "so(3)", 0)
    assert flickers(rows)["partial"] == 0


def test_every_family_has_one_theme_and_a_docstring() -> None:
    assert sum(map(len, THEMES.values())) == len(TRAP_FAMILIES)
    assert all(maker.__doc__ for maker in TRAP_FAMILIES.values())


@pytest.mark.slow
def test_the_quick_study_is_whole(quick_folder: Path) -> None:
    quick = json.loads((quick_folder / "traps.json").read_text())
    assert quick["seeds"] == [0] != [traps.SERIES]
    assert [one["family"] for one in quick["cases"]] == list(TRAP_FAMILIES)
    assert quick["total"]["cases"] == len(TRAP_FAMILIES)
    assert sum(quick["total"][verdict] for verdict in VERDICTS) == len(TRAP_FAMILIES)
    assert len(quick["sweeps"]) == 1
    assert (quick_folder / "traps.png").is_file()
