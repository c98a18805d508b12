"""Checkpoints of a training: written atomically, refused if damaged."""

import time
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from liegg._utils.atomic_write import atomic_path
from liegg._utils.checks import checksum
from liegg._utils.errors import ResultsError

INTERVAL = 30.0
"""Seconds between two checkpoints: the most that is lost when a run is killed."""


class Checkpoint:
    """State of one training in a file.

    Args:
        path: the file, `*.safetensors`.
        seconds: time between two checkpoints.
    """

    def __init__(self, path: Path, seconds: float = INTERVAL) -> None:
        self._path, self._seconds, self._last = path, seconds, time.monotonic()

    def due(self) -> bool:
        """Whether it is time for the next checkpoint."""
        return time.monotonic() - self._last >= self._seconds

    def save(self, state: dict[str, Tensor]) -> None:
        """Write the state atomically; a crash leaves the previous checkpoint intact."""
        state = {name: value.detach().cpu().contiguous() for name, value in state.items()}
        with atomic_path(self._path) as part:
            save_file(state, part, metadata={"checksum": _checksum(state)})
        self._last = time.monotonic()

    def load(self) -> dict[str, Tensor] | None:
        """The stored state on the CPU; None if there is none.

        Raises:
            ResultsError: the file is damaged.
        """
        if not self._path.is_file():
            return None
        try:
            with safe_open(self._path, "pt") as file:
                state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                if (file.metadata() or {}).get("checksum") != _checksum(state):
                    raise ValueError("its checksum is wrong")
        except (SafetensorError, OSError, ValueError) as error:
            raise ResultsError(
                f"{self._path} is damaged: {error}. Remove it to train these networks again."
            ) from error
        return state

    def remove(self) -> None:
        """Remove the file, if there is one."""
        self._path.unlink(missing_ok=True)


def _checksum(state: dict[str, Tensor]) -> str:
    return checksum(*(state[name] for name in sorted(state)))
