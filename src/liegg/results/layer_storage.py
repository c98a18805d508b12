"""Layers on disk: an index beside one stored result for every layer and problem."""

import json
from pathlib import Path
from typing import Any, get_args

from liegg._utils.atomic_write import write_text
from liegg._utils.errors import RecordError
from liegg.actions import action_from_settings
from liegg.results import storage
from liegg.results.layers import LayerResult, LayerSymmetries, Problem
from liegg.results.symmetries import Symmetries

FORMAT = 1
"""Version of the layout of a stored index."""

INDEX = "layers.json"
"""File that names the layers and where their results lie."""


def save_layers(found: LayerSymmetries, folder: str | Path) -> Path:
    """Write the results of all layers into a folder as `layers.json` and folders such as `000/invariance`.

    The index is removed first and written last: where there is one, all that it names is whole. A result that several layers share
    is written once.

    Args:
        found: the result of `discover_layers`.
        folder: made if needed; an earlier result in it is replaced.

    Returns:
        The folder.

    Raises:
        RecordError: the path exists and is no folder, or cannot be made.
    """
    folder = storage.made(folder)
    (folder / INDEX).unlink(missing_ok=True)
    places: dict[int, str] = {}
    layers = [_stored(layer, number, folder, places) for number, layer in enumerate(found)]
    index = {
        "format": FORMAT,
        "model": found.model,
        "samples": found.samples,
        "action": found.action.settings(),
        "output_action": None if found.output_action is None else found.output_action.settings(),
        "notes": list(found.notes),
        "layers": layers,
    }
    write_text(json.dumps(index, indent=1, allow_nan=False) + "\n", folder / INDEX)
    return folder


def _stored(
    layer: LayerResult, number: int, folder: Path, places: dict[int, str]
) -> dict[str, Any]:
    """Save what a layer does not share with one before it, and say where all of it lies; names of layers name no files."""
    entry: dict[str, Any] = {
        "name": layer.name,
        "kind": layer.kind,
        "shape": list(layer.shape),
        "same": layer.same,
        "notes": list(layer.notes),
    }
    for problem in get_args(Problem):
        sym = layer.problem(problem)
        if sym is not None and id(sym) not in places:
            places[id(sym)] = f"{number:03d}/{problem}"
            storage.save(sym, folder / places[id(sym)])
        entry[problem] = None if sym is None else places[id(sym)]
    return entry


def load_layers(folder: str | Path) -> LayerSymmetries:
    """Read back what `LayerSymmetries.save` wrote; arrays come back bit for bit, and what was shared is shared.

    Args:
        folder: the folder that was saved into.

    Raises:
        RecordError: a file is missing, damaged, or of another format.
    """
    folder = Path(folder)
    try:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        if index["format"] != FORMAT:
            raise RecordError(
                f"{folder} holds layers of format {index['format']}; this version reads format {FORMAT}."
            )
        return _assemble(index, folder)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise RecordError(
            f"{folder} holds no stored layers: {INDEX} is missing. Make it with found.save(...)."
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, RecordError):
            raise
        raise RecordError(
            f"{folder} is damaged ({type(error).__name__}: {error}). Run the analysis again."
        ) from error


def _assemble(index: dict[str, Any], folder: Path) -> LayerSymmetries:
    read: dict[str, Symmetries] = {}

    def problem(place: Any) -> Symmetries | None:
        if place is None:
            return None
        if place not in read:
            read[place] = storage.load(folder / place)
        return read[place]

    layers = []
    for entry in index["layers"]:
        own = {name: problem(entry[name]) for name in get_args(Problem)}
        if own["invariance"] is None or own["unit"] is None:
            raise KeyError("invariance" if own["invariance"] is None else "unit")
        layers.append(
            LayerResult(
                entry["name"],
                entry["kind"],
                tuple(entry["shape"]),
                own["invariance"],
                own["unit"],
                own["equivariance"],
                entry["same"],
                tuple(entry["notes"]),
            )
        )
    output = index["output_action"]
    return LayerSymmetries(
        tuple(layers),
        index["model"],
        action_from_settings(index["action"]),
        None if output is None else action_from_settings(output),
        index["samples"],
        tuple(index["notes"]),
    )
