"""Cost and memory of extraction for images, stored as results/bench-images.json.

Compared are the product, one plain training pass, and the paper's formula written plainly over all images at once.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor, nn

import liegg
from liegg.inputs.pieces import BATCH_SIZE
from measure import alternating, in_process, peak_bytes, reset_peak, resident_bytes
from perceptrons import perceptron
from result_files import options, store

HERE = Path(__file__).parent
SIDE = 28
ACTIONS = {
    "linear": liegg.Image("linear", shape=(SIDE, SIDE)),
    "affine": liegg.Image("affine", shape=(SIDE, SIDE)),
}


def network() -> nn.Module:
    """The six-layer perceptron 784→5×128→10."""
    return perceptron(SIDE * SIDE, *[128] * 5, 10)


class Batched:
    """Random images in batches of 512, made when asked for, so that the data itself takes no memory; re-iterable."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[Tensor]:
        generator = torch.Generator().manual_seed(0)
        for start in range(0, self.count, 512):
            yield torch.rand(min(512, self.count - start), SIDE * SIDE, generator=generator)


def dense(model: nn.Module, images: Tensor) -> Tensor:
    """The paper's matrix for all images at once: forward differences times gradients times coordinates, summed at the end."""
    right = images[:, :-1, 1:] - images[:, :-1, :-1]
    down = images[:, 1:, :-1] - images[:, :-1, :-1]
    flat = images.flatten(1).requires_grad_()
    slopes = torch.autograd.grad(model(flat).sum(), flat)[0].reshape(images.shape)[:, :-1, :-1]
    axis = torch.arange(SIDE - 1) / (SIDE // 2) - 1
    place = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), -1)
    whole = (
        slopes[..., None, None]
        * torch.stack([down, right], -1)[..., None]
        * place[None, :, :, None, :]
    )
    return whole.flatten(1, 2).sum(1).flatten(1)


def memory_of(way: str, count: int) -> None:
    """Peak extra bytes of one way, for this process; prints JSON."""

    def work(images: int) -> None:
        if way == "streamed":
            liegg.discover(
                network(), Batched(images), ACTIONS["linear"], outputs="sum", controls="none"
            )
        else:
            torch.linalg.svd(dense(network(), torch.rand(images, SIDE, SIDE)), full_matrices=False)

    work(64)
    before = resident_bytes()
    reset_peak()
    work(count)
    print(json.dumps({"extra_bytes": peak_bytes() - before}))


def cost(count: int) -> dict[str, object]:
    """Time of the extraction as a multiple of a plain forward and backward pass in batches of 512 and of our own size."""
    model, images, labels = network(), torch.rand(count, SIDE * SIDE), torch.randint(10, (count,))

    def plain(size: int) -> None:
        for batch, classes in zip(images.split(size), labels.split(size), strict=True):
            model.zero_grad()
            nn.functional.cross_entropy(model(batch), classes).backward()

    works: dict[str, Callable[[], object]] = {
        "forward_backward_512": lambda: plain(512),
        "forward_backward": lambda: plain(BATCH_SIZE),
    }
    for name, action in ACTIONS.items():
        for outputs in ("sum", "each"):
            works[f"{name}_{outputs}"] = lambda action=action, outputs=outputs: liegg.discover(
                model, images, action, outputs=outputs, controls="none"
            )
    times = alternating(works)
    ratios = {
        name: {
            "of_512": times[name] / times["forward_backward_512"],
            "of_same": times[name] / times["forward_backward"],
        }
        for name in works
        if not name.startswith("forward")
    }
    return {"images": count, "batch_size": BATCH_SIZE, "seconds": times, "ratios": ratios}


def main() -> None:
    """Run, print, store."""
    parser = options(__doc__, "bench-images.json", quick="few images, for a look")
    chosen = parser.parse_args()
    begin = time.perf_counter()
    counts = (4_000,) if chosen.quick else (10_000, 60_000)
    script = HERE / "images.py"
    streamed = {
        str(count): in_process(script, "memory", "streamed", str(count))["extra_bytes"]
        for count in counts
    }
    whole = in_process(script, "memory", "dense", str(counts[-1]))["extra_bytes"]
    results: dict[str, object] = {
        "memory": {"streamed_bytes": streamed, "dense_bytes": whole},
        "cost": cost(counts[-1]),
    }
    print(json.dumps(results, indent=1))
    store(results, chosen.out, "make bench", begin=begin)


if __name__ == "__main__":
    if sys.argv[1:2] == ["memory"]:
        memory_of(sys.argv[2], int(sys.argv[3]))
    else:
        main()
