"""Data files of every kind: what is read, and what damaged and hostile files end in."""

import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from liegg._utils.errors import ArgumentError, DataError, LieggError, MissingExtraError
from liegg.cli.data import sizes
from liegg.cli.data.images import parse_size, read_images
from liegg.cli.data.table import Columns, read_csv
from liegg.cli.files import first_samples, load_data, load_samples

X = np.random.default_rng(0).normal(size=(20, 3))


def test_columns_of_a_table_become_names(tmp_path: Path):
    path = tmp_path / "x.csv"
    path.write_text(
        "mass, speed,height\n" + "\n".join(",".join(map(repr, row)) for row in X.tolist())
    )
    found = load_data(str(path))
    assert isinstance(found, Columns)
    assert found.columns == ["mass", "speed", "height"]
    np.testing.assert_array_equal(found.values, X)
    samples = load_samples(str(path), "0.25", samples=5)
    assert (samples.number, len(samples.held_out)) == (5, 5)
    np.testing.assert_array_equal(samples.analysed.values, X[[0, 3, 7, 10, 14]])
    shown = first_samples(samples.analysed)
    assert shown is not None
    assert shown.shape == (5, 3)
    path.write_text("1,2\n3,4\n")
    np.testing.assert_array_equal(load_data(str(path)), [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a,b\n",
        "a,b\n1,x\n",
        "a,b\n1\n2,3\n",
        "a,b,c\n1,2\n",
        "1,2\n1,\n",
        "\x00\x01",
        "a,b\n1,2,3\n",
    ],
)
def test_bad_tables_are_errors(text, tmp_path: Path):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=r"x\.csv"):
        load_data(str(path))
    path.write_bytes(b"\xff\xfe\x00a,b\n")
    with pytest.raises(DataError):
        load_data(str(path))


@pytest.mark.parametrize("kind", ["pt", "safetensors", "npz"])
def test_named_tensors(kind, tmp_path: Path):
    path = tmp_path / f"x.{kind}"
    two = {"pos": torch.tensor(X), "z": torch.arange(20)}
    if kind == "pt":
        torch.save(two, path)
    elif kind == "npz":
        np.savez(path, pos=two["pos"].numpy(), z=two["z"].numpy())
    else:
        save_file(two, path)
    found = load_data(str(path), named=True)
    assert found.keys() == two.keys()
    assert all(torch.equal(found[name], two[name]) for name in two)
    np.testing.assert_array_equal(load_data(f"{path}:pos"), X)
    with pytest.raises(DataError, match=r"choose one of its arrays.*--moves"):
        load_data(str(path))
    with pytest.raises(DataError, match="it has no 'q'"):
        load_data(f"{path}:q")
    samples = load_samples(str(path), "0.5", samples=4, named=True)
    assert samples.number == 4
    assert samples.analysed["z"].tolist() == [0, 3, 6, 9]
    assert first_samples(samples.analysed) is None


def test_files_of_torch_hold_tensors_only(tmp_path: Path):
    path = tmp_path / "x.pt"
    torch.save(torch.tensor(X), path)
    np.testing.assert_array_equal(load_data(str(path)), X)
    with pytest.raises(DataError, match="one tensor without a name"):
        load_data(str(path), named=True)
    for wrong in ([1, 2], {}, {"x": 3}, {"x": torch.ones(2), "y": {"z": torch.ones(1)}}):
        torch.save(wrong, path)
        with pytest.raises(DataError, match=r"expected (a tensor|tensors)"):
            load_data(str(path), named=True)
    torch.save(Path("x"), path)  # a class of Python
    with pytest.raises(DataError, match="holds more than tensors"):
        load_data(str(path))
    torch.save({"a": torch.ones(3), "b": torch.ones(4)}, path)
    with pytest.raises(DataError, match="different lengths"):
        load_data(str(path), named=True)
    path.write_bytes(b"PK\x03\x04 not an archive")
    with pytest.raises(DataError):
        load_data(str(path))


def test_declared_sizes_are_checked_before_anything_is_read(tmp_path: Path, monkeypatch):
    torch.save(torch.zeros(1).expand(10**12), tmp_path / "wide.pt")  # a view of one number
    with pytest.raises(DataError, match="of memory are free"):
        load_data(str(tmp_path / "wide.pt"))
    save_file({"x": torch.ones(1000)}, tmp_path / "x.safetensors")
    (tmp_path / "x.csv").write_text("1,2\n" * 1000)
    torch.save(torch.ones(1000), tmp_path / "x.pt")
    monkeypatch.setattr(sizes, "free_bytes", lambda: 100)
    for name in ("x.safetensors", "x.csv", "x.pt"):
        with pytest.raises(DataError, match="of memory are free"):
            load_data(str(tmp_path / name))


@pytest.mark.parametrize("name", ["x.safetensors", "x.pt", "x.npz", "x.npy", "x.parquet", "x.csv"])
def test_damaged_files_are_errors(name, tmp_path: Path):
    path = tmp_path / name
    for content in (b"", b"\x00" * 64, b"\xff" * 8 + b"{}", b"{" * 500):
        path.write_bytes(content)
        with pytest.raises(LieggError):
            load_data(str(path))


def test_what_an_archive_of_torch_may_not_declare(tmp_path: Path, monkeypatch):
    path = tmp_path / "bomb.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", b"\x00" * 10**6)
    monkeypatch.setattr(sizes, "free_bytes", lambda: 10**5)
    with pytest.raises(DataError, match="of memory are free"):
        load_data(str(path))


def test_optional_packages_are_named(tmp_path: Path, monkeypatch):
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    for package in ("pyarrow", "PIL"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"liegg\[files\]"):
        load_data(str(tmp_path / "x.parquet"))
    with pytest.raises(MissingExtraError, match=r"liegg\[files\]"):
        load_data(str(tmp_path), size="4x4")


def test_sizes_of_images(tmp_path: Path):
    assert parse_size("64x48") == (64, 48, 3)
    for text in ("64", "0x4", "64x64x2", "99999x1", "axb"):
        with pytest.raises(ArgumentError, match="expected height x width"):
            parse_size(text)
    with pytest.raises(DataError, match="pass their size"):
        load_data(str(tmp_path))
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(ArgumentError, match="is for a folder of images"):
        load_data(str(tmp_path / "x.npy"), size="4x4")
    with pytest.raises(ArgumentError, match="--samples 0"):
        load_samples(str(tmp_path / "x.npy"), samples=0)


def test_a_folder_of_images(tmp_path: Path):
    image = pytest.importorskip("PIL.Image", reason="Pillow is an extra of its own")
    for place, colour in enumerate(((255, 0, 0), (0, 255, 0))):
        image.new("RGB", (8, 6), colour).save(tmp_path / f"{place}.png")
    (tmp_path / "notes.txt").write_text("not an image")
    found = load_data(str(tmp_path), size="4x4")
    assert (found.shape, found.dtype) == ((2, 3, 4, 4), np.float32)
    np.testing.assert_allclose(found[:, :, 0, 0], [[1, 0, 0], [0, 1, 0]], atol=1e-6)
    assert load_data(str(tmp_path), size="4x4x1").shape == (2, 1, 4, 4)
    (tmp_path / "2.png").write_bytes(b"damaged")
    with pytest.raises(DataError, match=r"2\.png' cannot be read as an image"):
        load_data(str(tmp_path), size="4x4")


@pytest.mark.parametrize("bits", [8, 16])
def test_images_keep_their_scale(tmp_path, bits):
    true = np.linspace(0, 1, 256).reshape(16, 16)
    numbers = (true * (2**bits - 1)).round().astype(f"uint{bits}")
    Image.fromarray(numbers).save(tmp_path / "a.png")
    read = read_images(tmp_path, (16, 16, 1))
    np.testing.assert_allclose(read[0, 0], true, atol=1 / 255)


def test_images_without_a_range_are_refused(tmp_path):
    Image.fromarray(np.full((4, 4), 0.5, dtype=np.float32)).save(tmp_path / "a.tiff")
    with pytest.raises(DataError, match="no stated range"):
        read_images(tmp_path, (4, 4, 1))


def test_images_stand_upright(tmp_path):
    pixels = np.zeros((20, 40), dtype=np.uint8)
    pixels[:, :20] = 255
    turned = Image.Exif()
    turned[0x0112] = 6  # to be rotated by 90 degrees: the left half is at the top
    Image.fromarray(pixels).save(tmp_path / "a.png", exif=turned)
    read = read_images(tmp_path, (20, 10, 1))
    assert read[0, 0, :8].min() > 0.99
    assert read[0, 0, -8:].max() < 0.01


def test_a_table_of_pandas_with_counted_columns(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("0,1,2\n0.5,1.5,2.5\n1.0,2.0,3.0\n")
    table = read_csv(path)
    assert isinstance(table, Columns)
    assert (table.columns, len(table)) == (["0", "1", "2"], 2)
    path.write_text("0,1,2\n3,4,5\n")  # counts of something: two samples
    assert np.array_equal(np.asarray(read_csv(path)), [[0, 1, 2], [3, 4, 5]])


def test_the_index_of_pandas_is_no_feature(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(",a,b\n0,0.5,1.5\n1,2.5,3.5\n")
    with pytest.raises(DataError, match=r"column 1 has no name.*index=False"):
        read_csv(path)
