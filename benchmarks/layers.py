"""Cost of the symmetries of all layers, stored as results/bench-layers.json.

Compared are all layers in one pass; torch's forward-mode passes of the generators alone (their tangents given), one by one and
batched, which computes the values once for all of them; and reverse mode layer by layer, its rows alone: of the paper's sum, one
reverse pass per layer, and for the perceptron also of every output.
"""

import argparse
import json
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor, nn

import liegg
from liegg.discovery.layers.hooks import Layer, network_of, truncate
from liegg.discovery.layers.streaming import numbers_on
from liegg.inputs.model import Model
from liegg.polarization.output_sketch import Outputs
from liegg.polarization.plan import Plan
from liegg.polarization.rows import polarize, together_on
from measure import alternating
from perceptrons import perceptron
from result_files import RESULTS, store

SIDE = 32
ACTION = liegg.Image("affine", shape=(3, SIDE, SIDE))


class Block(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.relu1, self.relu2 = nn.ReLU(), nn.ReLU()
        self.around = (
            nn.Sequential()
            if inputs == outputs
            else nn.Conv2d(inputs, outputs, 1, stride, bias=False)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Sum of both ways."""
        return self.relu2(
            self.norm2(self.conv2(self.relu1(self.norm1(self.conv1(x))))) + self.around(x)
        )


def residual() -> nn.Module:
    """A network of the size of ResNet-18 for images of 32 × 32: eight blocks, widths 64 to 512, 11 million weights."""
    torch.manual_seed(0)
    widths = [64, 64, 128, 256, 512]
    blocks = [
        Block(*sizes)
        for stage, (i, o) in enumerate(pairwise(widths))
        for sizes in ((i, o, 1 if stage == 0 else 2), (o, o, 1))
    ]
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], 10))
    return nn.Sequential(
        nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), *blocks, *head
    ).eval()


def forward_alone(model: nn.Module, images: Tensor, tangents: Tensor, size: int) -> None:
    """The derivatives of the model's output along all tangents, in batches, and nothing else."""
    with torch.no_grad():
        for x, motion in zip(images.split(size), tangents.split(size, dim=1), strict=True):
            torch.func.vmap(lambda tangent, x=x: torch.func.jvp(model, (x,), (tangent,)))(motion)


def one_by_one(model: nn.Module, images: Tensor, tangents: Tensor, size: int) -> None:
    """The same by one forward-mode pass to a generator."""
    with torch.no_grad():
        for x, motion in zip(images.split(size), tangents.split(size, dim=1), strict=True):
            for tangent in motion:
                torch.func.jvp(model, (x,), (tangent,))


def layer_by_layer(
    model: nn.Module, images: Tensor, layers: list[Layer], outputs: Outputs, size: int
) -> None:
    """Reverse mode on the network truncated at every layer: the rows of every batch, and nothing else."""
    network = network_of(model, "model")
    for layer in layers:
        function = Model(
            truncate(network, layer), layer.name, output_shape=layer.shape, in_place=False
        )
        for x in images.split(size):
            together = min(together_on(x), torch.Size(layer.shape).numel())
            polarize(function, ACTION, x, Plan(outputs, "vjp", together=together))


def cost(
    model: nn.Module, images: Tensor, few: int, readings: tuple[Outputs, ...], repeats: int
) -> dict[str, object]:
    """Times of all ways, in turns, and their ratios; reverse mode is timed on `few` images and compared by the image."""
    model.requires_grad_(False)
    found = liegg.discover_layers(model, images[:32], ACTION)
    layers = [Layer(one.name, one.name, one.kind, one.shape) for one in found if not one.same]
    widest = max(images[0].numel(), *(torch.Size(one.shape).numel() for one in found))
    size = max(1, numbers_on(images.device) // ((1 + ACTION.size) * widest))
    generators = torch.eye(ACTION.size, device=images.device)
    tangents = torch.cat([ACTION.tangents(generators, x) for x in images.split(256)], dim=1)

    def timed(work: Callable[[], object]) -> Callable[[], object]:
        def synchronised() -> None:
            work()
            if images.device.type == "cuda":
                torch.cuda.synchronize()

        return synchronised

    works = {
        "forward_alone": timed(lambda: forward_alone(model, images, tangents, size)),
        "forward_one_by_one": timed(lambda: one_by_one(model, images, tangents, size)),
        "all_layers": timed(lambda: liegg.discover_layers(model, images, ACTION)),
        "all_layers_sum": timed(
            lambda: liegg.discover_layers(model, images, ACTION, outputs="sum")
        ),
    }
    for outputs in readings:
        works[f"reverse_{outputs}"] = timed(
            lambda outputs=outputs: layer_by_layer(model, images[:few], layers, outputs, size)
        )
    seconds = alternating(works, repeats)
    by_image = {
        name: time / (few if name.startswith("reverse") else len(images))
        for name, time in seconds.items()
    }
    return {
        "images": len(images),
        "images_reverse": few,
        "layers": len(found),
        "batch_size": size,
        "seconds_per_image": by_image,
        "all_layers_of_forward_one_by_one": by_image["all_layers"] / by_image["forward_one_by_one"],
        "all_layers_of_forward_alone": by_image["all_layers"] / by_image["forward_alone"],
        "sum_of_forward_alone": by_image["all_layers_sum"] / by_image["forward_alone"],
        "reverse_of_all_layers": {
            f"{outputs}": by_image[f"reverse_{outputs}"] / by_image["all_layers"]
            for outputs in readings
        },
        "reverse_sum_of_all_layers_sum": by_image["reverse_sum"] / by_image["all_layers_sum"],
    }


def main() -> None:
    """Run, print, store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few images, for a look")
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--out",
        type=Path,
        help="by default results/bench-layers.json, for a GPU results/bench-layers-cuda.json",
    )
    chosen = parser.parse_args()
    device = torch.device(chosen.device)
    begin = time.perf_counter()
    counts = (
        (512, 18) if chosen.quick else (16_384, 144) if device.type == "cpu" else (65_536, 32_768)
    )
    few = (32, 18) if chosen.quick else (128, 18) if device.type == "cpu" else (1_024, 1_024)
    images = liegg.actions.smooth(
        torch.rand(max(counts), 3, SIDE, SIDE, generator=torch.Generator().manual_seed(0)), 1.0
    ).to(device)
    flat, repeats = images[: counts[0]].flatten(1), 1 if chosen.quick else 3
    seven = perceptron(3 * SIDE * SIDE, *[512] * 6, 10).eval()
    results: dict[str, object] = {
        "perceptron": cost(seven.to(device), flat, few[0], ("sum", "each"), repeats),
        "residual": cost(residual().to(device), images[: counts[1]], few[1], ("sum",), repeats),
    }
    print(json.dumps(results, indent=1))
    name = "bench-layers.json" if device.type == "cpu" else f"bench-layers-{device.type}.json"
    command = f"python benchmarks/layers.py --device {chosen.device}"
    store(results, chosen.out or RESULTS / name, command, begin=begin, device=chosen.device)


if __name__ == "__main__":
    main()
