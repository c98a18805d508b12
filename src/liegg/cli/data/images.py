"""A folder of images, all resized to one size."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from liegg._utils.errors import ArgumentError, DataError, MissingExtraError, one_line
from liegg.cli.data.sizes import check_fits

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff")
"""Files of a folder that are images."""

MAX_IMAGE_SIDE = 8192
"""Most pixels along a side."""


def parse_size(text: str) -> tuple[int, int, int]:
    """Height, width and channels, from a text such as `64x64` or `64x64x1`.

    Raises:
        ArgumentError: it is none.

    >>> parse_size("64x48"), parse_size("28x28x1")
    ((64, 48, 3), (28, 28, 1))
    """
    found = re.fullmatch(r"(\d{1,5})x(\d{1,5})(?:x([13]))?", text)
    height, width = (int(found[1]), int(found[2])) if found else (0, 0)
    if found is None or not (0 < height <= MAX_IMAGE_SIDE and 0 < width <= MAX_IMAGE_SIDE):
        raise ArgumentError(
            f"--size {text}: expected height x width such as 64x64, or 64x64x1 for grey images, with up "
            f"to {MAX_IMAGE_SIDE} pixels along a side."
        )
    return height, width, int(found[3] or 3)


def read_images(folder: Path, size: tuple[int, int, int]) -> np.ndarray:
    """Images `[n, channels, height, width]` in float32 from 0 to 1, in the order of their names.

    Args:
        folder: images in it are read, other files and folders are not.
        size: height, width and channels.

    Raises:
        MissingExtraError: Pillow is not installed.
        DataError: there is no image, one is damaged, or declares more pixels than Pillow allows.
    """
    try:
        from PIL import Image, ImageOps
    except ImportError as error:
        raise MissingExtraError(
            "folders of images need Pillow. Install it with: pip install 'liegg[files]'"
        ) from error
    height, width, channels = size
    paths = sorted(p for p in folder.iterdir() if p.suffix.lower() in SUFFIXES and p.is_file())
    if not paths:
        raise DataError(
            f"data '{folder}' contains no images; expected files such as 1.png or 1.jpg."
        )
    check_fits(folder, 4 * len(paths) * channels * height * width, " Choose a smaller --size.")
    images = np.empty((len(paths), channels, height, width), dtype=np.float32)
    for place, path in enumerate(paths):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", Image.DecompressionBombWarning)
                with Image.open(path) as image:
                    bright = _eight_bits(
                        ImageOps.exif_transpose(image), "RGB" if channels == 3 else "L"
                    )
                    pixels = np.asarray(bright.resize((width, height), Image.Resampling.BILINEAR))
        except Exception as error:  # Pillow raises many types for damaged files
            raise DataError(
                f"data '{path}' cannot be read as an image: {one_line(error)}"
            ) from error
        pixels = pixels.reshape(height, width, channels)
        images[place] = pixels.transpose(2, 0, 1).astype(np.float32) / 255
    return images


def _eight_bits(image: Any, mode: str) -> Any:
    """An image of Pillow with eight bits per channel; 16 bits keep their scale, which Pillow's own conversion cuts off.

    Raises:
        ValueError: its numbers have no stated range.
    """
    from PIL import Image

    if image.mode.startswith("I;16") or (image.mode == "I" and image.format == "PNG"):
        numbers = np.asarray(image).astype(np.float64) / 257
        image = Image.fromarray(numbers.round().clip(0, 255).astype(np.uint8))
    elif image.mode in ("I", "F"):
        raise ValueError(
            f"pixels of mode {image.mode!r} have no stated range; save 8 or 16 bits per channel, or a .npy array"
        )
    return image.convert(mode)
