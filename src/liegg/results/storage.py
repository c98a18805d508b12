"""Results on disk: JSON for what people read, safetensors for arrays. Nothing is unpickled, and loading computes nothing."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import torch as tensors
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.errors import RecordError
from liegg._utils.file_set import (
    MANIFEST,
    everything,
    read_files,
    read_manifest,
    read_regular,
    write_files,
)
from liegg.actions import Action
from liegg.results.older_formats import upgraded
from liegg.results.record import from_record, to_record
from liegg.results.symmetries import Symmetries

RECORD_FORMAT = 5
"""Version of the layout of a stored result."""

OLDER_FORMATS = (2, 3, 4)
"""Versions that are read too, from folders without a manifest; format 2 holds no blocks of samples."""

UPGRADED_FORMATS = (2, 3)
"""Versions that hold no identification, which is then computed."""

FILES = ("record.json", "arrays.safetensors")
"""What a stored result consists of."""


@checked()
def save(sym: Symmetries, folder: str | Path) -> Path:
    """Write a result into a folder as `record.json` and `arrays.safetensors`, listed with checksums in `manifest.json`.

    Args:
        sym: the result of `discover`.
        folder: created if needed. A result that it holds is replaced, as a whole; a crash at any moment leaves the old
            result or the new one. Layers that it holds alone stay. Other files are not touched.

    Returns:
        The folder.

    Raises:
        RecordError: the folder cannot be written to, or holds other things under these names.
    """
    return write_files(folder, result_files(sym), keep=beside_a_result)


def beside_a_result(listed: Collection[str]) -> Collection[str]:
    """What stays beside a new result: nothing of an earlier result, and layers, layer errors or a group that stand alone."""
    return () if FILES[0] in listed else listed


def add_files(folder: str | Path, files: Mapping[str, bytes]) -> Path:
    """Write files into a folder beside what its set holds; return the folder."""
    return write_files(folder, files, keep=everything)


def result_files(sym: Symmetries) -> dict[str, bytes]:
    """The files of a stored result."""
    record, arrays = to_record(sym)
    return pair_of_files(FILES, {"format": RECORD_FORMAT, **record}, arrays)


def pair_of_files(
    names: tuple[str, str], record: dict[str, Any], arrays: dict[str, Tensor]
) -> dict[str, bytes]:
    """A record as a JSON file, and its arrays, whose checksum the record holds."""
    content = tensors.save(arrays)
    return {
        names[0]: json_bytes(record | {"arrays": hashlib.sha256(content).hexdigest()}),
        names[1]: content,
    }


def read_pair(folder: Path, names: tuple[str, str]) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The record and the arrays that `pair_of_files` made; earlier versions wrote no checksum.

    Raises:
        FileNotFoundError: a file is missing.
        RecordError: the arrays belong to another record.
    """
    files = read_stored(folder, names)
    record, content = json.loads(files[names[0]]), files[names[1]]
    if "arrays" in record and record["arrays"] != hashlib.sha256(content).hexdigest():
        raise RecordError(f"{folder / names[1]} belongs to another result than {names[0]}.")
    return record, tensors.load(content)


def json_bytes(record: dict[str, Any]) -> bytes:
    """A record as the text of a JSON file."""
    return (json.dumps(record, indent=1, allow_nan=False) + "\n").encode()


@checked()
def load(
    folder: str | Path, *, action: Action | None = None, output_action: Action | None = None
) -> Symmetries:
    """Read back a result that `Symmetries.save` wrote; see `liegg.load`.

    Args:
        folder: the folder that was saved into.
        action: the candidate generators of a result for an action of your own, which cannot be made from its settings.
        output_action: the same for the action on the outputs.

    Raises:
        RecordError: a file is missing, damaged, changed since, or of another format, or the action does not fit.
    """
    folder = Path(folder)
    with damage_named(folder):
        record, arrays = read_pair(folder, FILES)
        check_format(folder, record["format"], RECORD_FORMAT, OLDER_FORMATS)
        if record["format"] in UPGRADED_FORMATS:
            record, arrays = upgraded(record, arrays)
        return from_record(record, arrays, action=action, output_action=output_action)


def read_stored(folder: Path, names: Collection[str]) -> dict[str, bytes]:
    """Read files of a folder, checked against its manifest; earlier versions wrote none.

    Raises:
        FileNotFoundError: one of them is missing.
        RecordError: one of them is not what the manifest lists, or not a regular file.
    """
    files = read_present(folder, names)
    for name in names:
        if name not in files:
            raise FileNotFoundError(None, None, name)
    return files


def holds(folder: Path, name: str) -> bool:
    """Whether a folder's set of files lists this name; the file itself is not checked."""
    manifest = read_manifest(folder)
    return (folder / name).exists() if manifest is None else name in manifest.files


def read_present(folder: Path, names: Collection[str]) -> dict[str, bytes]:
    """The same for those of the files that the folder has."""
    if read_manifest(folder) is not None:
        return read_files(folder, names)
    return {name: read_regular(folder / name) for name in names if (folder / name).exists()}


def check_format(folder: Path, version: Any, current: int, older: Collection[int]) -> None:
    """Raise `RecordError` if this version of the package does not read a format.

    Args:
        folder: where it is stored.
        version: the format.
        current: the format that this version writes, always with a manifest.
        older: the formats that were written without one.
    """
    listed = read_manifest(folder) is not None
    if version == current and not listed:
        raise RecordError(
            f"{folder} is damaged: {MANIFEST} is missing. Restore it from a copy, or run the analysis again."
        )
    if version not in ({current} if listed else older):
        known = ", ".join(map(str, (*older, current)))
        raise RecordError(
            f"{folder} holds a result of format {version}; this version reads formats {known}."
        )


@contextmanager
def damage_named(
    folder: Path, what: str = "a stored result", how: str = "sym.save(...)"
) -> Iterator[None]:
    """Raise any failure to read a folder as a `RecordError`: its content may be anything.

    Args:
        folder: what is read.
        what: what it should be.
        how: how such a folder is made.
    """
    try:
        yield
    except RecordError:
        raise
    except (FileNotFoundError, NotADirectoryError) as error:
        name = Path(error.filename or FILES[0]).name
        raise RecordError(
            f"{folder} is not {what}: {name} is missing. Make one with {how}."
        ) from error
    except Exception as error:
        raise RecordError(
            f"{folder} is damaged ({type(error).__name__}: {error}). Run the analysis again."
        ) from error
