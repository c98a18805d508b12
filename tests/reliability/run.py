"""Run all trials of bad input and of faults, and write their outcomes down.

python tests/reliability/run.py            prints the tables and every bad outcome
python tests/reliability/run.py --write    also writes results/reliability.json and the tables of docs/reliability.md
python tests/reliability/run.py --only threads    the others stay as they are stored
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from reliability import api_trials, command_trials, folder_trials, memory_trials  # noqa: E402
from reliability.disk_trials import full_disks  # noqa: E402
from reliability.kill_trials import kills  # noqa: E402
from reliability.outcomes import (  # noqa: E402
    GOOD,
    HangError,
    Outcome,
    files_of,
    outcome_of,
    state_of_process,
    time_limit,
)
from reliability.rank_trials import rank_deaths  # noqa: E402
from reliability.thread_trials import threads  # noqa: E402

PAGE, STORED = ROOT / "docs" / "reliability.md", ROOT / "results" / "reliability.json"
PARTS = ("trials", "faults", "memory")
"""Tables of the page, each between `<!-- name -->` and `<!-- end of name -->`."""

Outcomes = Iterator[tuple[str, Outcome, str]]


def calls() -> Outcomes:
    """Calls of the public functions."""
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        for trial in api_trials.all_trials():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield trial.name, *outcome_of(trial.call, trial.right)
        os.chdir(ROOT)


def read_folders() -> Outcomes:
    """Damaged folders, read."""
    yield from _folders(write=False)


def written_folders() -> Outcomes:
    """Damaged folders, written over."""
    yield from _folders(write=True)


def _folders(*, write: bool) -> Outcomes:
    with tempfile.TemporaryDirectory() as place:
        for number, damage in enumerate(folder_trials.damages()):
            run, other, user = folder_trials.make(Path(place) / str(number))
            damage.apply(run, other, user)
            if write:
                yield damage.name, *outcome_of(lambda: folder_trials.write_over(run), user=user)  # noqa: B023
            else:
                right = (lambda _: True) if damage.harmless else folder_trials.is_right
                found, text = outcome_of(lambda: folder_trials.read(run), right, user=run.parent)  # noqa: B023
                if damage.harmless and found is Outcome.REFUSED:
                    found = Outcome.WRONG
                yield damage.name, found, text
            shutil.rmtree(run.parent)


def command_lines() -> Outcomes:
    """Command lines."""
    from typer.testing import CliRunner

    from liegg.cli import app

    with tempfile.TemporaryDirectory() as place:
        template = Path(place) / "template"
        template.mkdir()
        command_trials.prepare(template)
        for number, command in enumerate(command_trials.commands()):
            folder = Path(place) / str(number)
            shutil.copytree(template, folder, symlinks=True, copy_function=_copied)
            os.chdir(folder)
            before, files = state_of_process(), files_of(folder)
            try:
                with time_limit():
                    done = CliRunner().invoke(app, list(command.words))
                yield " ".join(command.words)[:200], *_judged(command, done, before, files, folder)
            except HangError:
                yield " ".join(command.words)[:200], Outcome.HANG, ""
            os.chdir(ROOT)
            shutil.rmtree(folder)


def _copied(source: Any, to: str) -> None:
    """Copy a file, or make a pipe like the one there."""
    os.mkfifo(to) if Path(source).is_fifo() else shutil.copy2(source, to)


def _judged(command, done, before, files, folder) -> tuple[Outcome, str]:
    """What came of a command line."""
    text = repr(done.exception) if done.exit_code == 1 else done.output.strip()[-200:]
    after = files_of(folder)
    changed = [name for name in files if after.get(name) != files[name]]
    left = sorted(name for name in set(after) - set(files) if "__pycache__" not in name)
    if changed or (left and done.exit_code != 0):
        return Outcome.TOUCHED, f"{changed} {left}"
    if done.exit_code == 1 and not isinstance(done.exception, SystemExit):
        return Outcome.RAW, text
    if done.exit_code != command.code or "\x1b" in done.output:
        return Outcome.WRONG, f"exit code {done.exit_code}, expected {command.code}: {text}"
    # a command is a process of its own: what importing its packages draws does not matter
    if state_of_process()[2:-1] != before[2:-1]:
        return Outcome.CHANGED, text
    return (Outcome.ANSWERED if done.exit_code == 0 else Outcome.REFUSED), text


LISTS = {
    "trials": {
        "calls of the public functions": calls,
        "damaged folders, read": read_folders,
        "damaged folders, written over": written_folders,
        "command lines": command_lines,
    },
    "faults": {
        "kills of a pass": kills,
        "deaths of one process of several": rank_deaths,
        "full disks": full_disks,
        "calls in eight threads": threads,
    },
}


def run(only: str = "") -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Counts of the outcomes of every list, the peaks of memory, and a line about each bad one."""
    found: dict[str, dict[str, Any]] = {}
    bad: list[str] = []
    for part, lists in LISTS.items():
        columns = [outcome for outcome in Outcome if part == "faults" or outcome != Outcome.LOST]
        found[part] = {}
        for title, trials in lists.items():
            if only in title:
                # writing through to the disk is slow, and not what is tried
                with patch("os.fsync", lambda _: None) if part == "trials" else nullcontext():
                    count = _counted(title, trials(), bad)
                found[part][title] = {outcome.value: count[outcome] for outcome in columns}
    if only in "memory":
        found["memory"] = memory_trials.measured()
        if not memory_trials.flat(found["memory"]):
            bad.append(f"memory grows with the samples: {found['memory']}")
    return found, bad


def _counted(title: str, trials: Outcomes, bad: list[str]) -> Counter[Outcome]:
    """Count the outcomes of a list; bad ones are appended."""
    count: Counter[Outcome] = Counter()
    for name, outcome, text in trials:
        count[outcome] += 1
        if outcome not in GOOD:
            bad.append(f"{title}: {name}: {outcome.value}: {text}")
    return count


def tables(found: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The counts and the peaks as tables in Markdown."""
    return {part: table(found[part], total=part != "memory") for part in PARTS if found.get(part)}


def table(rows: dict[str, dict[str, Any]], *, total: bool = True) -> str:
    """One table in Markdown.

    Args:
        rows: the numbers of every row, by the titles of the columns.
        total: whether a column with the sum of the others comes first.
    """
    head = ["", *(["trials"] if total else []), *next(iter(rows.values()))]
    lines: list[list[Any]] = [head, ["---"] * len(head)]
    for title, row in rows.items():
        lines.append([title, *([sum(row.values())] if total else []), *row.values()])
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def shown(page: str, part: str) -> slice:
    """Where a table is on the page."""
    begin, end = f"<!-- {part} -->\n", f"<!-- end of {part} -->\n"
    return slice(page.index(begin) + len(begin), page.index(end))


def write(found: dict[str, dict[str, Any]]) -> None:
    """Store the outcomes of what was run, and put them on the page; the rest stays."""
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    merged = {part: stored.get(part, {}) | found.get(part, {}) for part in PARTS}
    for part, lists in LISTS.items():
        merged[part] = {title: merged[part][title] for title in lists if title in merged[part]}
    STORED.write_text(json.dumps(merged, indent=1) + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    for part, text in tables(merged).items():
        place = shown(page, part)
        page = page[: place.start] + text + page[place.stop :]
    PAGE.write_text(page, encoding="utf-8")


def main() -> int:
    """Run, print and, if asked, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="", help="lists whose title contains this")
    parser.add_argument("--json", type=Path, help="file for the counts")
    chosen = parser.parse_args()
    found, bad = run(chosen.only)
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(found), encoding="utf-8")
    print("\n".join([*tables(found).values(), *bad]))
    if chosen.write:
        write(found)
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
