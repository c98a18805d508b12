"""Checkpoints: the state of a long pass is written regularly, and a killed pass resumes from it."""

import json
import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from liegg._utils.atomic_write import atomic_path
from liegg._utils.checks import checksum
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError, CheckpointError
from liegg.polarization.fingerprint import difference
from liegg.polarization.state import PassState, from_tensors, to_tensors

CHECKPOINT_SECONDS = 30.0
"""Least number of seconds between two checkpoints."""

FORMAT = "4"
"""Version of the layout of a checkpoint."""


@dataclass(eq=False)
class Checkpoint:
    """A file with the state of a pass and the position in the data.

    Attributes:
        path: the file.
        fingerprint: identifies the analysis; the file of another one is refused.
        every: least number of seconds between two checkpoints.
    """

    path: Path
    fingerprint: dict[str, Any]
    every: float = CHECKPOINT_SECONDS
    _last: float = field(default_factory=time.monotonic)
    _interrupted: bool = False

    def load(self, empty: PassState) -> tuple[PassState, int] | None:
        """The stored state and the number of the next sample; None if there is no file.

        Temporary files of killed processes are removed, and a write is tried.

        Args:
            empty: the state of no samples of this analysis.

        Raises:
            CheckpointError: the file is damaged or of another analysis, or the folder is not
                writable.
        """
        self._clean_up()
        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                header = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if header.get("format") != FORMAT:
                raise CheckpointError(
                    f"{self.path} is a checkpoint of format {header.get('format')}; this version "
                    f"reads {FORMAT}. Remove it to start over, or finish it with the version that "
                    "wrote it."
                )
            if header.pop("checksum") != _checksum(tensors, header):
                raise ValueError("its checksum is wrong")
            if other := difference(json.loads(header["fingerprint"]), self.fingerprint):
                raise CheckpointError(
                    f"{self.path} is of another analysis ({other}). Finish that one with its own "
                    "arguments, remove the file to start over, or name another."
                )
            state = from_tensors(tensors, empty)
            return state, int(header["position"])
        except CheckpointError:
            raise
        except (OSError, KeyError, ValueError, TypeError, SafetensorError) as error:
            raise CheckpointError(
                f"{self.path} is damaged ({type(error).__name__}: {error}). Nothing of it was "
                "used. Remove it to start over."
            ) from error

    def save_if_due(self, state: PassState, position: int) -> None:
        """Write the state if the last checkpoint is old enough; after Ctrl-C write it and stop."""
        if self._interrupted or time.monotonic() - self._last >= self.every:
            self.save(state, position)
        if self._interrupted:
            raise KeyboardInterrupt

    def finish(self, state: PassState, position: int) -> tuple[Remark, ...]:
        """Write the state of all samples; a failure is only noted, because there is a result."""
        try:
            self.save(state, position)
        except CheckpointError as error:
            return (Diagnosis.LAST_CHECKPOINT_FAILED(error=str(error)),)
        if self._interrupted:
            raise KeyboardInterrupt
        return ()

    def save(self, state: PassState, position: int) -> None:
        """Write the state atomically; a crash leaves the previous checkpoint intact."""
        tensors = to_tensors(state)
        header = {
            "format": FORMAT,
            "position": str(position),
            "fingerprint": json.dumps(self.fingerprint),
        }
        with self._explain_failure(), atomic_path(self.path) as temporary:
            metadata = header | {"checksum": _checksum(tensors, header)}
            save_file(tensors, temporary, metadata=metadata)
        self._last = time.monotonic()

    @contextmanager
    def defer_interrupt(self) -> Iterator[None]:
        """Let Ctrl-C wait for the next `save_if_due`, so that a pass stops between two batches.

        A second Ctrl-C does not wait. A handler of the caller is left alone.
        """
        in_main = threading.current_thread() is threading.main_thread()
        if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return

        def remember(*_: Any) -> None:
            self._interrupted = True
            signal.signal(signal.SIGINT, signal.default_int_handler)

        signal.signal(signal.SIGINT, remember)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _clean_up(self) -> None:
        """Remove temporary files of killed processes; raise `CheckpointError` if not writable."""
        temporary = re.compile(rf"\.{re.escape(self.path.name)}\.[a-z0-9_]{{8}}\.part")
        with self._explain_failure():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            trial = self.path.with_name(f".{self.path.name}.00000000.part")
            trial.touch()
            for other in self.path.parent.iterdir():
                if temporary.fullmatch(other.name):
                    other.unlink(missing_ok=True)

    @contextmanager
    def _explain_failure(self) -> Iterator[None]:
        """Turn file system errors into `CheckpointError`."""
        try:
            yield
        except (OSError, SafetensorError) as error:
            raise CheckpointError(
                f"the checkpoint {self.path} cannot be written: {error}. Name another place."
            ) from error


def check_path(path: str | Path) -> Path:
    """The checkpoint file that the caller named.

    Raises:
        ArgumentError: it is a folder, or empty.
    """
    if not str(path) or Path(path).is_dir():
        kind = "a folder" if str(path) else "empty"
        raise ArgumentError(
            f"checkpoint={str(path)!r} is {kind}; expected a file, for example "
            "checkpoint='run.checkpoint'."
        )
    return Path(path)


def rank_path(path: Path, rank: int, size: int) -> Path:
    """The checkpoint file of one of several processes.

    Args:
        path: the file that the caller named.
        rank: number of the process.
        size: number of processes.

    Raises:
        CheckpointError: there are files of another number of processes.
    """
    sizes = {path.name: 1} if path.is_file() else {}
    if path.parent.is_dir():
        pattern = re.compile(rf"{re.escape(path.name)}\.\d+-of-(\d+)")
        sizes |= {
            other.name: int(match[1])
            for other in path.parent.iterdir()
            if (match := pattern.fullmatch(other.name))
        }
    others = sorted(name for name, processes in sizes.items() if processes != size)
    if others:
        raise CheckpointError(
            f"{path} was started with another number of processes, now there are {size} "
            f"({', '.join(others[:4])} in {path.parent}). Start as many as then, remove these "
            "files to start over, or name another checkpoint."
        )
    return path if size == 1 else path.with_name(f"{path.name}.{rank}-of-{size}")


def _checksum(tensors: dict[str, Any], header: dict[str, str]) -> str:
    """Checksum of everything that is stored: header, names, shapes and values."""
    entries = [part for name in sorted(tensors) for part in (name, tensors[name])]
    return checksum(json.dumps(header, sort_keys=True), *entries)
