"""Long passes survive: what is kept is written down every so often, and a pass that was killed goes on from there."""

import hashlib
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from liegg._errors import CheckpointError
from liegg.shares import difference
from liegg.tally import Tally, from_tensors, to_tensors

EVERY = 30.0
"""Seconds between two checkpoints, at least."""

FORMAT = "1"
"""Version of the layout of a checkpoint."""


@dataclass(eq=False)
class Checkpoint:
    """One file that holds what is kept of the samples so far, and how far that is.

    Attributes:
        path: the file.
        mark: what the pass is about (`liegg.shares.fingerprint`); the file of another is refused.
        every: seconds between two writings, at least.
    """

    path: Path
    mark: dict[str, Any]
    every: float = EVERY
    _last: float = field(default_factory=time.monotonic)

    def load(self, empty: Tally) -> tuple[Tally, int] | None:
        """What was kept, and the number of the next sample; None if there is no file.

        Args:
            empty: a record of no samples of this analysis.

        Raises:
            CheckpointError: the file is damaged, or of another analysis.
        """
        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                about = file.metadata() or {}
                kept = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
            if about.get("format") != FORMAT:
                raise CheckpointError(f"{self.path} is a checkpoint of format {about.get('format')}; this version reads {FORMAT}.")
            if about["checksum"] != _checksum(kept):
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
        """Write what is kept, if the last time is long enough ago."""
        if time.monotonic() - self._last >= self.every:
            self.save(kept, position)

    def save(self, kept: Tally, position: int) -> None:
        """Write what is kept; the file is whole, or the one before."""
        tensors = to_tensors(kept)
        about = {"format": FORMAT, "position": str(position), "mark": json.dumps(self.mark), "checksum": _checksum(tensors)}
        part = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            save_file(tensors, part, metadata=about)
            with part.open("rb") as file:
                os.fsync(file.fileno())
            part.replace(self.path)
        except OSError as error:
            raise CheckpointError(f"the checkpoint {self.path} cannot be written: {error}. Name another place.") from error
        finally:
            if part.exists():
                part.unlink()
        self._last = time.monotonic()


def _checksum(tensors: dict[str, Tensor]) -> str:
    """SHA-256 of names, shapes and contents."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name} {tuple(tensors[name].shape)} {tensors[name].dtype}".encode())
        digest.update(tensors[name].contiguous().numpy().tobytes())
    return digest.hexdigest()
