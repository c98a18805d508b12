"""Larochelle's text files: pixels, classes, and the line that is wrong."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from liegg._utils.errors import DatasetError, EmptyDataError
from liegg.studies.amat import read_amat


def line(pixels: np.ndarray, label: str) -> str:
    return "   ".join([*(f"{value:.7e}" for value in pixels.ravel()), label])


def digits(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((count, 28, 28), dtype=np.float32)


@given(
    labels=st.lists(st.integers(0, 9), min_size=1, max_size=4),
    ending=st.sampled_from(["", "\n", "\n\n", "\n  \n\t\n", "\r\n\r\n"]),
    written=st.sampled_from(["{}", "{}.0", "{:.7e}"]),
)
@settings(max_examples=15, deadline=None)
def test_reads_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, labels: list[int], ending: str, written: str
) -> None:
    path, images = tmp_path_factory.mktemp("amat") / "digits.amat", digits(len(labels))
    lines = [
        line(image, written.format(label)) for image, label in zip(images, labels, strict=True)
    ]
    path.write_text("\n".join(lines) + ending, newline="")
    found = read_amat(path)
    assert found.images.dtype == torch.float32
    assert found.labels.tolist() == labels
    np.testing.assert_allclose(found.images.numpy(), images, rtol=1e-6, atol=0)
    assert torch.equal(read_amat(str(path), by_columns=True).images, found.images.mT)


def test_pixels_run_along_rows(tmp_path: Path) -> None:
    image = np.zeros((28, 28))
    image[0, 1] = 1
    (tmp_path / "one.amat").write_text(line(image, "3"))
    assert read_amat(tmp_path / "one.amat").images.nonzero().tolist() == [[0, 0, 1]]
    assert read_amat(tmp_path / "one.amat", by_columns=True).images.nonzero().tolist() == [
        [0, 1, 0]
    ]


GOOD = line(np.full((28, 28), 0.5), "7")
BAD = {
    "a column less": (
        GOOD.removesuffix("7"),
        "line 3: 784 columns; expected 785, 784 pixels and a class.",
    ),
    "a column more": (GOOD + " 7", "line 3: 786 columns; expected 785, 784 pixels and a class."),
    "text": (
        GOOD.replace("5.0000000e-01", "half", 1),
        "line 3: could not convert string to float: 'half'; expected numbers",
    ),
    "bytes": (
        GOOD.replace("5.0000000e-01", "\x00\xff", 1),
        "line 3: could not convert string to float",
    ),
    "class 10": (GOOD + "0", "line 3: class 70; expected a digit, 0 to 9, in the last column."),
    "class -1": (GOOD.removesuffix("7") + "-1", "line 3: class -1; expected a digit"),
    "class 2.5": (GOOD.removesuffix("7") + "2.5", "line 3: class 2.5; expected a digit"),
    "class nan": (GOOD.removesuffix("7") + "nan", "line 3: class nan; expected a digit"),
    "grey levels": (
        GOOD.replace("5.0000000e-01", "255", 1),
        "line 3: pixels from 0.5 to 255; expected 0 to 1.",
    ),
    "below zero": (
        GOOD.replace("5.0000000e-01", "-0.5", 1),
        "line 3: pixels from -0.5 to 0.5; expected 0 to 1.",
    ),
    "no number": (
        GOOD.replace("5.0000000e-01", "nan", 1),
        "line 3: pixels from nan to nan; expected 0 to 1.",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_the_wrong_line_is_named(kind: str, tmp_path: Path) -> None:
    text, message = BAD[kind]
    (tmp_path / "bad.amat").write_text(f"{GOOD}\n\n{text}\n{GOOD}\n", encoding="latin-1")
    with pytest.raises(DatasetError, match=f"bad.amat, {re.escape(message)}"):
        read_amat(tmp_path / "bad.amat")


def test_no_file_and_no_digit(tmp_path: Path) -> None:
    with pytest.raises(
        DatasetError,
        match=r"none.amat cannot be read: No such file or directory. Pass the path of an .amat file.",
    ):
        read_amat(tmp_path / "none.amat")
    with pytest.raises(DatasetError, match="cannot be read: Is a directory"):
        read_amat(tmp_path)
    (tmp_path / "empty.amat").write_text("\n\n")
    with pytest.raises(
        EmptyDataError,
        match=r"empty.amat holds no digit; expected lines of 784 pixels and a class.",
    ):
        read_amat(tmp_path / "empty.amat")
