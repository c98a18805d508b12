"""The paper's section 5.2: do a shallow and a deep perceptron learn the rotation of rotated MNIST?"""

import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

from liegg.actions import smooth
from liegg.studies import datasets, images
from liegg.studies.provenance import provenance

NETWORKS = {"shallow": (784, 47, 47, 10), "deep": (784, *[116] * 6, 10)}
"""Widths of the paper's networks. Its "2-layer" and "6-layer" count hidden layers: only so do widths 47 and 116 have the 40 000 and
160 000 parameters it states (39 631 and 160 090)."""

VARIANTS = {"shallow, 1 hidden layer": (784, 47, 10), "deep, 5 hidden layers": (784, *[116] * 5, 10)}
"""The same with "layers" read as weight matrices: 37 375 and 146 518 parameters."""

EPOCHS = 300
SEEDS = tuple(range(1, 9))


def run(
    out: str | Path, *, quick: bool = False, device: str = "cpu", progress: Callable[[str, int, int], object] | None = None
) -> dict[str, Any]:
    """The whole study; writes `rotmnist.json`, and `rotmnist-spectrum` and `rotmnist-rotations` as PNG and SVG.

    Args:
        out: folder for results and figures.
        quick: as for `compute`.
        device: where to train and extract, such as `"cuda"`.
        progress: called with a label, work done since the last call, and the total.

    Returns:
        The results as stored.
    """
    from liegg.studies.image_figures import draw_rotmnist

    return images.store(compute(quick=quick, device=device, progress=progress), Path(out), draw_rotmnist)


def compute(
    *, quick: bool = False, device: str = "cpu", progress: Callable[[str, int, int], object] | None = None
) -> dict[str, Any]:
    """The numbers of the study.

    Args:
        quick: two seeds, few epochs and the digits that come with the package, for a look in seconds; needs no data set.
        device: where to train and extract, such as `"cuda"`.
        progress: called with a label, work done since the last call, and the total.

    Returns:
        The results as they are stored.
    """
    begin = time.perf_counter()
    seeds, epochs = (SEEDS[:2], 20) if quick else (SEEDS, EPOCHS)
    digits = datasets.rotated_mnist_sample() if quick else datasets.rotated_mnist()
    train, validation, test = (
        (smooth(part.images.to(device), images.SIGMA), part.labels.to(device))
        for part in (digits.train, digits.validation, digits.test)
    )
    chosen = NETWORKS if quick else NETWORKS | VARIANTS
    total = len(chosen) * (epochs + 2 * len(seeds))
    networks: dict[str, list[dict[str, Any]]] = {}
    untrained: dict[str, list[dict[str, Any]]] = {}
    for name, sizes in chosen.items():
        step = None if progress is None else lambda done, name=name: progress(f"{len(seeds)} {name} networks", done, total)
        trained = images.train(sizes, lambda _: train[0], train[1], validation, seeds, epochs=epochs, device=device, progress=step)
        found = images.describe_all(trained.stack, train[0], test, step)
        networks[name] = [row | best for row, best in zip(found, images.best_epochs(trained), strict=True)]
        untrained[name] = images.describe_all(images.fresh(sizes, seeds, device)[0], train[0], test, step)
    return {
        "study": "rotmnist",
        "quick": quick,
        "seeds": list(seeds),
        "epochs": epochs,
        "images": len(train[1]),
        "parameters": {name: parameters(sizes) for name, sizes in chosen.items()},
        "networks": networks,
        "untrained": untrained,
        "example": example(digits.test).tolist(),
        "provenance": provenance(
            "liegg reproduce rotmnist" + " --quick" * quick + f" --device {device}",
            seconds=time.perf_counter() - begin,
            device=device,
        ),
    }


def example(digits: datasets.Labelled) -> torch.Tensor:
    """The digit that the figures turn: the first 4, which looks different from every side; three decimals."""
    return digits.images[int((digits.labels == 4).nonzero()[0])].round(decimals=3)


def parameters(sizes: tuple[int, ...]) -> int:
    """Number of parameters of a perceptron.

    >>> parameters(NETWORKS["shallow"]), parameters(NETWORKS["deep"])
    (39631, 160090)
    """
    return sum((inputs + 1) * outputs for inputs, outputs in pairwise(sizes))


def table(results: dict[str, Any]) -> str:
    """The networks' numbers, to be read on a terminal."""
    return images.table(results["networks"] | {f"{name}, untrained": rows for name, rows in results["untrained"].items()})
