"""All networks of a study: split into groups, trained, described; an interrupted run resumes."""

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch.distributed as dist

from liegg._utils.errors import ResultsError
from liegg.polarization import launcher
from liegg.studies.ensemble.members import Member, groups
from liegg.studies.ensemble.problems import Problem
from liegg.studies.ensemble.step import Schedule
from liegg.studies.ensemble.training import INTERVAL, Checkpoint, Trained, train
from liegg.studies.provenance import read_json, write_json

MEMORY = {"cuda": 2**32, "cpu": 2**28}
"""Numbers that the training of one group may hold: 16 GiB on a GPU, 1 GiB elsewhere, in float32."""

OVERHEAD = {"cuda": 1_500_000, "cpu": 10_000}
"""Cost of one more group, in parameters.

On a GPU the launches of a group cost as much as a dozen networks; on a CPU arithmetic dominates.
"""

DAMAGED_PART = "Remove it to repeat that part."
"""Remedy for a damaged file of an unfinished run."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Work:
    """Where and how the networks of a study are trained.

    Attributes:
        device: device for training, such as `"cuda"`.
        folder: folder for checkpoints and finished groups, to resume from; None for none.
        settings: settings of the run; the folder of a run with other settings is refused.
        seconds: time between two checkpoints.
        progress: called with a label, the work done since the last call, and the total.
    """

    device: str = "cpu"
    folder: Path | None = None
    settings: Row = field(default_factory=dict)
    seconds: float = INTERVAL
    progress: Callable[[str, int, int], object] | None = None

    def part(self, name: str) -> "Work":
        """The same run with a subfolder for one of its parts."""
        return self if self.folder is None else replace(self, folder=self.folder / name)

    def report(self, label: str, done: int, total: int) -> None:
        """Report progress under the name of the study."""
        if self.progress is not None:
            self.progress(f"{self.settings.get('study', '')} {label}".strip(), done, total)

    def remove(self) -> None:
        """Remove the folder, once the results are stored."""
        if self.folder is not None and launcher.rank() == 0:
            shutil.rmtree(self.folder, ignore_errors=True)


def work(
    members: Sequence[Member],
    problem: Callable[[list[Member]], Problem],
    describe: Callable[[list[Member], Trained], list[Row]],
    schedule: Schedule,
    *,
    how: Work,
) -> list[Row]:
    """Train all networks group by group, and describe each.

    Args:
        members: the networks.
        problem: returns the problem of some of the networks.
        describe: returns what to store of some trained networks as JSON values; one row each.
        schedule: how they are trained.
        how: where they are trained, and the folder of the run.

    Returns:
        A row per network in the order of `members`, in all processes.

    Raises:
        ResultsError: the folder belongs to another version or to other settings, or the processes
            do not train the same networks.
    """
    launcher.join()
    # Every k-th network, so that all processes get networks of every size.
    indices = list(range(len(members)))[launcher.rank() :: launcher.world_size()]
    kind = "cuda" if how.device.startswith("cuda") else "cpu"
    if how.folder is not None and launcher.rank() == 0:
        run = how.folder / "run.json"
        if run.is_file():
            check_settings(read_json(run, DAMAGED_PART), how.settings, how.folder)
        else:
            write_json(how.settings, run)
    rows: dict[int, Row] = {}
    total = sum(members[i].epochs + 1 for i in indices)  # one more for the description
    for group in groups(
        [members[i] for i in indices],
        overhead=OVERHEAD[kind],
        memory_limit=MEMORY[kind],
        batch_size=schedule.batch_size,
    ):
        places = [indices[i] for i in group]
        some = [members[i] for i in places]
        label = f"networks {len(rows) + 1} to {len(rows) + len(some)} of {len(indices)}"
        step = partial(how.report, label, total=total)
        described = _rows(some, problem(some), describe, schedule, how=how, progress=step)
        step(len(some))
        rows |= dict(zip(places, described, strict=True))
    identity = json.dumps([how.settings, [asdict(member) for member in members]])
    gathered = _gather(rows, identity)
    return [gathered[i] for i in range(len(members))]


def _rows(
    some: list[Member],
    task: Problem,
    describe: Callable[[list[Member], Trained], list[Row]],
    schedule: Schedule,
    *,
    how: Work,
    progress: Callable[[int], object],
) -> list[Row]:
    """Rows of one group: read if a stopped run has finished it, else trained and described."""
    if how.folder is None:
        return describe(some, train(some, task, schedule, device=how.device, progress=progress))
    path = how.folder / f"{_name(some, schedule, task, how.settings)}.json"
    if path.is_file():
        rows = read_json(path, DAMAGED_PART)["rows"]
        progress(sum(member.epochs for member in some))
        return rows
    saved = Checkpoint(path.with_suffix(".safetensors"), how.seconds)
    trained = train(some, task, schedule, device=how.device, checkpoint=saved, progress=progress)
    rows = describe(some, trained)
    write_json({"rows": rows}, path)
    saved.remove()
    return rows


def check_settings(stored: Row, settings: Row, place: Path) -> None:
    """Raise `ResultsError` unless an unfinished run has the same settings."""
    keys = sorted(k for k in stored.keys() | settings.keys() if stored.get(k) != settings.get(k))
    if keys:
        was, now = (", ".join(f"{k} {one.get(k)}" for k in keys) for one in (stored, settings))
        raise ResultsError(
            f"{place} belongs to an unfinished run with {was}; this one has {now}. Finish that run "
            "with its own settings, remove the folder to start again, or choose another --out."
        )


def _gather(rows: dict[int, Row], identity: str) -> dict[int, Row]:
    """Rows of all processes; where one of them has died, the others end with torch's error.

    Args:
        rows: rows of this process, by place.
        identity: what was trained; the same in all processes.

    Raises:
        ResultsError: the processes did not train the same networks.
    """
    parts = [(identity, rows)] * launcher.world_size()
    if launcher.world_size() > 1:
        dist.all_gather_object(parts, (identity, rows))
    identities = {name for name, _ in parts}
    if len(identities) > 1:
        raise ResultsError(
            f"the processes train different networks: {sorted(identities)}. Start them all alike."
        )
    return {place: row for _, part in parts for place, row in part.items()}


def _name(members: list[Member], schedule: Schedule, problem: Problem, settings: Row) -> str:
    """Name of a group's files: a hash of everything that determines its result."""
    identity = [
        [asdict(member) for member in members],
        asdict(schedule),
        problem.fingerprint(),
        settings,
    ]
    return "group-" + hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]
