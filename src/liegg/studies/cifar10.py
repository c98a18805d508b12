"""The paper's appendix on CIFAR-10: does a perceptron trained on rotated images learn the rotation?"""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from liegg.actions import smooth
from liegg.studies import datasets, ensemble, images

SIZES = (3 * 32 * 32, *[400] * 7, 10)
"""Widths of the paper's network: seven hidden layers of 400, counted as for rotated MNIST."""

EXTRACTION_IMAGES = 10_000
"""Training images, rotated by random angles, from which symmetries are extracted."""


def compute(how: ensemble.Work, *, quick: bool = False) -> dict[str, Any]:
    """Compute the results of the study.

    Every epoch rotates every training image by a new angle; validation and test images are rotated
    by fixed ones.

    Args:
        how: where the networks are trained.
        quick: two seeds, a small network, few epochs, and tinted digits on 32 × 32 pixels in place
            of CIFAR-10, which cannot be shipped.

    Returns:
        The results to be stored.
    """
    seeds, epochs, sizes = (
        (images.SEEDS[:2], 15, (SIZES[0], 64, 64, 10))
        if quick
        else (images.SEEDS, images.EPOCHS, SIZES)
    )
    sets = tinted_digits() if quick else datasets.cifar10_split()
    train, validation, test = (part.to(how.device) for part in sets)
    data = datasets.ImageSets(
        train,
        datasets.Labelled(rotate(validation.images, 1), validation.labels),
        datasets.Labelled(rotate(test.images, 2), test.labels),
    )
    extraction = rotate(train.images[:EXTRACTION_IMAGES], 3)
    members = images.members([sizes], seeds, data, epochs)

    def describe(some: list[ensemble.Member], trained: ensemble.Trained) -> images.Rows:
        readings = images.READINGS | images.FRAMED
        return images.describe_both(some, trained, extraction, data.test, readings=readings)

    rows = images.train_all(
        members, data, describe, how, images=lambda epoch: rotate(train.images, 1000 + epoch)
    )
    return {
        "data": "tinted MNIST digits" if quick else "CIFAR-10",
        "seeds": list(seeds),
        "epochs": epochs,
        "images": len(extraction),
        "networks": [row["trained"] for row in rows],
        "untrained": [row["untrained"] for row in rows],
        "example": sets.test.images[0].round(decimals=3).tolist(),
    }


def rotate(pixels: Float[Tensor, "n c h w"], seed: int) -> Float[Tensor, "n c h w"]:
    """Rotate every image by an angle uniform in [0, 2π), then smooth it with its black corners."""
    generator = torch.Generator().manual_seed(seed)
    angles = torch.rand(len(pixels), generator=generator, dtype=torch.float64) * (2 * math.pi)
    return smooth(datasets.rotated(pixels, angles.to(pixels)), images.SIGMA)


def tinted_digits() -> datasets.ImageSets:
    """The shipped digits in random colors on 32 × 32 pixels, upright: 1 500, 500 and 500."""
    digits, sizes = datasets.mnist_sample(), list(datasets.SAMPLE_SIZES)
    generator = torch.Generator().manual_seed(0)
    order = torch.randperm(len(digits), generator=generator)
    tints = 0.5 + 0.5 * torch.rand(len(digits), 3, 1, 1, generator=generator)
    grey = pad(digits.images[order].to(torch.float32).div(255), (2, 2, 2, 2))[:, None]
    parts = map(datasets.Labelled, (tints * grey).split(sizes), digits.labels[order].split(sizes))
    return datasets.ImageSets(*parts)


def table(results: dict[str, Any]) -> str:
    """The networks' numbers as text for a terminal."""
    return images.table({"trained": results["networks"], "untrained": results["untrained"]})
