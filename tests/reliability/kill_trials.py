"""Passes that are killed at random moments, each resumed to the end after every kill.

One pass is killed again and again. After each kill a copy of its checkpoint is resumed to the end, whose numbers must
be those of a pass that nobody killed; then the pass itself resumes, until the next kill.

python tests/reliability/kill_trials.py FOLDER CONTROLS KILLS    writes a file of numbers after each kill
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

import liegg
from reliability.outcomes import SECONDS, Outcome

CHAINS = {"random": 15, "none": 10}
"""Kills of a pass with intervals, and of one without."""

ROUNDING = {"sums": 1e-11, "defects": 1e-11, "intervals": 1e-7, "samples": 0.0}
"""Rounding of float64 sums in another order, relative to the largest; bootstrap quantiles magnify it a little."""


def kills() -> Iterator[tuple[str, Outcome, str]]:
    """SIGKILL at random moments of a pass with a checkpoint."""
    for controls, count in CHAINS.items():
        with tempfile.TemporaryDirectory() as place:
            failure = run_chain(Path(place), controls, count)
            for number in range(1, count + 1):
                name = f"kill {number} of {count}, controls={controls}"
                yield name, *outcome_of_kill(Path(place), number, failure)


def outcome_of_kill(folder: Path, number: int, failure: str = "") -> tuple[Outcome, str]:
    """Compare what was resumed after a kill with the pass that nobody killed."""
    found, whole = folder / f"{number}.json", folder / "whole.json"
    if not (found.exists() and whole.exists()):
        return (Outcome.HANG if failure == "hang" else Outcome.RAW), failure
    one, other = (json.loads(path.read_text()) for path in (found, whole))
    for name, rounding in ROUNDING.items():
        a, b = (torch.tensor(values[name], dtype=torch.float64) for values in (one, other))
        if a.shape != b.shape or float((a - b).abs().max()) > rounding * float(b.abs().max()):
            return Outcome.WRONG, f"{name}: {a} and {b}"
    return Outcome.ANSWERED, ""


def run_chain(folder: Path, controls: str, count: int) -> str:
    """Kill a pass so many times, in a process of its own; a line about a failure, empty if there is none."""
    quiet = ("-W", "ignore::DeprecationWarning")  # Python 3.12 warns of forks beside threads
    try:
        done = subprocess.run(
            [sys.executable, *quiet, __file__, str(folder), controls, str(count)],
            env=os.environ
            | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            timeout=60 + SECONDS * count,
        )
    except subprocess.TimeoutExpired:
        return "hang"
    return done.stderr.strip()


class Chain:
    """A pass that is killed and resumed; everything runs in forked processes that have imported torch already."""

    def __init__(self, folder: Path, controls: str, count: int) -> None:
        self.folder, self.controls, self.count = folder, controls, count
        self.checkpoint, self.draw = folder / "checkpoint", random.Random(0)
        generator = torch.Generator().manual_seed(0)
        self.x = torch.randn(300 * (count + 1), 3, generator=generator, dtype=torch.float64)
        self.weight = torch.randn(3, 8, generator=generator, dtype=torch.float64)

    def analyse(self, checkpoint: Path, result: Path, pause: float) -> None:
        """Analyse, and write the numbers down; a checkpoint is written after every batch."""

        def model(x: torch.Tensor) -> torch.Tensor:
            time.sleep(pause)
            return torch.tanh(x @ self.weight).sum(1, keepdim=True) * x.square().sum(
                1, keepdim=True
            )

        every = 0.0 if pause else 1e9
        run = liegg.Run(batch_size=20, checkpoint=checkpoint, checkpoint_every=every)
        controls = "none" if self.controls == "none" else "random"
        sym = liegg.discover(model, self.x, liegg.Linear(3), controls=controls, run=run)
        factor = sym.accumulated.factor
        numbers = {
            "sums": (factor.mT @ factor).tolist(),
            "defects": sym.defects.tolist(),
            "intervals": sym.intervals.nan_to_num(-1.0).tolist(),
            "samples": [sym.samples],
        }
        result.write_text(json.dumps(numbers))

    def run(self) -> None:
        """Kill, resume a copy, and so on; last the pass that nobody kills."""
        number = 0
        while number < self.count:
            if self.killed():
                number += 1
                copy = self.folder / f"copy-{number}"
                if self.checkpoint.exists():
                    shutil.copy(self.checkpoint, copy)
                resumed = self.folder / f"{number}.json"
                finished(lambda copy=copy, to=resumed: self.analyse(copy, to, 0.0))
            elif (self.folder / "early.json").exists():
                raise SystemExit(f"the pass ended after {number} kills: it is too short")
        whole = self.folder / "whole.json"
        finished(lambda: self.analyse(self.folder / "never-killed", whole, 0.0))

    def killed(self) -> bool:
        """Resume the pass and kill it; whether it was still running.

        One in five is killed before it gets anywhere, the others soon after a write, so that all get further.
        """
        before = self.written()
        child = forked(lambda: self.analyse(self.checkpoint, self.folder / "early.json", 0.002))
        early = self.draw.random() < 0.2
        while not early and self.written() == before:
            time.sleep(0.0005)
            if os.waitpid(child, os.WNOHANG)[0]:
                return False
        time.sleep(self.draw.uniform(0, 0.02))
        if os.waitpid(child, os.WNOHANG)[0]:
            return False
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return True

    def written(self) -> int:
        """When the checkpoint was last written."""
        return self.checkpoint.stat().st_mtime_ns if self.checkpoint.exists() else 0


def forked(work: Callable[[], None]) -> int:
    """Start work in a copy of this process; its number. This process itself never uses autograd.

    Torch with CUDA refuses autograd in a process that is forked after autograd was used.
    """
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return child


def finished(work: Callable[[], None]) -> None:
    """Do work in a copy of this process; end with a message if it fails."""
    if os.waitpid(forked(work), 0)[1] != 0:
        raise SystemExit("the analysis failed")


if __name__ == "__main__":
    torch.set_num_threads(1)
    Chain(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])).run()
