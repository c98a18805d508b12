"""Larochelle's rotated MNIST in its original text files."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from liegg._utils.errors import DatasetError, EmptyDataError
from liegg.studies.datasets import Labelled

SIDE = 28
SLACK = 1e-3
"""How far a value in the text may lie outside [0, 1]: rounding of the text passes, grey levels up to 255 do not."""


def read_amat(path: str | Path, *, by_columns: bool = False) -> Labelled:
    """Digits from one of Larochelle's `.amat` text files.

    A line holds the 784 pixels of a digit in [0, 1] and then its class. Pixels are taken row by row, as most loaders read these
    files; the other reading is the mirror picture, in which every angle has the other sign.

    Args:
        path: the file.
        by_columns: take pixels column by column instead.

    Returns:
        Float32 pictures `[b, 28, 28]` and their classes. Blank lines count for nothing.

    Raises:
        DatasetError: there is no such file, or a line is not 784 numbers in [0, 1] and a digit; the message names the line.
        EmptyDataError: the file holds no digit.
    """
    pixels, labels = [], []
    for row in _rows(Path(path)):
        pixels.append(row[:-1])
        labels.append(int(row[-1]))
    if not labels:
        raise EmptyDataError(
            f"{path} holds no digit; expected lines of {SIDE * SIDE} pixels and a class."
        )
    images = torch.from_numpy(np.stack(pixels).reshape(-1, SIDE, SIDE))
    return Labelled(images.mT.contiguous() if by_columns else images, torch.tensor(labels))


def _rows(path: Path) -> Iterator[np.ndarray]:
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                if fields := line.split():
                    yield _row(fields, f"{path}, line {number}")
    except OSError as error:
        raise DatasetError(
            f"{path} cannot be read: {error.strerror}. Pass the path of an .amat file."
        ) from error


def _row(fields: list[str], where: str) -> np.ndarray:
    columns = SIDE * SIDE + 1
    if len(fields) != columns:
        raise DatasetError(
            f"{where}: {len(fields)} columns; expected {columns}, {SIDE * SIDE} pixels and a class."
        )
    try:
        row = np.array([float(field) for field in fields], dtype=np.float32)
    except ValueError as error:
        raise DatasetError(f"{where}: {error}; expected numbers separated by blanks.") from error
    low, high = row[:-1].min(), row[:-1].max()
    if not (low >= -SLACK and high <= 1 + SLACK):  # NaN fails this too
        raise DatasetError(f"{where}: pixels from {low:g} to {high:g}; expected 0 to 1.")
    if row[-1] not in range(10):
        raise DatasetError(
            f"{where}: class {fields[-1]}; expected a digit, 0 to 9, in the last column."
        )
    return row
