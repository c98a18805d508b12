"""Training and analysis of classifiers, shared by the image studies."""

from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import smooth
from liegg.algebra.catalog import so
from liegg.algebra.subspace import distance_to_span
from liegg.results.account import generators_of
from liegg.results.symmetries import Symmetries
from liegg.studies import datasets, ensemble
from liegg.studies.reading import Readings, read_stack

SIGMA = 1.5
"""Smoothing of the images before training, in pixels, as in the paper's reference run."""

SCHEDULE = ensemble.Schedule(batch_size=512, rate=1e-3)
"""The paper's learning rate; it does not state the batch size."""

EPOCHS, QUICK_EPOCHS = 300, 20
SEEDS = tuple(range(1, 9))

READINGS: Readings = {
    "paper, sum": ("paper", "sum", 0),
    "paper, each": ("paper", "each", 0),
    "spectral, sum": ("spectral", "sum", 0),
    "spectral, each": ("spectral", "each", 0),
}
"""Derivative scheme, treatment of the outputs, pixels left out at the border; the paper's first."""

FRAMED: Readings = {"framed, sum": ("spectral", "sum", 1), "framed, each": ("spectral", "each", 1)}
"""For images that are cut off at their border: spectral derivatives without the outermost pixels."""

Rows = list[dict[str, Any]]
Describe = Callable[[list[int], ensemble.Trained], Rows]


class ImageData(NamedTuple):
    """Images and labels for training, for the choice of the best epoch, and for the test."""

    train: tuple[Tensor, Tensor]
    validation: tuple[Tensor, Tensor]
    test: tuple[Tensor, Tensor]


def digits(quick: bool, seed: int = 0) -> datasets.ImageSets:
    """Rotated MNIST; its shipped sample for a quick run."""
    return datasets.rotated_mnist_sample(seed) if quick else datasets.rotated_mnist(seed)


def smoothed(sets: datasets.ImageSets, device: str) -> ImageData:
    """Images as the networks see them: smoothed, on the device."""
    parts = (sets.train, sets.validation, sets.test)
    return ImageData(
        *((smooth(part.images.to(device), SIGMA), part.labels.to(device)) for part in parts)
    )


def members(
    sizes: Sequence[Sequence[int]], seeds: Sequence[int], data: ImageData, epochs: int
) -> list[ensemble.Member]:
    """Networks of these widths, each with all seeds."""
    samples = len(data.train[1])
    return [
        ensemble.Member(tuple(widths), seed, samples, epochs) for widths in sizes for seed in seeds
    ]


def classification(
    data: ImageData, images: Callable[[int], Float[Tensor, "n ..."]] | None = None
) -> ensemble.Classification:
    """The classification problem; `images` returns those of an epoch if they change."""
    fixed = data.train[0].flatten(1)
    return ensemble.Classification(
        (lambda _: fixed) if images is None else lambda epoch: images(epoch).flatten(1),
        data.train[1],
        (data.validation[0].flatten(1), data.validation[1]),
    )


def train_all(
    networks: Sequence[ensemble.Member],
    data: ImageData,
    describe: Describe,
    how: ensemble.Work,
    images: Callable[[int], Float[Tensor, "n ..."]] | None = None,
) -> Rows | None:
    """Train classifiers and describe each; None in every process but the first."""
    return ensemble.work(networks, lambda _: classification(data, images), describe, SCHEDULE, how)


def untrained(networks: Sequence[ensemble.Member], device: str) -> ensemble.Stack:
    """Networks before training."""
    generators = [torch.Generator().manual_seed(member.seed) for member in networks]
    return ensemble.initialise([member.sizes for member in networks], generators).to(device)


def describe_all(
    stack: ensemble.Stack,
    images: Float[Tensor, "n ..."],
    test: tuple[Tensor, Tensor],
    readings: Readings = READINGS,
) -> Rows:
    """Accuracy of every network, and its symmetries on the given images under each reading.

    Args:
        stack: the networks.
        images: images for the extraction, on the device of the networks.
        test: images and classes of the test.
        readings: how the networks are read.
    """
    symmetries = read_stack(stack, images.flatten(1), tuple(images.shape[1:]), readings)
    accuracies = ensemble.accuracies(stack, test[0].flatten(1), test[1]).tolist()
    return [
        {"test_accuracy": accuracy, "readings": {name: describe(sym) for name, sym in one.items()}}
        for accuracy, one in zip(accuracies, symmetries, strict=True)
    ]


def describe_both(
    networks: Sequence[ensemble.Member],
    trained: ensemble.Trained,
    images: Float[Tensor, "n ..."],
    test: tuple[Tensor, Tensor],
    readings: Readings = READINGS,
) -> Rows:
    """Numbers of every network after training, with its best epoch, and before training."""
    before = untrained(networks, str(images.device))
    after_rows, before_rows = (
        describe_all(stack, images, test, readings) for stack in (trained.stack, before)
    )
    return [
        {"trained": row | best, "untrained": was}
        for row, best, was in zip(after_rows, best_epochs(trained), before_rows, strict=True)
    ]


def best_epochs(trained: ensemble.Trained) -> Rows:
    """Best epoch of each network, and its validation accuracy then."""
    return [
        {"validation_accuracy": float(accuracy), "best_epoch": int(epoch)}
        for accuracy, epoch in zip(trained.score, trained.epoch, strict=True)
    ]


def describe(sym: Symmetries) -> dict[str, Any]:
    """Spectrum, bias and matrix of each direction; defects of the scale-free problem and of so(2)."""
    directions = generators_of(sym.action, sym.spectrum.basis)
    solution = sym.accumulated.solution.directions
    rotation = sym.action.as_coefficients(so(2)).to(solution)
    return {
        "nullity": sym.nullity,
        "spectrum": sym.spectrum.values.tolist(),
        "variance": float(sym.spectrum.values[0]),
        "bias": sym.bias(so(2)).tolist(),
        "directions": (directions * orientation(directions)[:, None, None]).tolist(),
        "defects": sym.defects.tolist(),
        "defect_bias": distance_to_span(solution, rotation).tolist(),
        "rotation_defect": float(sym.defect(so(2))[0]),
    }


def orientation(matrices: Float[Tensor, "d 2 2"]) -> Float[Tensor, " d"]:
    """Sign that makes each matrix rotate counter-clockwise."""
    return torch.where(matrices[:, 1, 0] - matrices[:, 0, 1] < 0, -1.0, 1.0)


def table(networks: dict[str, Rows]) -> str:
    """One line per kind of network and reading, means over the networks, as text for a terminal."""
    lines = [
        f"{'network':<34}   {'reading':<14}   accuracy   variance   bias of the smallest (max)"
        "   next bias   defect of the rotation"
    ]
    for name, rows in networks.items():
        for reading in rows[0]["readings"]:
            read = [row["readings"][reading] for row in rows]
            biases = [one["bias"][0] for one in read]
            lines.append(
                f"{name:<34}   {reading:<14}   {mean(row['test_accuracy'] for row in rows):>8.4f}"
                f"   {mean(one['variance'] for one in read):>8.2e}"
                f"   {f'{mean(biases):.3f} ({max(biases):.3f})':>26}"
                f"   {min(one['bias'][1] for one in read):>9.3f}"
                f"   {mean(one['rotation_defect'] for one in read):>22.3f}"
            )
    return "\n".join(lines)
