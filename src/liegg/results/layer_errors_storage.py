"""Layer errors on disk: one JSON file, listed in the manifest of its folder."""

import json
import math
from dataclasses import fields
from pathlib import Path
from typing import Any

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import remark_from_dict, stored_remark
from liegg._utils.file_set import Manifest, read_manifest, write_files
from liegg.actions import Action, action_from_settings
from liegg.results import storage
from liegg.results.layer_errors import LayerError, LayerErrors

ERRORS_FORMAT = 1
"""Version of the layout of stored layer errors."""

ERRORS_FILE, ERRORS_PAGE = "layer-errors.json", "layer-errors.html"
"""What is stored, and the page beside it."""


@checked()
def save_layer_errors(result: LayerErrors, folder: str | Path) -> Path:
    """Write layer errors as `layer-errors.json`, listed in `manifest.json`.

    Args:
        result: the result of `layer_errors`.
        folder: created if needed. Layer errors that it holds are replaced; what else a run folder holds stays, and so do
            all other files.

    Returns:
        The folder.

    Raises:
        RecordError: the folder cannot be written to, or holds other things under this name.
    """
    listed = read_manifest(Path(folder)) if Path(folder).is_dir() else None
    record = {
        "format": ERRORS_FORMAT,
        **result.to_dict(),
        "notes": [stored_remark(note) for note in result.notes],
    }
    files = {ERRORS_FILE: storage.json_bytes(record)}
    return write_files(folder, files, keep=(listed or Manifest()).files)


@checked()
def load_layer_errors(folder: str | Path, *, action: Action | None = None) -> LayerErrors:
    """Read what `LayerErrors.save` wrote; nothing is computed.

    Args:
        folder: the folder.
        action: the action of errors for one of your own, which cannot be made from its settings.

    Raises:
        RecordError: the file is missing, damaged, changed since, or of another format.
    """
    folder = Path(folder)
    with storage.damage_named(folder, "a folder of stored layer errors", "errors.save(...)"):
        record = json.loads(storage.read_stored(folder, [ERRORS_FILE])[ERRORS_FILE])
        storage.check_format(folder, record["format"], ERRORS_FORMAT, ())
        return LayerErrors(
            motion=record["motion"],
            size=record["size"],
            unit=record["unit"],
            model=record["model"],
            action=action or action_from_settings(record["action"]),
            samples=record["samples"],
            output=_number(record["output"]),
            floor=record["floor"],
            layers=tuple(map(_layer, record["layers"])),
            notes=tuple(map(remark_from_dict, record["notes"])),
        )


def _layer(record: dict[str, Any]) -> LayerError:
    """One layer; null is a number that JSON does not have."""
    values: dict[str, Any] = {field.name: record[field.name] for field in fields(LayerError)}
    numbers = {field.name for field in fields(LayerError) if field.type in (float, "float")}
    values |= {name: _number(values[name]) for name in numbers}
    values["shape"] = tuple(values["shape"])
    return LayerError(**values)


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def has_layer_errors(folder: Path) -> bool:
    """Whether a folder holds stored layer errors."""
    return storage.holds(folder, ERRORS_FILE)
