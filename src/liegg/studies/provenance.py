"""Stored results of the studies: where they come from, how they are written and read."""

import datetime
import json
import platform
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import torch

from liegg._utils.atomic_write import write_text
from liegg._utils.errors import ResultsError
from liegg._utils.version import __version__

STUDY_FORMAT = 2
"""Layout of the stored results; raised whenever older readers would misunderstand newer files."""


def provenance(command: str, *, seconds: float, device: str = "cpu") -> dict[str, Any]:
    """Command, versions, machine type and time: what a reader needs to run it again.

    Args:
        command: the command.
        seconds: wall-clock time of the run.
        device: device of the networks.
    """
    return {
        "command": command,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "seconds": round(seconds, 1),
        "device": device,
        "threads": torch.get_num_threads(),
        "machine": platform.machine(),
        "versions": {
            "liegg": __version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
            "numpy": np.__version__,
        },
    }


def rounded(value: Any, digits: int) -> Any:
    """The numbers of a JSON value, rounded for storage; None for those that are not finite.

    >>> rounded({"values": [1 / 3, 7, float("inf")]}, 4)
    {'values': [0.3333, 7, None]}
    """
    if isinstance(value, dict):
        return {key: rounded(item, digits) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item, digits) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if isfinite(value) else None
    return value


def write_json(value: dict[str, Any], path: str | Path) -> Path:
    """Write JSON atomically; a crash leaves the previous file intact."""
    return write_text(json.dumps(value, indent=1, allow_nan=False) + "\n", path)


def read_json(path: Path, remedy: str) -> dict[str, Any]:
    """Read a JSON file that holds an object.

    Args:
        path: the file.
        remedy: how to get a sound file, for the error message.

    Raises:
        ResultsError: the file is damaged.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ResultsError(f"{path} is damaged: {error}. {remedy}") from error
    if not isinstance(value, dict):
        raise ResultsError(f"{path} is damaged: it does not hold a JSON object. {remedy}")
    return value


def read_results(
    folder: str | Path, study: str, *, command: str | None = None
) -> dict[str, Any] | None:
    """Stored results of a study, or None if the folder has none.

    Args:
        folder: where `liegg reproduce` stored them.
        study: name of the study, such as `"o5"`.
        command: the command that writes them; by default `liegg reproduce`. Results of another
            command carry no format.

    Raises:
        ResultsError: the file is damaged, holds another study, or has another format.
    """
    path = Path(folder) / f"{study}.json"
    if not path.is_file():
        return None
    again = command or f"liegg reproduce {study} --out {folder}"
    remedy = f"Run `{again}` again, or remove the file."
    results = read_json(path, remedy)
    if results.get("study") != study:
        raise ResultsError(f"{path} does not hold results of the study {study!r}. {remedy}")
    if command is None and results.get("format") != STUDY_FORMAT:
        version = (
            results.get("provenance", {}).get("versions", {}).get("liegg", "(unknown version)")
        )
        raise ResultsError(
            f"{path} was written by liegg {version} in format {results.get('format', 1)}; "
            f"liegg {__version__} reads format {STUDY_FORMAT}. {remedy}"
        )
    return results
