"""The paper's appendix on CIFAR-10: does a perceptron shown turned photographs learn the rotation?"""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from liegg.actions import smooth
from liegg.studies import datasets, images
from liegg.studies.provenance import provenance
from liegg.studies.rotation import rotated

SIZES = (3 * 32 * 32, *[400] * 7, 10)
"""Widths of the paper's network: seven hidden layers of 400, counted as for rotated MNIST."""

EPOCHS = 300
SEEDS = tuple(range(1, 9))
EXTRACTED = 10_000
"""Training images, turned by random angles, from which symmetries are extracted."""


def run(
    out: str | Path, *, quick: bool = False, device: str = "cpu", progress: Callable[[str, int, int], object] | None = None
) -> dict[str, Any]:
    """The whole study; writes `cifar10.json`, and `cifar10-spectrum` and `cifar10-rotations` as PNG and SVG.

    Args:
        out: folder for results and figures.
        quick: as for `compute`.
        device: where to train and extract, such as `"cuda"`.
        progress: called with a label, work done since the last call, and the total.

    Returns:
        The results as stored.
    """
    from liegg.studies.image_figures import draw_cifar10

    return images.store(compute(quick=quick, device=device, progress=progress), Path(out), draw_cifar10)


def compute(
    *, quick: bool = False, device: str = "cpu", progress: Callable[[str, int, int], object] | None = None
) -> dict[str, Any]:
    """The numbers of the study.

    Every epoch turns every training image by a new angle; validation and test images are turned by fixed ones.

    Args:
        quick: two seeds, a small network, few epochs, and in place of CIFAR-10, which may not be shipped, the digits that come with
            the package, tinted, on 32 × 32 pixels: for a look in seconds; needs no data set.
        device: where to train and extract, such as `"cuda"`.
        progress: called with a label, work done since the last call, and the total.

    Returns:
        The results as they are stored.
    """
    begin = time.perf_counter()
    seeds, epochs, sizes = (SEEDS[:2], 15, (SIZES[0], 64, 64, 10)) if quick else (SEEDS, EPOCHS, SIZES)
    parts = tinted_digits() if quick else datasets.cifar10_split()
    still = {name: getattr(parts, name).images.to(device) for name in ("train", "validation", "test")}
    labels = {name: getattr(parts, name).labels.to(device) for name in still}
    turned = {name: turn(still[name], seed) for seed, name in enumerate(("validation", "test"), start=1)}
    total = epochs + 2 * len(seeds)
    step = None if progress is None else lambda done: progress(f"{len(seeds)} networks", done, total)
    trained = images.train(
        sizes, lambda epoch: turn(still["train"], 1000 + epoch), labels["train"], (turned["validation"], labels["validation"]),
        seeds, epochs=epochs, device=device, progress=step,
    )  # fmt: skip
    shown = turn(still["train"][:EXTRACTED], 3)
    test = turned["test"], labels["test"]
    readings = images.READINGS | images.FRAMED
    found = images.describe_all(trained.stack, shown, test, step, readings)
    networks = [row | best for row, best in zip(found, images.best_epochs(trained), strict=True)]
    untrained = images.describe_all(images.fresh(sizes, seeds, device)[0], shown, test, step, readings)
    return {
        "study": "cifar10",
        "quick": quick,
        "data": "tinted MNIST digits" if quick else "CIFAR-10",
        "seeds": list(seeds),
        "epochs": epochs,
        "images": len(shown),
        "networks": networks,
        "untrained": untrained,
        "example": parts.test.images[0].round(decimals=3).tolist(),
        "provenance": provenance(
            "liegg reproduce cifar10" + " --quick" * quick + f" --device {device}",
            seconds=time.perf_counter() - begin,
            device=device,
        ),
    }


def turn(pictures: Float[Tensor, "n c h w"], seed: int) -> Float[Tensor, "n c h w"]:
    """Every picture turned by an angle of its own, uniform in [0, 2π), then smoothed, black corners and all."""
    angles = torch.rand(len(pictures), generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * (2 * math.pi)
    return smooth(rotated(pictures, angles.to(pictures)), images.SIGMA)


def tinted_digits() -> datasets.Cifar10Split:
    """The shipped digits in random colours on 32 × 32 pixels, upright: 1 500 to train, 500 to validate, 500 to test."""
    digits = datasets.mnist_sample()
    generator = torch.Generator().manual_seed(0)
    order = torch.randperm(len(digits), generator=generator)
    tints = 0.5 + 0.5 * torch.rand(len(digits), 3, 1, 1, generator=generator)
    pictures = tints * pad(digits.images[order].to(torch.float32).div(255), (2, 2, 2, 2))[:, None]
    parts = zip(pictures.split(list(datasets.SAMPLE_SIZES)), digits.labels[order].split(list(datasets.SAMPLE_SIZES)), strict=True)
    return datasets.Cifar10Split(*(datasets.Labelled(some, labels) for some, labels in parts))


def table(results: dict[str, Any]) -> str:
    """The networks' numbers, to be read on a terminal."""
    return images.table({"trained": results["networks"], "untrained": results["untrained"]})
