"""What the image studies share: how a classifier is read, and the numbers that are kept of it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg.actions import Action, Image
from liegg.actions.stencils import Scheme
from liegg.algebra.catalog import so
from liegg.algebra.subspace import distance_to_span
from liegg.discovery import discover
from liegg.studies import ensemble
from liegg.studies.provenance import write_json
from liegg.symmetries import Symmetries

SIGMA = 1.5
"""Smoothing of the images before training, in pixels, as in the paper's reference run."""

Readings = dict[str, tuple[Scheme, Literal["sum", "each"], int]]

READINGS: Readings = {
    "paper, sum": ("paper", "sum", 0),
    "paper, each": ("paper", "each", 0),
    "spectral, sum": ("spectral", "sum", 0),
    "spectral, each": ("spectral", "each", 0),
}
"""Derivative scheme, reading of the outputs, pixels left out at the border: the paper's own first, ours last."""

FRAMED: Readings = {"framed, sum": ("spectral", "sum", 1), "framed, each": ("spectral", "each", 1)}
"""For pictures that are cut off by their frame: the spectral derivative without the outermost pixels."""


class UnitLogits(nn.Module):
    """A classifier whose logits are scaled to unit length, as the paper scales them before it extracts symmetries."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Tensor:
        """Logits of flat images, each vector divided by its length."""
        return nn.functional.normalize(self.network(x), dim=1)


def fresh(sizes: Sequence[int], seeds: Sequence[int], device: str) -> tuple[ensemble.Stack, list[torch.Generator]]:
    """Untrained networks, one per seed, and the generators that go on to decide their order of images."""
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    return ensemble.initialise(sizes, generators).to(device), generators


def train(
    sizes: Sequence[int],
    images: Callable[[int], Float[Tensor, "n ..."]],
    labels: Tensor,
    validation: tuple[Tensor, Tensor],
    seeds: Sequence[int],
    *,
    epochs: int,
    device: str = "cpu",
    progress: Callable[[int], object] | None = None,
) -> ensemble.Trained:
    """Train one perceptron per seed on the same images, all at once.

    Args:
        sizes: widths of the layers.
        images: training images of an epoch.
        labels: their classes.
        validation: images and classes that decide which epoch is best.
        seeds: one network each; a seed decides weights and order.
        epochs: passes over the images.
        device: where to train.
        progress: called with 1 after each epoch.
    """
    stack, generators = fresh(sizes, seeds, device)
    return ensemble.train_classifiers(
        stack, lambda epoch: images(epoch).flatten(1), labels, (validation[0].flatten(1), validation[1]), generators,
        epochs=epochs, progress=progress,
    )  # fmt: skip


def describe_all(
    stack: ensemble.Stack,
    images: Float[Tensor, "n ..."],
    test: tuple[Tensor, Tensor],
    progress: Callable[[int], object] | None = None,
    readings: Readings = READINGS,
) -> list[dict[str, Any]]:
    """The numbers of every network: its accuracy, and its symmetries on the given images under each reading.

    Args:
        stack: the networks.
        images: images to extract symmetries from, on the device of the networks.
        test: images and classes of the test.
        progress: called with 1 after each network.
        readings: in which ways each is read.
    """
    rows = []
    for index, accuracy in enumerate(ensemble.accuracies(stack, test[0].flatten(1), test[1]).tolist()):
        network = stack.network(index).to(images.device)
        rows.append({"test_accuracy": accuracy, "readings": read(network, images.flatten(1), tuple(images.shape[1:]), readings)})
        if progress is not None:
            progress(1)
    return rows


def best_epochs(trained: ensemble.Trained) -> list[dict[str, Any]]:
    """When each network was best on the validation images, and how good."""
    return [
        {"validation_accuracy": float(accuracy), "best_epoch": int(epoch)}
        for accuracy, epoch in zip(trained.accuracy, trained.epoch, strict=True)
    ]


def read(
    network: nn.Module, images: Float[Tensor, "n ..."], shape: tuple[int, ...], readings: Readings = READINGS
) -> dict[str, dict[str, Any]]:
    """The numbers of one classifier under each reading.

    Args:
        network: classifier of flat images; its logits are scaled to unit length.
        images: flat images.
        shape: their shape before they were flattened.
        readings: in which ways it is read.
    """
    model = UnitLogits(network)
    return {
        name: describe(discover(model, images, action(scheme, shape, frame), outputs=outputs))
        for name, (scheme, outputs, frame) in readings.items()
    }


def action(scheme: Scheme, shape: tuple[int, ...], frame: int = 0) -> Action:
    """The paper's candidates: all linear maps of the plane."""
    return Image("linear", derivative=scheme, shape=shape, frame=frame)


def describe(sym: Symmetries) -> dict[str, Any]:
    """Spectrum ascending, the bias and matrix of each direction; the same of the scale-free problem, and the rotation's defect."""
    directions = sym.action.matrices(sym.spectrum.basis)
    scale_free = sym.scale_free.directions
    return {
        "nullity": sym.nullity,
        "spectrum": sym.spectrum.values.tolist(),
        "variance": sym.variance,
        "bias": sym.bias(so(2)).tolist(),
        "directions": (directions * upright(directions)[:, None, None]).tolist(),
        "defects": sym.defects.tolist(),
        "defect_bias": distance_to_span(scale_free, sym.action.coefficients(so(2)).to(scale_free)).tolist(),
        "rotation_defect": float(sym.defect(so(2))[0]),
    }


def upright(matrices: Float[Tensor, "d 2 2"]) -> Float[Tensor, " d"]:
    """Sign that makes each matrix turn counter-clockwise."""
    return torch.where(matrices[:, 1, 0] - matrices[:, 0, 1] < 0, -1.0, 1.0)


def store(results: dict[str, Any], out: Path, draw: Callable[[dict[str, Any], Path], object]) -> dict[str, Any]:
    """Write the results of a study, then draw its figures from them; give them back."""
    write_json(results, out / f"{results['study']}.json")
    draw(results, out)
    return results


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
