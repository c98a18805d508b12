"""The paper's appendix on CIFAR-10: does a perceptron shown turned photographs learn the rotation?"""

import math
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from liegg.actions import smooth
from liegg.studies import datasets, ensemble, images
from liegg.studies.rotation import rotated

SIZES = (3 * 32 * 32, *[400] * 7, 10)
"""Widths of the paper's network: seven hidden layers of 400, counted as for rotated MNIST."""

EPOCHS = 300
SEEDS = tuple(range(1, 9))
EXTRACTED = 10_000
"""Training images, turned by random angles, from which symmetries are extracted."""


def compute(how: ensemble.Work, *, quick: bool = False) -> dict[str, Any] | None:
    """The numbers of the study.

    Every epoch turns every training image by a new angle; validation and test images are turned by fixed ones.

    Args:
        how: where to train, and what to keep on the way.
        quick: two seeds, a small network, few epochs, and in place of CIFAR-10, which may not be shipped, the digits that come with
            the package, tinted, on 32 × 32 pixels: for a look in seconds; needs no data set.

    Returns:
        The results to be stored; None in every process but the first.
    """
    seeds, epochs, sizes = (
        (SEEDS[:2], 15, (SIZES[0], 64, 64, 10)) if quick else (SEEDS, EPOCHS, SIZES)
    )
    parts = tinted_digits() if quick else datasets.cifar10_split()
    still = {
        name: getattr(parts, name).images.to(how.device) for name in ("train", "validation", "test")
    }
    labels = {name: getattr(parts, name).labels.to(how.device) for name in still}
    shown = turn(still["train"][:EXTRACTED], 3)
    turned = (turn(still[name], seed) for seed, name in enumerate(("validation", "test"), start=1))
    pictures = images.Pictures(
        (still["train"], labels["train"]),
        (next(turned), labels["validation"]),
        (next(turned), labels["test"]),
    )
    members = [ensemble.Member(sizes, seed, len(labels["train"]), epochs) for seed in seeds]
    readings = images.READINGS | images.FRAMED

    def describe(places: list[int], trained: ensemble.Trained) -> list[dict[str, Any]]:
        return images.describe_both(
            [members[place] for place in places], trained, shown, pictures.test, readings
        )

    def problem(_: list[int]) -> ensemble.Classification:
        return images.classification(pictures, lambda epoch: turn(still["train"], 1000 + epoch))

    rows = ensemble.work(members, problem, describe, images.SCHEDULE, how)
    if rows is None:
        return None
    return {
        "data": "tinted MNIST digits" if quick else "CIFAR-10",
        "seeds": list(seeds),
        "epochs": epochs,
        "images": len(shown),
        "networks": [row["trained"] for row in rows],
        "untrained": [row["untrained"] for row in rows],
        "example": parts.test.images[0].round(decimals=3).tolist(),
    }


def turn(pictures: Float[Tensor, "n c h w"], seed: int) -> Float[Tensor, "n c h w"]:
    """Every picture turned by an angle of its own, uniform in [0, 2π), then smoothed, black corners and all."""
    angles = torch.rand(
        len(pictures), generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    ) * (2 * math.pi)
    return smooth(rotated(pictures, angles.to(pictures)), images.SIGMA)


def tinted_digits() -> datasets.Cifar10Split:
    """The shipped digits in random colours on 32 × 32 pixels, upright: 1 500 to train, 500 to validate, 500 to test."""
    digits = datasets.mnist_sample()
    generator = torch.Generator().manual_seed(0)
    order = torch.randperm(len(digits), generator=generator)
    tints = 0.5 + 0.5 * torch.rand(len(digits), 3, 1, 1, generator=generator)
    pictures = tints * pad(digits.images[order].to(torch.float32).div(255), (2, 2, 2, 2))[:, None]
    parts = zip(
        pictures.split(list(datasets.SAMPLE_SIZES)),
        digits.labels[order].split(list(datasets.SAMPLE_SIZES)),
        strict=True,
    )
    return datasets.Cifar10Split(*(datasets.Labelled(some, labels) for some, labels in parts))


def draw(results: dict[str, Any], out: Path) -> list[Path]:
    """Figures `cifar10-spectrum` and `cifar10-rotations` as PNG and SVG."""
    from liegg.studies.image_figures import draw_cifar10

    return draw_cifar10(results, out)


def table(results: dict[str, Any]) -> str:
    """The networks' numbers, to be read on a terminal."""
    return images.table({"trained": results["networks"], "untrained": results["untrained"]})
