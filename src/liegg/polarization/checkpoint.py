"""Long passes survive: what is kept is written down every so often, and a pass that was killed goes on from there."""

import hashlib
import json
import os
import re
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from liegg._utils.errors import ArgumentError, CheckpointError
from liegg.polarization.fingerprint import difference
from liegg.polarization.state import Tally, from_tensors, to_tensors

EVERY = 30.0
"""Seconds between two checkpoints, at least."""

FORMAT = "2"
"""Version of the layout of a checkpoint."""


@dataclass(eq=False)
class Checkpoint:
    """One file that holds what is kept of the samples so far, and how far that is.

    Attributes:
        path: the file.
        mark: what the pass is about (`liegg.polarization.fingerprint.fingerprint`); the file of another is refused.
        every: seconds between two writings, at least.
    """

    path: Path
    mark: dict[str, Any]
    every: float = EVERY
    _last: float = field(default_factory=time.monotonic)
    _stopping: bool = False

    def load(self, empty: Tally) -> tuple[Tally, int] | None:
        """What was kept, and the number of the next sample; None if there is no file.

        What a process that was killed while it wrote has left is removed, and the place is tried.

        Args:
            empty: a record of no samples of this analysis.

        Raises:
            CheckpointError: the file is damaged, or of another analysis; or none can be written there.
        """
        self._try_place()
        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                about = file.metadata() or {}
                kept = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
            if about.get("format") != FORMAT:
                raise CheckpointError(
                    f"{self.path} is a checkpoint of format {about.get('format')}; this version reads {FORMAT}. Remove it to begin "
                    "anew, or finish it with the version that began it."
                )
            if about.pop("checksum") != _checksum(kept, about):
                raise ValueError("its checksum is wrong")
            if found := difference(json.loads(about["mark"]), self.mark):
                raise CheckpointError(
                    f"{self.path} is of another analysis ({found}). Finish that one as it was begun, remove the file to begin "
                    "anew, or name another."
                )
            return from_tensors(kept, empty), int(about["position"])
        except (OSError, KeyError, ValueError, TypeError, SafetensorError) as error:
            if isinstance(error, CheckpointError):
                raise
            raise CheckpointError(
                f"{self.path} is damaged ({type(error).__name__}: {error}). Nothing of it was used. Remove it to begin anew."
            ) from error

    def tell(self, kept: Tally, position: int) -> None:
        """Write what is kept, if the last time is long enough ago, or if Ctrl-C was pressed, which goes on from here."""
        if self._stopping or time.monotonic() - self._last >= self.every:
            self.save(kept, position)
        if self._stopping:
            raise KeyboardInterrupt

    def end(self, kept: Tally, position: int) -> tuple[str, ...]:
        """Write the whole; a note where that fails, since there is a result."""
        try:
            self.save(kept, position)
        except CheckpointError as error:
            return (f"the last writing of a checkpoint failed, the result is whole: {error}",)
        if self._stopping:
            raise KeyboardInterrupt
        return ()

    def save(self, kept: Tally, position: int) -> None:
        """Write what is kept; the file is whole, or the one before."""
        tensors = to_tensors(kept)
        about = {"format": FORMAT, "position": str(position), "mark": json.dumps(self.mark)}
        with self._written() as part:
            save_file(tensors, part, metadata=about | {"checksum": _checksum(tensors, about)})
            _settle(part)
            part.replace(self.path)
            with suppress(OSError):  # the file is there; some file systems cannot do this
                _settle(self.path.parent)
        self._last = time.monotonic()

    @contextmanager
    def patient(self) -> Iterator[None]:
        """While a block runs Ctrl-C waits for the next `tell`, which saves first: a pass can only be left between two batches.

        A second Ctrl-C does not wait. A handler of the caller's own is left alone.
        """
        here = threading.current_thread() is threading.main_thread()
        if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return

        def note(*_: Any) -> None:
            self._stopping = True
            signal.signal(signal.SIGINT, signal.default_int_handler)

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _try_place(self) -> None:
        """Remove what is left of writings that were killed, and raise `CheckpointError` if nothing can be written."""
        with self._written():
            for other in self.path.parent.iterdir():
                if re.fullmatch(
                    rf"\.{re.escape(self.path.name)}\.[a-z0-9_]{{8}}\.part", other.name
                ):
                    other.unlink(missing_ok=True)

    @contextmanager
    def _written(self) -> Iterator[Path]:
        """A file of its own beside the path, gone afterwards; trouble with it becomes a `CheckpointError`."""
        part = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(
                prefix=f".{self.path.name}.", suffix=".part", dir=self.path.parent
            )
            os.close(handle)
            part = Path(name)
            yield part
        except (OSError, SafetensorError) as error:
            raise CheckpointError(
                f"the checkpoint {self.path} cannot be written: {error}. Name another place."
            ) from error
        finally:
            if part is not None:
                part.unlink(missing_ok=True)


def place(path: str | Path) -> Path:
    """The file that the caller named.

    Raises:
        ArgumentError: it is a folder, or empty.
    """
    if not str(path) or Path(path).is_dir():
        kind = "a folder" if str(path) else "empty"
        raise ArgumentError(
            f"checkpoint={str(path)!r} is {kind}; expected a file, for example checkpoint='run.checkpoint'."
        )
    return Path(path)


def own(path: Path, rank: int, size: int) -> Path:
    """The file of one of several processes.

    Args:
        path: the file that the caller named.
        rank: number of the process.
        size: how many there are.

    Raises:
        CheckpointError: the files of another number of processes are there.
    """
    found = {path.name: 1} if path.is_file() else {}
    if path.parent.is_dir():
        pattern = re.compile(rf"{re.escape(path.name)}\.\d+-of-(\d+)")
        found |= {
            other.name: int(match[1])
            for other in path.parent.iterdir()
            if (match := pattern.fullmatch(other.name))
        }
    others = sorted(name for name, processes in found.items() if processes != size)
    if others:
        raise CheckpointError(
            f"{path} was begun by another number of processes, now there are {size} ({', '.join(others[:4])} in {path.parent}). "
            "Start as many as then, remove these files to begin anew, or name another checkpoint."
        )
    return path if size == 1 else path.with_name(f"{path.name}.{rank}-of-{size}")


def _settle(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk before anything else is done."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _checksum(tensors: dict[str, Tensor], about: dict[str, str]) -> str:
    """SHA-256 of all that is stored: names, shapes and contents, and what is said about them."""
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for name in sorted(tensors):
        digest.update(f"{name} {tuple(tensors[name].shape)} {tensors[name].dtype}".encode())
        digest.update(tensors[name].contiguous().numpy().tobytes())
    return digest.hexdigest()
