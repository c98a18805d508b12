"""Labelled pictures of the studies: MNIST, CIFAR-10, and MNIST with every digit turned by an angle of its own."""

import gzip
import math
import zipfile
from dataclasses import dataclass
from importlib import resources
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Float32, Int64, UInt8
from torch import Tensor

from liegg._utils.errors import ArgumentError, DatasetError, ShapeError
from liegg.studies.fetch import (
    CIFAR10_BASE,
    CIFAR10_FOLDER,
    MNIST_BASE,
    MNIST_FOLDER,
    read_official,
)
from liegg.studies.rotation import rotated

Split = Literal["train", "test"]

ROTATED_SIZES = (10_000, 2_000, 50_000)
"""Training, validation and test pictures of the rotated MNIST of Larochelle et al. (2007)."""

SAMPLE_SIZES = (1_500, 500, 500)
"""The same for the shipped sample."""

CIFAR10_VALIDATION = 5_000
"""Training pictures of CIFAR-10 that are held out for validation."""


@dataclass(frozen=True, eq=False, repr=False)
class Labelled:
    """Pictures and their classes.

    Attributes:
        images: `[b, h, w]` or `[b, c, h, w]`; uint8 as stored, or float32 in [0, 1].
        labels: one class per picture.

    Raises:
        ShapeError: there are more labels than pictures, or fewer.

    Examples:
        >>> Labelled(torch.zeros(3, 28, 28), torch.tensor([4, 0, 9]))
        Labelled(3 images of [28, 28], torch.float32)
    """

    images: UInt8[Tensor, "b ..."] | Float32[Tensor, "b ..."]
    labels: Int64[Tensor, " l"]

    def __post_init__(self) -> None:
        if len(self.images) != len(self.labels):
            raise ShapeError(
                f"{len(self.images)} images with {len(self.labels)} labels; expected one label per image."
            )

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"Labelled({len(self)} images of {list(self.images.shape[1:])}, {self.images.dtype})"


@dataclass(frozen=True, eq=False)
class RotatedMnist:
    """Digits turned by random angles; no digit is in two of the sets.

    Attributes:
        train: pictures to learn from.
        validation: pictures to choose by.
        test: pictures to judge by.
        angles: of the three sets in that order; radians in [0, 2π), counter-clockwise, float64.
    """

    train: Labelled
    validation: Labelled
    test: Labelled
    angles: tuple[Float[Tensor, " train"], Float[Tensor, " validation"], Float[Tensor, " test"]]


@dataclass(frozen=True, eq=False)
class Cifar10Split:
    """CIFAR-10 with part of its training files held out, float32 in [0, 1].

    Attributes:
        train: 45 000 pictures to learn from.
        validation: 5 000 pictures to choose by, from the training files too.
        test: the 10 000 pictures of the test file, in its order.
    """

    train: Labelled
    validation: Labelled
    test: Labelled


def mnist(split: Split, *, _base: str = MNIST_BASE) -> Labelled:
    """MNIST as its authors published it: 60 000 training or 10 000 test digits, uint8 `[b, 28, 28]`.

    The files are looked for in `$LIEGG_DATA/mnist/`, then in the user's cache; else they are downloaded into the cache.

    Args:
        split: which of the two sets.

    Raises:
        ArgumentError: no such split.
        DatasetError: a file is damaged, or neither here nor to be had; the message says what to do.
        MissingExtraError: the files are not under `LIEGG_DATA`, and pooch is not installed.
    """
    prefix = {"train": "train", "test": "t10k"}[_checked(split)]
    images, labels = (
        _idx(gzip.decompress(read_official(f"{MNIST_FOLDER}/{prefix}-{kind}-ubyte.gz", base=_base)))
        for kind in ("images-idx3", "labels-idx1")
    )
    return Labelled(torch.from_numpy(images), torch.from_numpy(labels.astype(np.int64)))


def cifar10(split: Split, *, _base: str = CIFAR10_BASE) -> Labelled:
    """CIFAR-10 from its binary files: 50 000 training or 10 000 test pictures, uint8 `[b, 3, 32, 32]`, channels red, green, blue.

    The files are looked for in `$LIEGG_DATA/cifar-10-batches-bin/`, then in the user's cache; else they are downloaded into the
    cache.

    Args:
        split: which of the two sets.

    Raises:
        ArgumentError: no such split.
        DatasetError: a file is damaged, or neither here nor to be had; the message says what to do.
        MissingExtraError: the files are not under `LIEGG_DATA`, and pooch is not installed.
    """
    stems = {"train": [f"data_batch_{i}" for i in range(1, 6)], "test": ["test_batch"]}[
        _checked(split)
    ]
    contents = [read_official(f"{CIFAR10_FOLDER}/{stem}.bin", base=_base) for stem in stems]
    rows = np.concatenate(
        [np.frombuffer(content, np.uint8).reshape(-1, 1 + 3 * 32 * 32) for content in contents]
    )
    images = np.ascontiguousarray(rows[:, 1:]).reshape(-1, 3, 32, 32)
    return Labelled(torch.from_numpy(images), torch.from_numpy(rows[:, 0].astype(np.int64)))


def mnist_sample() -> Labelled:
    """2 500 training digits of MNIST that come with the package, 250 of each class, uint8 `[b, 28, 28]`; needs no network.

    Examples:
        >>> mnist_sample().labels.bincount().tolist()
        [250, 250, 250, 250, 250, 250, 250, 250, 250, 250]
    """
    file = resources.files("liegg.studies") / "sample" / "mnist-sample.npz"
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            images, labels = arrays["images"], arrays["labels"]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DatasetError(
            f"the shipped sample {file} cannot be read: {error}. Install liegg again."
        ) from error
    return Labelled(torch.from_numpy(images), torch.from_numpy(labels.astype(np.int64)))


def make_sample(train: Labelled, per_class: int) -> Labelled:
    """The first pictures of each class, in the order of the set: how the shipped sample was made.

    Args:
        train: the whole set.
        per_class: how many of each class.

    Raises:
        ArgumentError: `per_class` is not positive, or a class has fewer pictures.

    Examples:
        >>> whole = Labelled(torch.zeros(6, 2, 2), torch.tensor([1, 0, 0, 0, 1, 1]))
        >>> make_sample(whole, 2).labels
        tensor([1, 0, 0, 1])
    """
    classes, counts = train.labels.unique(return_counts=True)
    fewest = int(counts.min()) if len(train) else 0
    if not 1 <= per_class <= fewest:
        raise ArgumentError(
            f"per_class is {per_class}; expected 1 to {fewest}, the size of the smallest class."
        )
    kept = (
        torch.cat([(train.labels == label).nonzero()[:per_class, 0] for label in classes])
        .sort()
        .values
    )
    return Labelled(train.images[kept], train.labels[kept])


def rotated_mnist(seed: int = 0) -> RotatedMnist:
    """Turned digits as in the rotated MNIST of Larochelle et al. (2007): 10 000 to train, 2 000 to validate, 50 000 to test.

    Each digit of MNIST's 70 000 is drawn at most once and turned by an angle uniform in [0, 2π). Not the same draw as
    Larochelle's own files, which `liegg.studies.amat` reads.

    Args:
        seed: decides digits and angles; the global generators are neither used nor changed.

    Returns:
        Float32 pictures `[b, 28, 28]` in [0, 1], and the angles.

    Raises:
        DatasetError: MNIST is neither here nor to be had.
    """
    train, test = mnist("train"), mnist("test")
    whole = Labelled(torch.cat([train.images, test.images]), torch.cat([train.labels, test.labels]))
    return _draw_rotated(whole, ROTATED_SIZES, seed)


def rotated_mnist_sample(seed: int = 0) -> RotatedMnist:
    """The same from the shipped sample: 1 500 digits to train, 500 to validate, 500 to test; needs no network.

    Args:
        seed: decides digits and angles; the global generators are neither used nor changed.
    """
    return _draw_rotated(mnist_sample(), SAMPLE_SIZES, seed)


def cifar10_split(seed: int = 0) -> Cifar10Split:
    """CIFAR-10 as 45 000 pictures to train, 5 000 to validate, 10 000 to test, float32 in [0, 1].

    Args:
        seed: decides which training pictures are held out, and the order of the rest; the global generators are neither used nor
            changed.

    Raises:
        DatasetError: CIFAR-10 is neither here nor to be had.
    """
    whole = cifar10("train")
    order = torch.randperm(len(whole), generator=torch.Generator().manual_seed(seed))
    train, validation = order[CIFAR10_VALIDATION:], order[:CIFAR10_VALIDATION]
    test = cifar10("test")
    return Cifar10Split(
        _pick(whole, train), _pick(whole, validation), _pick(test, torch.arange(len(test)))
    )


def _checked(split: str) -> str:
    if split not in ("train", "test"):
        raise ArgumentError(f"split is {split!r}; expected 'train' or 'test'.")
    return split


def _idx(content: bytes) -> np.ndarray:
    """Array of an idx file of bytes: two zeros, the type, the number of axes, the big-endian lengths, the values."""
    axes = content[3]
    shape = np.frombuffer(content, ">u4", count=axes, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape).copy()


def _draw_rotated(whole: Labelled, sizes: tuple[int, int, int], seed: int) -> RotatedMnist:
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randperm(len(whole), generator=generator)[: sum(sizes)].split(list(sizes))
    angles = (
        torch.rand(sum(sizes), generator=generator, dtype=torch.float64) * (2 * math.pi)
    ).split(list(sizes))
    upright = [_pick(whole, some) for some in drawn]
    # Bilinear weights add up to 1 only up to rounding, hence the clamp.
    sets = [
        Labelled(rotated(some.images, by).clamp_(0, 1), some.labels)
        for some, by in zip(upright, angles, strict=True)
    ]
    return RotatedMnist(*sets, angles=(angles[0], angles[1], angles[2]))


def _pick(whole: Labelled, places: Int64[Tensor, " p"]) -> Labelled:
    """Some of the pictures as float32 in [0, 1]; divided in place, as CIFAR-10 fills half a gigabyte."""
    return Labelled(whole.images[places].to(torch.float32).div_(255), whole.labels[places])
