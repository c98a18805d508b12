"""Trials of bad input: none is silently wrong, raw, hanging, or touches what is not its own; the page has the counts."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from reliability.run import BEGIN, END, PAGE, STORED, table

LEAST = {
    "calls of the public functions": 400,
    "damaged folders, read": 190,
    "damaged folders, written over": 190,
    "command lines": 120,
}


@pytest.mark.slow
def test_no_trial_ends_badly(tmp_path):
    """In a process of its own, without the type checks of the tests."""
    command = [
        sys.executable,
        str(Path(__file__).with_name("run.py")),
        "--json",
        str(tmp_path / "found.json"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    found = json.loads((tmp_path / "found.json").read_text())
    stored = json.loads(STORED.read_text(encoding="utf-8"))["trials"]
    totals = {title: sum(row.values()) for title, row in found.items()}
    assert totals == {title: sum(row.values()) for title, row in stored.items()}


def test_the_page_has_the_stored_counts():
    stored = json.loads(STORED.read_text(encoding="utf-8"))["trials"]
    page = PAGE.read_text(encoding="utf-8")
    assert page[page.index(BEGIN) + len(BEGIN) : page.index(END)] == table(stored)
    for title, least in LEAST.items():
        answered, refused, *bad = stored[title].values()
        assert answered + refused >= least
        assert not any(bad)
