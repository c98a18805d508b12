"""Layers on disk: one index, and the arrays of every layer and problem."""

import json
from pathlib import Path
from typing import Any, NamedTuple, get_args

from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import remark_from_dict, stored_remark
from liegg._utils.errors import RecordError
from liegg._utils.file_set import Manifest, is_plain, read_manifest, write_files
from liegg.actions import Action, action_from_settings
from liegg.results import storage
from liegg.results.layers import LayerResult, LayerSymmetries, Problem
from liegg.results.record import from_record, to_record
from liegg.results.symmetries import Symmetries

LAYERS_FORMAT = 3
"""Version of the layout of stored layers."""

OLDER_FORMATS = (1, 2)
"""Versions that can be read; they keep every result in a folder of its own, and in version 1 notes are plain text."""

LAYER_FILES = ("layers.json", "layers.safetensors")
"""What stored layers consist of."""


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
    listed = read_manifest(Path(folder)) if Path(folder).is_dir() else None
    return write_files(folder, layer_files(result), keep=(listed or Manifest()).files)


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
        storage.check_format(folder, index["format"], LAYERS_FORMAT, OLDER_FORMATS)
        if index["format"] in OLDER_FORMATS:
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


def has_layers(folder: Path) -> bool:
    """Whether a folder holds stored layers."""
    return storage.holds(folder, LAYER_FILES[0])


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
    output = None
    if index["output_action"] is not None:
        output = given.output_action or action_from_settings(index["output_action"])
    return LayerSymmetries(
        tuple(
            LayerResult(
                name=entry["name"],
                kind=entry["kind"],
                shape=tuple(entry["shape"]),
                invariance=results[entry["invariance"]],
                unit=results[entry["unit"]],
                equivariance=None
                if entry["equivariance"] is None
                else results[entry["equivariance"]],
                same=entry["same"],
                notes=tuple(map(remark_from_dict, entry["notes"])),
            )
            for entry in index["layers"]
        ),
        index["model"],
        given.action or action_from_settings(index["action"]),
        output,
        index["samples"],
        tuple(map(remark_from_dict, index["notes"])),
    )
