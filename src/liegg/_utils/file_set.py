"""A set of files in a folder, listed with checksums, and replaced and read as a unit.

`manifest.json` lists the files. A new set is written into a subfolder first; the manifest that lists it is
then renamed into place, and from that moment the new set counts, wherever its files lie. So a crash at any
moment leaves the old set or the new one. Only listed files are ever replaced or removed, and an advisory lock
keeps two writers apart.
"""

import hashlib
import json
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from liegg._utils.atomic_write import sync, write_bytes
from liegg._utils.errors import RecordError

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None

MANIFEST = "manifest.json"
"""The list of the files."""

MANIFEST_FORMAT = 1
"""Version of the layout of a manifest."""

PART = re.compile(r"\.liegg-[0-9a-f]{8}\.part")
"""Name of the subfolder that new files are written into."""

LOCK_SECONDS = 20.0
"""How long a reader or a writer waits for a writer to finish."""


@dataclass(frozen=True)
class Manifest:
    """What a folder holds.

    Attributes:
        files: SHA-256 of every file of the set, by its name.
        stale: the same for files of the set before that are not yet removed.
        part: subfolder with files that are not yet in their place; empty if there is none.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    stale: Mapping[str, str] = field(default_factory=dict)
    part: str = ""


def check_target(folder: str | Path, names: Collection[str]) -> None:
    """Raise `RecordError` if `write_files` would refuse the folder; nothing is created.

    Args:
        folder: it need not exist.
        names: files to be written.
    """
    folder = Path(folder)
    for path in (folder, *folder.absolute().parents):
        if path.is_symlink() and not path.exists():
            raise RecordError(
                f"{path} is a link to {path.readlink()}, which does not exist. Create that folder, or choose another one."
            )
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise RecordError(
            f"{existing} is a file; expected a folder to save into, for example "
            f"{existing.with_suffix('')}-run."
        )
    if not os.access(existing, os.W_OK | os.X_OK):
        raise RecordError(f"{existing} cannot be written to. Choose another folder.")
    if folder.is_dir():
        with _locked(folder, shared=True):  # a writer may be half way
            _check_names(folder, read_manifest(folder), names)


Keep = Callable[[Collection[str]], Collection[str]]
"""Which of the listed files stay beside new ones; asked while the folder is locked, so that two writers keep each other's."""


def nothing(_listed: Collection[str]) -> Collection[str]:
    """Keep no file: the set is replaced as a whole."""
    return ()


def everything(listed: Collection[str]) -> Collection[str]:
    """Keep all files that are not written again."""
    return listed


def write_files(folder: str | Path, files: Mapping[str, bytes], *, keep: Keep = nothing) -> Path:
    """Replace the set of files of a folder; files that the manifest does not list are never touched.

    Args:
        folder: created if needed, and removed again if the writing fails.
        files: their contents, by names such as `record.json`.
        keep: which listed files stay as they are.

    Returns:
        The folder.

    Raises:
        RecordError: the folder cannot be written to, holds other things under these names, holds a
            listed file that was changed since, or is being written by someone else.
    """
    folder = Path(folder)
    check_target(folder, files)
    with _new_folder(folder), _locked(folder, shared=False):
        try:
            _replace(folder, files, keep)
        except OSError as error:
            if _holds(folder, files):  # it counts; what is left is tidied by the next write
                return folder
            raise RecordError(
                f"{folder} cannot be written: {error.strerror or error}. What it held before is "
                "unchanged. Free some space or choose another folder."
            ) from error
    return folder


def read_files(folder: str | Path, names: Collection[str]) -> dict[str, bytes]:
    """Read the named files that belong to the set of the folder, checked against the manifest.

    Raises:
        FileNotFoundError: the folder has no manifest.
        RecordError: the manifest or a file is damaged, missing, or not a regular file.
    """
    folder = Path(folder)
    with _locked(folder, shared=True):
        manifest = read_manifest(folder)
        if manifest is None:
            raise FileNotFoundError(folder / MANIFEST)
        return {name: _read(folder, manifest, name) for name in names if name in manifest.files}


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest; None if there is none.

    Raises:
        RecordError: it is damaged.
    """
    try:
        content = read_regular(folder / MANIFEST)
    except FileNotFoundError:
        return None
    try:
        record = json.loads(content)
        if record["format"] != MANIFEST_FORMAT:
            raise ValueError(f"format {record['format']}, expected {MANIFEST_FORMAT}")
        manifest = Manifest(dict(record["files"]), dict(record["stale"]), record["part"])
        if outside := [name for name in (*manifest.files, *manifest.stale) if not is_plain(name)]:
            raise ValueError(f"{outside[0]!r} is not a file name")
        if manifest.part and not PART.fullmatch(manifest.part):
            raise ValueError(f"{manifest.part!r} is not a folder of ours")
        return manifest
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RecordError(
            f"{folder / MANIFEST} is damaged ({type(error).__name__}: {error}). Restore the folder "
            "from a copy, or run the analysis again into another one."
        ) from error


def is_plain(name: Any) -> bool:
    """Whether a name is that of a file directly in a folder.

    >>> is_plain("record.json"), is_plain("../record.json"), is_plain("/etc/passwd")
    (True, False, False)
    """
    return (
        isinstance(name, str)
        and name not in ("", ".", "..", MANIFEST)
        and PurePosixPath(name).name == name
        and not any(character in "\\\0" for character in name)
    )


def read_regular(path: Path) -> bytes:
    """Read a regular file; links, pipes and devices are refused with `RecordError`, without waiting for them."""
    if path.is_symlink():
        raise RecordError(f"{path} is a link; expected a regular file.")
    flags = (getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
    handle = os.open(path, os.O_RDONLY | sum(flags))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise RecordError(f"{path} is not a regular file.")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def _read(folder: Path, manifest: Manifest, name: str) -> bytes:
    """One file of the set, in its place or still in the subfolder."""
    part = _part_of(folder, manifest)
    places = [folder / name, *([part / name] if part else [])]
    changed = False
    for place in places:
        with suppress(FileNotFoundError, NotADirectoryError):
            content = read_regular(place)
            if _digest(content) == manifest.files[name]:
                return content
            changed = True
    state = "was changed since liegg wrote it, or is damaged" if changed else "is missing"
    raise RecordError(
        f"{folder / name} {state}. Restore it from a copy, or run the analysis again into another "
        "folder."
    )


def _part_of(folder: Path, manifest: Manifest) -> Path | None:
    """The subfolder with files that are not yet in their place; None if there is none, or a link in its place."""
    place = folder / manifest.part
    return place if manifest.part and place.is_dir() and not place.is_symlink() else None


def _digest(content: bytes) -> str:
    """SHA-256 of the content of a file."""
    return hashlib.sha256(content).hexdigest()


def _check_names(folder: Path, manifest: Manifest | None, names: Collection[str]) -> None:
    """Raise `RecordError` if a name is taken by a file that is not listed, or a listed file was changed."""
    listed = manifest or Manifest()
    for name in (*names, *listed.files):
        path = folder / name
        if not os.path.lexists(path):
            continue
        if name not in listed.files and name not in listed.stale:
            raise RecordError(
                f"{folder} already holds {name}, which {MANIFEST} does not list: it is not overwritten. "
                "Choose another folder, or move that file away."
            )
        if name in listed.files and not listed.part:
            _read(folder, listed, name)


def _holds(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Whether these files are complete in the set of a folder."""
    try:
        manifest = read_manifest(folder) or Manifest()
        return all(_read(folder, manifest, name) == content for name, content in files.items())
    except (OSError, KeyError, RecordError):
        return False


def _replace(folder: Path, files: Mapping[str, bytes], keep: Keep) -> None:
    """Write the files beside, let the manifest list them, and move them into place."""
    before = read_manifest(folder) or Manifest()
    if before.part:
        before = _finish(folder, before)
    _check_names(folder, before, files)
    part = f".liegg-{secrets.token_hex(4)}.part"
    unfinished = Manifest(before.files, before.stale, part)
    staying = keep(before.files)
    kept = {name: digest for name, digest in before.files.items() if name in staying}
    _write_manifest(folder, unfinished)
    try:
        (folder / part).mkdir()
        for name, content in files.items():
            write_bytes(content, folder / part / name)
        sync(folder / part)
        digests = {name: _digest(content) for name, content in files.items()}
        gone = {name: own for name, own in before.files.items() if name not in {*kept, *files}}
        after = Manifest(kept | digests, gone, part)
        _write_manifest(folder, after)
    except BaseException:
        _remove_part(folder, unfinished)
        if before.files:
            _write_manifest(folder, before)
        else:
            (folder / MANIFEST).unlink()
        raise
    _finish(folder, after)


def _finish(folder: Path, manifest: Manifest) -> Manifest:
    """Move the files of the subfolder into place and remove what is no longer listed."""
    if (part := _part_of(folder, manifest)) is not None:
        for name, digest in manifest.files.items():
            with suppress(FileNotFoundError, NotADirectoryError):
                if _digest(read_regular(part / name)) == digest:
                    (part / name).replace(folder / name)
    for name, digest in manifest.stale.items():
        with suppress(FileNotFoundError, RecordError):
            if _digest(read_regular(folder / name)) == digest:
                (folder / name).unlink()
    _remove_part(folder, manifest)
    done = Manifest(manifest.files)
    _write_manifest(folder, done)
    return done


def _remove_part(folder: Path, manifest: Manifest) -> None:
    """Remove the temporary subfolder that liegg made; folders in it stay."""
    if (place := _part_of(folder, manifest)) is not None:
        with suppress(OSError):
            for path in place.iterdir():
                path.unlink()
            place.rmdir()


def _write_manifest(folder: Path, manifest: Manifest) -> None:
    record = {"format": MANIFEST_FORMAT, **asdict(manifest)}
    write_bytes((json.dumps(record, indent=1) + "\n").encode(), folder / MANIFEST)


@contextmanager
def _new_folder(folder: Path) -> Iterator[None]:
    """Create a folder with its parents if needed; if the block fails, remove those that are still empty."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException as error:
        for path in missing:
            with suppress(OSError):
                path.rmdir()
        if isinstance(error, OSError):
            raise RecordError(
                f"{folder} cannot be created: {error.strerror or error}. Choose another folder."
            ) from error
        raise


@contextmanager
def _locked(folder: Path, *, shared: bool) -> Iterator[None]:
    """Hold an advisory lock on a folder, where the file system has such locks."""
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        _lock(handle, folder, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, folder: Path, kind: int) -> None:
    """Wait for the lock; raise `RecordError` if it is not free in time."""
    if fcntl is None:
        return
    end = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            if time.monotonic() > end:
                raise RecordError(
                    f"{folder} is being written by another process. Wait for it, or choose another "
                    "folder."
                ) from error
            time.sleep(0.02)
        except OSError:  # this file system has no locks
            return
