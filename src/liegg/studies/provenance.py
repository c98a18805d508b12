"""Where a stored result comes from, and how it reaches the disk whole or not at all."""

import datetime
import json
import platform
from pathlib import Path
from typing import Any

import numpy as np
import torch

from liegg._utils.atomic_write import write_text
from liegg._utils.errors import ResultsError
from liegg._utils.version import __version__

FORMAT = 2
"""Layout of the stored results of the studies; raised whenever a reader of older ones would misunderstand newer ones."""


def provenance(command: str, *, seconds: float, device: str = "cpu") -> dict[str, Any]:
    """Command, versions, machine type, time: what a reader needs to run it again.

    Args:
        command: what was typed.
        seconds: wall-clock time of the run.
        device: where the networks ran.
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


def write_json(value: dict[str, Any], path: str | Path) -> Path:
    """Write JSON under another name and rename it into place, so that no half-written result can be mistaken for one."""
    return write_text(json.dumps(value, indent=1, allow_nan=False) + "\n", path)


def read_results(folder: str | Path, study: str) -> dict[str, Any] | None:
    """Stored results of a study, or None if the folder has none.

    Args:
        folder: where `liegg reproduce` stored them.
        study: name of the study, such as `"o5"`.

    Raises:
        ResultsError: the file is damaged, holds another study, or was written in another format than this version's.
    """
    path = Path(folder) / f"{study}.json"
    if not path.is_file():
        return None
    again = f"Run `liegg reproduce {study} --out {folder}` again, or remove the file."
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ResultsError(f"{path} is no JSON: {error}. {again}") from error
    if not isinstance(results, dict) or results.get("study") != study:
        raise ResultsError(f"{path} does not hold results of the study {study!r}. {again}")
    if results.get("format") != FORMAT:
        version = (
            results.get("provenance", {}).get("versions", {}).get("liegg", "of an unknown version")
        )
        raise ResultsError(
            f"{path} was written by liegg {version} in format {results.get('format', 1)}; this is liegg {__version__}, which reads "
            f"format {FORMAT}. {again}"
        )
    return results
