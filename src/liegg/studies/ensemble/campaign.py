"""All networks of a study, whatever their number: split, trained, described, and never lost when the run is killed."""

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from liegg._utils.errors import ResultsError
from liegg.studies.ensemble import processes
from liegg.studies.ensemble.checkpoint import SECONDS, Checkpoint
from liegg.studies.ensemble.members import Member, groups
from liegg.studies.ensemble.problems import Problem
from liegg.studies.ensemble.training import Schedule, Trained, train
from liegg.studies.provenance import write_json

NUMBERS = {"cuda": 2**32, "cpu": 2**28}
"""Floating-point numbers that the training of one group may hold: 16 GiB on a GPU, 1 GiB elsewhere."""

OVERHEAD = {"cuda": 1_500_000, "cpu": 10_000}
"""Cost of one more group, in parameters: on a GPU its launches weigh as much as a dozen networks, on a CPU arithmetic is all."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Work:
    """Where and how the networks of a study are trained.

    Attributes:
        device: where to train, such as `"cuda"`.
        folder: keeps what is done so far, so that a run that was killed goes on; None keeps nothing.
        settings: what the run is; another run's folder is refused.
        seconds: time between two states that are kept.
        progress: called with a label, work done since the last call, and the total.
    """

    device: str = "cpu"
    folder: Path | None = None
    settings: Row = field(default_factory=dict)
    seconds: float = SECONDS
    progress: Callable[[str, int, int], object] | None = None

    def remove(self) -> None:
        """Remove what was kept, when the results are stored."""
        if self.folder is not None and processes.rank() == 0:
            shutil.rmtree(self.folder, ignore_errors=True)


def work(
    members: Sequence[Member],
    problem: Callable[[list[int]], Problem],
    describe: Callable[[list[int], Trained], list[Row]],
    schedule: Schedule,
    how: Work,
) -> list[Row] | None:
    """Train all networks group by group, and describe each.

    Args:
        members: the networks.
        problem: the problem of some of them, given by their places in `members`, on the device.
        describe: what is to be stored of some networks once they are trained, as JSON values; one row each.
        schedule: how they are trained.
        how: where, and what is kept on the way.

    Returns:
        A row per network in the order of `members`; None in every process but the first.

    Raises:
        ResultsError: the folder was begun by another version or with other settings.
    """
    mine = processes.share(members)
    kind = "cuda" if how.device.startswith("cuda") else "cpu"
    if processes.count() > 1:
        processes.join()
    if how.folder is not None and processes.rank() == 0:
        _claim(how.folder, how.settings)
    found: dict[int, Row] = {}
    total = sum(members[place].epochs + 1 for place in mine)  # one more for its description
    chosen = [members[place] for place in mine]
    for group in groups(
        chosen, overhead=OVERHEAD[kind], numbers=NUMBERS[kind], batch_size=schedule.batch_size
    ):
        places = [mine[index] for index in group]
        some, task = [members[place] for place in places], problem(places)
        name, rows = _name(some, schedule, task, how.settings), None
        step = None
        if how.progress is not None:
            label = f"{how.settings.get('study', '')} networks {len(found) + 1} to {len(found) + len(some)} of {len(mine)}".strip()
            step = partial(_tell, how.progress, label, total)
        if how.folder is not None:
            rows = _done(how.folder / f"{name}.json")
        if rows is None:
            keeper = (
                None
                if how.folder is None
                else Checkpoint(how.folder / f"{name}.safetensors", how.seconds)
            )
            trained = train(some, task, schedule, device=how.device, keeper=keeper, progress=step)
            rows = describe(places, trained)
            if keeper is not None and how.folder is not None:
                write_json({"rows": rows}, how.folder / f"{name}.json")
                keeper.remove()
        elif step is not None:
            step(sum(member.epochs for member in some))
        if step is not None:
            step(len(some))
        found |= dict(zip(places, rows, strict=True))
    every = processes.gather(
        found, json.dumps([how.settings, [asdict(member) for member in members]])
    )
    return None if every is None else [every[place] for place in range(len(members))]


def _claim(folder: Path, settings: Row) -> None:
    """Begin a folder for these settings, or go on with one that was begun for them."""
    path = folder / "run.json"
    if not path.is_file():
        write_json(settings, path)
        return
    refuse_other(read_kept(path), settings, folder)


def refuse_other(begun: Row, settings: Row, place: Path) -> None:
    """Raise `ResultsError` unless an unfinished run was begun with the same settings."""
    if begun == settings:
        return
    differ = sorted(
        key for key in begun.keys() | settings.keys() if begun.get(key) != settings.get(key)
    )
    was, now = (", ".join(f"{key} {one.get(key)}" for key in differ) for one in (begun, settings))
    raise ResultsError(
        f"{place} keeps an unfinished run with {was}; this one has {now}. Finish that one as it was begun, remove what it keeps to "
        "begin anew, or choose another --out."
    )


def read_kept(path: Path) -> Row:
    """What an unfinished run keeps in a file.

    Raises:
        ResultsError: the file is damaged.
    """
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ResultsError(
            f"{path} is damaged: {error}. Remove it to do that part again."
        ) from error
    if not isinstance(kept, dict):
        raise ResultsError(
            f"{path} is damaged: it does not hold what was written. Remove it to do that part again."
        )
    return kept


def _name(members: list[Member], schedule: Schedule, problem: Problem, settings: Row) -> str:
    """Name of a group's files, by all that decides its result."""
    told = [
        [asdict(member) for member in members],
        asdict(schedule),
        problem.fingerprint(),
        settings,
    ]
    return "group-" + hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def _tell(progress: Callable[[str, int, int], object], label: str, total: int, done: int) -> None:
    progress(label, done, total)


def _done(path: Path) -> list[Row] | None:
    """Rows of a group that was finished already."""
    return read_kept(path)["rows"] if path.is_file() else None
