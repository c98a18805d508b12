"""Run all trials of bad input, and write their outcomes down.

python tests/reliability/run.py            prints the table and every bad outcome
python tests/reliability/run.py --write    also writes results/reliability.json and the table of docs/reliability.md
python tests/reliability/run.py --only api
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
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from reliability import api_trials, command_trials, folder_trials  # noqa: E402
from reliability.outcomes import (  # noqa: E402
    GOOD,
    HangError,
    Outcome,
    files_of,
    outcome_of,
    state_of_process,
    time_limit,
)

PAGE, STORED = ROOT / "docs" / "reliability.md", ROOT / "results" / "reliability.json"
BEGIN, END = "<!-- trials -->\n", "<!-- end of trials -->\n"

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
            folder = Path(shutil.copytree(template, Path(place) / str(number), symlinks=True))
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
    "calls of the public functions": calls,
    "damaged folders, read": read_folders,
    "damaged folders, written over": written_folders,
    "command lines": command_lines,
}


def run(only: str = "") -> tuple[dict[str, dict[str, int]], list[str]]:
    """Counts of the outcomes of every list, and a line about each bad one."""
    counts, bad = {}, []
    os.fsync = lambda _: None  # writing through to the disk is slow, and not what is tried
    for title, trials in LISTS.items():
        if only not in title:
            continue
        count: Counter[str] = Counter()
        for name, outcome, text in trials():
            count[outcome.value] += 1
            if outcome not in GOOD:
                bad.append(f"{title}: {name}: {outcome.value}: {text}")
        counts[title] = {outcome.value: count[outcome.value] for outcome in Outcome}
    return counts, bad


def table(counts: dict[str, dict[str, int]]) -> str:
    """The counts as a table in Markdown."""
    head = ["", "trials", *(outcome.value for outcome in Outcome)]
    lines = [head, ["---"] * len(head)]
    lines += [[title, sum(row.values()), *row.values()] for title, row in counts.items()]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def main() -> int:
    """Run, print and, if asked, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="", help="lists whose title contains this")
    parser.add_argument("--json", type=Path, help="file for the counts")
    chosen = parser.parse_args()
    counts, bad = run(chosen.only)
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(counts), encoding="utf-8")
    print(table(counts))
    print("\n".join(bad))
    if chosen.write:
        STORED.write_text(json.dumps({"trials": counts}, indent=1) + "\n", encoding="utf-8")
        page = PAGE.read_text(encoding="utf-8")
        start, stop = page.index(BEGIN) + len(BEGIN), page.index(END)
        PAGE.write_text(page[:start] + table(counts) + page[stop:], encoding="utf-8")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
