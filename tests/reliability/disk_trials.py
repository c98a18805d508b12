"""A disk that is full: at the run folder, at the checkpoint and at the page, with room for more and more of it.

The disk is a small file system in memory, so that the errors are those of the kernel. Mounting it needs root, or
`unshare --map-root-user --mount python tests/reliability/run.py`.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from typer.testing import CliRunner, Result

import liegg
from liegg._utils.errors import LieggError
from liegg.cli import app
from reliability.outcomes import HangError, Outcome, files_of, state_of_process, time_limit

DISK = 4 * 2**20
"""Bytes of the disk."""

ROOM = (0, 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128)
"""Blocks of 4096 bytes that are free, from nothing to more than enough."""

BLOCK = 4096

MODULE = """
def norm():
    return lambda x: x.square().sum(1)

def quartic():
    return lambda x: x[:, :2].pow(4).sum(1) + x[:, 2:].square().sum(1)

def filters():
    from torch import nn
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.Tanh(), nn.Flatten(), nn.Linear(32, 2))

def other():
    return lambda x: x[:, :3].square().sum(1)
"""

DISCOVER = (
    "discover --model nets_on_a_full_disk:{} --data {}/x.npy --action linear:4 --batch-size 20"
)


def can_mount() -> bool:
    """Whether a small file system can be mounted here."""
    try:
        with small_disk():
            return True
    except (OSError, subprocess.SubprocessError):
        return False


@contextmanager
def small_disk() -> Iterator[Path]:
    """A disk of its own, with a file of the user on it."""
    with tempfile.TemporaryDirectory() as place:
        command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", place]
        subprocess.run(command, check=True, capture_output=True)
        try:
            yield Path(place)
        finally:
            subprocess.run(["umount", place], check=True)


def fill(disk: Path, blocks: int) -> None:
    """Leave so many free blocks."""
    with (disk / "of-the-user").open("wb", buffering=0) as file:
        free = os.statvfs(disk)
        file.write(b"u" * (free.f_bavail * free.f_frsize - blocks * BLOCK))


def full_disks() -> Iterator[tuple[str, Outcome, str]]:
    """A full disk at the run folder, at the checkpoint and at the page."""
    before = sys.path[:]
    for title, trial in PLACES.items():
        for blocks in ROOM:
            with tempfile.TemporaryDirectory() as place, small_disk() as disk:
                (Path(place) / "nets_on_a_full_disk.py").write_text(MODULE)
                np.save(Path(place) / "x.npy", np.random.default_rng(0).standard_normal((300, 4)))
                images = np.random.default_rng(0).random((8, 1, 6, 6), np.float32)
                np.save(Path(place) / "images.npy", images)
                sys.path[:] = [place, *before]
                sys.modules.pop("nets_on_a_full_disk", None)
                (Path(place) / "temporary").mkdir()
                with patch("tempfile.tempdir", str(Path(place) / "temporary")):
                    try:
                        outcome, text = trial(Path(place), disk, blocks)
                    except HangError:
                        outcome, text = Outcome.HANG, ""
                    yield f"{title}, {blocks} blocks free", outcome, text
    sys.path[:] = before


def typed(words: str) -> tuple[Outcome | None, Result]:
    """Run a command line; an outcome if that is already decided."""
    before = state_of_process()
    with time_limit():
        done = CliRunner().invoke(app, words.split())
    if done.exit_code not in (0, 2):
        return Outcome.RAW, done
    if state_of_process()[2:-1] != before[2:-1]:
        return Outcome.CHANGED, done
    return None, done


def at_out(place: Path, disk: Path, blocks: int, *, earlier: bool = False) -> tuple[Outcome, str]:
    """The run folder is on the disk: the result is there, or printed and stored elsewhere."""
    words = f"{DISCOVER.format('norm', place)} --out {disk}/run"
    if earlier:
        typed(f"{DISCOVER.format('other', place)} --out {disk}/run")
    fill(disk, blocks)
    user = (disk / "of-the-user").stat()
    outcome, done = typed(words)
    if (disk / "of-the-user").stat() != user:
        return Outcome.TOUCHED, ""
    if outcome is not None:
        return outcome, repr(done.exception)
    stored = nullity(disk / "run")
    if stored not in ((6, 7) if earlier else (6, None)) or "6 symmetries" not in done.stdout:
        return Outcome.LOST, f"{stored} {done.output}"
    kept = [nullity(path) for path in (place / "temporary").glob("liegg-*")]
    if done.exit_code == 0:
        complete = stored == 6 and (disk / "run" / "report.html").stat().st_size and not kept
        return (Outcome.ANSWERED if complete else Outcome.LOST), f"{stored} {kept}"
    if "No space left on device" not in done.stderr:
        return Outcome.WRONG, done.stderr
    if stored != 6 and kept != [6]:
        return Outcome.LOST, done.stderr
    if stored is None and (disk / "run").exists():
        return Outcome.LOST, f"left behind: {files_of(disk)}"
    return Outcome.REFUSED, done.stderr


def over_an_earlier_run(place: Path, disk: Path, blocks: int) -> tuple[Outcome, str]:
    """The run folder holds an earlier run: that one or the new one is complete."""
    return at_out(place, disk, blocks, earlier=True)


def at_out_and_elsewhere(place: Path, disk: Path, blocks: int) -> tuple[Outcome, str]:
    """Temporary files are on the disk too: at least the result is printed, and the message says all."""
    words = f"{DISCOVER.format('norm', place)} --out {disk}/run"
    (disk / "temporary").mkdir()
    fill(disk, blocks)
    with patch("tempfile.tempdir", str(disk / "temporary")):
        outcome, done = typed(words)
    if outcome is not None:
        return outcome, repr(done.exception)
    stored = [nullity(path) for path in (disk / "run", *(disk / "temporary").glob("liegg-*"))]
    if "6 symmetries" not in done.stdout or not {*stored} <= {6, None}:
        return Outcome.LOST, done.output
    if done.exit_code == 0:
        return (Outcome.ANSWERED if stored == [6] else Outcome.LOST), f"{stored}"
    if 6 not in stored and "could not be stored in a temporary folder either" not in done.stderr:
        return Outcome.WRONG, done.stderr
    if 6 not in stored and any((disk / "temporary").iterdir()):
        return Outcome.LOST, f"left behind: {files_of(disk / 'temporary')}"
    return Outcome.REFUSED, done.stderr


def at_the_checkpoint(place: Path, disk: Path, blocks: int) -> tuple[Outcome, str]:
    """The checkpoint is on the disk: once there is room, the command resumes to the same answer."""
    words = f"{DISCOVER.format('norm', place)} --checkpoint {disk}/c --checkpoint-every 0"
    fill(disk, blocks)
    outcome, done = typed(words)
    if outcome is not None:
        return outcome, repr(done.exception)
    if done.exit_code == 2 and "No space left on device" not in done.stderr:
        return Outcome.WRONG, done.stderr
    if done.exit_code == 0 and "6 symmetries" not in done.stdout:
        return Outcome.WRONG, done.stdout
    if left := [path.name for path in disk.iterdir() if path.name.endswith(".part")]:
        return Outcome.LOST, f"left behind: {left}"
    (disk / "of-the-user").unlink()
    again = typed(words)[1]
    if again.exit_code != 0 or "6 symmetries" not in again.stdout:
        return Outcome.LOST, again.output
    return (Outcome.ANSWERED if done.exit_code == 0 else Outcome.REFUSED), done.stderr


def at_the_page(place: Path, disk: Path, blocks: int) -> tuple[Outcome, str]:
    """The page is on the disk: it is complete or not there, and the run is as before."""
    typed(f"{DISCOVER.format('norm', place)} --out {place}/run")
    before = files_of(place / "run")
    fill(disk, blocks)
    outcome, done = typed(f"report {place}/run --out {disk}/page.html")
    if outcome is not None:
        return outcome, repr(done.exception)
    if files_of(place / "run") != before:
        return Outcome.TOUCHED, "the run folder"
    left = sorted(path.name for path in disk.iterdir() if path.name != "of-the-user")
    if done.exit_code == 0:
        complete = (disk / "page.html").read_text().rstrip().endswith("</html>")
        return (
            Outcome.ANSWERED if complete and left == ["page.html"] else Outcome.WRONG
        ), f"{left}"
    if left or "No space left on device" not in done.stderr:
        return Outcome.WRONG, f"{left} {done.stderr}"
    return Outcome.REFUSED, done.stderr


def of_another_verb(
    place: Path, disk: Path, blocks: int, *, words: str, load: Callable[[Path], Any]
) -> tuple[Outcome, str]:
    """The folder of another command is on the disk: what was found is there or elsewhere, complete, and printed."""
    fill(disk, blocks)
    outcome, done = typed(f"{words.format(place=place)} --out {disk}/run")
    if outcome is not None:
        return outcome, repr(done.exception)
    folders = [disk / "run", *(place / "temporary").glob("liegg-*")]
    try:
        kept = [str(load(folder)).split() for folder in folders if folder.exists()]
    except LieggError as error:
        return Outcome.LOST, str(error)
    if len(kept) != 1 or " ".join(kept[0][:8]) not in " ".join(done.stdout.split()):
        return Outcome.LOST, f"{len(kept)} {done.output}"
    if done.exit_code == 0:
        return Outcome.ANSWERED, ""
    return (
        Outcome.REFUSED if "No space left on device" in done.stderr else Outcome.WRONG
    ), done.stderr


def nullity(folder: Path) -> int | None:
    """The number of symmetries that a run folder holds; None if there is none, -1 if it cannot be read."""
    try:
        return liegg.load(folder).nullity if folder.exists() else None
    except liegg.LieggError:
        return -1


OTHER_VERBS = {
    "--out of a group": {
        "words": "discover --model nets_on_a_full_disk:quartic --data {place}/x.npy --action linear:4 --group",
        "load": liegg.results.load_group,
    },
    "--out of a data set": {
        "words": "discover --data {place}/x.npy --action linear:4",
        "load": liegg.load,
    },
    "--out of layer errors": {
        "words": "layer-errors --model nets_on_a_full_disk:filters --data {place}/images.npy --action image",
        "load": liegg.load,
    },
}
"""Commands, and how their results are read."""

PLACES = {
    "--out": at_out,
    "--out over an earlier run": over_an_earlier_run,
    "--out and the temporary folder": at_out_and_elsewhere,
    "--checkpoint": at_the_checkpoint,
    "the page of liegg report": at_the_page,
    **{title: partial(of_another_verb, **given) for title, given in OTHER_VERBS.items()},
}
