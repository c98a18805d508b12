"""Arrays and folders as the command line names them."""

from pathlib import Path

import numpy as np
import pytest

import liegg
from liegg._utils.errors import DataError
from liegg.cli.files import class_names, first_samples, load_samples


def test_a_fraction_or_a_file_is_held_out(tmp_path: Path) -> None:
    data, other = str(tmp_path / "x.npy"), str(tmp_path / "y.npy")
    np.save(data, np.arange(20.0).reshape(10, 2))
    np.save(other, np.ones((3, 2)))
    assert load_samples(data).held_out is None
    samples = load_samples(data, "0.3")
    np.testing.assert_array_equal(samples.analysed, np.load(data)[:7])
    np.testing.assert_array_equal(samples.held_out, np.load(data)[7:])
    samples = load_samples(data, other)
    assert (len(samples.analysed), samples.held_out is not None) == (10, True)
    np.testing.assert_array_equal(samples.held_out, np.ones((3, 2)))
    for fraction in ("0", "1", "1.5", "-0.2", "0.01", "0.99", "nan"):
        with pytest.raises(liegg.LieggError, match=f"--held-out {fraction}: too few"):
            load_samples(data, fraction)


@pytest.mark.parametrize(
    ("count", "held_out", "labels"), [(10, "0.3", 7), (7, "0.3", 7), (9, "0.3", 9), (10, None, 10)]
)
def test_labels_are_cut_where_a_fraction_is_held_out(
    tmp_path: Path, count: int, held_out: str | None, labels: int
) -> None:
    data, groups = str(tmp_path / "x.npy"), str(tmp_path / "g.npy")
    np.save(data, np.zeros((10, 2)))
    np.save(groups, np.arange(count))
    np.testing.assert_array_equal(load_samples(data, held_out, groups).groups, np.arange(labels))


def test_the_first_samples_are_native_copies() -> None:
    x = np.zeros((20, 2), dtype=">f8")
    first = first_samples(x)
    assert first is not None
    x += 1
    assert first.shape == (8, 2)
    assert not first.any()
    with pytest.raises(liegg.LieggError, match="expected numbers"):
        first_samples(np.array([["a", "b"]]))


def test_names_of_classes(tmp_path: Path) -> None:
    file = tmp_path / "names.txt"
    file.write_text("cat\nlarge dog\n")
    assert class_names(str(file)) == ["cat", "large dog"]
    assert class_names("cat,large dog") == ["cat", "large dog"]
    assert class_names(None) is None
    for wrong in ("", " , ", str(tmp_path / "none.txt")):
        with pytest.raises(DataError, match="--classes"):
            class_names(wrong)
