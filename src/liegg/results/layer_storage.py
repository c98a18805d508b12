"""Layers on disk: an index, and one stored result for every layer and problem."""

import json
from functools import cache
from pathlib import Path
from typing import Any, get_args

from liegg._utils.atomic_write import write_text
from liegg._utils.diagnoses import remark_from_dict, stored_remark
from liegg._utils.errors import RecordError
from liegg.actions import action_from_settings
from liegg.results import storage
from liegg.results.layers import LayerResult, LayerSymmetries, Problem

INDEX_FORMATS = (1, 2)
"""Versions of the layout of a stored index that can be read; the last is written. In version 1 notes are plain text."""

INDEX = "layers.json"
"""File that lists the layers and the folders of their results."""


def save_layers(result: LayerSymmetries, folder: str | Path) -> Path:
    """Write the results of all layers as `layers.json` and folders such as `000/invariance`.

    The index is removed first and written last: if it exists, everything it lists is complete. A
    result that several layers share is written once.

    Args:
        result: the result of `discover_layers`.
        folder: created if needed; an earlier result in it is replaced.

    Returns:
        The folder.

    Raises:
        RecordError: the path exists and is not a folder, or cannot be created.
    """
    folder = storage.made(folder)
    (folder / INDEX).unlink(missing_ok=True)
    places: dict[int, str] = {}
    layers = [_stored(layer, number, folder, places) for number, layer in enumerate(result)]
    index = {
        "format": INDEX_FORMATS[-1],
        "model": result.model,
        "samples": result.samples,
        "action": result.action.settings(),
        "output_action": None if result.output_action is None else result.output_action.settings(),
        "notes": [stored_remark(note) for note in result.notes],
        "layers": layers,
    }
    write_text(json.dumps(index, indent=1, allow_nan=False) + "\n", folder / INDEX)
    return folder


def _stored(
    layer: LayerResult, number: int, folder: Path, places: dict[int, str]
) -> dict[str, Any]:
    """Save what a layer does not share with an earlier one; return its entry in the index."""
    entry: dict[str, Any] = {
        "name": layer.name,
        "kind": layer.kind,
        "shape": list(layer.shape),
        "same": layer.same,
        "notes": [stored_remark(note) for note in layer.notes],
    }
    for problem in get_args(Problem):
        sym = layer.problem(problem)
        if sym is not None and id(sym) not in places:
            places[id(sym)] = f"{number:03d}/{problem}"
            storage.save(sym, folder / places[id(sym)])
        entry[problem] = None if sym is None else places[id(sym)]
    return entry


def load_layers(folder: str | Path) -> LayerSymmetries:
    """Read what `LayerSymmetries.save` wrote; arrays are restored bit for bit.

    Args:
        folder: the folder.

    Raises:
        RecordError: a file is missing, damaged, or of another format.
    """
    folder = Path(folder)
    try:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        if index["format"] not in INDEX_FORMATS:
            raise RecordError(
                f"{folder} holds layers of format {index['format']}; this version reads formats 1 "
                f"to {INDEX_FORMATS[-1]}."
            )
        return _assemble(index, folder)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise RecordError(
            f"{folder} holds no stored layers: {INDEX} is missing. Create it with result.save(...)."
        ) from error
    except RecordError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordError(
            f"{folder} is damaged ({type(error).__name__}: {error}). Run the analysis again."
        ) from error


def _assemble(index: dict[str, Any], folder: Path) -> LayerSymmetries:
    result = cache(lambda place: storage.load(folder / place))
    layers = [
        LayerResult(
            name=entry["name"],
            kind=entry["kind"],
            shape=tuple(entry["shape"]),
            invariance=result(entry["invariance"]),
            unit=result(entry["unit"]),
            equivariance=None if entry["equivariance"] is None else result(entry["equivariance"]),
            same=entry["same"],
            notes=tuple(map(remark_from_dict, entry["notes"])),
        )
        for entry in index["layers"]
    ]
    output = index["output_action"]
    return LayerSymmetries(
        tuple(layers),
        index["model"],
        action_from_settings(index["action"]),
        None if output is None else action_from_settings(output),
        index["samples"],
        tuple(map(remark_from_dict, index["notes"])),
    )
