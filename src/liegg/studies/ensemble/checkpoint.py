"""The state of a training on disk: written whole or not at all, and refused if it is damaged."""

import time
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from liegg._utils.errors import ResultsError
from liegg.studies.ensemble.problems import checksum

SECONDS = 30.0
"""Time between two states that are kept: what is lost at most when a run is killed."""


class Checkpoint:
    """State of one training in a file.

    Args:
        path: the file, `*.safetensors`.
        seconds: time between two states that are kept.
    """

    def __init__(self, path: Path, seconds: float = SECONDS) -> None:
        self._path, self._seconds, self._last = path, seconds, time.monotonic()

    def due(self) -> bool:
        """Whether the last state is old enough."""
        return time.monotonic() - self._last >= self._seconds

    def save(self, state: dict[str, Tensor]) -> None:
        """Write the state under another name and rename it into place."""
        state = {name: value.detach().cpu().contiguous() for name, value in state.items()}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path.with_suffix(".part")
        save_file(state, part, metadata={"checksum": str(_checksum(state))})
        part.replace(self._path)
        self._last = time.monotonic()

    def load(self) -> dict[str, Tensor] | None:
        """State that was kept; None if there is none.

        Raises:
            ResultsError: the file is damaged.
        """
        if not self._path.is_file():
            return None
        try:
            with safe_open(self._path, "pt") as file:
                state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                stated = (file.metadata() or {}).get("checksum")
        except (SafetensorError, OSError) as error:
            raise ResultsError(
                f"{self._path} is damaged: {error}. Remove it to train these networks anew."
            ) from error
        if stated != str(_checksum(state)):
            raise ResultsError(
                f"{self._path} is damaged: its checksum does not fit. Remove it to train these networks anew."
            )
        return state

    def remove(self) -> None:
        """Remove the file, if there is one."""
        self._path.unlink(missing_ok=True)


def _checksum(state: dict[str, Tensor]) -> int:
    return checksum(
        [state[name] if state[name].ndim else state[name].reshape(1) for name in sorted(state)]
    )
