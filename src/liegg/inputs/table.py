"""Tables with named columns, such as those of pandas and polars, as arrays."""

import numbers
from typing import Any

import numpy as np

from liegg._utils.arguments import shown
from liegg._utils.errors import DtypeError, ShapeError


def is_table(data: Any) -> bool:
    """Whether data is a table: it has `columns` and `to_numpy()`, as DataFrames do.

    >>> is_table(np.zeros((2, 3)))
    False
    """
    return callable(getattr(data, "to_numpy", None)) and hasattr(data, "columns")


def column_labels(table: Any) -> list[Any]:
    """Labels of the columns; in pandas they can be anything."""
    return list(table.columns)


def table_values(table: Any) -> np.ndarray:
    """The numbers of a table, one sample per row.

    Raises:
        DtypeError: a column holds something other than real numbers; the message names it.
        ShapeError: it does not have one column per label.
    """
    values, labels = np.asarray(table.to_numpy()), column_labels(table)
    if values.ndim != 2 or values.shape[1] != len(labels):
        raise ShapeError(
            f"the table has {len(labels)} columns, but its values have shape {values.shape}; expected one "
            "row per sample and one column per label. Pass the array itself."
        )
    if values.dtype.kind in "fiubc":
        return values
    for label, column in zip(labels, values.T, strict=True):
        others = [value for value in column.tolist() if not _is_real(value)]
        if others:
            kind = type(others[0]).__name__
            raise DtypeError(
                f"column {shown(label)} of the table holds {shown(others[0])}, a {kind}; "
                "expected real numbers in every column. Leave it out, for example "
                f"data.drop(columns=[{shown(label)}]) in pandas or data.drop({shown(label)}) in polars, or "
                "encode it as numbers."
            )
    return values.astype(np.float64)


def table_like(table: Any, values: np.ndarray) -> Any:
    """A table with the columns of another one, and other numbers.

    Args:
        table: of pandas or polars.
        values: one row per sample.
    """
    kind, labels = type(table), column_labels(table)
    polars = any(one.__module__.partition(".")[0] == "polars" for one in kind.__mro__)
    return kind(values, schema=labels) if polars else kind(values, columns=labels)


def _is_real(value: Any) -> bool:
    return isinstance(value, numbers.Real | np.bool_)
