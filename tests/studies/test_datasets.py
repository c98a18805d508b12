"""The data sets: formats on tiny files written here, the shipped sample, draws from a seed, and the real files where they are."""

import gzip
import hashlib
import math
import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from liegg._utils.errors import DatasetError
from liegg.studies import datasets, fetch
from liegg.studies.datasets import Labelled, rotated


def idx(array: np.ndarray) -> bytes:
    return gzip.compress(
        struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()
    )


@pytest.fixture
def official(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, bytes], None]:
    """Writes a stand-in for an official file into `LIEGG_DATA`, and its checksum into the table."""
    monkeypatch.setenv("LIEGG_DATA", str(tmp_path))
    monkeypatch.setattr(fetch, "CHECKSUMS", dict(fetch.CHECKSUMS))

    def write(name: str, content: bytes) -> None:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
        fetch.CHECKSUMS[name] = hashlib.sha256(content).hexdigest()

    return write


# Official formats


@pytest.mark.parametrize(("split", "prefix", "count"), [("train", "train", 5), ("test", "t10k", 3)])
def test_mnist_reads_idx_files(
    split: datasets.Split, prefix: str, count: int, official: Callable[[str, bytes], None]
) -> None:
    images = np.random.default_rng(0).integers(0, 256, (count, 28, 28), dtype=np.uint8)
    labels = np.arange(count, dtype=np.uint8) + 5
    official(f"mnist/{prefix}-images-idx3-ubyte.gz", idx(images))
    official(f"mnist/{prefix}-labels-idx1-ubyte.gz", idx(labels))
    found = datasets.mnist(split)
    assert found.images.dtype == torch.uint8
    assert np.array_equal(found.images.numpy(), images)
    assert found.labels.dtype == torch.int64
    assert found.labels.tolist() == labels.tolist()


def test_cifar10_reads_batches_in_their_order(official: Callable[[str, bytes], None]) -> None:
    rows = np.random.default_rng(0).integers(0, 256, (12, 3073), dtype=np.uint8)
    rows[:, 0] = np.arange(12) % 10
    for i in range(5):
        official(f"cifar-10-batches-bin/data_batch_{i + 1}.bin", rows[2 * i : 2 * i + 2].tobytes())
    official("cifar-10-batches-bin/test_batch.bin", rows[10:].tobytes())
    train, test = datasets.cifar10("train"), datasets.cifar10("test")
    assert (train.images.shape, train.images.dtype) == ((10, 3, 32, 32), torch.uint8)
    assert np.array_equal(train.images.flatten(1).numpy(), rows[:10, 1:])
    assert train.labels.tolist() == list(range(10))
    assert np.array_equal(
        test.images[:, 2, 31, 31].numpy(), rows[10:, -1]
    )  # the last byte is blue, lower right
    assert np.array_equal(test.images[:, 1, 0, 5].numpy(), rows[10:, 1 + 1024 + 5])
    assert test.labels.tolist() == [0, 1]


# The shipped sample


def test_the_sample_is_small_and_balanced() -> None:
    sample = datasets.mnist_sample()
    assert (sample.images.shape, sample.images.dtype, sample.labels.dtype) == (
        (2500, 28, 28),
        torch.uint8,
        torch.int64,
    )
    assert sample.labels.bincount().tolist() == [250] * 10
    assert sample.labels[:10].tolist() == [
        5,
        0,
        4,
        1,
        9,
        2,
        1,
        3,
        1,
        4,
    ]  # as the training file begins
    assert 30 < sample.images.float().mean() < 37  # 33.3 over the whole training set
    folder = Path(datasets.__file__).parent / "sample"
    assert (folder / "mnist-sample.npz").stat().st_size < 500_000
    assert "CC BY-SA 3.0" in (folder / "LICENSE.md").read_text(encoding="utf-8")


def test_a_damaged_sample_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.resources.files", lambda _package: tmp_path)
    with pytest.raises(
        DatasetError,
        match=r"the shipped sample .*mnist-sample.npz cannot be read: .* Install liegg again.",
    ):
        datasets.mnist_sample()
    (tmp_path / "sample").mkdir()
    (tmp_path / "sample" / "mnist-sample.npz").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(DatasetError, match="cannot be read"):
        datasets.mnist_sample()


# Draws


def numbered(count: int, *shape: int) -> Labelled:
    """Images whose label is their number, so that a draw can be traced."""
    numbers = torch.arange(count)
    images = (
        (numbers % 256)
        .to(torch.uint8)
        .reshape(-1, *[1] * len(shape))
        .expand(-1, *shape)
        .contiguous()
    )
    return Labelled(images, numbers)


def test_rotated_mnist_draws_disjoint_sets_from_all_of_mnist(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = numbered(70_000, 1, 1)
    parts = {"train": slice(0, 60_000), "test": slice(60_000, None)}
    monkeypatch.setattr(
        datasets,
        "mnist",
        lambda split: Labelled(whole.images[parts[split]], whole.labels[parts[split]]),
    )
    made = datasets.rotated_mnist(seed=3)
    assert [len(part) for part in (made.train, made.validation, made.test)] == [
        10_000,
        2_000,
        50_000,
    ]
    drawn = torch.cat([made.train.labels, made.validation.labels, made.test.labels])
    assert len(drawn.unique()) == 62_000
    assert (
        8_400 < int((drawn >= 60_000).sum()) < 9_300
    )  # of the 10 000 test digits 8 857 are expected
    for part in (made.train, made.validation, made.test):
        assert part.images.dtype == torch.float32
        torch.testing.assert_close(part.images[:, 0, 0], (part.labels % 256).float() / 255)


@pytest.fixture(scope="module")
def moved() -> datasets.ImageSets:
    return datasets.rotated_mnist_sample()


def test_rotated_sample_is_the_sample_rotated_by_uniform_angles(moved: datasets.ImageSets) -> None:
    sample = datasets.mnist_sample()
    assert [len(part) for part in (moved.train, moved.validation, moved.test)] == [1500, 500, 500]
    whole = torch.cat([moved.train.images, moved.validation.images, moved.test.images])
    labels = torch.cat([moved.train.labels, moved.validation.labels, moved.test.labels])
    assert whole.dtype == torch.float32
    assert 0 <= float(whole.min()) <= float(whole.max()) <= 1
    assert labels.bincount().tolist() == [250] * 10
    generator = torch.Generator().manual_seed(0)
    order = torch.randperm(2500, generator=generator)
    angles = torch.rand(2500, generator=generator, dtype=torch.float64) * 2 * math.pi
    assert torch.equal(labels, sample.labels[order])
    expected = rotated(sample.images[order].float() / 255, angles)
    torch.testing.assert_close(whole, expected, rtol=0, atol=1e-6)


def test_a_seed_gives_the_same_bits_and_touches_no_global_generator(
    moved: datasets.ImageSets,
) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    again, other = datasets.rotated_mnist_sample(0), datasets.rotated_mnist_sample(1)
    assert torch.equal(torch.get_rng_state(), before)
    for one, two in (
        (moved.train, again.train),
        (moved.validation, again.validation),
        (moved.test, again.test),
    ):
        assert torch.equal(one.images, two.images)
        assert torch.equal(one.labels, two.labels)
    assert not torch.equal(moved.train.labels, other.train.labels)


def test_cifar10_split_holds_out_part_of_the_training_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sets = {"train": numbered(50_000, 3, 1, 1), "test": numbered(10_000, 3, 1, 1)}
    monkeypatch.setattr(datasets, "cifar10", lambda split: sets[split])
    before = torch.get_rng_state()
    made, again, other = (
        datasets.cifar10_split(),
        datasets.cifar10_split(0),
        datasets.cifar10_split(1),
    )
    assert torch.equal(torch.get_rng_state(), before)
    assert [len(part) for part in (made.train, made.validation, made.test)] == [
        45_000,
        5_000,
        10_000,
    ]
    assert torch.cat([made.train.labels, made.validation.labels]).sort().values.tolist() == list(
        range(50_000)
    )
    assert made.test.labels.tolist() == list(range(10_000))
    for part in (made.train, made.validation, made.test):
        assert part.images.dtype == torch.float32
        assert torch.equal(part.images[:, 1, 0, 0], (part.labels % 256).float() / 255)
    assert torch.equal(made.train.labels, again.train.labels)
    assert torch.equal(made.validation.labels, again.validation.labels)
    assert not torch.equal(made.validation.labels, other.validation.labels)
    assert sets["train"].images.dtype == torch.uint8


# The real files, where there are any


@pytest.fixture
def real(request: pytest.FixtureRequest) -> None:
    folder = os.environ.get("LIEGG_DATA")
    if not folder:
        pytest.skip(
            "LIEGG_DATA is not set: the official files are not read. Set it to a folder that holds them."
        )
    if not (Path(folder) / request.param).is_dir():
        pytest.skip(
            f"LIEGG_DATA={folder} holds no {request.param}/: those official files are not read."
        )


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("real", ["mnist"], indirect=True)
def test_the_real_mnist() -> None:
    train, test = datasets.mnist("train"), datasets.mnist("test")
    assert (len(train), len(test)) == (60_000, 10_000)
    assert train.labels.bincount().tolist() == [
        5923,
        6742,
        5958,
        6131,
        5842,
        5421,
        5918,
        6265,
        5851,
        5949,
    ]
    assert test.labels[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
    assert float(train.images.double().mean() / 255) == pytest.approx(
        0.1307, abs=1e-4
    )  # the mean everyone normalises by
    first = [(train.labels == label).nonzero()[:250, 0] for label in range(10)]
    order, shipped = torch.cat(first).sort().values, datasets.mnist_sample()
    assert torch.equal(train.images[order], shipped.images)
    assert torch.equal(train.labels[order], shipped.labels)


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("real", ["cifar-10-batches-bin"], indirect=True)
def test_the_real_cifar10() -> None:
    train, test = datasets.cifar10("train"), datasets.cifar10("test")
    assert (len(train), len(test)) == (50_000, 10_000)
    assert train.labels[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
    assert test.labels[:10].tolist() == [3, 8, 8, 0, 6, 6, 1, 6, 3, 1]
    assert train.labels.bincount().tolist() == [5000] * 10
    means = [float(train.images[:, channel].double().mean() / 255) for channel in range(3)]
    assert means == pytest.approx(
        [0.4914, 0.4822, 0.4465], abs=1e-4
    )  # the means everyone normalises by
