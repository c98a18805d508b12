"""Where a stored result comes from, and how it reaches the disk whole or not at all."""

import datetime
import json
import platform
from pathlib import Path
from typing import Any

import numpy as np
import torch

from liegg._version import __version__


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
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    temporary.write_text(json.dumps(value, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    temporary.replace(path)
    return path
