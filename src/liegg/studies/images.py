"""What the image studies share: how classifiers are trained and read, and the numbers that are kept of them."""

from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import smooth
from liegg.algebra.catalog import so
from liegg.algebra.subspace import distance_to_span
from liegg.results.symmetries import Symmetries
from liegg.studies import datasets, ensemble
from liegg.studies.reading import Readings, read_stack

SIGMA = 1.5
"""Smoothing of the images before training, in pixels, as in the paper's reference run."""

SCHEDULE = ensemble.Schedule(batch_size=512, rate=1e-3)
"""The paper's rate; it does not state the size of the batches."""

READINGS: Readings = {
    "paper, sum": ("paper", "sum", 0),
    "paper, each": ("paper", "each", 0),
    "spectral, sum": ("spectral", "sum", 0),
    "spectral, each": ("spectral", "each", 0),
}
"""Derivative scheme, reading of the outputs, pixels left out at the border: the paper's own first, ours last."""

FRAMED: Readings = {"framed, sum": ("spectral", "sum", 1), "framed, each": ("spectral", "each", 1)}
"""For pictures that are cut off by their frame: the spectral derivative without the outermost pixels."""


class Pictures(NamedTuple):
    """Images and labels to train on, to choose the best epoch by, and to test with."""

    train: tuple[Tensor, Tensor]
    validation: tuple[Tensor, Tensor]
    test: tuple[Tensor, Tensor]


def smooth_digits(digits: datasets.RotatedMnist, device: str) -> Pictures:
    """Digits as the networks see them: smoothed, on the device."""
    parts = (digits.train, digits.validation, digits.test)
    return Pictures(
        *((smooth(part.images.to(device), SIGMA), part.labels.to(device)) for part in parts)
    )


def classification(
    pictures: Pictures, images: Callable[[int], Float[Tensor, "n ..."]] | None = None
) -> ensemble.Classification:
    """The problem of naming the pictures; `images` gives those of an epoch if they change."""
    still = pictures.train[0].flatten(1)
    shown = (lambda _: still) if images is None else lambda epoch: images(epoch).flatten(1)
    return ensemble.Classification(
        shown, pictures.train[1], (pictures.validation[0].flatten(1), pictures.validation[1])
    )


def untrained(sizes: Sequence[Sequence[int]], seeds: Sequence[int], device: str) -> ensemble.Stack:
    """Networks before training, one per seed."""
    return ensemble.initialise(sizes, [torch.Generator().manual_seed(seed) for seed in seeds]).to(
        device
    )


def describe_all(
    stack: ensemble.Stack,
    images: Float[Tensor, "n ..."],
    test: tuple[Tensor, Tensor],
    readings: Readings = READINGS,
) -> list[dict[str, Any]]:
    """The numbers of every network: its accuracy, and its symmetries on the given images under each reading.

    Args:
        stack: the networks.
        images: images to extract symmetries from, on the device of the networks.
        test: images and classes of the test.
        readings: in which ways each is read.
    """
    found = read_stack(stack, images.flatten(1), tuple(images.shape[1:]), readings)
    accuracies = ensemble.accuracies(stack, test[0].flatten(1), test[1]).tolist()
    return [
        {"test_accuracy": accuracy, "readings": {name: describe(sym) for name, sym in one.items()}}
        for accuracy, one in zip(accuracies, found, strict=True)
    ]


def describe_both(
    members: Sequence[ensemble.Member],
    trained: ensemble.Trained,
    images: Float[Tensor, "n ..."],
    test: tuple[Tensor, Tensor],
    readings: Readings = READINGS,
) -> list[dict[str, Any]]:
    """The numbers of every network after training, with its best epoch, and before, with the weights it began with."""
    before = untrained(
        [member.sizes for member in members],
        [member.seed for member in members],
        str(images.device),
    )
    after, fresh = (
        describe_all(stack, images, test, readings) for stack in (trained.stack, before)
    )
    return [
        {"trained": row | best, "untrained": was}
        for row, best, was in zip(after, best_epochs(trained), fresh, strict=True)
    ]


def best_epochs(trained: ensemble.Trained) -> list[dict[str, Any]]:
    """When each network was best on the validation images, and how good."""
    return [
        {"validation_accuracy": float(accuracy), "best_epoch": int(epoch)}
        for accuracy, epoch in zip(trained.score, trained.epoch, strict=True)
    ]


def describe(sym: Symmetries) -> dict[str, Any]:
    """Spectrum ascending, the bias and matrix of each direction; the same of the scale-free problem, and the rotation's defect."""
    directions = sym.action.matrices(sym.spectrum.basis)
    solution = sym.accumulated.solution.directions
    return {
        "nullity": sym.nullity,
        "spectrum": sym.spectrum.values.tolist(),
        "variance": sym.variance,
        "bias": sym.bias(so(2)).tolist(),
        "directions": (directions * upright(directions)[:, None, None]).tolist(),
        "defects": sym.defects.tolist(),
        "defect_bias": distance_to_span(
            solution, sym.action.coefficients(so(2)).to(solution)
        ).tolist(),
        "rotation_defect": float(sym.defect(so(2))[0]),
    }


def upright(matrices: Float[Tensor, "d 2 2"]) -> Float[Tensor, " d"]:
    """Sign that makes each matrix turn counter-clockwise."""
    return torch.where(matrices[:, 1, 0] - matrices[:, 0, 1] < 0, -1.0, 1.0)


def table(networks: dict[str, list[dict[str, Any]]]) -> str:
    """One line per kind of network and reading, means over the networks, to be read on a terminal."""
    lines = [
        f"{'network':<34}   {'reading':<14}   accuracy   variance   bias of the smallest (max)   next bias   defect of the rotation"
    ]
    for name, found in networks.items():
        for reading in found[0]["readings"]:
            rows = [net["readings"][reading] for net in found]
            biases = [row["bias"][0] for row in rows]
            lines.append(
                f"{name:<34}   {reading:<14}   {mean(net['test_accuracy'] for net in found):>8.4f}   "
                f"{mean(row['variance'] for row in rows):>8.2e}   {f'{mean(biases):.3f} ({max(biases):.3f})':>26}   "
                f"{min(row['bias'][1] for row in rows):>9.3f}   {mean(row['rotation_defect'] for row in rows):>22.3f}"
            )
    return "\n".join(lines)
