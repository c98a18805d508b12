"""One process of several dies or stops answering: the others end with an error in time, and a restart loses nothing.

Run as a script, it is one of the processes; the environment says which, and what it does.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import torch
from torch import Tensor

import liegg
from cases import mlp, normal
from polarization.test_distributed import started
from reliability.outcomes import Outcome

SECONDS = 100
"""Time after the death within which the others must have ended; they wait 15 seconds for an answer."""

X = normal(401, 3)


class Death(NamedTuple):
    """How one process of several ends.

    Attributes:
        moment: where it is then.
        rank: which one; the first also holds the addresses of all.
        processes: how many there are.
    """

    moment: str
    rank: int
    processes: int

    def __str__(self) -> str:
        return f"process {self.rank} of {self.processes} {self.moment}"


DEATHS = (
    Death("never calls", 1, 2),
    Death("dies at its first call of the model", 0, 2),
    Death("dies in the pass", 1, 3),
    Death("dies in the pass", 0, 3),
    Death("dies while it writes its checkpoint", 1, 2),
    Death("dies while the shares are merged", 1, 2),
    Death("dies after the pass", 1, 2),
    Death("stops answering", 1, 2),
)


def rank_deaths() -> Iterator[tuple[str, Outcome, str]]:
    """One process of several dies."""
    whole = numbers(liegg.discover(mlp(3, 8, 2), X, liegg.Linear(3), run=liegg.Run(batch_size=20)))
    for death in DEATHS:
        with tempfile.TemporaryDirectory() as place:
            yield str(death), *outcome_of_death(death, Path(place), whole)


def outcome_of_death(death: Death, folder: Path, whole: dict) -> tuple[Outcome, str]:
    """What the others say, and whether all of them resume to the right numbers."""
    others = [rank for rank in range(death.processes) if rank != death.rank]
    try:
        codes = started(folder, str(death), death.processes, script=__file__)
    except subprocess.TimeoutExpired as error:
        return Outcome.HANG, str(error)
    said = [text_of(folder / f"{rank}.txt") for rank in others]
    for rank, text in zip(others, said, strict=True):
        lost = (
            f"ProcessError: process {rank} of {death.processes} lost the others: one of them died"
        )
        if codes[rank] != 3 or not text.startswith(lost) or "This is typically" in text:
            return Outcome.RAW, f"exit codes {codes}, {said}"
        waited = (folder / f"{rank}.txt").stat().st_mtime - (folder / "death").stat().st_mtime
        if waited > SECONDS:
            return Outcome.HANG, f"process {rank} ended {waited:.0f} s later"
    if death.moment in KEPT and not all((folder / f"c.{rank}-of-2").exists() for rank in others):
        return Outcome.LOST, f"{sorted(path.name for path in folder.iterdir())}"
    return outcome_of_restart(death, folder, whole, said[0])


def outcome_of_restart(death: Death, folder: Path, whole: dict, said: str) -> tuple[Outcome, str]:
    """Start all processes again: they resume to the numbers of one process."""
    codes = started(folder, f"resumed: {death}", death.processes, script=__file__)
    if codes != [0] * death.processes:
        return Outcome.LOST, f"after a restart: exit codes {codes}"
    for rank in range(death.processes):
        found = json.loads((folder / f"{rank}.json").read_text())
        for name, expected in whole.items():
            a, b = (torch.tensor(v, dtype=torch.float64) for v in (found[name], expected))
            if a.shape != b.shape or float((a - b).abs().max()) > 1e-7 * float(b.abs().max()):
                return Outcome.WRONG, f"{name}: {a} and {b}"
    return Outcome.REFUSED, said


KEPT = ("dies while the shares are merged", "dies after the pass", "stops answering")
"""Moments at which the others have read their shares, which their checkpoints must hold."""


def text_of(path: Path) -> str:
    """What a file holds; empty if there is none."""
    return path.read_text() if path.exists() else ""


def numbers(sym: liegg.Symmetries) -> dict:
    """What must be the same."""
    intervals = sym.intervals.nan_to_num(-1.0).tolist()
    return {"defects": sym.defects.tolist(), "intervals": intervals, "samples": [sym.samples]}


def note_the_time() -> None:
    """Leave a file that says when this process was lost."""
    (Path(sys.argv[1]) / "death").touch()


def die(*_: object, **__: object) -> None:
    """End this process at once, as the kernel does when memory is short."""
    note_the_time()
    os.kill(os.getpid(), signal.SIGKILL)


def dying_model(when: Callable[[], bool]) -> Callable[[Tensor], Tensor]:
    """A model whose process dies at a call."""
    net = mlp(3, 8, 2)

    def model(x: Tensor) -> Tensor:
        if when():
            die()
        return net(x)

    return model


def stop(*_: object, **__: object) -> None:
    """Answer no more."""
    note_the_time()
    time.sleep(40)


def half_written(tensors: object, path: Path, **_: object) -> None:
    """Write the beginning of a checkpoint, and die."""
    Path(path).write_bytes(b"half of it")
    die()


def analyse(folder: Path, moment: str) -> liegg.Symmetries:
    """Analyse with all processes; at the named moment this one ends."""
    moments = {
        "dies at its first call of the model": lambda: True,
        "dies in the pass": lambda: any(folder.glob(f"c.{os.environ['RANK']}-of-*")),
    }
    model = dying_model(moments.get(moment, lambda: False))
    targets = {
        "dies while it writes its checkpoint": ("polarization.checkpoint.save_file", half_written),
        "dies while the shares are merged": ("polarization.distributed.merge", die),
        "dies after the pass": ("discovery.discover.verify", die),
        "stops answering": ("polarization.distributed.merge_all", stop),
    }
    patience = 60 if os.environ["PART"].startswith("resumed") else 15
    run = liegg.Run(batch_size=20, checkpoint=folder / "c", checkpoint_every=0.0, timeout=patience)
    if moment == "never calls":
        stop()
        os._exit(0)
    held_out = X[:20] if "after the pass" in os.environ["PART"] else None
    name, change = targets.get(moment, ("", None))
    with nullcontext() if change is None else patch(f"liegg.{name}", change):
        return liegg.discover(model, X, liegg.Linear(3), held_out=held_out, run=run)


def main(folder: Path) -> None:
    """What one process does."""
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, part = dist.get_rank(), os.environ["PART"]
    death = next(death for death in DEATHS if part.endswith(str(death)))
    dies = rank == death.rank and not part.startswith("resumed")
    try:
        sym = analyse(folder, death.moment if dies else "")
        (folder / f"{rank}.json").write_text(json.dumps(numbers(sym)))
    except Exception as error:
        (folder / f"{rank}.txt").write_text(f"{type(error).__name__}: {error}")
        os._exit(3)
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
