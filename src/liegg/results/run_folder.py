"""A run folder: the record, its arrays, a few samples, the layers, the report and a log of how they came about."""

import json
import shlex
import shutil
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from liegg._utils.atomic_write import write_text
from liegg._utils.errors import RecordError
from liegg._utils.version import __version__
from liegg.results.layer_storage import INDEX, load_layers, save_layers
from liegg.results.layers import LayerSymmetries
from liegg.results.storage import load, made, save
from liegg.results.symmetries import Symmetries

SAMPLES, LAYERS, REPORT, LOG, ABOUT = (
    "samples.safetensors",
    "layers",
    "report.html",
    "log.txt",
    "run.json",
)
"""What lies beside the record; `layers` is a folder, `run.json` holds a title if one was given."""

STORED_SAMPLES = 8
"""Samples stored for the report."""


@dataclass(frozen=True)
class Clock:
    """What happened when, for the log.

    Attributes:
        started: seconds since 1970.
        lines: what was noted, each with the seconds since the start.
    """

    started: float = field(default_factory=time.time)
    lines: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Write a line down."""
        self.lines.append(f"{time.time() - self.started:9.2f} s  {text}")


@dataclass(frozen=True, eq=False)
class RunFolder:
    """What a run folder holds.

    Attributes:
        sym: the result.
        samples: a few inputs of the model, for the report; None if none were kept.
        layers: the result for every layer; None if that was not asked.
        title: heading of the report; None if none was given.
    """

    sym: Symmetries
    samples: Tensor | None
    layers: LayerSymmetries | None
    title: str | None = None


def write_run(
    folder: str | Path,
    sym: Symmetries,
    *,
    samples: Tensor | None = None,
    layers: LayerSymmetries | None = None,
    clock: Clock | None = None,
    title: str | None = None,
) -> Path:
    """Write a run folder; what an earlier run left there is replaced, and nothing is ever half written.

    Args:
        folder: made if needed.
        sym: the result.
        samples: inputs of the model, of which the first few are kept.
        layers: the result for every layer.
        clock: what happened until now; the end of the log.
        title: heading of the report.

    Returns:
        The report.

    Raises:
        RecordError: the path exists and is not a folder.
    """
    folder = made(folder)
    for name in (REPORT, SAMPLES, ABOUT):  # nothing of an earlier run may stand beside a new record
        (folder / name).unlink(missing_ok=True)
    _remove_layers(folder / LAYERS)
    save(sym, folder)
    if title is not None:
        write_text(json.dumps({"title": title}) + "\n", folder / ABOUT)
    if samples is not None:
        samples = samples[:STORED_SAMPLES].detach().cpu().contiguous()
        _save_samples(samples, folder)
    if layers is not None:
        save_layers(layers, folder / LAYERS)
    page = sym.report(folder / REPORT, samples=samples, layers=layers, title=title)
    clock = clock or Clock()
    clock.note(f"wrote {page}")
    _append(folder, clock, "\n\n".join(str(part) for part in (sym, layers) if part is not None))
    return page


def read_run(folder: str | Path) -> RunFolder:
    """Read a run folder back; one that `Symmetries.save` wrote will do.

    Raises:
        RecordError: a file is damaged, or the record is missing.
    """
    folder = Path(folder)
    sym = load(folder)
    samples = None
    if (folder / SAMPLES).exists():
        try:
            samples = load_file(folder / SAMPLES)["samples"]
        except (OSError, KeyError, SafetensorError) as error:
            raise RecordError(
                f"{folder / SAMPLES} is damaged ({type(error).__name__}: {error}). Remove it to do without."
            ) from error
    layers = load_layers(folder / LAYERS) if (folder / LAYERS / INDEX).exists() else None
    try:
        title = (
            json.loads((folder / ABOUT).read_text(encoding="utf-8"))["title"]
            if (folder / ABOUT).exists()
            else None
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordError(
            f"{folder / ABOUT} is damaged ({type(error).__name__}: {error}). Remove it to do without."
        ) from error
    return RunFolder(sym, samples, layers, title)


def read_log(folder: str | Path) -> str:
    """What was typed and when.

    Raises:
        RecordError: the folder has no log.
    """
    path = Path(folder) / LOG
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise RecordError(
            f"{folder} has no {LOG}: liegg discover --out writes one, sym.save(...) does not."
        ) from error


def labels(first: str | Path, second: str | Path) -> tuple[str, str]:
    """What to call two runs: their folders' own names, or whole paths where those are the same.

    >>> labels("runs/plain/", "runs/augmented"), labels("a/run", "b/run")
    (('plain', 'augmented'), ('a/run', 'b/run'))
    """
    one, two = Path(first), Path(second)
    return (
        (one.name, two.name)
        if one.name != two.name and one.name and two.name
        else (str(one), str(two))
    )


def _remove_layers(folder: Path) -> None:
    """Remove the layers of an earlier run, one that was interrupted too; nothing else that may lie there."""
    (folder / INDEX).unlink(missing_ok=True)
    for one in folder.glob("[0-9][0-9][0-9]*"):
        if one.is_dir():
            shutil.rmtree(one)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _save_samples(samples: Tensor, folder: Path) -> None:
    part = folder / f".{SAMPLES}.part"
    try:
        save_file({"samples": samples}, part)
        part.chmod(
            (folder / "record.json").stat().st_mode
        )  # safetensors makes files that only their owner can read
        part.replace(folder / SAMPLES)
    finally:
        part.unlink(missing_ok=True)


def _append(folder: Path, clock: Clock, told: str) -> None:
    """Add a run to the log: time, command, versions, events, result."""
    path = folder / LOG
    before = path.read_text(encoding="utf-8") + "\n" if path.exists() else ""
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(clock.started))
    python = ".".join(map(str, sys.version_info[:3]))
    head = f"{when}  liegg {__version__}, torch {torch.__version__}, Python {python}"
    typed = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    write_text(
        "\n".join(
            [
                *([before.rstrip("\n"), ""] if before else []),
                head,
                f"$ {typed}",
                *clock.lines,
                "",
                told,
            ]
        )
        + "\n",
        path,
    )
