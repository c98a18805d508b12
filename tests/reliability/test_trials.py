"""Trials of bad input and of faults: none ends badly, and the page has the stored counts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import liegg
from reliability.disk_trials import can_mount
from reliability.functions import functions
from reliability.memory_trials import flat
from reliability.outcomes import GOOD
from reliability.run import LISTS, PAGE, PARTS, STORED, shown, table, tables

LEAST = {
    "calls of the public functions": 400,
    "damaged folders, read": 190,
    "damaged folders, written over": 190,
    "command lines": 120,
    "kills of a pass": 25,
    "deaths of one process of several": 6,
    "full disks": 3,
    "calls in eight threads": 1600,
}

LINUX = sys.platform == "linux"


def stored() -> dict:
    return json.loads(STORED.read_text(encoding="utf-8"))


def ran(folder: Path, only: str) -> dict:
    """Run a list in a process of its own, without the type checks of the tests; what it found."""
    words = ["--json", str(folder / "found.json"), "--only", only]
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("run.py")), *words],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=3000,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return json.loads((folder / "found.json").read_text())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "title"), [(part, title) for part, lists in LISTS.items() for title in lists]
)
def test_no_trial_ends_badly(tmp_path, part, title):
    if part == "faults" and not LINUX:
        pytest.skip("kills, deaths and full disks are made as Linux makes them")
    if title == "full disks" and not can_mount():
        pytest.skip("a small disk can only be mounted as root")
    found = ran(tmp_path, title)[part][title]
    assert sum(found.values()) == sum(stored()[part][title].values())


@pytest.mark.slow
@pytest.mark.skipif(not LINUX, reason="reads the peak of the resident memory from /proc")
def test_memory_does_not_grow_with_the_samples(tmp_path):
    assert ran(tmp_path, "memory")["memory"].keys() == stored()["memory"].keys()


def test_the_page_has_the_stored_counts():
    page, shown_tables = PAGE.read_text(encoding="utf-8"), tables(stored())
    assert shown_tables.keys() == set(PARTS)
    for part, text in shown_tables.items():
        assert page[shown(page, part)] == text


@pytest.mark.parametrize("title", LEAST)
def test_the_stored_counts_are_good_and_enough(title):
    found = next(rows[title] for rows in stored().values() if title in rows)
    good = {outcome.value for outcome in GOOD}
    assert sum(found[name] for name in good) >= LEAST[title]
    assert not any(count for name, count in found.items() if name not in good)


NOT_TRIED = {
    # read or made by other functions
    *("Action", "MatrixAction", "Restricted", "Sparse", "Symmetries", "ForeignModel", "LieggError"),
    "register",  # changes what the process knows
}


def test_every_public_function_is_tried():
    tried = {function.name.split(".")[-1].split(" ")[0] for function in functions()}
    packages = (liegg, liegg.actions, liegg.testing, liegg.foreign, liegg.plot, liegg.algebra)
    records = {
        name for name in liegg.algebra.__all__ if isinstance(getattr(liegg.algebra, name), type)
    }
    public = {
        name
        for package in packages
        for name in package.__all__
        if callable(getattr(package, name)) and name not in records | NOT_TRIED
    }
    assert public - tried == set()


def test_every_list_has_a_least_number():
    assert set(LEAST) == {title for lists in LISTS.values() for title in lists}


def test_the_stored_peaks_are_flat():
    assert flat(stored()["memory"])
    assert not flat({"discover": {"200 000 samples": 2.0, "2 000 000 samples": 16.5}})


def test_a_table_has_a_column_with_the_sum():
    assert table({"calls": {"answered": 2, "hang": 1}}).splitlines()[2] == "| calls | 3 | 2 | 1 |"
    assert table({"a": {"few": 1.5}}, total=False).splitlines()[2] == "| a | 1.5 |"
