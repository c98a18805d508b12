"""Stored results that are changed on purpose, and whether two results are the same."""

import dataclasses
import hashlib
import json
import math
from pathlib import Path
from typing import Any

import torch

from liegg._utils.diagnoses import Remark
from liegg._utils.file_set import MANIFEST


def accept_changes(folder: Path) -> None:
    """Let the manifest list the files as they are now, as someone would who edits a result on purpose."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    manifest["files"] = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in manifest["files"]
        if (folder / name).exists()
    }
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def assert_identical(one: Any, other: Any, where: str = "sym") -> None:
    """Equal to the bit, however deep; NaN is equal to itself."""
    if isinstance(one, str):  # a text without a member comes back as Diagnosis.TEXT
        assert one == other, where
        if isinstance(other, Remark) and isinstance(one, Remark):
            assert one.diagnosis is other.diagnosis, where
            assert_identical(one.values, other.values, f"{where}.values")
        return
    assert type(one) is type(other), where
    if isinstance(one, torch.Tensor):
        assert one.dtype == other.dtype, where
        assert one.shape == other.shape, where
        assert torch.equal(one.isnan(), other.isnan()), where
        assert torch.equal(one[~one.isnan()], other[~other.isnan()]), where
    elif dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            name = field.name
            assert_identical(getattr(one, name), getattr(other, name), f"{where}.{name}")
    elif isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key, value in one.items():
            assert_identical(value, other[key], f"{where}[{key!r}]")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for i, value in enumerate(one):
            assert_identical(value, other[i], f"{where}[{i}]")
    elif isinstance(one, float) and math.isnan(one):
        assert math.isnan(other), where
    else:
        assert one == other, where
