"""Named tensors: .npz, .pt and .safetensors, one or several of them."""

import math
import zipfile
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open

from liegg._utils.errors import DataError, one_line
from liegg.cli.data.sizes import check_fits

MOST_ENTRIES = 1000
"""Most named tensors of a file of samples."""


def read_npz(path: Path, choose: Callable[[list[str]], Collection[str]]) -> dict[str, np.ndarray]:
    """Arrays of an .npz file, each read if it fits into memory; pickled ones are refused.

    Args:
        path: the file.
        choose: those of its names that are wanted.
    """
    with np.load(path, allow_pickle=False) as archive:
        names = choose(list(archive.files))
        _check_count(path, len(names))
        for name in names:
            hint = " Save it with numpy.save: a .npy file is read in parts."
            check_fits(f"{path}:{name}", _declared_bytes(path, name), hint)
        return {name: archive[name] for name in names}


def _declared_bytes(path: Path, name: str) -> int:
    """Bytes that an array of an .npz file declares."""
    with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0
        later = np.lib.format.read_array_header_2_0
        shape, _, dtype = (read if version == (1, 0) else later)(file)
    return math.prod(shape) * dtype.itemsize


def read_pt(path: Path) -> torch.Tensor | dict[str, torch.Tensor]:
    """A tensor, or named tensors, of a .pt file, with torch's reader that builds nothing else.

    Raises:
        DataError: the file holds anything else, or is damaged.
    """
    check_fits(path, _stored_bytes(path))
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many types for damaged files and files with code
        raise DataError(
            f"data '{path}' holds more than tensors, or is damaged ({one_line(error)}). Save a tensor, or a "
            "dictionary of tensors: torch.save({'pos': pos, 'z': z}, path)."
        ) from error
    if isinstance(found, torch.Tensor):
        _check_tensor(path, "", found)
        return found
    if not isinstance(found, Mapping) or not found:
        raise DataError(
            f"data '{path}' holds a {type(found).__name__}; expected a tensor or a dictionary of tensors."
        )
    _check_count(path, len(found))
    for name, value in found.items():
        if not isinstance(name, str) or not isinstance(value, torch.Tensor):
            raise DataError(
                f"data '{path}': entry {str(name)!r} is a {type(value).__name__}; expected tensors with "
                "names. Save them alone: torch.save({'pos': pos, 'z': z}, path)."
            )
        _check_tensor(path, name, value)
    return dict(found)


def read_safetensors(path: Path) -> dict[str, torch.Tensor]:
    """The named tensors of a .safetensors file.

    Raises:
        DataError: the file is damaged.
    """
    check_fits(path, path.stat().st_size)
    try:
        with safe_open(str(path), framework="pt") as file:
            names = list(file.keys())
            _check_count(path, len(names))
            return {name: file.get_tensor(name) for name in names}
    except (SafetensorError, OSError) as error:
        raise DataError(f"data '{path}' cannot be read: {one_line(error)}") from error


def _stored_bytes(path: Path) -> int:
    """Bytes that the entries of a .pt file declare; its own size if it is of the older kind."""
    if not zipfile.is_zipfile(path):
        return path.stat().st_size
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise DataError(f"data '{path}' is damaged: {one_line(error)}") from error


def _check_tensor(path: Path, name: str, value: torch.Tensor) -> None:
    """Raise `DataError` for tensors without plain values; a view may declare any size."""
    if value.layout is not torch.strided or value.is_quantized or value.is_meta:
        raise DataError(f"data '{path}': tensor {name!r} is not a plain array of numbers.")
    check_fits(f"{path}:{name}", value.numel() * value.element_size())


def _check_count(path: Path, count: int) -> None:
    if count > MOST_ENTRIES:
        raise DataError(f"data '{path}' holds {count} tensors; expected at most {MOST_ENTRIES}.")
