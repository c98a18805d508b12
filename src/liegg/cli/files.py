"""Load arrays named on the command line. Nothing is ever unpickled."""

import math
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from liegg._utils.errors import ArgumentError, DataError
from liegg.polarization.memory import free_bytes, readable
from liegg.results.run_folder import STORED_SAMPLES


class Samples(NamedTuple):
    """Arrays to analyse.

    Attributes:
        analysed: samples that are analysed.
        held_out: samples for the verification; None if there are none.
        groups: a label for each analysed sample; None if there are none.
    """

    analysed: np.ndarray
    held_out: np.ndarray | None
    groups: np.ndarray | None


def load_samples(data: str, held_out: str | None = None, groups: str | None = None) -> Samples:
    """Load the samples to analyse, those to verify on, and the labels.

    Args:
        data: as for `load_array`.
        held_out: the same; or a fraction of the data such as `0.2`, which sets the last samples apart; or None.
        groups: labels, as for `load_array`: of the analysed samples, or of all data where a fraction is held out.

    Raises:
        ArgumentError: the fraction leaves too few samples on one side.
        DataError: a file cannot be read.
    """
    array = load_array(data)
    labels = None if groups is None else load_array(groups)
    if held_out is None:
        return Samples(array, None, labels)
    try:
        fraction = float(held_out)
    except ValueError:
        return Samples(array, load_array(held_out), labels)
    count = round(len(array) * (1 - fraction)) if 0 < fraction < 1 else 0
    if not 0 < count < len(array) - 1:
        raise ArgumentError(
            f"--held-out {held_out}: of {len(array)} samples this leaves too few on one side; "
            "expected a fraction between 0 and 1, for example 0.2, or a file such as y.npy."
        )
    if labels is not None and len(labels) == len(array):
        labels = labels[:count]
    return Samples(array[:count], array[count:], labels)


def load_array(text: str) -> np.ndarray:
    """Load an array from `x.npy` (as a memory map) or `x.npz:name`; pickled arrays are refused.

    Raises:
        DataError: the file is missing, is not such an array, or holds pickled objects.
    """
    name, _, key = text.partition(":") if ".npz:" in text else (text, "", "")
    path = Path(name)
    if path.suffix not in (".npy", ".npz"):
        raise DataError(
            f"data {text!r}: expected a .npy file, or an .npz file and a name as x.npz:name. Save "
            "one with numpy.save."
        )
    if not path.is_file():
        raise DataError(f"data {text!r}: file {path} not found.")
    try:
        array = (
            np.load(path, mmap_mode="r", allow_pickle=False)
            if path.suffix == ".npy"
            else _load_from_archive(path, key)
        )
    except DataError:
        raise
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"data {text!r} cannot be read: {error}") from error
    if array.ndim == 0:
        raise DataError(f"data {text!r} is a single number; expected samples along the first axis.")
    return array


def _load_from_archive(path: Path, key: str) -> np.ndarray:
    with np.load(path, allow_pickle=False) as archive:
        names = archive.files
        if not names:
            raise DataError(f"data '{path}' holds no array. Save one with numpy.savez(path, x=x).")
        if not key and len(names) == 1:
            key = names[0]
        if key not in names:
            missing = f"it has no {key!r}; " if key else ""
            raise DataError(
                f"data '{path}': {missing}choose one of its arrays, for example {path}:{names[0]}; "
                f"it holds {', '.join(names)}."
            )
        _check_size(path, key)
        return archive[key]


def _check_size(path: Path, key: str) -> None:
    """Raise `DataError` if an array of an archive would not fit into memory: a few bytes can declare any size."""
    with zipfile.ZipFile(path) as archive, archive.open(f"{key}.npy") as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0
        shape, _, dtype = (read if version == (1, 0) else np.lib.format.read_array_header_2_0)(file)
    size, free = math.prod(shape) * dtype.itemsize, free_bytes()
    if free is not None and size > free:
        raise DataError(
            f"data '{path}:{key}' has {shape} numbers, {readable(size)}; {readable(free)} of memory are "
            "free. Save it with numpy.save: a .npy file is read in parts."
        )


def first_samples(samples: np.ndarray) -> torch.Tensor:
    """Copy the first samples, for the report.

    Raises:
        DataError: they are not numbers.
    """
    first = np.array(samples[:STORED_SAMPLES])
    if first.dtype.kind not in "fiub":
        raise DataError(
            f"samples have dtype {first.dtype}; expected numbers, for example an array saved as float32."
        )
    return torch.from_numpy(first.astype(first.dtype.newbyteorder("=")))


def class_names(text: str | None) -> list[str] | None:
    """Names of classes: separated by commas, or the lines of a `.txt` file; None for None.

    Raises:
        DataError: the file cannot be read, or there is no name.

    >>> class_names("cat, dog")
    ['cat', 'dog']
    """
    if text is None:
        return None
    names = text.split(",")
    if text.endswith(".txt"):
        try:
            names = Path(text).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"--classes {text}: the file cannot be read: {error}") from error
    names = [name.strip() for name in names]
    if not any(names):
        raise DataError(
            f"--classes {text!r} holds no name; expected names such as cat,dog or a .txt file with "
            "one per line."
        )
    return names
