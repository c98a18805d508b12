"""Atomic writes: a file is complete, or it is the one that was there before."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from liegg._utils.errors import ArgumentError


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`; rename it into place if the block succeeds.

    The folder is created if needed. The file is on disk before it is renamed, so a crash at any
    moment leaves the previous file or the new one. If the block fails, the temporary file is
    removed and `path` is not touched.

    Args:
        path: the file to write.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield temporary
        sync(temporary)
        temporary.replace(path)
        with suppress(OSError):  # some file systems cannot sync a folder
            sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(text: str, path: str | Path) -> Path:
    """Write a text file atomically; its folder is created if needed."""
    path = Path(path)
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "not a regular file"
        example = path / "report.html" if path.is_dir() else "report.html"
        raise ArgumentError(f"{path} is {kind}; expected a file to write, for example {example}.")
    try:
        write_bytes(text.encode(), path)
    except OSError as error:
        raise ArgumentError(
            f"{path} cannot be written: {error.strerror or error}. Choose another path."
        ) from error
    return path


def write_bytes(content: bytes, path: Path) -> None:
    """Write a file atomically; its folder is created if needed."""
    with atomic_path(path) as temporary, temporary.open("xb") as file:
        file.write(content)


def sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
