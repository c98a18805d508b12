"""Which layers of a trained classifier break its equivariance, and why: padding, stride, nonlinearity or filters.

Stored as results/layer-errors.json. The CIFAR-10 ResNet-20 under rotations and shifts; sums, subsampled
identities and nonlinearities are modules here, so that each is measured.

    LIEGG_DATA=data python benchmarks/layer_errors.py --models models
"""

import argparse
import time
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import pad

import liegg
from liegg.results import LayerErrors
from liegg.results.json_values import json_values
from liegg.studies import datasets
from liegg.studies.provenance import provenance, write_json

HERE = Path(__file__).parent
SAMPLES = 64
MOTIONS = [("rotation", 15.0), ("rotation", 90.0), ("shift", 1.0), ("shift", 2.0), ("shift", 4.0)]
"""Motions with their sizes; rotations by 90° and shifts by 4 pixels take the pixels of every map to pixels."""


class Normalise(nn.Module):
    """Images in [0, 1] as the network expects them."""

    mean: Tensor
    spread: Tensor

    def __init__(self) -> None:
        super().__init__()
        mean, spread = torch.tensor([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]])
        self.register_buffer("mean", mean[:, None, None], persistent=False)
        self.register_buffer("spread", spread[:, None, None], persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """The images, normalised."""
        return (x - self.mean) / self.spread


class Shortcut(nn.Module):
    """Every second place, with channels of zeros before and after."""

    def __init__(self, more: int) -> None:
        super().__init__()
        self.more = more

    def forward(self, x: Tensor) -> Tensor:
        """The features that a block adds to its own."""
        return pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.more, self.more))


class Block(nn.Module):
    """Two convolutions beside an identity, which is subsampled and padded where the width grows."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        grows = outputs > inputs
        self.conv1 = nn.Conv2d(inputs, outputs, 3, 2 if grows else 1, 1, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.relu1, self.relu2 = nn.ReLU(), nn.ReLU()
        self.shortcut = Shortcut((outputs - inputs) // 2) if grows else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """The features after the block."""
        y = self.bn2(self.conv2(self.relu1(self.bn1(self.conv1(x)))))
        return self.relu2(y + self.shortcut(x))


class ResNet20(nn.Module):
    """The CIFAR-10 classifier of 20 layers."""

    def __init__(self) -> None:
        super().__init__()
        self.normalise = Normalise()
        self.conv1, self.bn1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        self.relu = nn.ReLU()
        self.layer1 = nn.Sequential(*[Block(16, 16) for _ in range(3)])
        self.layer2 = nn.Sequential(Block(16, 32), Block(32, 32), Block(32, 32))
        self.layer3 = nn.Sequential(Block(32, 64), Block(64, 64), Block(64, 64))
        self.pool, self.linear = nn.AdaptiveAvgPool2d(1), nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        """The logits."""
        x = self.relu(self.bn1(self.conv1(self.normalise(x))))
        return self.linear(self.pool(self.layer3(self.layer2(self.layer1(x)))).flatten(1))


def trained(models: Path) -> ResNet20:
    """The trained network."""
    network = ResNet20()
    network.load_state_dict(load_file(models / "cifar10-resnet20.safetensors"))
    return network.eval()


def stored(found: LayerErrors) -> dict[str, Any]:
    """What is kept of a measurement: the shares, and the layers with three digits."""
    keys = ("total", "added", "interior", "resampling", "effect")
    layers = {}
    for layer in found.single:
        values = {key: float(f"{getattr(layer, key):.3g}") for key in keys}
        weights = {cause: float(f"{value:.3g}") for cause, value in layer.causes().items()}
        layers[layer.name] = {"kind": layer.kind, "exact": layer.exact, **values, "causes": weights}
    shares = {cause: float(f"{share:.3g}") for cause, share in found.by_cause().items()}
    return {
        "motion": found.motion,
        "size": found.size,
        "unit": found.unit,
        "samples": found.samples,
        "output": float(f"{found.output:.3g}"),
        "by_cause": shares,
        "worst": [layer.name for layer in found.worst[:6]],
        "layers": layers,
    }


def main() -> None:
    """Measure every motion, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, required=True, help="folder with the weights")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="number of test images")
    parser.add_argument("--out", type=Path, default=HERE.parent / "results" / "layer-errors.json")
    chosen = parser.parse_args()
    begin = time.perf_counter()
    test = datasets.cifar10("test")
    images = test.images[: chosen.samples].float() / 255
    network = trained(chosen.models)
    results = []
    for motion, size in MOTIONS:
        errors = liegg.layer_errors(
            network, images, liegg.Image("affine"), motion, size=size, samples=chosen.samples
        )
        print(errors, "", sep="\n")
        results.append(stored(errors))
    command = "LIEGG_DATA=data python benchmarks/layer_errors.py --models models"
    record = provenance(command, seconds=time.perf_counter() - begin)
    found = {"network": "CIFAR-10 ResNet-20", "motions": results, "provenance": record}
    write_json(json_values(found), chosen.out)


if __name__ == "__main__":
    main()
