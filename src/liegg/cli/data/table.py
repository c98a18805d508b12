"""Tables with named columns: .csv and .parquet."""

import csv
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from liegg._utils.errors import DataError, MissingExtraError, one_line
from liegg.cli.data.sizes import check_fits

LONGEST_HEADER = 2**20
"""Most characters of the first line of a .csv file."""


@dataclass(frozen=True)
class Columns:
    """Numbers with a label for every column, as `liegg.discover` takes tables.

    Attributes:
        columns: labels.
        values: one sample per row.
    """

    columns: list[str]
    values: np.ndarray

    def to_numpy(self) -> np.ndarray:
        """The numbers."""
        return self.values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> "Columns":
        return Columns(self.columns, self.values[rows])


def read_csv(path: Path) -> Columns | np.ndarray:
    """Numbers separated by commas, one sample per line; a first line of names labels the columns.

    The first line 0,1,2,... is a line of names too, as pandas writes it, unless the second one holds whole numbers alone.

    Raises:
        DataError: an entry is not a number, lines have different lengths, or there is no line.
    """
    check_fits(path, path.stat().st_size)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first, second = (next(csv.reader([file.readline(LONGEST_HEADER)]), []) for _ in "12")
            counted = first == [str(i) for i in range(len(first))] and not _are_counts(second)
            named = counted or not all(map(_is_number, first))
            file.seek(0)
            if named:
                file.readline()
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "loadtxt: input contained no data", UserWarning)
                values = np.loadtxt(file, delimiter=",", ndmin=2, comments=None, encoding=None)
    except (ValueError, OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"data '{path}' cannot be read: {one_line(error)}. Expected numbers separated by commas, one "
            "sample per line, with the names of the columns in the first line or none. Leave out columns "
            "of words, and fill missing entries."
        ) from error
    if not len(values):
        raise DataError(f"data '{path}' contains no lines of numbers.")
    if not named:
        return values
    labels = [label.strip() for label in first]
    _check_labels(path, labels)
    if len(labels) != values.shape[1]:
        raise DataError(
            f"data '{path}' has {len(labels)} names for {values.shape[1]} columns of numbers."
        )
    return Columns(labels, values)


def read_parquet(path: Path) -> Columns:
    """The columns of a .parquet file.

    Raises:
        MissingExtraError: pyarrow is not installed.
        DataError: the file is damaged, or a column does not hold numbers.
    """
    try:
        from pyarrow import ArrowException, parquet  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise MissingExtraError(
            ".parquet files need pyarrow. Install it with: pip install 'liegg[files]'"
        ) from error
    try:
        found = parquet.ParquetFile(str(path))
        shape = (found.metadata.num_rows, found.metadata.num_columns)
        check_fits(path, 8 * shape[0] * max(shape[1], 1))
        table = found.read()
        columns = [np.asarray(table.column(name)) for name in table.column_names]
    except (ArrowException, OSError, ValueError, TypeError) as error:
        raise DataError(f"data '{path}' cannot be read: {one_line(error)}") from error
    for name, column in zip(table.column_names, columns, strict=True):
        if column.dtype.kind not in "fiub":
            raise DataError(
                f"data '{path}': column {name!r} holds {column.dtype}; expected numbers. Save the file "
                "without it, or encode it."
            )
    if not columns or not len(columns[0]):
        raise DataError(f"data '{path}' contains no rows.")
    _check_labels(path, list(table.column_names))
    return Columns(list(table.column_names), np.stack([c.astype("float64") for c in columns], 1))


def _check_labels(path: Path, labels: list[str]) -> None:
    """Refuse a column without a name, which is usually the index of a DataFrame, and no feature."""
    for place, label in enumerate(labels, 1):
        if not label or label.startswith("__index_level_"):
            raise DataError(
                f"data '{path}': column {place} has no name. If it is the index that pandas writes, save the file "
                "without it (index=False); otherwise name it."
            )


def _are_counts(texts: list[str]) -> bool:
    """Whether all entries of a line are whole numbers: a first line 0, 1, 2, ... may then be a sample."""
    return all(text.strip().lstrip("+-").isdigit() for text in texts)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
