"""Labelled images of the studies: MNIST, CIFAR-10 and rotated MNIST."""

import gzip
import math
import zipfile
from dataclasses import dataclass
from importlib import resources
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Float32, Int64, UInt8
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from liegg._utils.errors import DatasetError
from liegg.studies import fetch

Split = Literal["train", "test"]

ROTATED_SIZES = (10_000, 2_000, 50_000)
"""Training, validation and test images of the rotated MNIST of Larochelle et al. (2007)."""

SAMPLE_SIZES = (1_500, 500, 500)
"""The same for the shipped sample."""

CIFAR10_VALIDATION = 5_000
"""Training images of CIFAR-10 that are held out for validation."""

IMAGES_AT_ONCE = 4096
"""Images rotated at once: the sampling grid takes twice the memory of grey images."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Images and their classes.

    Attributes:
        images: `[b, h, w]` or `[b, c, h, w]`; uint8 as stored, or float32 in [0, 1].
        labels: one class per image.
    """

    images: UInt8[Tensor, "b ..."] | Float32[Tensor, "b ..."]
    labels: Int64[Tensor, " l"]

    def __len__(self) -> int:
        return len(self.labels)

    def to(self, device: str) -> "Labelled":
        """The same images and labels on a device."""
        return Labelled(self.images.to(device), self.labels.to(device))


class ImageSets(NamedTuple):
    """Three disjoint sets of images, float32 in [0, 1].

    Attributes:
        train: images for training.
        validation: images that decide which epoch is best.
        test: images for the test.
    """

    train: Labelled
    validation: Labelled
    test: Labelled


def mnist(split: Split) -> Labelled:
    """MNIST as published: 60 000 training or 10 000 test digits, uint8 `[b, 28, 28]`.

    The files are read from `$LIEGG_DATA/mnist/` or the user's cache, or downloaded into the cache.

    Args:
        split: `"train"` or `"test"`.

    Raises:
        DatasetError: a file is damaged or cannot be downloaded; the message says what to do.
        MissingExtraError: the files are not under `LIEGG_DATA`, and pooch is not installed.
    """
    prefix = {"train": "train", "test": "t10k"}[split]
    names = (f"{prefix}-images-idx3-ubyte.gz", f"{prefix}-labels-idx1-ubyte.gz")
    images, labels = (
        _idx(gzip.decompress(fetch.read_official(f"{fetch.MNIST_FOLDER}/{name}"))) for name in names
    )
    return _labelled(images, labels)


def cifar10(split: Split) -> Labelled:
    """CIFAR-10 from its binary files: 50 000 training or 10 000 test images.

    They are uint8 `[b, 3, 32, 32]` with channels red, green, blue. The files are read from
    `$LIEGG_DATA/cifar-10-batches-bin/` or the user's cache, or downloaded into the cache.

    Args:
        split: `"train"` or `"test"`.

    Raises:
        DatasetError, MissingExtraError: as for `mnist`.
    """
    stems = {"train": [f"data_batch_{i}" for i in range(1, 6)], "test": ["test_batch"]}
    contents = [fetch.read_official(f"{fetch.CIFAR10_FOLDER}/{stem}.bin") for stem in stems[split]]
    rows = np.frombuffer(b"".join(contents), np.uint8).reshape(-1, 1 + 3 * 32 * 32)
    return _labelled(rows[:, 1:].copy().reshape(-1, 3, 32, 32), rows[:, 0])


def mnist_sample() -> Labelled:
    """2 500 digits of MNIST that come with the package, uint8 `[b, 28, 28]`.

    They are the first 250 training digits of each class. No network is needed.

    Examples:
        >>> mnist_sample().labels.bincount().tolist()
        [250, 250, 250, 250, 250, 250, 250, 250, 250, 250]
    """
    file = resources.files("liegg.studies") / "sample" / "mnist-sample.npz"
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            return _labelled(arrays["images"], arrays["labels"])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DatasetError(
            f"the shipped sample {file} cannot be read: {error}. Install liegg again."
        ) from error


def rotated_mnist(seed: int = 0) -> ImageSets:
    """Rotated MNIST as defined by Larochelle et al. (2007): 10 000, 2 000 and 50 000 images.

    Digits are drawn from the 70 000 of MNIST without repetition. Each is rotated by an angle uniform
    in [0, 2π). The draw differs from Larochelle's own files.

    Args:
        seed: seed of digits and angles; the global generators are not used.

    Returns:
        Images `[b, 28, 28]`.

    Raises:
        DatasetError: MNIST is missing and cannot be downloaded.
    """
    train, test = mnist("train"), mnist("test")
    digits = Labelled(
        torch.cat([train.images, test.images]), torch.cat([train.labels, test.labels])
    )
    return _rotated(digits, ROTATED_SIZES, seed)


def rotated_mnist_sample(seed: int = 0) -> ImageSets:
    """The same from the shipped sample: 1 500, 500 and 500 digits. No network is needed.

    Args:
        seed: seed of digits and angles; the global generators are not used.
    """
    return _rotated(mnist_sample(), SAMPLE_SIZES, seed)


def cifar10_split(seed: int = 0) -> ImageSets:
    """CIFAR-10 with 45 000 images for training, 5 000 for validation, and the 10 000 of the test file.

    Args:
        seed: seed of the order of the training images, the first of which are held out; the global
            generators are not used.

    Raises:
        DatasetError: CIFAR-10 is missing and cannot be downloaded.
    """
    images, test = cifar10("train"), cifar10("test")
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(seed))
    train, validation = order[CIFAR10_VALIDATION:], order[:CIFAR10_VALIDATION]
    return ImageSets(
        _select(images, train), _select(images, validation), _select(test, torch.arange(len(test)))
    )


def rotated(
    images: Float[Tensor, "b *image"], angles: Float[Tensor, " b"]
) -> Float[Tensor, "b *image"]:
    r"""Rotate images about their centres, each by its own angle.

    With $(x, y)$ measured from the centre in pixels, $x$ to the right and $y$ up, the result at
    $R_\theta (x, y)$ is the image at $(x, y)$; bilinear between pixels, zero outside. Pixels are
    square for every height and width.

    Args:
        images: `[b, h, w]` or `[b, c, h, w]`, floating point, on any device.
        angles: radians, one per image; a positive angle rotates counter-clockwise.

    Returns:
        Images of the same shape, dtype and device.

    Examples:
        >>> image = torch.tensor([[[0.0, 0, 0], [0, 0, 1], [0, 0, 0]]])
        >>> rotated(image, torch.tensor([torch.pi / 2])).round().abs()
        tensor([[[0., 1., 0.],
                 [0., 0., 0.],
                 [0., 0., 0.]]])
    """
    channels = images[:, None] if images.ndim == 3 else images
    chunks = map(_rotate, channels.split(IMAGES_AT_ONCE), angles.split(IMAGES_AT_ONCE))
    return torch.cat(list(chunks)).reshape(images.shape)


def _labelled(images: np.ndarray, labels: np.ndarray) -> Labelled:
    return Labelled(torch.from_numpy(images), torch.from_numpy(labels.astype(np.int64)))


def _idx(content: bytes) -> np.ndarray:
    """Array of an idx file: two zeros, the type, the number of axes, their lengths, the values."""
    axes = content[3]
    shape = np.frombuffer(content, ">u4", count=axes, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape).copy()


def _rotated(digits: Labelled, sizes: tuple[int, int, int], seed: int) -> ImageSets:
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(digits), generator=generator)[: sum(sizes)]
    angles = torch.rand(sum(sizes), generator=generator, dtype=torch.float64) * (2 * math.pi)
    upright = _select(digits, order)
    # Bilinear weights add up to 1 only up to rounding, hence the clamp.
    images = rotated(upright.images, angles).clamp_(0, 1).split(list(sizes))
    return ImageSets(*map(Labelled, images, upright.labels.split(list(sizes))))


def _rotate(
    images: Float[Tensor, "b c h w"], angles: Float[Tensor, " b"]
) -> Float[Tensor, "b c h w"]:
    """Sample each image at positions rotated back.

    `affine_grid` counts y downwards and from -1 to 1 along either side.
    """
    height, width = images.shape[-2:]
    cos, sin, zero = angles.cos(), angles.sin(), torch.zeros_like(angles)
    rows = [cos, -sin * (height / width), zero, sin * (width / height), cos, zero]
    inverse = torch.stack(rows, dim=1).reshape(-1, 2, 3).to(images)
    grid = affine_grid(inverse, list(images.shape), align_corners=False)
    return grid_sample(images, grid, mode="bilinear", padding_mode="zeros", align_corners=False)


def _select(source: Labelled, indices: Int64[Tensor, " p"]) -> Labelled:
    """Some of the images as float32 in [0, 1]; divided in place to save memory."""
    return Labelled(source.images[indices].to(torch.float32).div_(255), source.labels[indices])
