"""Layers on disk: one index, and the arrays of every layer and problem. Layer errors: one JSON file."""

import json
from pathlib import Path
from typing import Any, NamedTuple, get_args

from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import stored_remark
from liegg._utils.errors import RecordError
from liegg._utils.file_set import is_plain
from liegg.actions import Action, action_from_settings
from liegg.results import storage
from liegg.results.json_values import from_json
from liegg.results.layer_errors import LayerErrors
from liegg.results.layers import LayerSymmetries, Problem
from liegg.results.record import from_record, to_record
from liegg.results.symmetries import Symmetries

LAYERS_FORMAT = 3
"""Version of the layout of stored layers."""

OLDER_LAYER_FORMATS = (1, 2)
"""Versions that can be read; they keep every result in a folder of its own, and in version 1 notes are plain text."""

LAYER_FILES = ("layers.json", "layers.safetensors")
"""What stored layers consist of."""

ERRORS_FORMAT = 1
"""Version of the layout of stored layer errors."""

ERRORS_FILE, ERRORS_PAGE = "layer-errors.json", "layer-errors.html"
"""What stored layer errors consist of, and the page beside them."""


@checked()
def save_layers(result: LayerSymmetries, folder: str | Path) -> Path:
    """Write the results of all layers as `layers.json` and `layers.safetensors`, listed in `manifest.json`.

    Args:
        result: the result of `discover_layers`.
        folder: created if needed. Layers that it holds are replaced, as a whole; what else a run folder holds stays, and so do
            all other files.

    Returns:
        The folder.

    Raises:
        RecordError: the folder cannot be written to, or holds other things under these names.
    """
    return storage.add_files(folder, layer_files(result))


def layer_files(result: LayerSymmetries) -> dict[str, bytes]:
    """The files of stored layers; a result that several layers share is written once."""
    records: list[dict[str, Any]] = []
    arrays: dict[str, Tensor] = {}
    places: dict[int, int] = {}

    def place_of(sym: Symmetries | None) -> int | None:
        if sym is None:
            return None
        if id(sym) not in places:
            places[id(sym)] = len(records)
            record, own = to_record(sym)
            arrays.update({f"{len(records)}.{name}": array for name, array in own.items()})
            records.append(record)
        return places[id(sym)]

    layers = [
        {
            "name": layer.name,
            "kind": layer.kind,
            "shape": list(layer.shape),
            "same": layer.same,
            "notes": [stored_remark(note) for note in layer.notes],
            **{problem: place_of(layer.problem(problem)) for problem in get_args(Problem)},
        }
        for layer in result
    ]
    index = {
        "format": LAYERS_FORMAT,
        "model": result.model,
        "samples": result.samples,
        "action": result.action.settings(),
        "output_action": None if result.output_action is None else result.output_action.settings(),
        "notes": [stored_remark(note) for note in result.notes],
        "layers": layers,
        "results": records,
    }
    return storage.pair_of_files(LAYER_FILES, index, arrays)


@checked()
def load_layers(
    folder: str | Path, *, action: Action | None = None, output_action: Action | None = None
) -> LayerSymmetries:
    """Read what `LayerSymmetries.save` wrote, or the layers of a run folder; arrays are restored bit for bit.

    Args:
        folder: the folder.
        action: the candidate generators of layers analysed with an action of your own, which cannot be made from its settings.
        output_action: the same for the action on the outputs.

    Raises:
        RecordError: a file is missing, damaged, changed since, or of another format, or the action does not fit.
    """
    folder = Path(folder)
    given = _Given(action, output_action)
    with storage.damage_named(folder, "a folder of stored layers", "result.save(...)"):
        index = json.loads(storage.read_stored(folder, LAYER_FILES[:1])[LAYER_FILES[0]])
        storage.check_format(folder, index["format"], LAYERS_FORMAT, OLDER_LAYER_FORMATS)
        if index["format"] in OLDER_LAYER_FORMATS:
            return _assemble(index, _results_in_folders(index, folder, given), given)
        index, arrays = storage.read_pair(folder, LAYER_FILES)
        parts: list[dict[str, Tensor]] = [{} for _ in index["results"]]
        for name, array in arrays.items():
            number, _, own = name.partition(".")
            parts[int(number)][own] = array
        records = zip(index["results"], parts, strict=True)
        results = (
            from_record(*one, action=action, output_action=given.for_record(one[0]))
            for one in records
        )
        return _assemble(index, dict(enumerate(results)), given)


class _Given(NamedTuple):
    """Actions of the caller; None for those that are made from their settings."""

    action: Action | None
    output_action: Action | None

    def for_record(self, record: dict[str, Any]) -> Action | None:
        """The action on the outputs, if the record is about equivariance."""
        return None if record["output_action"] is None else self.output_action


def _results_in_folders(
    index: dict[str, Any], folder: Path, given: _Given
) -> dict[Any, Symmetries]:
    """The results of an earlier version, by names such as `000/invariance`; never from outside the folder."""
    places = {entry[problem] for entry in index["layers"] for problem in get_args(Problem)}
    results = {}
    for place in places - {None}:
        path = folder
        for part in place.split("/"):
            path = path / part
            if not is_plain(part) or path.is_symlink():
                raise RecordError(
                    f"{folder / LAYER_FILES[0]} points outside its folder: {place!r}."
                )
        results[place] = storage.load(path, **given._asdict())
    return results


def _assemble(
    index: dict[str, Any], results: dict[Any, Symmetries], given: _Given
) -> LayerSymmetries:
    """The layers with their results; what the index holds beside them are plain values."""
    layers = [
        entry
        | {
            problem: results[entry[problem]]
            for problem in get_args(Problem)
            if problem != "equivariance" or entry[problem] is not None
        }
        for entry in index["layers"]
    ]
    output = index["output_action"]
    if output is not None:
        output = given.output_action or action_from_settings(output)
    action = given.action or action_from_settings(index["action"])
    own = {"layers": layers, "action": action, "output_action": output}
    return from_json(LayerSymmetries, index | own)


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
    return storage.add_files(folder, error_files(result))


def error_files(result: LayerErrors) -> dict[str, bytes]:
    """The file of stored layer errors."""
    notes = [stored_remark(note) for note in result.notes]
    record = {"format": ERRORS_FORMAT, **result.to_dict(), "notes": notes}
    return {ERRORS_FILE: storage.json_bytes(record)}


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
        action = action or action_from_settings(record["action"])
        return from_json(LayerErrors, record | {"action": action})
