"""Groups of finite symmetries on disk, and as JSON values."""

import math
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import torch
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Remark, remark_from_dict, stored_remark
from liegg.actions import Action
from liegg.algebra.finite.group import FiniteGroup
from liegg.algebra.finite.slots import SlotGroup
from liegg.results import storage
from liegg.results.group_symmetries import Angle, GroupElement, GroupSymmetries
from liegg.results.json_values import PLAIN, from_json, json_values
from liegg.results.record import from_record, to_record
from liegg.results.symmetries import Symmetries

FORMAT = 1
"""Version of the layout of a stored group."""

GROUP_FILES = ("group.json", "group.safetensors")
"""What a stored group consists of; the arrays are those of its continuous part."""

LISTS = ("elements", "permutations", "infinite", "rejected")
"""Fields that hold elements."""

TEXTS = ("words", "source", "grade", "reason")
"""Fields of an element that are text; other text stands for a number that is not finite."""


def as_dict(found: GroupSymmetries) -> dict[str, Any]:
    """Everything as JSON values; NaN and infinities become null. Of the continuous part, its own values."""
    continuous = None if found.continuous is None else found.continuous.to_dict()
    return json_values(_encoded(found) | {"order": found.order, "continuous": continuous})


def _encoded(record: GroupSymmetries | GroupElement | Angle) -> dict[str, Any]:
    """Fields of a record but the continuous part, as JSON values that come back exactly."""
    return {name: _value(value) for name, value in vars(record).items() if name != "continuous"}


def _value(value: Any) -> Any:
    if isinstance(value, Remark):
        return stored_remark(value)
    if isinstance(value, GroupElement | Angle):
        return _encoded(value)
    if isinstance(value, FiniteGroup | SlotGroup):
        return value.to_dict()
    if isinstance(value, Tensor):
        return value.tolist()
    if isinstance(value, tuple):
        return [_value(entry) for entry in value]
    # JSON has no NaN and no infinities.
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def group_files(found: GroupSymmetries) -> dict[str, bytes]:
    """The files of a stored group."""
    record, arrays = (None, {}) if found.continuous is None else to_record(found.continuous)
    stored = {"format": FORMAT, **_encoded(found), "continuous": record}
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
    return storage.add_files(folder, group_files(found))


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
        return _decoded_group(record, own)


def _decoded_group(record: dict[str, Any], continuous: Symmetries | None) -> GroupSymmetries:
    """Read what `_encoded` wrote; other keys are left out."""
    record = {"infinite": []} | record  # which older files do not have
    values: dict[str, Any] = {
        **{
            name: from_json(kind, record[name])
            if kind in PLAIN and kind is not float
            else record[name]
            for name, kind in get_type_hints(GroupSymmetries).items()
            if name in record
        },
        **{name: tuple(_decoded(GroupElement, one) for one in record[name]) for name in LISTS},
        "angles": tuple(_decoded(Angle, angle) for angle in record["angles"]),
        "group": record["group"] and FiniteGroup.from_dict(record["group"]),
        "slots": record["slots"] and SlotGroup.from_dict(record["slots"]),
        "shifts": tuple(record["shifts"]),
        "kept_rotations": record["kept_rotations"] and tuple(record["kept_rotations"]),
        "continuous": continuous,
        "samples": from_json(tuple[int, int], record["samples"]),
        "floor": float(record["floor"]),
        "spread": float(record["spread"]),
        "notes": tuple(map(remark_from_dict, record["notes"])),
    }
    return GroupSymmetries(**values)


def _decoded(kind: type[Any], record: dict[str, Any]) -> Any:
    """An element or an angle; other keys are left out."""
    names = {field.name for field in fields(kind)} & record.keys()
    return kind(**{name: _field(name, record[name]) for name in names})


def _field(name: str, value: Any) -> Any:
    """A field with matrices, tuples, and numbers that were written as text."""
    if name.endswith("matrices"):
        return tuple(torch.tensor(one, dtype=torch.float64) for one in value)
    if isinstance(value, list):
        return tuple(value) if name.endswith("kinds") else tuple(map(float, value))
    return float(value) if isinstance(value, str) and name not in TEXTS else value
