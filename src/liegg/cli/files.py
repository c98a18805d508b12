"""Load data named on the command line. Nothing is ever unpickled."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from liegg._utils.errors import ArgumentError, DataError
from liegg.cli.data.images import parse_size, read_images
from liegg.cli.data.table import Columns, read_csv, read_parquet
from liegg.cli.data.tensors import read_npz, read_pt, read_safetensors
from liegg.results.run_folder import STORED_SAMPLES

DATA_SUFFIXES = (".npy", ".npz", ".csv", ".parquet", ".pt", ".pth", ".safetensors")
"""Files that hold samples."""

NAMED_SUFFIXES = (".npz", ".pt", ".pth", ".safetensors")
"""Files that may hold several named arrays."""


class Samples(NamedTuple):
    """Data to analyse: arrays, tables with named columns, or named arrays.

    Attributes:
        analysed: samples that are analysed.
        held_out: samples for the verification; None if there are none.
        groups: the group of each analysed sample; None if there are none.
        labels: the label of each analysed sample; None if there are none.
    """

    analysed: Any
    held_out: Any
    groups: np.ndarray | None
    labels: np.ndarray | None

    @property
    def number(self) -> int:
        """Number of samples that are analysed."""
        return count_of(self.analysed)


def load_samples(
    data: str,
    held_out: str | None = None,
    groups: str | None = None,
    *,
    labels: str | None = None,
    size: str | None = None,
    samples: int | None = None,
    named: bool | None = False,
) -> Samples:
    """Load the samples to analyse, those to verify on, groups and labels.

    Args:
        data: as for `load_data`.
        held_out: the same; or a fraction of the data such as `0.2`, which sets the last samples apart; or None.
        groups: one number per sample, as for `load_array`: of the analysed samples, or of all data where some are not.
        labels: the same.
        size: height and width of images, if the data is a folder of them.
        samples: analyse this many, evenly spaced ones; None for all.
        named: as for `load_data`.

    Raises:
        ArgumentError: the fraction leaves too few samples on one side.
        DataError: a file cannot be read.
    """
    if samples is not None and samples < 1:
        raise ArgumentError(f"--samples {samples}: expected a positive number.")
    array = load_data(data, size=size, named=named)
    columns = [None if text is None else load_array(text) for text in (groups, labels)]
    other = None
    if held_out is not None:
        try:
            fraction = float(held_out)
        except ValueError:
            other = load_data(held_out, size=size, named=named)
        else:
            count = _kept(count_of(array), fraction, held_out)
            other = part_of(array, slice(count, None))
            array, columns = _cut(array, columns, slice(count))
    if samples is not None and samples < count_of(array):
        places = np.linspace(0, count_of(array) - 1, samples).astype(int)
        array, columns = _cut(array, columns, places)
    return Samples(array, other, *columns)


def _cut(array: Any, columns: list[Any], rows: Any) -> tuple[Any, list[Any]]:
    """Some of the samples, with their entries of those columns that have one for each of them."""
    count = count_of(array)
    cut = [own if own is None or len(own) != count else own[rows] for own in columns]
    return part_of(array, rows), cut


def _kept(total: int, fraction: float, text: str) -> int:
    """Samples that stay if a fraction is held out."""
    count = round(total * (1 - fraction)) if 0 < fraction < 1 else 0
    if not 0 < count < total - 1:
        raise ArgumentError(
            f"--held-out {text}: too few of the {total} samples are left on one side; "
            "expected a fraction between 0 and 1, for example 0.2, or a file such as y.npy."
        )
    return count


def count_of(data: Any) -> int:
    """Number of samples."""
    return len(next(iter(data.values()))) if isinstance(data, Mapping) else len(data)


def part_of(data: Any, rows: Any) -> Any:
    """Some of the samples."""
    if isinstance(data, Mapping):
        return {name: part_of(value, rows) for name, value in data.items()}
    if isinstance(data, torch.Tensor) and isinstance(rows, np.ndarray):
        return data[torch.from_numpy(rows)]
    return data[rows]


def load_array(text: str) -> np.ndarray:
    """Load one array, from any of the files that `load_data` reads.

    Raises:
        DataError: the file is missing, damaged, or holds something else.
    """
    found = load_data(text)
    if isinstance(found, Columns):
        return found.values
    return found.numpy() if isinstance(found, torch.Tensor) else found


def load_data(text: str, *, size: str | None = None, named: bool | None = False) -> Any:
    """Load samples from a file or a folder of images; pickled objects are refused.

    Args:
        text: `x.npy` (read as a memory map), `x.npz`, `x.csv`, `x.parquet`, `x.pt`, `x.safetensors`, or a folder of
            images; `x.npz:name` for one of several arrays.
        size: height and width of images.
        named: whether all named arrays of the file are wanted, and not one of them; None for all if there are several.

    Raises:
        DataError: the file is missing, is of another kind, is damaged, or holds pickled objects.
    """
    name, key = _split(text)
    path = Path(name)
    if path.is_dir():
        if size is None:
            raise DataError(
                f"data {text!r} is a folder; for a folder of images pass their size, for example --size 64x64."
            )
        return read_images(path, parse_size(size))
    if size is not None:
        raise ArgumentError(f"--size {size} is for a folder of images; {text} is not a folder.")
    if path.suffix not in DATA_SUFFIXES:
        raise DataError(
            f"data {text!r}: expected a file {', '.join(DATA_SUFFIXES)}, or a folder of images with --size. "
            "Save an array with numpy.save."
        )
    if not path.is_file():
        raise DataError(f"data {text!r}: file {path} not found.")
    try:
        found = _read(path, key, named=named)
    except DataError:
        raise
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(f"data {text!r} cannot be read: {error}") from error
    for value in found.values() if isinstance(found, Mapping) else (found,):
        if not isinstance(value, Columns) and value.ndim == 0:
            raise DataError(
                f"data {text!r} is a single number; expected samples along the first axis."
            )
    if isinstance(found, Mapping):
        _check_lengths(text, found)
    return found


def _check_lengths(text: str, found: Mapping[str, Any]) -> None:
    """Raise `DataError` if named arrays have different numbers of samples."""
    counts = {name: len(value) for name, value in found.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise DataError(
            f"data {text!r} holds arrays of different lengths ({listed}); expected one entry per sample "
            "along the first axis of each."
        )


def _split(text: str) -> tuple[str, str]:
    """File and name of the array in it, from `x.npz:name`."""
    for suffix in NAMED_SUFFIXES:
        before, mark, key = text.rpartition(f"{suffix}:")
        if mark:
            return before + suffix, key
    return text, ""


def _read(path: Path, key: str, *, named: bool | None) -> Any:
    """What a file holds: an array, a table or named arrays."""
    if path.suffix == ".npy":
        return np.load(path, mmap_mode="r", allow_pickle=False)
    if path.suffix == ".csv":
        return read_csv(path)
    if path.suffix == ".parquet":
        return read_parquet(path)
    every = named is not False and not key  # all arrays of the file

    def choose(names: list[str]) -> list[str]:
        if not names:
            raise DataError(
                f"data '{path}' contains no arrays. Save one with numpy.savez(path, x=x)."
            )
        return names if every else [_chosen(path, names, key)]

    if path.suffix == ".npz":
        arrays = read_npz(path, choose)
        every = every and (named is True or len(arrays) > 1)
        found = (
            {name: torch.from_numpy(np.array(a)) for name, a in arrays.items()} if every else arrays
        )
    else:
        held = read_safetensors(path) if path.suffix == ".safetensors" else read_pt(path)
        if isinstance(held, torch.Tensor):
            if key or named:
                raise DataError(f"data '{path}' is one tensor without a name; leave the name out.")
            return held
        found = {name: held[name] for name in choose(list(held))}
        every = every and (named is True or len(found) > 1)
    return found if every else next(iter(found.values()))


def _chosen(path: Path, names: list[str], key: str) -> str:
    """The array of a file that is meant."""
    if not key and len(names) == 1:
        return names[0]
    if key not in names:
        missing = f"it has no {key!r}; " if key else ""
        raise DataError(
            f"data '{path}': {missing}choose one of its arrays, for example {path}:{names[0]}; it holds "
            f"{', '.join(names)}. Or say with --moves which of them an action moves."
        )
    return key


def first_samples(samples: Any) -> torch.Tensor | None:
    """Copy the first samples, for the report; None for named arrays.

    Raises:
        DataError: they are not numbers.
    """
    if isinstance(samples, Mapping):
        return None
    samples = samples.values if isinstance(samples, Columns) else samples
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
        if not Path(text).is_file():
            raise DataError(f"--classes {text}: file {text} not found.")
        try:
            names = Path(text).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"--classes {text}: the file cannot be read: {error}") from error
    names = [name.strip() for name in names]
    if not any(names):
        raise DataError(
            f"--classes {text!r} contains no names; expected names such as cat,dog or a .txt file with "
            "one per line."
        )
    return names
