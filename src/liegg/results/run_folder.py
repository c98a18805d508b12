"""A run folder: the record, its arrays, a few samples, the layers, the report and a log of how they came about."""

import json
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import torch as tensors
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.errors import RecordError, ReportError
from liegg._utils.file_set import check_target, read_manifest, read_regular, write_files
from liegg._utils.version import __version__
from liegg.results.group_storage import GROUP_FILES, group_files, load_group
from liegg.results.group_symmetries import GroupSymmetries
from liegg.results.layer_errors import LayerErrors
from liegg.results.layer_storage import (
    ERRORS_FILE,
    ERRORS_PAGE,
    LAYER_FILES,
    error_files,
    layer_files,
    load_layers,
)
from liegg.results.layers import LayerSymmetries, first_question
from liegg.results.storage import (
    FILES,
    add_files,
    beside_a_result,
    damage_named,
    holds,
    json_bytes,
    load,
    read_present,
    result_files,
)
from liegg.results.symmetries import Symmetries

SAMPLES_FILE, REPORT, LOG, TITLE = "samples.safetensors", "report.html", "log.txt", "run.json"
"""What lies beside the record; `run.json` holds a title and names of classes if they were given."""

GROUP_REPORT = "group.html"
"""The page of the group of a run."""

ALL_FILES = (
    *(*FILES, *LAYER_FILES, *GROUP_FILES, GROUP_REPORT, ERRORS_FILE, ERRORS_PAGE),
    *(SAMPLES_FILE, REPORT, LOG, TITLE),
)
"""What a run folder may hold."""

FOLDER_KINDS = {
    FILES[0]: "",
    LAYER_FILES[0]: "layers",
    ERRORS_FILE: "layer errors",
    GROUP_FILES[0]: "group",
}
"""What a folder holds that has one of these files, but none of those before it."""

FILES_OF = {
    Symmetries: result_files,
    LayerSymmetries: layer_files,
    GroupSymmetries: group_files,
    LayerErrors: error_files,
}
"""How each kind of result is stored."""

OLD_LAYERS = "layers"
"""Folder in which earlier versions kept the layers."""

STORED_SAMPLES = 8
"""Samples stored for the report."""


@dataclass(frozen=True)
class Clock:
    """Timed events for the log.

    Attributes:
        started: seconds since 1970.
        lines: what was noted, each with the seconds since the start.
    """

    started: float = field(default_factory=time.time)
    lines: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Add a line with its time."""
        self.lines.append(f"{time.time() - self.started:9.2f} s  {text}")


@dataclass(frozen=True, eq=False)
class RunFolder:
    """What a run folder holds.

    Attributes:
        sym: the result.
        samples: a few inputs of the model, for the report; None if none were kept.
        layers: the result for every layer; None if that was not asked.
        title: heading of the report; None if none was given.
        classes: names of the classes that the model predicts; None if none were given.
        group: the finite symmetries; None if that was not asked.
    """

    sym: Symmetries
    samples: Tensor | None
    layers: LayerSymmetries | None
    title: str | None = None
    classes: tuple[str, ...] | None = None
    group: GroupSymmetries | None = None


@checked()
def write_run(
    folder: str | Path,
    sym: Symmetries,
    *,
    samples: Tensor | None = None,
    layers: LayerSymmetries | None = None,
    group: GroupSymmetries | None = None,
    clock: Clock | None = None,
    title: str | None = None,
    classes: Sequence[str] | None = None,
) -> Path:
    """Write a run folder. An earlier run is replaced as a whole, except for its log; other files are not touched.

    Layers, layer errors and groups in a folder without a result stay.

    Args:
        folder: made if needed.
        sym: the result.
        samples: inputs of the model, of which the first few are kept.
        layers: the result for every layer.
        group: the finite symmetries.
        clock: what happened until now; the end of the log.
        title: heading of the report.
        classes: names of the classes that the model predicts, for the report.

    Returns:
        The report.

    Raises:
        RecordError: the folder cannot be written to, or holds other things under these names.
        ReportError: the result is stored, but its report could not be made.
    """
    folder, files = Path(folder), result_files(sym)
    if title is not None or classes is not None:
        named = {} if classes is None else {"classes": list(classes)}
        files[TITLE] = json_bytes({"title": title, **named})
    if samples is not None:
        samples = samples[:STORED_SAMPLES].detach().cpu().contiguous()
        files[SAMPLES_FILE] = tensors.save({"samples": samples})
    if layers is not None:
        files |= layer_files(layers)
    if group is not None:
        files |= group_files(group)
    texts = [str(part) for part in (group, sym) if part is not None]
    if layers is not None:
        texts.append(layers.table(first_question(sym, layers) or None))
    results = "\n\n".join(texts)
    files[LOG] = _log(folder, clock or Clock(), results)
    write_files(folder, files, keep=beside_a_result)
    return add_page(folder, sym, samples=samples, layers=layers, title=title, classes=classes)


def write_page(
    folder: Path,
    result: Symmetries | LayerSymmetries | LayerErrors | GroupSymmetries,
    **options: Any,
) -> Path:
    """Write the page of a result into its run folder, beside what that holds.

    Args:
        folder: the run folder.
        result: what the page shows.
        options: as for the result's `report`.
    """
    name = {LayerErrors: ERRORS_PAGE, GroupSymmetries: GROUP_REPORT}.get(type(result), REPORT)
    if read_manifest(folder) is None:  # an earlier version wrote none
        return result.report(folder / name, **options)
    with tempfile.TemporaryDirectory() as place:
        page = result.report(Path(place) / name, **options)
        add_files(folder, {name: page.read_bytes()})
    return folder / name


def add_page(
    folder: str | Path,
    result: Symmetries | LayerSymmetries | LayerErrors | GroupSymmetries,
    **options: Any,
) -> Path:
    """Write the page of a stored result as `write_page` does.

    Raises:
        ReportError: the page could not be made; the result is stored all the same.
    """
    try:
        return write_page(Path(folder), result, **options)
    except Exception as error:
        raise ReportError(
            f"the result is stored in {folder}, but its page could not be written: {error} Try: "
            f"liegg report {folder}"
        ) from error


def save_elsewhere(*results: Any) -> str:
    """Store results in a new temporary folder, since their own place failed; a sentence that says where they are.

    Args:
        results: `Symmetries`, its layers and its group, or `LayerErrors`; None for those that were not asked.
    """
    files: dict[str, bytes] = {}
    for result in results:
        files |= {} if result is None else FILES_OF[type(result)](result)
    try:
        folder = Path(tempfile.mkdtemp(prefix="liegg-"))
        try:
            write_files(folder, files)
        except RecordError:
            folder.rmdir()
            raise
        return f"The result is in {folder} instead; liegg report {folder} makes its page."
    except (OSError, RecordError) as error:
        return f"The result could not be stored in a temporary folder either: {error}"


@checked()
def check_run_folder(folder: str | Path, *more: str) -> None:
    """Raise `RecordError` if `write_run` would refuse a folder, or more files in it; nothing is created."""
    check_target(folder, (*ALL_FILES, *more))


@checked()
def read_run(folder: str | Path) -> RunFolder:
    """Read a run folder back; a folder that `Symmetries.save` wrote works as well.

    Raises:
        RecordError: a file is missing, damaged or changed since it was written.
    """
    folder = Path(folder)
    sym = load(folder)
    places = (folder, folder / OLD_LAYERS)
    place = next((place for place in places if holds(place, LAYER_FILES[0])), None)
    with damage_named(folder):
        files = read_present(folder, (SAMPLES_FILE, TITLE))
        about = json.loads(files[TITLE]) if TITLE in files else {"title": None}
        title, classes = about["title"], about.get("classes")
        return RunFolder(
            sym,
            tensors.load(files[SAMPLES_FILE])["samples"] if SAMPLES_FILE in files else None,
            None if place is None else load_layers(place),
            title,
            None if classes is None else tuple(classes),
            load_group(folder) if holds(folder, GROUP_FILES[0]) else None,
        )


@checked()
def only_result(folder: str | Path) -> str:
    """What a folder holds that has no result of `discover`, as `liegg.load` reads it: `"layers"`, `"layer errors"`, `"group"`.

    Empty for a result, and for none of these.

    Raises:
        RecordError: the folder cannot be read.
    """
    folder = Path(folder)
    with damage_named(folder):
        return next((kind for name, kind in FOLDER_KINDS.items() if holds(folder, name)), "")


@checked()
def read_log(folder: str | Path) -> str:
    """The logged commands with their times.

    Raises:
        RecordError: the folder has no log.
    """
    try:
        return read_regular(Path(folder) / LOG).decode(errors="replace")
    except OSError as error:
        raise RecordError(
            f"{folder} has no {LOG}: liegg discover --out writes one, sym.save(...) does not."
        ) from error


def labels(first: str | Path, second: str | Path) -> tuple[str, str]:
    """Labels of two runs: the names of their folders, or complete paths if these are equal.

    >>> labels("runs/plain/", "runs/augmented"), labels("a/run", "b/run")
    (('plain', 'augmented'), ('a/run', 'b/run'))
    """
    one, two = Path(first), Path(second)
    return (
        (one.name, two.name)
        if one.name != two.name and one.name and two.name
        else (str(one), str(two))
    )


def _log(folder: Path, clock: Clock, results: str) -> bytes:
    """The log of the earlier runs and of this one: time, command, versions, events, result."""
    before = read_log(folder) if (folder / LOG).exists() else ""
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(clock.started))
    python = ".".join(map(str, sys.version_info[:3]))
    clock.note(f"wrote {folder}")
    lines = [
        *([before.rstrip("\n"), ""] if before else []),
        f"{when}  liegg {__version__}, torch {torch.__version__}, Python {python}",
        f"$ {shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])}",
        *clock.lines,
        "",
        results,
    ]
    return ("\n".join(lines) + "\n").encode(errors="replace")
