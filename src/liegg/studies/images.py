"""Training and analysis of classifiers, shared by the image studies."""

from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg.actions import Action, Image, smooth
from liegg.actions.grid.stencils import Scheme
from liegg.algebra.catalog import so
from liegg.algebra.subspace import distance_to_span
from liegg.discovery.layers.discover_layers import discover_layers
from liegg.results.account import generators_of
from liegg.results.symmetries import Symmetries
from liegg.studies import datasets, ensemble

SIGMA = 1.5
"""Smoothing of the images before training, in pixels, as in the paper's reference run."""

SCHEDULE = ensemble.Schedule(batch_size=512, rate=1e-3)
"""The paper's learning rate; it does not state the batch size."""

EPOCHS, QUICK_EPOCHS = 300, 20
SEEDS = tuple(range(1, 9))

Readings = dict[str, tuple[Scheme, Literal["sum", "each"], int]]
"""By name: derivative scheme, treatment of the outputs, pixels left out at the border."""

READINGS: Readings = {
    "paper, sum": ("paper", "sum", 0),
    "paper, each": ("paper", "each", 0),
    "spectral, sum": ("spectral", "sum", 0),
    "spectral, each": ("spectral", "each", 0),
}
"""The paper's first."""

FRAMED: Readings = {"framed, sum": ("spectral", "sum", 1), "framed, each": ("spectral", "each", 1)}
"""For images that are cut off at their border: spectral derivatives without the outermost pixels."""

Rows = list[dict[str, Any]]


def digits(quick: bool, seed: int = 0) -> datasets.ImageSets:
    """Rotated MNIST; its shipped sample for a quick run."""
    return datasets.rotated_mnist_sample(seed) if quick else datasets.rotated_mnist(seed)


def smoothed(sets: datasets.ImageSets, device: str) -> datasets.ImageSets:
    """Images as the networks see them: smoothed, on the device."""
    here = [part.to(device) for part in sets]
    return datasets.ImageSets(
        *(datasets.Labelled(smooth(part.images, SIGMA), part.labels) for part in here)
    )


def members(
    sizes: Sequence[Sequence[int]], seeds: Sequence[int], data: datasets.ImageSets, epochs: int
) -> list[ensemble.Member]:
    """Networks of these widths, each with all seeds."""
    return [
        ensemble.Member(tuple(widths), seed, len(data.train), epochs)
        for widths in sizes
        for seed in seeds
    ]


def classification(
    data: datasets.ImageSets, images: Callable[[int], Float[Tensor, "n ..."]] | None = None
) -> ensemble.Classification:
    """The classification problem; `images` returns those of an epoch if they change."""
    fixed = data.train.images.flatten(1)
    return ensemble.Classification(
        (lambda _: fixed) if images is None else lambda epoch: images(epoch).flatten(1),
        data.train.labels,
        (data.validation.images.flatten(1), data.validation.labels),
    )


def train_all(
    networks: Sequence[ensemble.Member],
    data: datasets.ImageSets,
    describe: Callable[[list[ensemble.Member], ensemble.Trained], Rows],
    how: ensemble.Work,
    *,
    images: Callable[[int], Float[Tensor, "n ..."]] | None = None,
) -> Rows:
    """Train classifiers and describe each."""
    return ensemble.work(
        networks, lambda _: classification(data, images), describe, SCHEDULE, how=how
    )


def untrained(networks: Sequence[ensemble.Member], device: str) -> ensemble.Stack:
    """Networks before training."""
    sizes, seeds = zip(*((member.sizes, member.seed) for member in networks), strict=True)
    return ensemble.initialise(sizes, seeds).to(device)


class StackModule(nn.Module):
    """A stack as one module, in which the logits of every network are the output of a layer."""

    def __init__(self, stack: ensemble.Stack) -> None:
        super().__init__()
        self.stack = stack
        self.leaves = nn.ParameterList(stack.leaves)
        self.logits = nn.ModuleList(nn.Identity() for _ in range(len(stack)))

    def forward(self, x: Float[Tensor, "b i"]) -> Float[Tensor, "b s o"]:
        """Logits of every network on the same images."""
        logits = self.stack(x.expand(len(self.stack), *x.shape))
        outputs = [layer(values) for layer, values in zip(self.logits, logits, strict=True)]
        return torch.stack(outputs, dim=1)


def action(scheme: Scheme, shape: tuple[int, ...], frame: int = 0) -> Action:
    """The paper's candidates: all linear maps of the plane."""
    return Image("linear", derivative=scheme, shape=shape, frame=frame)


def read_stack(
    stack: ensemble.Stack, images: Float[Tensor, "n i"], shape: tuple[int, ...], readings: Readings
) -> list[dict[str, Symmetries]]:
    """Symmetries of every network of a stack, with logits scaled to unit length as in the paper.

    They are those that `discover` finds for each network; the images are differentiated once for
    all networks.

    Args:
        stack: the classifiers.
        images: flat images on the device of the networks.
        shape: shape of an image.
        readings: how each network is read.

    Returns:
        For each network the symmetries by the name of the reading.

    Raises:
        EmptyDataError: there are no images.
        NonFiniteError: an output or a derivative is not finite; the message names the layer and the
            image.
    """
    model, images = StackModule(stack), images.to(stack.weights[0])
    names = [f"logits.{index}" for index in range(len(stack))]
    symmetries: list[dict[str, Symmetries]] = [{} for _ in names]
    for reading, (scheme, outputs, frame) in readings.items():
        candidates = action(scheme, shape, frame)
        layers = discover_layers(model, images, candidates, layers=names, outputs=outputs)
        for network, name in zip(symmetries, names, strict=True):
            network[reading] = layers[name].unit
    return symmetries


def describe_all(
    stack: ensemble.Stack,
    images: Float[Tensor, "n ..."],
    test: datasets.Labelled,
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
    accuracies = ensemble.accuracies(stack, test.images.flatten(1), test.labels).tolist()
    return [
        {"test_accuracy": accuracy, "readings": {name: describe(sym) for name, sym in one.items()}}
        for accuracy, one in zip(accuracies, symmetries, strict=True)
    ]


def describe_both(
    networks: Sequence[ensemble.Member],
    trained: ensemble.Trained,
    images: Float[Tensor, "n ..."],
    test: datasets.Labelled,
    *,
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
