"""Cost of an analysis beside plain passes over the same data, on one device: a network of ResNet-50 size on large pictures.

`python benchmarks/scale.py --device cuda` writes results/bench-scale-cuda.json; `--quick` is a small form for the tests.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

import liegg
from liegg.studies.provenance import provenance

HERE = Path(__file__).parent


class Bottleneck(nn.Module):
    """Three convolutions and a way around them."""

    def __init__(self, before: int, width: int, stride: int) -> None:
        super().__init__()
        after = 4 * width
        self.inner = nn.Sequential(
            nn.Conv2d(before, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, after, 1, bias=False), nn.BatchNorm2d(after),
        )  # fmt: skip
        same = before == after and stride == 1
        self.around = (
            nn.Identity() if same else nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))
        )

    def forward(self, x: Tensor) -> Tensor:
        """Feature maps of the next block."""
        return torch.relu(self.inner(x) + self.around(x))


def residual(
    widths: tuple[int, ...] = (64, 128, 256, 512), depths: tuple[int, ...] = (3, 4, 6, 3), classes: int = 1000
) -> nn.Module:
    """The usual network of 50 layers and 25.6 million parameters, with random weights."""
    torch.manual_seed(0)
    layers: list[nn.Module] = [
        nn.Conv2d(3, widths[0], 7, 2, 3, bias=False),
        nn.BatchNorm2d(widths[0]),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ]
    before = widths[0]
    for number, (width, depth) in enumerate(zip(widths, depths, strict=True)):
        for block in range(depth):
            layers.append(Bottleneck(before, width, 2 if number and not block else 1))
            before = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, classes))


def timed(work: Callable[[], object], device: torch.device, repeats: int) -> float:
    """Median seconds of a few runs, after one that warms up."""
    found = []
    for turn in range(repeats + 1):
        if device.type == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize()
        found += [time.perf_counter() - start] if turn else []
    return statistics.median(found)


def plain(model: nn.Module, x: Tensor, size: int) -> None:
    """One forward and backward pass over the same data, batch by batch, from the same place: gradients of the input."""
    for batch in x.split(size):
        leaf = batch.to(next(model.parameters()).device, non_blocking=True).requires_grad_()
        model(leaf).sum().backward(inputs=[leaf])


def cost(device: torch.device, *, quick: bool) -> dict:
    """Seconds of the readings, and their ratios to the plain pass."""
    model = residual((8, 16, 16, 16), (1, 1, 1, 1), 20) if quick else residual()
    model = model.to(device).eval().requires_grad_(False)
    count, side, size, repeats = (16, 32, 8, 1) if quick else (1024, 224, 128, 3)
    x = torch.randn(count, 3, side, side, generator=torch.Generator().manual_seed(0))
    base = timed(lambda: plain(model, x, size), device, repeats)
    action = liegg.Image("affine")
    found = {
        "plain_s": base,
        "samples": count,
        "side": side,
        "batch_size": size,
        "parameters": sum(p.numel() for p in model.parameters()),
    }
    for outputs in ("sum", "each"):
        for controls in (False, True):
            seconds = timed(
                lambda outputs=outputs, controls=controls: liegg.discover(
                    model, x, action, outputs=outputs, batch_size=size, controls=controls
                ),
                device, repeats if outputs == "sum" else 1,
            )  # fmt: skip
            found[f"{outputs}{'_controls' if controls else ''}"] = seconds / base
            print(outputs, controls, seconds, seconds / base, flush=True)
    return found


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description="Cost of an analysis at scale.")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=None)
    args = parser.parse_args()
    device = torch.device(args.device)
    out = args.out or HERE.parent / "results" / f"bench-scale-{device.type}.json"
    begin = time.perf_counter()
    measured = cost(device, quick=args.quick)
    command = f"python benchmarks/scale.py --device {args.device}"
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
    stored = {
        "cost": measured, "quick": args.quick,
        "provenance": provenance(command, seconds=time.perf_counter() - begin, device=where),
    }  # fmt: skip
    out.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
