"""Cost of intervals and default controls over the bare extraction, stored as results/bench-controls.json."""

import json
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

import liegg
from liegg.actions import Action
from liegg.polarization.sample_blocks import count_for
from measure import alternating
from perceptrons import perceptron
from result_files import options, store


def convolutional() -> nn.Module:
    """Three convolutions and a linear layer, for images of 28 × 28."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 32, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * 49, 10),
    )


def digits(count: int) -> Tensor:
    """Smooth random images."""
    return liegg.actions.smooth(
        torch.rand(count, 1, 28, 28, generator=torch.Generator().manual_seed(0)), 1.5
    )


def vectors(count: int, numbers: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Normal samples."""
    return torch.randn(count, numbers, generator=torch.Generator().manual_seed(0)).to(dtype)


CASES: dict[str, Callable[[int], tuple[nn.Module, Tensor, Action]]] = {
    "O(5) network, 10,000 samples": lambda part: (
        perceptron(10, 32, 32, 32, 32, 1),
        vectors(10_000 // part, 10),
        liegg.Linear(5, copies=2),
    ),
    "O(5) network, 100,000 samples": lambda part: (
        perceptron(10, 32, 32, 32, 32, 1),
        vectors(100_000 // part, 10),
        liegg.Linear(5, copies=2),
    ),
    "O(5) network in float64, 100,000 samples": lambda part: (
        perceptron(10, 32, 32, 32, 32, 1, dtype=torch.float64),
        vectors(100_000 // part, 10, torch.float64),
        liegg.Linear(5, copies=2),
    ),
    "20 points of space, 20,000 samples": lambda part: (
        perceptron(60, 128, 128, 3),
        vectors(20_000 // part, 60),
        liegg.Affine(3, copies=20),
    ),
    "gl(16), 50,000 samples": lambda part: (
        perceptron(16, 64, 64, 1),
        vectors(50_000 // part, 16),
        liegg.Linear(16),
    ),
    "deep perceptron on digits, 10,000 images": lambda part: (
        perceptron(784, *[116] * 6, 10),
        digits(10_000 // part).flatten(1),
        liegg.Image("linear", shape=(28, 28)),
    ),
    "convolutional network on digits, 4,000 images": lambda part: (
        convolutional(),
        digits(4_000 // part),
        liegg.Image("affine"),
    ),
}


def cost(model: nn.Module, x: Tensor, action: Action, repeats: int) -> dict[str, float]:
    """Times with and without, in turns, and their ratio."""
    times = alternating(
        {
            "bare": lambda: liegg.discover(model, x, action, controls="none"),
            "default": lambda: liegg.discover(model, x, action),
        },
        repeats,
    )
    return {
        "samples": len(x),
        "candidates": action.size,
        "blocks": count_for(action.size),
        "bare_seconds": times["bare"],
        "default_seconds": times["default"],
        "ratio": times["default"] / times["bare"],
    }


def main() -> None:
    """Run, print, store."""
    parser = options(__doc__, "bench-controls.json", quick="few samples, for a look")
    chosen = parser.parse_args()
    begin = time.perf_counter()
    results = {}
    for name, make in CASES.items():
        results[name] = cost(*make(50 if chosen.quick else 1), repeats=1 if chosen.quick else 7)
        print(name, json.dumps(results[name]), flush=True)
    store({"cases": results}, chosen.out, "python benchmarks/controls.py", begin=begin)


if __name__ == "__main__":
    main()
