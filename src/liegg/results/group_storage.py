"""Groups of finite symmetries on disk, and as JSON values."""

import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import remark_from_dict, stored_remark
from liegg._utils.file_set import Manifest, read_manifest, write_files
from liegg.actions import Action
from liegg.algebra.finite.group import FiniteGroup
from liegg.algebra.finite.slots import SlotGroup
from liegg.results import storage
from liegg.results.group_symmetries import Angle, GroupElement, GroupSymmetries
from liegg.results.json_values import json_values
from liegg.results.record import from_record, to_record

FORMAT = 1
"""Version of the layout of a stored group."""

GROUP_FILES = ("group.json", "group.safetensors")
"""What a stored group consists of; the arrays are those of its continuous part."""

LISTS = ("elements", "permutations", "rejected")
"""Fields that hold elements."""


def as_dict(found: GroupSymmetries) -> dict[str, Any]:
    """Everything as JSON values; NaN and infinities become null. Of the continuous part, its own values."""
    continuous = None if found.continuous is None else found.continuous.to_dict()
    return json_values(_plain(found) | {"order": found.order, "continuous": continuous})


def _plain(found: GroupSymmetries) -> dict[str, Any]:
    """All fields but the continuous part, as they are stored."""
    return {
        **{name: [_element(one) for one in getattr(found, name)] for name in LISTS},
        "group": None if found.group is None else found.group.to_dict(),
        "slots": None if found.slots is None else found.slots.to_dict(),
        "shifts": list(found.shifts),
        "angles": [_encoded(vars(angle)) for angle in found.angles],
        "kept_rotations": None if found.kept_rotations is None else list(found.kept_rotations),
        "name": found.name,
        "sentence": str(found.sentence),
        "tried": dict(found.tried),
        "judged": found.judged,
        "samples": list(found.samples),
        "floor": _number(found.floor),
        "spread": _number(found.spread),
        "notes": [stored_remark(note) for note in found.notes],
        "settings": found.settings,
        "model": found.model,
    }


def _element(element: GroupElement) -> dict[str, Any]:
    return _encoded(vars(element))


def _encoded(values: dict[str, Any]) -> dict[str, Any]:
    """Fields of a record as JSON values that come back exactly."""
    return {name: _value(value) for name, value in values.items()}


def _value(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.tolist()
    if isinstance(value, tuple):
        return [_value(entry) for entry in value]
    return _number(value) if isinstance(value, float) else value


def _number(value: float) -> float | str:
    """A number; NaN and infinities as text, which JSON has no numbers for."""
    return value if math.isfinite(value) else str(value)


def group_files(found: GroupSymmetries) -> dict[str, bytes]:
    """The files of a stored group."""
    record, arrays = (None, {}) if found.continuous is None else to_record(found.continuous)
    stored = {"format": FORMAT, **_plain(found), "continuous": record}
    # A file of safetensors holds at least one array.
    arrays = arrays or {"none": torch.zeros(1)}
    return storage.pair_of_files(GROUP_FILES, stored, arrays)


@checked()
def save_group(found: GroupSymmetries, folder: str | Path) -> Path:
    """Write a group as `group.json` and `group.safetensors`, listed in `manifest.json`.

    Args:
        found: the result of `discover_group`.
        folder: created if needed. A group that it holds is replaced; what else a run folder holds stays, and so do all
            other files.

    Returns:
        The folder.

    Raises:
        RecordError: the folder cannot be written to, or holds other things under these names.
    """
    listed = read_manifest(Path(folder)) if Path(folder).is_dir() else None
    return write_files(folder, group_files(found), keep=(listed or Manifest()).files)


@checked()
def load_group(
    folder: str | Path, *, action: Action | None = None, output_action: Action | None = None
) -> GroupSymmetries:
    """Read what `GroupSymmetries.save` wrote, or the group of a run folder.

    Args:
        folder: the folder.
        action: the candidate generators, for an action of your own.
        output_action: the same for the action on the outputs.

    Raises:
        RecordError: a file is missing, damaged, changed since, or of another format.
    """
    folder = Path(folder)
    with storage.damage_named(folder, "a folder with a stored group", "found.save(...)"):
        record, arrays = storage.read_pair(folder, GROUP_FILES)
        storage.check_format(folder, record["format"], FORMAT, ())
        stored = record.pop("continuous")
        own = None
        if stored is not None:
            output_action = None if stored["output_action"] is None else output_action
            own = from_record(stored, arrays, action=action, output_action=output_action)
        return _from_plain(record, own)


def _from_plain(record: dict[str, Any], continuous: Any) -> GroupSymmetries:
    group, slots, kept = (record[key] for key in ("group", "slots", "kept_rotations"))
    return GroupSymmetries(
        **{name: tuple(map(_decoded_element, record[name])) for name in LISTS},
        group=None if group is None else FiniteGroup.from_dict(group),
        slots=None if slots is None else SlotGroup.from_dict(slots),
        shifts=tuple(record["shifts"]),
        angles=tuple(Angle(**_decoded(angle)) for angle in record["angles"]),
        kept_rotations=None if kept is None else (kept[0], kept[1]),
        continuous=continuous,
        notes=tuple(map(remark_from_dict, record["notes"])),
        samples=tuple(record["samples"]),
        floor=float(record["floor"]),
        spread=float(record["spread"]),
        **{
            name: record[name]
            for name in ("name", "sentence", "tried", "judged", "settings", "model")
        },
    )


def _decoded(values: dict[str, Any]) -> dict[str, Any]:
    """Numbers that were written as text, and pairs."""
    return {
        name: tuple(map(float, value))
        if isinstance(value, list)
        else float(value)
        if isinstance(value, str)
        else value
        for name, value in values.items()
    }


def _decoded_element(values: dict[str, Any]) -> GroupElement:
    known = {field.name for field in fields(GroupElement)}
    texts = ("words", "source", "grade", "reason")
    decoded: dict[str, Any] = {}
    for name, value in values.items():
        if name not in known:
            continue
        if name in ("matrices", "output_matrices"):
            decoded[name] = tuple(torch.tensor(one, dtype=torch.float64) for one in value)
        elif name in ("kinds", "output_kinds"):
            decoded[name] = tuple(value)
        elif name == "interval":
            decoded[name] = tuple(map(float, value))
        elif isinstance(value, str) and name not in texts:
            decoded[name] = float(value)
        else:
            decoded[name] = value
    return GroupElement(**decoded)
